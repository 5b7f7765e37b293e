package homeassistant_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"sensegate/motion/uplink/homeassistant"
)

func TestCommandArmsTheHome(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	for _, step := range []struct {
		topic, payload, answer, holds string
		want                          homeassistant.Command
	}{
		{"alarm", "ARM_AWAY", "alarm", "armed_away", homeassistant.Command{Network: 1, Do: homeassistant.SetAway}},
		{"scene", "home", "scene", "home", homeassistant.Command{Network: 1, Do: homeassistant.SetHome}},
		{"paused", "ON", "paused", "ON", homeassistant.Command{Network: 1, Do: homeassistant.Pause}},
		{"paused", "OFF", "paused", "OFF", homeassistant.Command{Network: 1, Do: homeassistant.Resume}},
		{"sensitivity", "very_low", "sensitivity", "very_low", homeassistant.Command{Network: 1, Do: homeassistant.SetSensitivity, Level: 4}},
	} {
		w.say(b.base+"/1/"+step.topic+"/set", step.payload, false)
		w.holds(b.base+"/1/"+step.answer, step.holds)
		all := h.commands()
		if got := all[len(all)-1]; got != step.want {
			t.Errorf("%s %s asked for %+v, want %+v", step.topic, step.payload, got, step.want)
		}
	}
	w.say(b.base+"/restart/set", "PRESS", false)
	w.say(b.base+"/1/scene/set", "away", false)
	w.holds(b.base+"/1/scene", "away")
	if all := h.commands(); all[len(all)-2] != (homeassistant.Command{Do: homeassistant.Restart}) {
		t.Errorf("a restart asked for %+v", all)
	}
}

// TestWrongCommandChangesNothing: the state is told again, so that Home Assistant shows what holds.
func TestWrongCommandChangesNothing(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	for _, one := range []struct{ topic, payload string }{
		{"1/scene", "armed"}, {"1/scene", ""}, {"1/alarm", "ARM_HOME"}, {"1/paused", "on"}, {"1/sensitivity", "5"},
		{"1/scene", strings.Repeat("away", 1000)}, {"1/scene", "away\x00"}, {"2/scene", "away"}, {"x/scene", "away"}, {"1/availability", "offline"},
		{"1/density", "5"}, {"restart", "restart"}, {"", "PRESS"}, {"-1/scene", "away"},
	} {
		mark := w.mark()
		w.say(b.base+"/"+one.topic+"/set", one.payload, false)
		if strings.HasPrefix(one.topic, "1/") && one.topic != "1/density" && one.topic != "1/availability" {
			state := b.base + "/" + one.topic
			w.until(state+" again", func(log []mqtt.Message) bool { return len(payloads(log[mark:], state)) == 1 })
		}
	}
	h.mu.Lock()
	h.refuse = true
	h.mu.Unlock()
	mark := w.mark()
	w.say(b.base+"/1/scene/set", "away", false)
	w.until("the scene again", func(log []mqtt.Message) bool { return len(payloads(log[mark:], b.base+"/1/scene")) == 1 })
	if got := w.since(mark, b.base+"/1/scene"); !slices.Equal(got, []string{"home"}) {
		t.Errorf("after a refusal the scene was told as %q", got)
	}
	if asked := h.commands(); len(asked) != 1 {
		t.Errorf("wrong commands asked for %+v", asked[:len(asked)-1])
	}
}

// TestRetainedCommandIsIgnored: it would arm the home at each start.
func TestRetainedCommandIsIgnored(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	w.say("sensegate/1a2b3c4d/1/scene/set", "away", true)
	w.say("homeassistant/status", "online", true)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	w.say(b.base+"/1/paused/set", "ON", false)
	w.holds(b.base+"/1/paused", "ON")
	if asked := h.commands(); len(asked) != 1 || asked[0].Do != homeassistant.Pause {
		t.Errorf("asked was %+v, want the pause alone", asked)
	}
}

func TestReadOnlyTakesNoCommand(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, func(o *homeassistant.Options) { o.ReadOnly = true })
	b.shown(w)
	w.say(b.base+"/1/scene/set", "away", false)
	w.say(b.base+"/1/alarm/set", "ARM_AWAY", false)
	h.change(1, func(n *homeassistant.Network) { n.Motion = true })
	w.holds(b.base+"/1/motion", "ON")
	if asked := h.commands(); len(asked) != 0 {
		t.Errorf("asked was %+v", asked)
	}
}

// TestCommandsAreLimited: an automation in a loop does not wear out the disk.
func TestCommandsAreLimited(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	for i := range 100 {
		w.say(b.base+"/1/scene/set", []string{"away", "home"}[i%2], false)
	}
	h.change(1, func(n *homeassistant.Network) { n.Motion = true })
	w.holds(b.base+"/1/motion", "ON")
	if asked := len(h.commands()); asked < 1 || asked > 20 {
		t.Errorf("of 100 commands at once %d were carried out", asked)
	}
}

// TestGarbageHarmsNothing: whatever stands on the broker, the entities are there.
func TestGarbageHarmsNothing(t *testing.T) {
	t.Parallel()
	broker := mosquitto(t)
	w := newWitness(t, broker)
	base := "sensegate/1a2b3c4d/"
	for i, payload := range []string{"\xff\xfe", "{", strings.Repeat("x", 100_000), "null", `{"availability":"offline"}`} {
		for _, topic := range []string{base + "1/motion", base + "state", base + "1/scene/set", base + fmt.Sprint(i) + "/set", "homeassistant/status", "homeassistant/device/sensegate_1a2b3c4d_1/config"} {
			w.say(topic, payload, true)
			w.say(topic, payload, false)
		}
	}
	h := newHouse()
	b := runBox(t, broker, "1a2b3c4d", h, &memory{}, nil)
	b.shown(w)
	w.holds(b.base+"/1/motion", "OFF")
	if asked := h.commands(); len(asked) != 0 {
		t.Errorf("asked was %+v", asked)
	}
}
