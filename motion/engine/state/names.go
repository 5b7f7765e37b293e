package state

import (
	"hash/fnv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

// LinkName returns the stable name dst_name.src_name of a link, and the names of
// its ends.
func (n *Network) LinkName(key fuse.Link) (name, dst, src string) {
	if name, ok := n.Names[key]; ok {
		dst, src, _ = strings.Cut(name, ".")
		return name, dst, src
	}
	dst, src = n.endName(key.Dst), n.endName(key.Src)
	return motion.LinkName(dst, src), dst, src
}

// NameOf returns the stable name of a link.
func (n *Network) NameOf(key fuse.Link) string {
	name, _, _ := n.LinkName(key)
	return name
}

func (n *Network) endName(mac motion.MAC) string {
	if e, ok := n.EndOf(mac); ok {
		return e.Name
	}
	return mac.Name()
}

// KeyOf returns the key of a link that a device names: "dst.src" by stable
// names, or the old "DDDDDD-SSSSSS", the last three octets of each end
// (payloads.md 6 no. 3). known is false when the records do not know an end: the key
// then has macFor of its name. n.Mu is held.
func (n *Network) KeyOf(name string) (key fuse.Link, known bool) {
	if motion.IsOldLinkID(name) {
		if key, ok := n.oldLink(name[:6], name[7:]); ok {
			return key, true
		}
	}
	dst, src, _ := strings.Cut(name, ".")
	to, knownTo := n.endNamed(dst)
	from, knownFrom := n.endNamed(src)
	key = fuse.Link{Src: from.mac, Dst: to.mac}
	if !knownTo {
		key.Dst = macFor(dst)
	}
	if !knownFrom {
		key.Src = macFor(src)
	}
	return key, knownTo && knownFrom
}

// KeyOrInvent is KeyOf, and n.Names keeps the name of a key that the records do not
// explain.
func (n *Network) KeyOrInvent(name string) fuse.Link {
	key, known := n.KeyOf(name)
	if !known {
		n.Names[key] = name
	}
	return key
}

// oldLink finds the ends of an old link id.
func (n *Network) oldLink(dst, src string) (fuse.Link, bool) {
	to, okTo := n.endEnding(dst)
	from, okFrom := n.endEnding(src)
	return fuse.Link{Src: from, Dst: to}, okTo && okFrom
}

// endEnding returns the address that ends with the given six digits.
func (n *Network) endEnding(digits string) (motion.MAC, bool) {
	digits = strings.ToLower(digits)
	for mac := range n.ByMAC {
		if strings.HasSuffix(mac.Name(), digits) {
			return mac, true
		}
	}
	for mac := range n.Leafs {
		if strings.HasSuffix(mac.Name(), digits) {
			return mac, true
		}
	}
	return motion.MAC{}, false
}

// macFor returns the address that a name is, else a locally administered one that stands
// for the name.
func macFor(name string) motion.MAC {
	if mac, err := motion.ParseMAC(name); err == nil {
		return mac
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum32()
	return motion.MAC{0x02, 0xff, byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}
}

// PlaceName returns how people call the place near an address: its location,
// else the friendly name, else the address.
func (n *Network) PlaceName(mac string) string {
	parsed, err := motion.ParseMAC(mac)
	if err != nil {
		return mac
	}
	e, ok := n.EndOf(parsed)
	switch {
	case ok && e.Location != "":
		return e.Location
	case ok && e.Friendly != "":
		return e.Friendly
	case ok && e.Mesh:
		return e.Name
	}
	return mac
}

// Zone returns the zone of a link: the location of its source, or of its receiver where that is a node of another
// maker that has one: such nodes stand where motion matters, and measure a router elsewhere. "" is a zone of
// its own.
func (n *Network) Zone(key fuse.Link) string {
	at, _ := n.EndOf(n.Served(key))
	return at.Location
}

// FarZone returns the location of a link's other end, "" for unknown.
func (n *Network) FarZone(key fuse.Link) string {
	far := key.Dst
	if n.Served(key) == far {
		far = key.Src
	}
	at, _ := n.EndOf(far)
	return at.Location
}

// Served returns the end of a link that is in the room which it serves.
func (n *Network) Served(key fuse.Link) motion.MAC {
	node := n.Nodes[n.ByMAC[key.Dst]]
	from, _ := n.EndOf(key.Src)
	if motion.NodeKindOf(node.DeviceID) != "" && (node.Location != "" || from.Location == "") {
		return key.Dst
	}
	return key.Src
}

// ZoneName returns the zone of a link; one without a location is a zone of its
// own.
func (n *Network) ZoneName(key fuse.Link) string {
	if zone := n.Zone(key); zone != "" {
		return zone
	}
	return n.Served(key).String()
}
