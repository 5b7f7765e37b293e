package browser

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/timezone"
)

// devices are the devices of a home as they stand now, by their addresses and by the names that
// links have of them.
type devices struct {
	byMAC  map[motion.MAC]motion.TopologyDevice
	byName map[string]motion.TopologyDevice
}

func (b *Browser) devices(id motion.NetworkID) (devices, error) {
	topology, err := b.Engine.Inventory.Topology(id, true)
	if err != nil {
		return devices{}, err
	}
	known := devices{map[motion.MAC]motion.TopologyDevice{}, map[string]motion.TopologyDevice{}}
	for _, device := range topology.Devices {
		known.byName[device.Name] = device
		for _, text := range device.MACs {
			if mac, err := motion.ParseMAC(text); err == nil {
				known.byMAC[mac] = device
			}
		}
	}
	return known, nil
}

// place returns the room of a device, "" where none is known.
func (d devices) place(mac motion.MAC) string { return d.byMAC[mac].Location }

// rooms returns the rooms with devices, by name.
func (d devices) rooms() []string {
	names := map[string]bool{}
	for _, device := range d.byName {
		if device.Location != "" {
			names[device.Location] = true
		}
	}
	list := slices.AppendSeq([]string{}, maps.Keys(names))
	slices.Sort(list)
	return list
}

// room returns where an event was: what the place was called then, unless no room is called so
// any more and the device that was nearest is known: then its room now.
func (d devices) room(e motion.Event, rooms []string) string {
	if len(e.Loc) == 0 || slices.Contains(rooms, e.LocName) {
		return e.LocName
	}
	mac, err := motion.ParseMAC(e.Loc[0].MAC)
	if err != nil {
		return e.LocName
	}
	return cmp.Or(d.place(mac), e.LocName)
}

// zoneOf returns a zone by its name, UTC for one that is not known.
func zoneOf(name string) *time.Location {
	zone, err := timezone.Load(name)
	if err != nil {
		return time.UTC
	}
	return zone
}
