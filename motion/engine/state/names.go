package state

import (
	"cmp"
	"hash/fnv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fuse"
	"sensegate/motion/series"
)

// LinkName returns the stable name dst_name.src_name of a link, and the names of
// its ends.
func (n *Network) LinkName(key fuse.Link) (name, dst, src string) {
	if name, ok := n.names[key]; ok {
		dst, src, _ = strings.Cut(name, ".")
		return name, dst, src
	}
	dst, src = n.endName(key.Dst), n.endName(key.Src)
	return motion.LinkName(dst, src), dst, src
}

// MaxNames bounds what is remembered of links that devices name, those included that no record explains.
const MaxNames = 1024

// LinkFacts is what the records and the settings say of a link. It is found once for all of the link's samples.
type LinkFacts struct {
	Name            string     // the stable name
	Link            *Link      // nil: none has the name
	Zone, ZoneName  string     // see Network.Zone and Network.ZoneName
	Served          motion.MAC // see Network.Served
	Location        series.ID  // of the share of motion near the end that the link serves
	Unauthenticated bool       // see Network.Unauthenticated
	TakesPart       bool       // see Network.MayTakePart
	Sens            int        // its sensitivity, 1..4: its source's own, else the network's

	key   fuse.Link
	place int // in linkFacts.order
}

// linkFacts holds what has been found of links. Devices name the same links in the same order again and again: the one
// after that which was asked for last needs no look into the map.
type linkFacts struct {
	of    map[fuse.Link]*LinkFacts
	order []*LinkFacts // as they were found
	next  int          // in order, that is likely asked for
}

// get returns the facts of a link, nil when they have to be found.
func (f *linkFacts) get(key fuse.Link) *LinkFacts {
	if f.next >= len(f.order) {
		f.next = 0
	}
	if f.next < len(f.order) && f.order[f.next].key == key {
		f.next++
		return f.order[f.next-1]
	}
	facts := f.of[key]
	if facts != nil {
		f.next = facts.place + 1
	}
	return facts
}

// put keeps the facts of a link that get has not returned.
func (f *linkFacts) put(key fuse.Link, facts *LinkFacts) {
	if f.of == nil || len(f.of) >= MaxNames {
		*f = linkFacts{of: map[fuse.Link]*LinkFacts{}}
	}
	facts.key, facts.place = key, len(f.order)
	f.of[key], f.order = facts, append(f.order, facts)
	f.next = len(f.order)
}

// FactsOf returns what the records and the settings say of a link, until they change; n.Mu is held.
func (n *Network) FactsOf(key fuse.Link) *LinkFacts {
	if facts := n.facts.get(key); facts != nil {
		return facts
	}
	facts := &LinkFacts{
		Served: n.servedBy(key), Unauthenticated: n.showsNoSecret(n.ByMAC[key.Dst]) || n.showsNoSecret(n.ByMAC[key.Src]),
		TakesPart: n.MayTakePart(key), Sens: cmp.Or(n.OwnSens(key), n.Guardian.MotionEvents.Sens),
	}
	facts.Name, _, _ = n.LinkName(key)
	facts.Link = n.Links[facts.Name]
	facts.Location = series.Location(facts.Served)
	at, _ := n.EndOf(facts.Served)
	facts.Zone, facts.ZoneName = at.Location, cmp.Or(at.Location, facts.Served.String())
	n.facts.put(key, facts)
	return facts
}

// NameOf returns the stable name of a link; n.Mu is held.
func (n *Network) NameOf(key fuse.Link) string { return n.FactsOf(key).Name }

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
	found, ok := n.keys[name]
	if !ok {
		if n.keys == nil || len(n.keys) >= MaxNames {
			n.keys = map[string]namedLink{}
		}
		found.Link, found.known = n.keyOf(name)
		n.keys[name] = found
	}
	return found.Link, found.known
}

// namedLink is what KeyOf has found.
type namedLink struct {
	fuse.Link
	known bool
}

func (n *Network) keyOf(name string) (key fuse.Link, known bool) {
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

// AppendKeys appends the key of each name (KeyOf) to keys, and keeps the names of keys that the records do not explain.
// n.Mu is held.
func (n *Network) AppendKeys(keys []fuse.Link, names ...string) []fuse.Link {
	if len(n.names) > MaxNames {
		clear(n.names)
		n.facts = linkFacts{}
	}
	for _, name := range names {
		key, known := n.KeyOf(name)
		if !known && n.names[key] != name {
			n.names[key] = name
			n.facts = linkFacts{}
		}
		keys = append(keys, key)
	}
	return keys
}

// Explained forgets the name that AppendKeys has kept of a key: the records will explain it. n.Mu is held.
func (n *Network) Explained(key fuse.Link) {
	delete(n.names, key)
	n.facts = linkFacts{}
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
// n.Mu is held.
func (n *Network) Zone(key fuse.Link) string { return n.FactsOf(key).Zone }

// FarZone returns the location of a link's other end, "" for unknown.
func (n *Network) FarZone(key fuse.Link) string {
	far := key.Dst
	if n.Served(key) == far {
		far = key.Src
	}
	at, _ := n.EndOf(far)
	return at.Location
}

// Served returns the end of a link that is in the room which it serves; n.Mu is held.
func (n *Network) Served(key fuse.Link) motion.MAC { return n.FactsOf(key).Served }

// Location returns the series of the share of motion near the end of a link that it serves; n.Mu is held.
func (n *Network) Location(key fuse.Link) series.ID { return n.FactsOf(key).Location }

func (n *Network) servedBy(key fuse.Link) motion.MAC {
	node := n.Nodes[n.ByMAC[key.Dst]]
	from, _ := n.EndOf(key.Src)
	if motion.NodeKindOf(node.DeviceID) != "" && (node.Location != "" || from.Location == "") {
		return key.Dst
	}
	return key.Src
}

// ZoneName returns the zone of a link; one without a location is a zone of its
// own. n.Mu is held.
func (n *Network) ZoneName(key fuse.Link) string { return n.FactsOf(key).ZoneName }
