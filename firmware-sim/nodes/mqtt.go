package nodes

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"
	"time"

	"sensegate/firmware-sim/mqtt"
)

// MQTTForm is how a node tells a broker about motion.
type MQTTForm string

// The forms.
const (
	ESPHome    MQTTForm = "esphome" // ESPHome's mqtt component, with ESPectre version 2
	MicroMQTT  MQTTForm = "micro"   // Micro-ESPectre version 2
	NativeMQTT MQTTForm = "native"  // ESPectre version 3, Native frontend
)

// mqttPatience is how long a message may take.
const mqttPatience = 2 * time.Second

// MQTT is a node that decides about motion itself and tells a broker.
type MQTT struct {
	Server         string // host:port of the broker
	User, Password string
	Topic          string // that its messages begin with
	Form           MQTTForm

	sent atomic.Int64
}

// Sent returns how many messages the broker has been sent.
func (n *MQTT) Sent() int64 { return n.sent.Load() }

// message is what a node publishes.
type message struct {
	topic, payload string
	retained       bool
}

// Run publishes what the node finds in the frames of a source until ctx ends, or the source does. It connects again
// when the connection ends, and ends as if its power were cut.
func (n *MQTT) Run(ctx context.Context, source Source) error {
	tell, unplug := n.connect(ctx)
	defer unplug()
	decide := judge{found: tell}
	play(ctx, source, decide.add)
	return nil
}

// connect connects until unplug cuts the power; tell tells the broker of a verdict and belongs to one goroutine.
func (n *MQTT) connect(ctx context.Context) (tell func(verdict), unplug func()) {
	up := make(chan struct{}, 1)
	options := mqtt.Options{
		Server: n.Server, ClientID: "node-" + n.User, User: n.User, Password: n.Password, KeepAlive: 15 * time.Second,
		Pause: func(attempt int) time.Duration { return min(time.Duration(attempt)*time.Second, 10*time.Second) },
		Up: func() {
			select {
			case up <- struct{}{}:
			default:
			}
		},
	}
	for _, will := range n.will() {
		options.Will = &mqtt.Message{Topic: will.topic, Payload: []byte(will.payload), QoS: 1, Retain: will.retained}
	}
	link := mqtt.Open(options)
	return n.teller(ctx, link, up), link.Cut // without a word: the broker says the will
}

// teller returns what tells of a verdict, after a greeting when there is a new connection.
func (n *MQTT) teller(ctx context.Context, link *mqtt.Client, up <-chan struct{}) func(verdict) {
	say := func(m message) {
		ctx, cancel := context.WithTimeout(ctx, mqttPatience)
		defer cancel()
		if link.Publish(ctx, mqtt.Message{Topic: m.topic, Payload: []byte(m.payload), Retain: m.retained}) == nil {
			n.sent.Add(1)
		}
	}
	tell := n.form(say)
	return func(v verdict) {
		select {
		case <-up:
			for _, m := range n.greeting() {
				say(m)
			}
		default:
		}
		tell(v)
	}
}

// will returns what the broker says in the node's place when it is gone, at most one message.
func (n *MQTT) will() []message {
	switch n.Form {
	case NativeMQTT:
		return []message{{n.Topic + "/health", `{"status":"offline"}`, true}}
	case ESPHome:
		return []message{{n.Topic + "/status", "offline", true}}
	}
	return nil
}

// greeting returns what the node says when it has connected.
func (n *MQTT) greeting() []message {
	threshold := strconv.FormatFloat(scoreThreshold, 'f', -1, 64)
	switch n.Form {
	case NativeMQTT:
		return []message{
			{n.Topic + "/health", `{"status":"online"}`, true},
			{n.Topic + "/sensing", `{"enabled":true,"detector":"lightweight","threshold":` + threshold + `}`, true},
		}
	case ESPHome:
		return []message{{n.Topic + "/status", "online", true}, {n.Topic + "/number/threshold/state", threshold, true}}
	}
	return nil
}

// reportEvery is how often nodes of version 2 tell their score.
const reportEvery = time.Second

// form returns what says a verdict in the form of the node.
func (n *MQTT) form(say func(message)) func(verdict) {
	state := map[bool]string{false: "idle", true: "motion"}
	began := time.Now()
	encode := func(v any) string {
		text, _ := json.Marshal(v) // of numbers and words
		return string(text)
	}
	if n.Form == NativeMQTT {
		return func(v verdict) {
			say(message{n.Topic + "/motion", encode(answer{
				"timestamp_ms": time.Since(began).Milliseconds(), "state": state[v.motion], "score": v.score,
			}), false})
		}
	}
	evaluations, told := 0, state[false]
	each := int(reportEvery.Seconds() / evaluateEvery)
	return func(v verdict) {
		first := evaluations == 0
		evaluations++
		if n.Form == ESPHome && (first || state[v.motion] != told) {
			told = state[v.motion]
			say(message{n.Topic + "/binary_sensor/motion_detected/state", map[bool]string{false: "OFF", true: "ON"}[v.motion], true})
		}
		if evaluations%each != 0 {
			return
		}
		if n.Form == ESPHome {
			say(message{n.Topic + "/sensor/movement_score/state", strconv.FormatFloat(v.score, 'f', 4, 64), false})
			return
		}
		say(message{n.Topic, encode(answer{
			"movement": v.score, "threshold": scoreThreshold, "state": state[v.motion], "packets_processed": evaluations, "packets_dropped": 0,
			"timestamp": time.Now().Unix(),
		}), false})
	}
}
