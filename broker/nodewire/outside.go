package nodewire

import "strings"

// On a broker that a house already runs, messages of all kinds pass. Nodes that sense by radio are recognised there by
// the topics that their firmware chooses: ESPectre's Native frontend, Micro-ESPectre, and ESPHome with ESPectre's
// component, whose movement_score no other has.

const (
	espectreNative = "espectre/v1/devices/"
	microESPectre  = "home/espectre/"
	scoreState     = "/sensor/movement_score/state"
)

// OutsideFilters returns the MQTT filters of the topics at which OutsideNode recognises a node.
func OutsideFilters() []string {
	return []string{
		espectreNative + "+/motion", espectreNative + "+/sensing", espectreNative + "+/health", microESPectre + "+",
		"+" + scoreState, "+/+" + scoreState, "+/+/+" + scoreState,
	}
}

// OutsideNode returns the topic below which the node publishes that a topic is of, and the other topics that it tells
// of motion at; ok is false for a topic by which no node is recognised.
func OutsideNode(topic string) (node string, others []string, ok bool) {
	if rest, is := strings.CutPrefix(topic, espectreNative); is {
		id, what, _ := strings.Cut(rest, "/")
		return espectreNative + id, nil, id != "" && (what == "motion" || what == "sensing" || what == "health")
	}
	if rest, is := strings.CutPrefix(topic, microESPectre); is {
		return topic, nil, rest != "" && !strings.Contains(rest, "/")
	}
	node, is := strings.CutSuffix(topic, scoreState)
	if !is || node == "" {
		return "", nil, false
	}
	return node, []string{node + "/binary_sensor/motion_detected/state", node + "/number/threshold/state", node + "/status"}, true
}

// ESPectreIDOf returns the device_id of the node of ESPectre, Native frontend, that publishes below a topic, "" for
// another.
func ESPectreIDOf(node string) string {
	id, _ := strings.CutPrefix(node, espectreNative)
	if id == node {
		return ""
	}
	return id
}
