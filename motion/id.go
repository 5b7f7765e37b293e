// Package motion is the vocabulary of the product: ids, time, networks, nodes,
// leafs, links, configuration documents, device reports, events, live frames
// and topology, with the small rules that belong to one value alone.
//
// Field names, units and shapes are those of interfaces.md 2.2 and
// payloads.md 4; json tags are the outward shape. The package knows no I/O, no
// clock, no HTTP and no MQTT; everything in it is a plain value.
package motion

import (
	"encoding/hex"
	"fmt"
	"strconv"
)

// NetworkID identifies a motion-sensing network in Core. Ids are positive and
// fit 32 bits.
type NetworkID uint32

// ParseNetworkID reads a decimal id.
func ParseNetworkID(s string) (NetworkID, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("network id %.20q: want a positive integer", s)
	}
	return NetworkID(n), nil
}

// NodeID is the database id of a node or a leaf; both draw from one sequence,
// so that topology can name either.
type NodeID uint32

// DeviceKind is the mqType of a device: what it speaks for
// (device-protocol.md 2).
type DeviceKind string

// The two kinds of devices.
const (
	Guardian  DeviceKind = "guardian" // the agent that leads a network
	RadarKind DeviceKind = "radar"    // the sensing agent of one node
)

// UserOfDevices is the MQTT user name of every device (device-protocol.md 2).
const UserOfDevices = "device"

// DeviceKey names a device session: its kind and its client id (guardian_id or
// deviceId).
type DeviceKey struct {
	Kind DeviceKind `json:"kind"`
	ID   string     `json:"id"`
}

// String returns "radar/csi-a-02aa00000110".
func (k DeviceKey) String() string { return string(k.Kind) + "/" + k.ID }

// GuardianKey names the session of the network's guardian.
func (n Network) GuardianKey() DeviceKey { return DeviceKey{Kind: Guardian, ID: n.GuardianID} }

// Link ends are written with stable wire names (a node's name, or a leaf's MAC
// without colons), never with friendly names.

// LinkName returns the link_id "dst_name.src_name" (payloads.md 6 no. 3).
func LinkName(dst, src string) string { return dst + "." + src }

// IsOldLinkID reports whether s is a link id of older agents, "DDDDDD-SSSSSS": the last
// three octets of the destination's and of the source's MAC in hexadecimal (payloads.md 6
// no. 3). Only the engine knows the MACs that complete them.
func IsOldLinkID(s string) bool {
	if len(s) != 13 || s[6] != '-' {
		return false
	}
	var octets [6]byte
	_, err := hex.Decode(octets[:], []byte(s[:6]+s[7:]))
	return err == nil
}
