package zigbee2mqtt

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/sensor"
)

// state is the state that the bridge has reported since the start.
type state struct {
	mu          sync.Mutex
	online      bool
	listed      bool        // bridge/devices has arrived
	coordinator string      // IEEE address, "" = not known
	joining     bool        // new devices may join
	changed     motion.Time // last change of the fields above
	things      map[string]*thing
	names       map[string]string // friendly name → IEEE address of a thing, "" for an unsupported one
	until       time.Time         // end of the requested pairing
	granted     time.Time         // end of the pairing that the bridge knows
}

// thing is a sensor of the bridge.
type thing struct {
	id        string // IEEE address as the bridge writes it
	name      string
	kind      sensor.Type
	keys      map[string]string // of its state
	available bool
	last      sensor.Reading
}

// hubName returns the thing name of a coordinator.
func hubName(coordinator string) string { return "HUB_" + coordinator }

func sensorName(address string) string { return "SENSOR_" + address }

// list processes the list of devices.
func (s *state) list(devices []device) {
	s.mu.Lock()
	defer s.mu.Unlock()
	things, names := map[string]*thing{}, map[string]string{}
	for name, owner := range s.names {
		if owner == "" {
			names[name] = "" // groups have their own list
		}
	}
	for _, d := range devices {
		at := address(d.Address)
		if at == "" {
			continue
		}
		names[d.Name] = ""
		if d.Kind == "Coordinator" {
			s.coordinator = at
			continue
		}
		kind, keys, ok := d.kindOf()
		if !ok || d.Disabled || d.Interviewed != nil && !*d.Interviewed {
			continue
		}
		item := &thing{available: true}
		if known := s.things[at]; known != nil && known.kind == kind {
			*item = *known
		}
		item.id, item.name, item.kind, item.keys = d.Address, d.Name, kind, keys
		things[at], names[d.Name] = item, at
	}
	s.things, s.names, s.listed = things, names, true
}

// group stores the names of groups, whose states are ignored.
func (s *state) group(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = map[string]string{}
	}
	for _, name := range names {
		if _, taken := s.names[name]; !taken && len(s.names) < 2*maxListed {
			s.names[name] = ""
		}
	}
}

// named returns the thing with the friendly name, and whether the name is known; before the
// first list every name is.
func (s *state) named(name string) (found thing, ours, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, known := s.names[name]
	if item := s.things[at]; item != nil {
		return *item, true, true
	}
	return thing{}, false, known || !s.listed
}

// update changes a thing that still exists and returns its complete reading.
func (s *state) update(id string, change func(*thing)) (sensor.Reading, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item := s.things[address(id)]
	if item == nil {
		return sensor.Reading{}, false
	}
	change(item)
	item.last.TS = motion.TimeOf(time.Now())
	return s.reading(address(id)), true
}

// touch records a change of the bridge; s.mu is held.
func (s *state) touch(changed bool) {
	if changed {
		s.changed = motion.TimeOf(time.Now())
	}
}

// tell merges a reading into a thing.
func (t *thing) tell(r sensor.Reading) {
	t.available = true
	if r.Status != "" {
		t.last.Status = r.Status
	}
	for _, value := range []struct{ to, from **float64 }{
		{&t.last.Temperature, &r.Temperature}, {&t.last.Humidity, &r.Humidity},
	} {
		if *value.from != nil {
			*value.to = *value.from
		}
	}
	if r.BatteryLevel != nil {
		t.last.BatteryLevel = r.BatteryLevel
	}
}

// reading returns the known values of a thing; s.mu is held.
func (s *state) reading(at string) sensor.Reading {
	item := s.things[at]
	r := item.last
	r.Thing, r.TS = sensorName(at), max(r.TS, s.changed)
	online := s.online && item.available
	r.Online = &online
	return r
}

// hub returns the known values of the coordinator; s.mu is held.
func (s *state) hub() sensor.Reading {
	online, status := s.online, sensor.Ready
	if s.joining && online {
		status = sensor.Pairing
	}
	return sensor.Reading{Thing: hubName(s.coordinator), TS: s.changed, Online: &online, Status: status}
}

// found returns all known things, the hub first, and whether the bridge has listed its devices
// and its coordinator.
func (s *state) found() ([]sensor.Found, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.listed || s.coordinator == "" {
		return nil, false
	}
	hub := s.hub()
	list := []sensor.Found{{Type: sensor.Hub, Reading: hub}}
	for _, at := range slices.Sorted(maps.Keys(s.things)) {
		item := s.things[at]
		name := item.name
		if strings.EqualFold(name, item.id) {
			name = "" // nobody named it
		}
		list = append(list, sensor.Found{Hub: hub.Thing, Type: item.kind, Name: name, Reading: s.reading(at)})
	}
	return list, true
}

// forget deletes a thing that the bridge has removed.
func (s *state) forget(at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if item := s.things[at]; item != nil {
		delete(s.things, at)
		s.names[item.name] = ""
	}
}
