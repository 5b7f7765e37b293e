package homeassistant

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// A sensor of the hall, as its maker announces it.
const (
	hallConfig = "homeassistant/binary_sensor/hall/config"
	hallState  = "makers/hall"
	hallKey    = "maker_hall"
	hall       = `{"name":"Hall","device_class":"motion","state_topic":"makers/hall","unique_id":"maker_hall"}`
	hallAlive  = `{"name":"Hall","device_class":"motion","state_topic":"makers/hall","unique_id":"maker_hall","availability_topic":"makers/alive"}`
)

func TestSensorAppearsToldOnceAndGoes(t *testing.T) {
	t.Parallel()
	inHouse(t, nil, func(h *house) {
		h.wants("nothing is announced", "", "")
		h.says(true, hallConfig, hall)
		h.wants("announced", "Hall", "")
		h.says(true, hallState, "OFF", hallState, "ON", hallState, "ON", hallState, "OFF")
		h.wants("it moves and is still again", "Hall", "motion clear")
		h.says(false, hallState, "rubbish", "makers/other", "ON")
		h.wants("rubbish", "Hall", "")
		if len(h.bad) != 1 || !strings.Contains(h.bad[0], "neither payload_on") {
			t.Errorf("told as bad: %q", h.bad)
		}
		h.says(true, hallConfig, "")
		h.wants("its announcement is removed", "", "")
		h.says(true, hallState, "ON")
		h.wants("nobody asks for its state any more", "", "")
		h.says(true, hallConfig, hall)
		h.wants("announced again, with the state that the broker keeps", "Hall", "")
		if h.status[thingName(hallKey)] != sensor.Moving {
			t.Errorf("status %q", h.status[thingName(hallKey)])
		}
	})
}

func TestWhatTheBrokerKeepsSetsTheStateAndIsNoDetection(t *testing.T) {
	t.Parallel()
	inHouse(t, []string{hallConfig, hall, hallState, "ON"}, func(h *house) {
		h.wants("connected", "Hall", "")
		if got := h.status[thingName(hallKey)]; got != sensor.Moving {
			t.Errorf("status %q", got)
		}
		h.says(true, hallState, "OFF")
		h.wants("still", "Hall", "clear")
		h.disconnect()
		if h.isOnline(hallKey) {
			t.Error("online without a broker")
		}
		h.broker.publish(true, hallState, "ON")
		h.connect()
		h.wants("the broker was away", "Hall", "")
		if !h.isOnline(hallKey) {
			t.Error("offline with a broker")
		}
		h.disconnect()
		h.broker.publish(true, hallState, "OFF")
		h.start()
		h.connect()
		h.wants("this box was restarted", "Hall", "")
		h.says(true, hallState, "ON")
		h.wants("motion", "Hall", "motion")
		h.disconnect()
		h.broker.publish(true, hallConfig, "")
		h.connect()
		h.wants("removed while the broker was away", "", "")
	})
}

func TestAvailability(t *testing.T) {
	t.Parallel()
	inHouse(t, []string{hallConfig, hallAlive}, func(h *house) {
		for _, c := range []struct {
			payload string
			online  bool
		}{{"", false}, {"online", true}, {"offline", false}, {"online", true}, {"what?", true}} {
			if h.says(false, "makers/alive", c.payload); h.isOnline(hallKey) != c.online {
				t.Errorf("after %q: online %t", c.payload, !c.online)
			}
		}
		for mode, want := range map[string]bool{"all": false, "any": true, "latest": false} {
			h.says(true, hallConfig, strings.Replace(hall, `"name"`, `"availability_mode":"`+mode+`","availability":[{"topic":"a"},{"topic":"b"}],"name"`, 1))
			if h.says(false, "a", "online", "b", "offline"); h.isOnline(hallKey) != want {
				t.Errorf("%s: online %t", mode, !want)
			}
		}
	})
}

func TestSensorsThatGoOffByThemselvesOrExpire(t *testing.T) {
	t.Parallel()
	config := strings.Replace(hall, `"name"`, `"off_delay":30,"expire_after":"600","name"`, 1)
	inHouse(t, []string{hallConfig, config, hallState, "ON"}, func(h *house) {
		h.passes(40 * time.Second)
		h.wants("an old motion has gone off by itself", "Hall", "")
		h.says(false, hallState, "ON")
		h.passes(20 * time.Second)
		h.says(false, hallState, "ON")
		h.passes(20 * time.Second)
		h.wants("motion again keeps it on", "Hall", "motion")
		h.passes(20 * time.Second)
		h.wants("it has gone off by itself", "Hall", "clear")
		if !h.isOnline(hallKey) {
			t.Error("expired too early")
		}
		if h.passes(10 * time.Minute); h.isOnline(hallKey) {
			t.Error("not expired")
		}
		if h.says(false, hallState, "OFF"); !h.isOnline(hallKey) {
			t.Error("heard again, and expired still")
		}
	})
}

func TestDetectionIsDeliveredWhenTheStoreWorksAgain(t *testing.T) {
	t.Parallel()
	inHouse(t, []string{hallConfig, hall}, func(h *house) {
		h.mu.Lock()
		h.fails = 3
		h.mu.Unlock()
		h.says(false, hallState, "ON", hallState, "OFF")
		h.wants("nothing can be stored", "Hall", "")
		h.passes(10 * time.Second)
		h.wants("something can be stored", "Hall", "motion clear")
	})
}

func TestOurOwnEntitiesDoNotComeBack(t *testing.T) {
	t.Parallel()
	own := `{"device":{"identifiers":["sensegate_0a1b2c3d_1"],"manufacturer":"sensegate"},"origin":{"name":"sensegate"},"components":{"motion":{"platform":"binary_sensor","device_class":"motion","unique_id":"sensegate_0a1b2c3d_1_motion","state_topic":"sensegate/0a1b2c3d/1/motion"}}}`
	inHouse(t, []string{"homeassistant/device/sensegate_0a1b2c3d_1/config", own}, func(h *house) {
		h.says(true, "homeassistant/binary_sensor/echo/config", `{"device_class":"motion","state_topic":"sensegate/4d3c2b1a/1/motion"}`)
		h.wants("announced", "", "")
		h.says(true, "homeassistant/binary_sensor/any/config", `{"name":"Any","device_class":"motion","state_topic":"+/+/+/motion"}`)
		h.says(true, "sensegate/0a1b2c3d/1/motion", "ON", "makers/a/b/motion", "OFF")
		h.wants("a filter of somebody else matches it", "Any", "")
	})
}

func TestWhatABrokerTellsIsBounded(t *testing.T) {
	t.Parallel()
	var makers []string
	for i := range 3 * maxThings {
		makers = append(makers, fmt.Sprintf("homeassistant/binary_sensor/n%d/config", i), fmt.Sprintf(`{"device_class":"motion","state_topic":"s/%d","availability_topic":"a/%d"}`, i, i))
	}
	inHouse(t, []string{hallConfig, hall}, func(h *house) {
		h.says(true, makers...)
		if len(h.listed) != maxThings || !slices.ContainsFunc(h.bad, func(reason string) bool { return strings.Contains(reason, "the others are left out") }) {
			t.Errorf("%d sensors, %d messages counted", len(h.listed), len(h.bad))
		}
		h.bad = nil
		h.says(false, hallConfig, strings.Repeat(" ", maxMessage+1)+hall, hallConfig, "{")
		if len(h.bad) != 2 {
			t.Errorf("told as bad: %q", h.bad)
		}
		h.bad = nil
		for i := range 2 * maxSubscriptions { // a maker that cannot make up its mind
			h.broker.publish(false, hallConfig, fmt.Sprintf(`{"device_class":"motion","state_topic":"t/%d"}`, i))
		}
		h.passes(time.Minute)
		h.broker.mu.Lock()
		defer h.broker.mu.Unlock()
		if len(h.broker.filters) > maxSubscriptions || !slices.ContainsFunc(h.bad, func(reason string) bool { return strings.Contains(reason, "too many topics") }) {
			t.Errorf("%d subscriptions", len(h.broker.filters))
		}
	})
}

func TestUniqueIDBelongsToTheFirstThatAnnouncesIt(t *testing.T) {
	t.Parallel()
	inHouse(t, []string{hallConfig, hall}, func(h *house) {
		h.says(true, "homeassistant/binary_sensor/other/config", strings.Replace(hall, "Hall", "Impostor", 1))
		h.wants("another announcement", "Hall", "")
		if len(h.bad) != 1 || !strings.Contains(h.bad[0], "unique_id") {
			t.Errorf("told as bad: %q", h.bad)
		}
		first := h.disconnect
		h.options.Uplink = "second"
		h.connect()
		h.wants("another uplink to the same broker", "Hall", "")
		h.says(false, hallState, "ON")
		h.wants("both hear it", "Hall", "motion")
		first()
	})
}

// radios is a Nodes for which one node senses by radio.
type radios struct{ said []string }

func (r *radios) OutsideFilters() []string       { return []string{"+/score"} }
func (r *radios) OutsideConnected(uplink string) { r.said = append(r.said, uplink+" is there") }
func (r *radios) OutsideGone(uplink string)      { r.said = append(r.said, uplink+" is gone") }

func (r *radios) OutsideSaid(_, topic string, payload []byte, retained bool) (string, []string) {
	if !strings.HasPrefix(topic, "radio/") {
		return "", nil
	}
	r.said = append(r.said, fmt.Sprint(topic, " ", string(payload), " ", retained))
	return "radio", []string{"radio/motion", "radio/status"}
}

func TestNodesThatSenseByRadioAreNoSensors(t *testing.T) {
	t.Parallel()
	nodes := &radios{}
	inHouse(t, []string{hallConfig, hall, "homeassistant/binary_sensor/radio/config", `{"name":"Radio","device_class":"motion","state_topic":"radio/motion"}`}, func(h *house) {
		h.disconnect()
		h.options.Nodes = nodes
		h.connect()
		h.wants("nobody knows that it senses by radio", "Hall,Radio", "")
		h.says(true, "radio/status", "online", "radio/score", "0.5")
		h.wants("it tells a score", "Hall", "")
		h.says(true, "radio/motion", "ON", hallState, "ON")
		h.wants("a sensor beside it", "Hall", "motion")
		h.disconnect()
		const want = "house is there,radio/score 0.5 false,radio/status online true,radio/motion ON false,house is gone"
		h.options.Nodes = nil
		h.connect()
		if got := strings.Join(nodes.said, ","); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestBrokerThatRefusesATopicTellsTheRest(t *testing.T) {
	t.Parallel()
	inHouse(t, nil, func(h *house) {
		h.disconnect()
		h.broker.refuses = "homeassistant/device/+/config"
		h.connect()
		h.says(true, hallConfig, hall, hallState, "ON")
		h.wants("announced", "Hall", "")
	})
}

func TestProviderServesTheNetworkThatItsUplinksName(t *testing.T) {
	t.Parallel()
	inHouse(t, nil, func(h *house) {
		p := h.provider
		for _, c := range []struct {
			uplink   string
			networks []motion.NetworkID
			only     motion.NetworkID
		}{{"house", nil, 0}, {"house", []motion.NetworkID{4}, 4}, {"other", []motion.NetworkID{4}, 4}, {"other", []motion.NetworkID{5}, 0}, {"other", []motion.NetworkID{4, 5}, 0}} {
			p.Part(Options{Uplink: c.uplink, Networks: c.networks})
			if only, single := p.Single(); only != c.only || !single {
				t.Errorf("%s of %v: %d %t, want %d", c.uplink, c.networks, only, single, c.only)
			}
		}
		if err := p.Pair(t.Context(), sensor.Account{}, "HUB_house", time.Minute); fault.KindOf(err) != fault.Conflict {
			t.Errorf("pairing: %v", err)
		}
	})
}
