package homeassistant

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/motion/uplink"
)

// Limits of a hub.
const (
	maxThings = sensor.MaxDevices - 1 // beside the hub itself
	maxRadios = 64
)

// hub is what is known of the broker of one uplink. The mutex of the provider guards it.
type hub struct {
	name      string // of the uplink
	networks  []motion.NetworkID
	connected bool
	changed   motion.Time // of connected
	settled   bool        // its announcements were complete once
	things    []*thing
	radios    map[string]bool // topics below which nodes publish that sense by radio
}

// thing is a sensor of a hub.
type thing struct {
	entity
	config string // topic of its announcement
	seen   bool   // it was announced since the connection began

	online  map[string]bool // what its topics of availability have said
	latest  bool            // what the last of them has said
	expired bool
	status  string
	live    bool // status was sent while this box listened; false: the broker had kept it
	at      motion.Time
	offAt   time.Time // when it goes off by itself
	until   time.Time // when its state expires
}

// thingName returns the name of a thing by its key.
func thingName(key string) string { return fmt.Sprintf("SENSOR_%.8X", sha256.Sum256([]byte(key))) }

// hubThing returns the name of the hub of an uplink.
func hubThing(name string) string { return "HUB_" + name }

// announce takes in what a topic announces, which takes the place of what it announced before. elsewhere reports
// whether another hub has a thing. It returns whether the list of things has changed, and what cannot be used.
func (h *hub) announce(topic string, entities []entity, elsewhere func(key string) bool) (changed bool, wrong []error) {
	before := len(h.things)
	h.things = slices.DeleteFunc(h.things, func(t *thing) bool {
		return t.config == topic && !slices.ContainsFunc(entities, func(e entity) bool { return e.key == t.key })
	})
	changed = len(h.things) != before
	for _, e := range entities {
		i := slices.IndexFunc(h.things, func(t *thing) bool { return t.key == e.key })
		switch {
		case h.isRadio(e.topic) || elsewhere(e.key):
			continue
		case i >= 0 && h.things[i].config != topic:
			wrong = append(wrong, fault.New(fault.Conflict, "unique_id: another announcement has it too"))
			continue
		case i < 0 && len(h.things) >= maxThings:
			wrong = append(wrong, fault.New(fault.TooLarge, "more than %d sensors are announced: the others are left out", maxThings))
			continue
		}
		t := &thing{entity: e, config: topic, seen: true, online: map[string]bool{}, latest: true}
		if i < 0 {
			h.things, changed = append(h.things, t), true
			continue
		}
		old := h.things[i]
		if old.kind == e.kind && old.topic == e.topic {
			t.online, t.latest, t.expired, t.status, t.live, t.at, t.offAt, t.until = old.online, old.latest, old.expired, old.status, old.live, old.at, old.offAt, old.until
		}
		changed = changed || old.kind != e.kind || old.name != e.name
		h.things[i] = t
	}
	return changed, wrong
}

// isRadio reports whether a topic is one of a node that senses by radio.
func (h *hub) isRadio(topic string) bool {
	for node := range h.radios {
		if strings.HasPrefix(topic, node+"/") {
			return true
		}
	}
	return false
}

// addRadio notes the topic below which a node publishes that senses by radio, and reports whether a sensor goes for
// it.
func (h *hub) addRadio(node string) bool {
	if h.radios[node] || len(h.radios) >= maxRadios {
		return false
	}
	h.radios[node] = true
	before := len(h.things)
	h.things = slices.DeleteFunc(h.things, func(t *thing) bool { return h.isRadio(t.topic) })
	return len(h.things) != before
}

// settle drops the things that were not announced since the connection began: the broker does not keep their
// announcement any more.
func (h *hub) settle() {
	h.things = slices.DeleteFunc(h.things, func(t *thing) bool { return !t.seen })
	h.settled = true
}

// hear takes in a message and returns the readings that follow from it, and why it could not be used.
func (h *hub) hear(m uplink.Message, now time.Time) (readings []sensor.Reading, wrong error) {
	for _, t := range h.things {
		told := false
		for _, a := range t.availability {
			if uplink.Matches(a.topic, m.Topic) {
				told = t.hearAvailability(a, m.Payload) || told
			}
		}
		if uplink.Matches(t.topic, m.Topic) {
			heard, err := t.hearState(m, now)
			if told = told || heard; err != nil {
				wrong = err
			}
		}
		if told {
			readings = append(readings, h.reading(t))
		}
	}
	return readings, wrong
}

// hearAvailability takes in a message of a topic of availability.
func (t *thing) hearAvailability(a availability, payload []byte) bool {
	switch text, _ := a.value.render(payload); text {
	case a.online:
		t.latest = true
	case a.off:
		t.latest = false
	default:
		return false
	}
	t.online[a.topic] = t.latest
	return true
}

// isOnline reports whether a thing is online by its topics of availability.
func (t *thing) isOnline() bool {
	up := 0
	for _, a := range t.availability {
		if t.online[a.topic] {
			up++
		}
	}
	switch {
	case t.expired:
		return false
	case len(t.availability) == 0:
		return true
	case t.mode == "all":
		return up == len(t.availability)
	case t.mode == "any":
		return up > 0
	}
	return len(t.online) > 0 && t.latest
}

// hearState takes in a message of a thing's state.
func (t *thing) hearState(m uplink.Message, now time.Time) (told bool, err error) {
	text, ok := t.value.render(m.Payload)
	if !ok {
		return false, nil
	}
	statuses := t.kind.Statuses()
	switch text {
	case t.on:
		t.status = statuses[1]
	case t.off:
		t.status = statuses[0]
	case "None":
		return false, nil // not known
	default:
		return false, fault.New(fault.Invalid, "state: %.60q is neither payload_on, %.60q, nor payload_off, %.60q", text, t.on, t.off)
	}
	t.live, t.at, t.expired = !m.Retain, motion.TimeOf(now), false
	t.offAt, t.until = time.Time{}, time.Time{}
	if t.offDelay > 0 && text == t.on {
		t.offAt = now.Add(t.offDelay)
	}
	if t.expireAfter > 0 {
		t.until = now.Add(t.expireAfter)
	}
	return true, nil
}

// pass lets time pass: things go off by themselves, and states expire.
func (h *hub) pass(now time.Time) (readings []sensor.Reading) {
	for _, t := range h.things {
		off := !t.offAt.IsZero() && !now.Before(t.offAt)
		if off {
			t.status, t.at, t.offAt = t.kind.Statuses()[0], motion.TimeOf(now), time.Time{}
		}
		expires := !t.until.IsZero() && !now.Before(t.until)
		if expires {
			t.expired, t.until = true, time.Time{}
		}
		if off || expires {
			readings = append(readings, h.reading(t))
		}
	}
	return readings
}

// reading returns what is known of a thing.
func (h *hub) reading(t *thing) sensor.Reading {
	online := h.connected && t.isOnline()
	return sensor.Reading{Thing: thingName(t.key), TS: t.at, Online: &online, Status: t.status, Retained: !t.live}
}

// found returns the hub and its things.
func (h *hub) found() []sensor.Found {
	online := h.connected
	list := []sensor.Found{{Type: sensor.Hub, Name: h.name, Reading: sensor.Reading{Thing: hubThing(h.name), TS: h.changed, Online: &online, Status: sensor.Ready}}}
	for _, t := range h.things {
		list = append(list, sensor.Found{Hub: hubThing(h.name), Type: t.kind, Name: t.name, Reading: h.reading(t)})
	}
	return list
}

// has reports whether the hub has a thing.
func (h *hub) has(key string) bool {
	return slices.ContainsFunc(h.things, func(t *thing) bool { return t.key == key })
}

// topics returns the topics of all things.
func (h *hub) topics() map[string]bool {
	topics := map[string]bool{}
	for _, t := range h.things {
		topics[t.topic] = true
		for _, a := range t.availability {
			topics[a.topic] = true
		}
	}
	return topics
}
