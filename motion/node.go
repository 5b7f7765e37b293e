package motion

import "strings"

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

// NodeDeviceID returns the deviceId of a node of another maker; parts tell it from others of its kind.
func NodeDeviceID(kind NodeKind, parts ...string) string {
	return nodePrefix + string(kind) + ":" + strings.Join(parts, ":")
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

// Authenticated reports whether what comes under a deviceId has shown a secret of its own. Nodes of other
// makers have none, but for those that log in to the broker.
func Authenticated(deviceID string) bool {
	kind := NodeKindOf(deviceID)
	return kind == "" || kind == MQTTMotion
}
