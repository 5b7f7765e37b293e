package motion

import (
	"cmp"
	"encoding/hex"
	"strings"
)

// NodeKind is a kind of node of another maker: what it speaks.
type NodeKind string

// The kinds of nodes of other makers.
const (
	RuView        NodeKind = "ruview"
	MicroESPectre NodeKind = "micro-espectre"
	ESPectre      NodeKind = "espectre"
	CSILines      NodeKind = "lines"
	Nexmon        NodeKind = "nexmon"
	MQTTMotion    NodeKind = "mqtt"
)

// nodePrefix begins the deviceId of every node of another maker, and of nothing else: "node:ruview:7c2c6742bbac:2".
const nodePrefix = "node:"

// NodeDeviceID returns the deviceId of a node of another maker; where it is, by a MAC without colons or
// an address, and number tell it from others of its kind.
func NodeDeviceID(kind NodeKind, where, number string) string {
	id := nodePrefix + string(kind) + ":" + where
	if number != "" {
		id += ":" + number
	}
	return id
}

// IsNodeID reports whether a deviceId is one that nodes of other makers alone have.
func IsNodeID(deviceID string) bool {
	return len(deviceID) >= len(nodePrefix) && strings.EqualFold(deviceID[:len(nodePrefix)], nodePrefix)
}

// NodeKindOf returns the kind of node that has a deviceId, "" for a device that speaks our own protocol.
func NodeKindOf(deviceID string) NodeKind {
	rest, ok := strings.CutPrefix(deviceID, nodePrefix)
	if !ok {
		return ""
	}
	kind, _, _ := strings.Cut(rest, ":")
	return NodeKind(kind)
}

// NodeNumberOf returns what tells a node of another maker from others at the same address, "" for nothing
// or another device.
func NodeNumberOf(deviceID string) string {
	parts := strings.SplitN(deviceID, ":", 4)
	if len(parts) < 4 || NodeKindOf(deviceID) == "" {
		return ""
	}
	return parts[3]
}

// nodeMakers are the kinds of nodes in words.
var nodeMakers = map[NodeKind]string{
	RuView: "RuView", MicroESPectre: "Micro-ESPectre", ESPectre: "ESPectre", CSILines: "CSI", Nexmon: "nexmon", MQTTMotion: "MQTT",
}

// NodeTitle returns what a node of another maker is called until people name it: "RuView node 2", or without a number
// "ESPectre node bbac", by the end of its MAC. full adds that to a number, where several have the same.
// "": a device that speaks our own protocol.
func NodeTitle(deviceID string, full bool) string {
	kind, number := NodeKindOf(deviceID), NodeNumberOf(deviceID)
	if kind == "" {
		return ""
	}
	title := cmp.Or(nodeMakers[kind], string(kind)) + " node"
	if number != "" {
		title += " " + number
	}
	if number != "" && !full {
		return title
	}
	where := strings.TrimSuffix(strings.TrimPrefix(deviceID, nodePrefix+string(kind)+":"), ":"+number)
	if mac, err := hex.DecodeString(where); err == nil && len(mac) == len(MAC{}) {
		where = where[len(where)-4:]
	}
	return title + " " + where
}

// Authenticated reports whether what comes under a deviceId has shown a secret of its own. Nodes of other
// makers have none, but for those that log in to the broker.
func Authenticated(deviceID string) bool {
	kind := NodeKindOf(deviceID)
	return kind == "" || kind == MQTTMotion
}

// NodeFigures are what arrives of a node of another maker. Rates are of the last ten seconds.
type NodeFigures struct {
	Kind    NodeKind `json:"kind"`
	Address string   `json:"address"`      // it sends from, or where it is read from
	MAC     MAC      `json:"mac,omitzero"` // of that address, as the neighbour table has it; zero: it has none
	Heard   Time     `json:"heard"`
	Rate    float64  `json:"frames_hz"` // frames a second that arrive
	Used    float64  `json:"used_hz"`   // of them, those that motion is sensed from

	Lengths      []FrameLength `json:"lengths"`      // of the channel state, the most frequent first
	Transmitters []Transmitter `json:"transmitters"` // whose frames it measures, the most frequent first; none: it does not tell

	Counted    int64 `json:"counted"`    // frames that were used, since it has come in
	Duplicates int64 `json:"duplicates"` // since the start, as all that follow
	Backwards  int64 `json:"backwards"`  // frames with an earlier number than the newest
	Restarts   int64 `json:"restarts"`
	Identical  int64 `json:"identical"` // frames with the same channel state as the one before
	TooFast    int64 `json:"too_fast"`  // messages beyond the rate that one node may have

	Advice []NodeAdvice `json:"advice"` // what stands in the way, the most important first
}

// Guarded returns the figures without those that waver with what happens at home, for who must not learn when
// somebody is there: no rates and counts, and nil in the place of lengths and transmitters.
func (f NodeFigures) Guarded() NodeFigures {
	return NodeFigures{Kind: f.Kind, Address: f.Address, MAC: f.MAC, Heard: f.Heard, Advice: f.Advice}
}

// FrameLength is how many of the frames of a node have a length.
type FrameLength struct {
	Bytes int     `json:"bytes"`
	Share float64 `json:"share"` // 0..1
}

// Transmitter is how many of the frames of a node a transmitter has sent.
type Transmitter struct {
	MAC   MAC     `json:"mac"`
	Share float64 `json:"share"` // 0..1
	Used  bool    `json:"used"`

	Counted int64 `json:"counted"` // frames of it that were used
}

// NodeAdvice names what stands in the way of a node of another maker. NodeAdvice.Text says what to do, the web app has
// words of its own.
type NodeAdvice string

// What stands in the way of a node of another maker.
const (
	NothingArrives     NodeAdvice = "nothing_arrives"
	NoTransmitter      NodeAdvice = "no_transmitter"
	NeighbourUnknown   NodeAdvice = "no_mac"
	SecondSource       NodeAdvice = "second_source"
	SameAgain          NodeAdvice = "same_again"
	BeyondRate         NodeAdvice = "too_fast"
	TooManyTransmitter NodeAdvice = "many_transmitters"
)

// Text returns the advice as a sentence.
func (a NodeAdvice) Text() string {
	switch a {
	case NothingArrives:
		return "nothing arrives: check its power and that it sends to this box; where it measures its access point, that has to send 20 MHz frames (HT20) to it"
	case NoTransmitter:
		return "no frame is used: it hears several transmitters, none of which is known here; put the address of your router or of another of your nodes into nodes.transmitters, or have the node measure that one alone (--filter-mac)"
	case NeighbourUnknown:
		return "its MAC address is not known, so it is told by its IP address alone"
	case SecondSource:
		return "its numbers go back and forth: something else sends in its name"
	case SameAgain:
		return "the same frame comes again and again: something repeats what the node has sent"
	case BeyondRate:
		return "it sends more than 250 messages a second; what is beyond is left out"
	case TooManyTransmitter:
		return "it hears many transmitters, most of them neighbours; have it measure your router alone (--filter-mac)"
	}
	return string(a)
}

// IntakeFigures are what arrives where nodes of other makers are listened for, since the start.
type IntakeFigures struct {
	Kind    NodeKind `json:"kind"`
	At      string   `json:"at"`      // where it listens or reads
	State   string   `json:"state"`   // what is the matter; "": it works
	Arrived int64    `json:"arrived"` // messages
	Frames  int64    `json:"frames"`  // of them, those with channel state
	Other   int64    `json:"other"`   // messages of such nodes without channel state
	Wrong   int64    `json:"wrong"`   // what is of no known form
	Foreign int64    `json:"foreign"` // from outside the networks that this box is connected to
	Limited int64    `json:"limited"` // beyond the rates of strangers and nodes
}
