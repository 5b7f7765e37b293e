package series

import "sensegate/motion"

// ID names one series of a network. IDs are comparable; the network sorts first. The text is
// stored in blocks: empty for the network, "DST.SRC" for a link, '@' and six octets for a
// location.
type ID string

// Network is the series of the whole network.
const Network ID = ""

const locationMark = '@'

// maxName is the greatest length of an ID in bytes.
const maxName = 255

// Link returns the series of the link with the name "DST.SRC".
func Link(name string) ID { return ID(name) }

// Location returns the series of the share of motion at a node or leaf.
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
