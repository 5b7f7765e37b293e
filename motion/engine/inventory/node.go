package inventory

import (
	"encoding/json"
	"reflect"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// The most that is kept of what a node says of itself, in bytes of JSON, beside its links.
const (
	maxRadar   = 16 << 10
	maxVersion = 4 << 10 // and of its hardware and firmware: these are in memory
)

// PutNode brings a node's record up to date with what its agent says of it. What
// people have set (location, friendly name) stays. Nothing is written when
// nothing has changed.
func PutNode(tx *store.Tx, network motion.NetworkID, radar motion.Radar) (motion.Node, error) {
	if err := bounded(radar); err != nil {
		return motion.Node{}, err
	}
	node, err := FindNode(tx, network, radar)
	if err != nil {
		return motion.Node{}, err
	}
	before := node
	node.NetworkID, node.DeviceID, node.Name = network, radar.DeviceID, radar.NodeName
	node.RootMode, node.Role = radar.RootMode, motion.MeshNode
	if radar.RootMode == motion.RootModeMaster {
		node.Role = motion.MeshRoot
	}
	node.APBSSID2GHz, node.APBSSID5GHz = radar.APBSSID2GHz, radar.APBSSID5GHz
	node.MeshBSSID, node.P2PBSSID, node.GatewayBSSID = radar.MeshBSSID, radar.P2PBSSID, radar.GatewayBSSID
	if eth := ethernetOf(radar); !eth.IsZero() {
		node.EthMAC = eth
	}
	if radar.LocationID != "" {
		node.LocationID = radar.LocationID
	}
	node.HWID, node.HWVersion, node.FWVersion, node.Version = radar.HWID, radar.HWVersion, radar.FWVersion, radar.Version
	if node.ID != 0 && sameNode(before, node) {
		return before, refreshInterfaces(tx, node.ID, radar)
	}
	if node.CreatedAt.IsZero() {
		node.CreatedAt = tx.Now()
		if err := title(tx, &node); err != nil {
			return motion.Node{}, err
		}
	}
	node.UpdatedAt = tx.Now()
	if node, err = tx.PutNode(node); err != nil {
		return motion.Node{}, err
	}
	return node, tx.PutRadar(node.ID, radar)
}

// title gives a new node of another maker, whose wire name is made of addresses, a name for people.
func title(tx *store.Tx, node *motion.Node) error {
	name := motion.NodeTitle(node.DeviceID, false)
	if name == "" || node.FriendlyName != "" {
		return nil
	}
	others, err := tx.Nodes(node.NetworkID)
	if slices.ContainsFunc(others, func(n motion.Node) bool { return n.FriendlyName == name }) {
		name = motion.NodeTitle(node.DeviceID, true)
	}
	node.FriendlyName = name
	return err
}

// bounded refuses a node that says more of itself than is kept.
func bounded(radar motion.Radar) error {
	radar.Links = nil
	whole, err := json.Marshal(radar)
	if err != nil || len(whole) > maxRadar {
		return fault.New(fault.TooLarge, "node %q: more than %d bytes", radar.DeviceID, maxRadar)
	}
	version, err := json.Marshal(radar.Version)
	if err != nil || len(version)+len(radar.HWID)+len(radar.HWVersion)+len(radar.FWVersion) > maxVersion {
		return fault.New(fault.TooLarge, "node %q: version, hw_id, hw_version and fw_version of more than %d bytes", radar.DeviceID, maxVersion)
	}
	return nil
}

// refreshInterfaces keeps the addresses of a node, whose record is as it was, up to
// date.
func refreshInterfaces(tx *store.Tx, id motion.NodeID, radar motion.Radar) error {
	before, err := tx.Radar(id)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	same := slices.EqualFunc(before.Interfaces, radar.Interfaces, func(a, b motion.Interface) bool {
		return a.Name == b.Name && a.Type == b.Type && a.MAC == b.MAC && a.IP == b.IP && a.WifiChannel == b.WifiChannel
	})
	if same {
		return nil // counters alone are not worth a commit
	}
	return tx.PutRadar(id, radar)
}

// sameNode compares two records of a node but for their times. Documents that
// were read from the database and ones that a device sent have the same types.
func sameNode(a, b motion.Node) bool {
	a.UpdatedAt, b.UpdatedAt = 0, 0
	a.LastHeard, b.LastHeard = 0, 0
	if len(a.Version) == 0 && len(b.Version) == 0 {
		a.Version, b.Version = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// FindNode returns the record of a reporting node, by device id, else by name; an
// empty one when it is new.
func FindNode(tx *store.Tx, network motion.NetworkID, radar motion.Radar) (motion.Node, error) {
	node, err := tx.NodeByDevice(radar.DeviceID)
	if fault.KindOf(err) == fault.NotFound {
		node, err = tx.NodeByName(network, radar.NodeName)
	}
	if fault.KindOf(err) == fault.NotFound {
		return motion.Node{}, nil
	}
	return node, err
}

func ethernetOf(radar motion.Radar) motion.MAC {
	for _, i := range radar.Interfaces {
		if i.Type == "ETHERNET" {
			return i.MAC
		}
	}
	return motion.MAC{}
}

// PlainName reports whether s can be a client id and a level of a topic.
func PlainName(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == ':'
		if !plain {
			return false
		}
	}
	return true
}

// RadarOf names the radar session of a node.
func RadarOf(node motion.Node) motion.DeviceKey {
	return motion.DeviceKey{Kind: motion.RadarKind, ID: node.DeviceID}
}
