package zigbee2mqtt

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

func TestListHasTheHubAndWhatIsASensor(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if _, err := f.ListDevices(t.Context(), sensor.Account{}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("before the bridge has spoken: %v", err)
	}
	f.starts()
	found, err := f.ListDevices(t.Context(), sensor.Account{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range found {
		got = append(got, fmt.Sprintf("%s %s %s %q %t", d.Reading.Thing, d.Type, d.Hub, d.Name, *d.Reading.Online))
	}
	want := []string{
		hubThing + ` Hub  "" true`,
		"SENSOR_00158D00018255DF SensorTemperatureHumidity " + hubThing + ` "" true`,
		doorThing + " SensorDoor " + hubThing + ` "hall/front door" true`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

func TestStatesAreDelivered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.starts()
	if _, changed := f.host.delivered(); changed == 0 {
		t.Error("the list is not told")
	}
	f.says("hall/front door", `{"battery":97,"contact":false,"linkquality":120,"voltage":3025}`)
	got, changed := f.host.delivered()
	r := got[doorThing]
	if r.Account != account || r.Status != sensor.Open || *r.BatteryLevel != 97 || !*r.Online || r.TS.IsZero() || changed != 0 {
		t.Errorf("%+v, %d", r, changed)
	}
	f.says(climateID, `{"temperature":27.34,"humidity":"44.72","battery":null}`)
	got, _ = f.host.delivered()
	r = got["SENSOR_00158D00018255DF"]
	if *r.Temperature != 27.34 || *r.Humidity != 44.72 || r.BatteryLevel != nil || r.Status != "" {
		t.Errorf("%+v", r)
	}
	found, _ := f.ListDevices(t.Context(), sensor.Account{})
	if door := found[2].Reading; door.Status != sensor.Open || *door.BatteryLevel != 97 {
		t.Errorf("listed as %+v", door)
	}
	if len(f.host.bad) != 0 {
		t.Errorf("bad input: %v", f.host.bad)
	}
}

func TestAvailabilityIsToldInBothForms(t *testing.T) {
	t.Parallel()
	for version, words := range map[string][2]string{
		"1.x": {"offline", "online"}, "2.x": {`{"state":"offline"}`, `{"state":"online"}`}, "quoted": {`"offline"`, `"online"`},
	} {
		f := newFixture(t)
		f.starts()
		for i, word := range words {
			f.host.delivered()
			f.says("hall/front door/availability", word)
			got, _ := f.host.delivered()
			if r := got[doorThing]; r.Online == nil || *r.Online != (i == 1) {
				t.Errorf("%s: %s: %+v", version, word, r)
			}
		}
		f.says("bridge/event", `{"type":"device_leave","data":{"ieee_address":"`+doorID+`","friendly_name":"hall/front door"}}`)
		if got, _ := f.host.delivered(); got[doorThing].Online == nil || *got[doorThing].Online {
			t.Errorf("%s: a device that left is online", version)
		}
	}
}

func TestBridgeThatGoesTakesItsSensorsOffline(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.starts()
	f.says("hall/front door", `{"contact":true}`)
	f.host.delivered()
	f.says("bridge/state", "offline")
	got, _ := f.host.delivered()
	for thing, r := range got {
		if *r.Online {
			t.Errorf("%s is online", thing)
		}
	}
	if len(got) != 3 || got[doorThing].Status != sensor.Closed {
		t.Errorf("%+v", got)
	}
	f.says("bridge/state", "online")
	if got, _ = f.host.delivered(); !*got[doorThing].Online || !*got[hubThing].Online {
		t.Errorf("%+v", got)
	}
}

func TestWhatCannotBeUsedIsCounted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.says("a device before the list", `{"contact":true}`)
	f.starts()
	for _, fine := range [][2]string{
		{"my_group", `{"state":"ON"}`}, {"my_bulb", `{"state":"ON"}`}, {"my_bulb/availability", "online"}, {"joining", `{"occupancy":true}`},
		{"my_bulb/set", "ON"}, {"hall/front door/get", `{"battery":""}`}, {"bridge/logging", "x"}, {"bridge/definitions", "{"},
		{"bridge/event", `{"type":"device_joined","data":{}}`}, {"bridge/response/health_check", `{"status":"ok"}`},
	} {
		f.says(fine[0], fine[1])
	}
	if len(f.host.bad) != 0 {
		t.Errorf("counted: %v", f.host.bad)
	}
	bad := [][2]string{
		{"bridge/state", "perhaps"}, {"bridge/info", "["}, {"bridge/devices", `{"a":1}`}, {"bridge/devices", `[{"ieee_address":1}]`},
		{"bridge/devices", "[{}"}, {"bridge/groups", "x"}, {"bridge/event", "x"}, {"bridge/response/permit_join", "x"},
		{"hall/front door", "open"}, {"hall/front door", "{" + strings.Repeat(" ", maxState) + "}"}, {"hall/front door/availability", "{"},
		{"stranger", "{}"}, {"stranger/availability", "online"}, {"bridge/devices", "[" + strings.Repeat("{},", maxListed) + "{}]"},
	}
	for i, one := range bad {
		f.says(one[0], one[1])
		if len(f.host.bad) != i+1 {
			t.Fatalf("%s %.40s: counted %v", one[0], one[1], f.host.bad)
		}
	}
	if found, err := f.ListDevices(t.Context(), sensor.Account{}); err != nil || len(found) != 3 {
		t.Errorf("afterwards: %d things, %v", len(found), err)
	}
}

func TestWhatCannotBeStoredIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.starts()
	f.host.err = fault.New(fault.Unavailable, "the disk is full")
	if err := f.broker.hear(t.Context(), "zigbee2mqtt/hall/front door", []byte(`{"contact":false}`)); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("%v", err)
	}
	if len(f.host.bad) != 0 {
		t.Errorf("counted as the bridge's mistake: %v", f.host.bad)
	}
}

func TestRenamedAndRemovedDevicesFollowTheList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.starts()
	f.says("hall/front door", `{"contact":false}`)
	f.says("bridge/devices", strings.Replace(devices, "hall/front door", "entrance", 1))
	f.host.delivered()
	f.says("entrance", `{"battery":5}`)
	if got, _ := f.host.delivered(); *got[doorThing].BatteryLevel != 5 {
		t.Errorf("%+v", got)
	}
	found, _ := f.ListDevices(t.Context(), sensor.Account{})
	if door := found[2]; door.Reading.Status != sensor.Open || door.Name != "entrance" {
		t.Errorf("%+v", door)
	}
	f.says("bridge/devices", `[{"ieee_address":"`+coordinator+`","type":"Coordinator","friendly_name":"Coordinator"}]`)
	if found, _ = f.ListDevices(t.Context(), sensor.Account{}); len(found) != 1 {
		t.Errorf("%+v", found)
	}
}

func TestWithoutAnAccountNothingIsDelivered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.host.accounts = nil
	f.starts()
	if got, _ := f.host.delivered(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestRunDeliversWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.Bridge.host.Store(nil)
		f.starts()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = f.Run(ctx, f.host) }()
		synctest.Wait()
		if got, changed := f.host.delivered(); len(got) != 3 || changed != 1 {
			t.Errorf("%+v, %d", got, changed)
		}
	})
}

// TestLongPairingIsRenewed asks for ten minutes, which Zigbee cannot grant at once.
func TestLongPairingIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.starts()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = f.Run(ctx, f.host) }()
		if err := f.Pair(ctx, sensor.Account{}, hubThing, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		want := `permit_join {"time":254,"value":true},permit_join {"time":254,"value":true},permit_join {"time":100,"value":true}`
		if got := strings.Join(f.broker.requests(), ","); got != want {
			t.Errorf("asked %s", got)
		}
		if err := f.Pair(ctx, sensor.Account{}, hubThing, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := f.Pair(ctx, sensor.Account{}, hubThing, 30*time.Second); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if got := strings.Join(f.broker.requests(), ","); got != `permit_join {"time":254,"value":true},permit_join {"time":30,"value":true}` {
			t.Errorf("a shorter time after a longer one: asked %s", got)
		}
	})
}

func TestPairingNeedsTheHub(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	if err := f.Pair(t.Context(), sensor.Account{}, hubThing, time.Minute); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("before the bridge has spoken: %v", err)
	}
	f.starts()
	if err := f.Pair(t.Context(), sensor.Account{}, "HUB_0", time.Minute); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another hub: %v", err)
	}
	f.says("bridge/info", `{"coordinator":{"ieee_address":"`+coordinator+`"},"permit_join":true}`)
	if found, _ := f.ListDevices(t.Context(), sensor.Account{}); found[0].Reading.Status != sensor.Pairing {
		t.Errorf("%+v", found[0].Reading)
	}
	f.broker.answer = func(string, map[string]any) map[string]any {
		return map[string]any{"status": "error", "error": "Failed to connect to adapter", "data": map[string]any{}}
	}
	if err := f.Pair(t.Context(), sensor.Account{}, hubThing, time.Minute); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("refused: %v", err)
	}
	f.says("bridge/state", `{"state":"offline"}`)
	if err := f.Pair(t.Context(), sensor.Account{}, hubThing, time.Minute); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("offline: %v", err)
	}
}

func TestBridgeThatDoesNotAnswerIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.starts()
		f.broker.answer = func(string, map[string]any) map[string]any { return nil }
		began := time.Now()
		err := f.Pair(t.Context(), sensor.Account{}, hubThing, time.Minute)
		if fault.KindOf(err) != fault.Unavailable || time.Since(began) != answerLimit {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		f.broker.mu.Lock()
		f.broker.away = true
		f.broker.mu.Unlock()
		if err := f.Remove(t.Context(), sensor.Account{}, sensor.Device{ThingName: doorThing}); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("not connected: %v", err)
		}
	})
}

func TestSleepingSensorIsStruckOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.starts()
	f.broker.answer = func(_ string, request map[string]any) map[string]any {
		if request["force"] == true {
			return map[string]any{"status": "ok"}
		}
		return map[string]any{"status": "error", "error": "Failed to remove dimmer (AREQ - ZDO - mgmtLeaveRsp after 10000ms)"}
	}
	door := sensor.Device{ThingName: doorThing, Type: sensor.Door}
	if err := f.Remove(t.Context(), sensor.Account{}, door); err != nil {
		t.Fatal(err)
	}
	want := `device/remove {"force":false,"id":"` + doorID + `"},device/remove {"force":true,"id":"` + doorID + `"}`
	if got := strings.Join(f.broker.requests(), ","); got != want {
		t.Errorf("asked %s", got)
	}
	if err := f.Remove(t.Context(), sensor.Account{}, door); err != nil || f.broker.requests() != nil {
		t.Errorf("once more: %v", err)
	}
	if err := f.Remove(t.Context(), sensor.Account{}, sensor.Device{ThingName: hubThing, Type: sensor.Hub}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(f.broker.requests(), ","); got != `device/remove {"force":true,"id":"`+climateID+`"}` {
		t.Errorf("of the hub: asked %s", got)
	}
	if found, _ := f.ListDevices(t.Context(), sensor.Account{}); len(found) != 1 {
		t.Errorf("%+v", found)
	}
}

func TestNamesArePassedOnWhenTheBridgeIsThere(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.starts()
	before := sensor.Device{ThingName: doorThing}
	after := before
	after.Config.FriendlyName, after.Config.Location = " Front/door #1", "Hall"
	if err := f.UpdateConfig(t.Context(), sensor.Account{}, before, after); err != nil {
		t.Fatal(err)
	}
	want := `device/rename {"from":"` + doorID + `","to":"Front-door -1"},device/options {"id":"` + doorID + `","options":{"description":"Hall"}}`
	if got := strings.Join(f.broker.requests(), ","); got != want {
		t.Errorf("asked %s", got)
	}
	if err := f.UpdateConfig(t.Context(), sensor.Account{}, after, after); err != nil || f.broker.requests() != nil {
		t.Errorf("without a change: %v", err)
	}
	f.broker.answer = func(string, map[string]any) map[string]any {
		return map[string]any{"status": "error", "error": "friendly_name 'Front-door -1' is already in use", "data": map[string]any{}}
	}
	if err := f.UpdateConfig(t.Context(), sensor.Account{}, before, after); err != nil {
		t.Errorf("a name that is taken at the bridge: %v", err)
	}
	f.says("bridge/state", "offline")
	if err := f.UpdateConfig(t.Context(), sensor.Account{}, before, after); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a new name for a bridge that is away: %v", err)
	}
	after.Config.FriendlyName, after.Config.Location, after.Config.Notify = "", "", true
	if err := f.UpdateConfig(t.Context(), sensor.Account{}, before, after); err != nil {
		t.Errorf("nothing to tell a bridge that is away: %v", err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for topic, ok := range map[string]bool{"zigbee2mqtt": true, "home/z2m": true, "": true, "a//b": false, "a/#": false, "+": false, "$SYS": false, "iot-2/x": false} {
		if err := (Config{BaseTopic: topic}).Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", topic, err)
		}
	}
	var _ sensor.Provider = New(Defaults(), &fakeBroker{}, slog.New(slog.DiscardHandler))
}
