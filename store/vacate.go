package store

import (
	"cmp"
	"reflect"

	"sensegate/motion"
	"sensegate/motion/home"
)

// VacateHome wipes what a household leaves behind (payloads.md 6 no. 16): the
// network gets a home that says nothing of it, under another id, but that it was owned
// before. The network keeps its devices, links, history, sensitivity, cooldown and what
// roomSettings names. All else goes that served the household or says something of it: the
// API keys for this network alone, meta with the pause and the gatekeeper to move to, all other
// settings, the last status report, names and places of its devices, sleep settings, waiting
// pushes, and alerts, but for alerts that only raise events. Open commands are left to the
// caller (engine.Vacated).
func (tx *Tx) VacateHome(id home.ID) (home.Home, error) {
	h, err := homes.must(tx, id)
	if err != nil {
		return h, err
	}
	if err := tx.DeleteHome(id); err != nil {
		return h, err
	}
	if err := cmp.Or(tx.forgetHousehold(h.ExternalID), tx.forgetRooms(h.ExternalID)); err != nil {
		return h, err
	}
	empty := home.New(h.ExternalID)
	empty.OwnedBefore = true
	if h, err = tx.CreateHome(empty); err != nil {
		return h, err
	}
	return h, tx.dueToWipe(false)
}

// forgetHouseholds does what VacateHome does since schema 5 for the homes that were vacated
// before.
func (tx *Tx) forgetHouseholds() error {
	all, err := tx.Homes()
	return each(all, err, func(h home.Home) error {
		if h.Claimed() || !h.OwnedBefore {
			return nil
		}
		if err := tx.forgetHousehold(h.ExternalID); err != nil {
			return err
		}
		return tx.dueToWipe(false)
	})
}

// forgetHousehold removes from a network what its household has said of itself there.
func (tx *Tx) forgetHousehold(network motion.NetworkID) error {
	return cmp.Or(
		tx.revokeAPIKeys(network), tx.forgetSettings(network), tx.DeleteStatus(network), tx.forgetNodeNames(network), tx.forgetLeafNames(network),
		tx.forgetAlerts(network), tx.deleteDeliveriesOf(network), pushes.removePrefix(tx, key32(network)), applicationSettings.delete(tx, network),
	)
}

// roomSettings are the settings that outlast a household, by document and section: they fit
// the rooms and the devices in them, keep nothing from being sensed, and say nothing of people.
var roomSettings = struct{ guardian, radar map[string][]string }{
	guardian: map[string][]string{"motion_events": {"sens", "cooldown"}},
	radar:    map[string][]string{"sounding": {"rate_ms"}, "measurement": {"bandwidth_mhz", "interval_ms"}},
}

// forgetSettings takes the settings of a network back to their defaults, but for those that
// fit the rooms.
func (tx *Tx) forgetSettings(network motion.NetworkID) error {
	n, err := networks.must(tx, network)
	if err != nil {
		return err
	}
	guardian, radar := onlyOf(n.GuardianConfig, roomSettings.guardian), onlyOf(n.RadarConfig, roomSettings.radar)
	if len(n.Meta) == 0 && reflect.DeepEqual(guardian, n.GuardianConfig) && reflect.DeepEqual(radar, n.RadarConfig) {
		return nil
	}
	n.Meta, n.PausedUntil, n.GuardianConfig, n.RadarConfig = motion.Document{}, 0, guardian, radar
	n.ConfigRev++
	n.UpdatedAt = tx.now
	return tx.PutNetwork(n)
}

// onlyOf returns of a document the keys of its sections that are named.
func onlyOf(doc motion.Document, named map[string][]string) motion.Document {
	left := motion.Document{}
	for section, keys := range named {
		values, _ := doc[section].(map[string]any)
		kept := map[string]any{}
		for _, key := range keys {
			if value, set := values[key]; set {
				kept[key] = value
			}
		}
		if len(kept) > 0 {
			left[section] = kept
		}
	}
	return left
}

// forgetNodeNames takes their names and places from the nodes of a network.
func (tx *Tx) forgetNodeNames(network motion.NetworkID) error {
	list, err := nodes.allBy(tx, "nodes_by_name", key32(network))
	return each(list, err, func(node motion.Node) error {
		node.FriendlyName, node.Location = "", ""
		return nodes.put(tx, node.ID, node)
	})
}

// forgetLeafNames takes their names and places from the leafs of a network. Those that are
// still there tell their host names again with the next report.
func (tx *Tx) forgetLeafNames(network motion.NetworkID) error {
	list, err := tx.Leafs(network)
	return each(list, err, func(leaf motion.Leaf) error {
		leaf.FriendlyName, leaf.Hostname, leaf.IP = "", "", ""
		leaf.Location, leaf.Located, leaf.Mobile = "", false, false
		leaf.DeviceInfo.Name, leaf.DeviceInfo.Hostname = "", ""
		return leafs.put(tx, leaf.ID, leaf)
	})
}

// forgetAlerts removes the alerts of a network, but for those that only raise events:
// programs that serve the appliance make such alerts, and nothing tells theirs from those
// of the household.
func (tx *Tx) forgetAlerts(network motion.NetworkID) error {
	list, err := tx.Alerts(network)
	return each(list, err, func(a Alert) error {
		if a.Rule.OnlyRaisesEvents() {
			return nil
		}
		return tx.DeleteAlert(a.Key())
	})
}
