package series

import "sensegate/motion"

// ID names one series of a network. It is comparable, and sorting IDs puts the
// network first. The text is the one that stands in blocks: empty for the
// network, "DST.SRC" for a link, '@' and six octets for a location.
type ID string

// Network is the series of the whole network.
const Network ID = ""

const locationMark = '@'

// maxName is the longest ID in bytes.
const maxName = 255

// Link returns the series of the link called name, "DST.SRC".
func Link(name string) ID { return ID(name) }

// Location returns the series of the share of motion at the node or leaf mac.
func Location(mac motion.MAC) ID { return ID(append([]byte{locationMark}, mac[:]...)) }

// MAC returns the address of a location; ok is false for any other series.
func (id ID) MAC() (mac motion.MAC, ok bool) {
	if len(id) != 1+len(mac) || id[0] != locationMark {
		return mac, false
	}
	copy(mac[:], id[1:])
	return mac, true
}

func (id ID) isLocation() bool {
	_, ok := id.MAC()
	return ok
}
