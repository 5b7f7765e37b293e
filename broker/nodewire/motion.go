package nodewire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Motion is what a node says that decides about motion itself. What a message does not tell is nil.
type Motion struct {
	Node      string   // part of the topic that names the node
	Moves     *bool    // it sees motion
	Score     *float64 // how much, in the node's own unit
	Threshold *float64 // of Score, from where on it sees motion
	Alive     *bool    // it is connected; false: what it said before says nothing any more
}

// MaxMotionMessage is how long a message about motion is at most, in bytes; longer ones are others'.
const MaxMotionMessage = 2048

// MQTTMotion reads a message that a node has published, by what follows the topic that its messages begin
// with. Three forms are read:
//
//   - ESPHome (its mqtt component): NODE/binary_sensor/OBJECT/state is ON or OFF for an object whose name tells of
//     motion, occupancy or presence; NODE/sensor/movement_score/state and NODE/number/threshold/state are numbers;
//     NODE/status is online or offline.
//   - Micro-ESPectre: NODE is {"movement":0.12,"threshold":1,"state":"motion"}, or "idle".
//   - ESPectre, Native frontend: NODE/motion is {"state":"motion","score":0.02}; NODE/sensing may have its threshold;
//     NODE/health is {"status":"offline"} as its will.
//
// ErrOther: the message tells of something else.
func MQTTMotion(topic string, payload []byte) (m Motion, err error) {
	if len(payload) > MaxMotionMessage {
		return m, ErrOther
	}
	parts := strings.Split(topic, "/")
	last := len(parts) - 1
	node := func(n int) string { return strings.Join(parts[:len(parts)-n], "/") }
	switch {
	case last >= 2 && parts[last] == "state" && parts[last-2] == "binary_sensor":
		return espHomeMotion(node(3), parts[last-1], payload)
	case last >= 2 && parts[last] == "state" && (parts[last-2] == "sensor" || parts[last-2] == "number"):
		return espHomeNumber(node(3), parts[last-1], payload)
	case parts[last] == "status":
		return alive(node(1), string(payload))
	case parts[last] == "motion" || parts[last] == "sensing" || parts[last] == "health":
		return jsonMotion(node(1), payload)
	}
	return jsonMotion(topic, payload)
}

// espHomeMotion reads the state of a binary sensor.
func espHomeMotion(node, object string, payload []byte) (Motion, error) {
	for _, word := range []string{"motion", "occupancy", "presence"} {
		if !strings.Contains(object, word) {
			continue
		}
		on := string(payload) == "ON"
		if !on && string(payload) != "OFF" {
			return Motion{}, ErrForm
		}
		return Motion{Node: node, Moves: &on}, nil
	}
	return Motion{}, ErrOther
}

// espHomeNumber reads the state of a sensor or number.
func espHomeNumber(node, object string, payload []byte) (m Motion, err error) {
	if object != "movement_score" && object != "threshold" {
		return m, ErrOther
	}
	value, err := strconv.ParseFloat(string(bytes.TrimSpace(payload)), 64)
	if err != nil || value < 0 || value > 1e6 || value != value {
		return m, ErrForm
	}
	if m.Node = node; object == "threshold" {
		m.Threshold = &value
	} else {
		m.Score = &value
	}
	return m, nil
}

// alive reads whether a node is connected.
func alive(node, word string) (Motion, error) {
	yes := word == "online"
	if !yes && word != "offline" {
		return Motion{}, ErrOther
	}
	return Motion{Node: node, Alive: &yes}, nil
}

// jsonMotion reads an object of ESPectre.
func jsonMotion(node string, payload []byte) (m Motion, err error) {
	var said struct {
		State     *string  `json:"state"`
		Movement  *float64 `json:"movement"`
		Score     *float64 `json:"score"`
		Threshold *float64 `json:"threshold"`
		Status    *string  `json:"status"`
	}
	if len(payload) == 0 || payload[0] != '{' {
		return m, ErrOther
	}
	if json.Unmarshal(payload, &said) != nil {
		return m, ErrForm
	}
	if said.Status != nil {
		return alive(node, *said.Status)
	}
	m = Motion{Node: node, Score: said.Movement, Threshold: said.Threshold}
	if said.Score != nil {
		m.Score = said.Score
	}
	if said.State != nil && (*said.State == "motion" || *said.State == "idle") {
		moves := *said.State == "motion"
		m.Moves = &moves
	}
	for _, v := range []*float64{m.Score, m.Threshold} {
		if v != nil && *v < 0 {
			return Motion{}, ErrForm
		}
	}
	if m.Moves == nil && m.Score == nil && m.Threshold == nil {
		return Motion{}, ErrOther
	}
	return m, nil
}
