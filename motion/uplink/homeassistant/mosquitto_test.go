package homeassistant_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
)

// patience is how long a test waits for what has to come.
const patience = 20 * time.Second

// mosquitto starts a broker, and returns its address.
func mosquitto(t *testing.T) string {
	t.Helper()
	return "tcp://" + uplinktest.Start(t, uplinktest.Options{}).Address()
}

// connect connects a client with a last will, "" for none. cut ends its connection as a power cut does.
func connect(t *testing.T, broker, id, willTopic string) (c mqtt.Client, cut func()) {
	t.Helper()
	o := mqtt.NewClientOptions().AddBroker(broker).SetClientID(id).SetAutoReconnect(false).SetOrderMatters(true)
	if willTopic != "" {
		o.SetWill(willTopic, "offline", 1, true)
	}
	o.SetCustomOpenConnectionFn(func(at *url.URL, _ mqtt.ClientOptions) (net.Conn, error) {
		conn, err := net.Dial("tcp", at.Host)
		cut = func() { conn.Close() }
		return conn, err
	})
	c = mqtt.NewClient(o)
	wait(t, c.Connect())
	t.Cleanup(func() { c.Disconnect(0) })
	return c, cut
}

func wait(t *testing.T, token mqtt.Token) {
	t.Helper()
	if !token.WaitTimeout(patience) || token.Error() != nil {
		t.Fatalf("mqtt: %v", token.Error())
	}
}

// peer is an uplink's connection.
type peer struct{ client mqtt.Client }

func (p peer) Publish(ctx context.Context, m uplink.Message) error {
	token := p.client.Publish(m.Topic, m.QoS, m.Retain, m.Payload)
	select {
	case <-token.Done():
		return token.Error()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p peer) Offer(m uplink.Message) { p.client.Publish(m.Topic, 0, m.Retain, m.Payload) }

func (p peer) Subscribe(_ context.Context, filter string, hear func(uplink.Message)) error {
	token := p.client.Subscribe(filter, 1, func(_ mqtt.Client, m mqtt.Message) {
		hear(uplink.Message{Topic: m.Topic(), Payload: m.Payload(), QoS: m.Qos(), Retain: m.Retained()})
	})
	if !token.WaitTimeout(patience) {
		return errors.New("no SUBACK")
	}
	return token.Error()
}

// witness is Home Assistant's side of the broker: it remembers everything in order.
type witness struct {
	t      *testing.T
	broker string
	client mqtt.Client

	mu   sync.Mutex
	came *sync.Cond
	log  []mqtt.Message
}

// witnesses tells the clients of witnesses apart.
var witnesses atomic.Int64

func newWitness(t *testing.T, broker string) *witness {
	client, _ := connect(t, broker, fmt.Sprint("witness-", witnesses.Add(1)), "")
	w := &witness{t: t, broker: broker, client: client}
	w.came = sync.NewCond(&w.mu)
	wait(t, w.client.Subscribe("#", 1, func(_ mqtt.Client, m mqtt.Message) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.log = append(w.log, m)
		w.came.Broadcast()
	}))
	return w
}

// until waits until done, which sees all that has come, returns true.
func (w *witness) until(what string, done func([]mqtt.Message) bool) {
	w.t.Helper()
	late := time.AfterFunc(patience, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.came.Broadcast()
	})
	defer late.Stop()
	begun := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for !done(w.log) {
		if time.Since(begun) >= patience {
			w.t.Fatalf("%s has not come; topics now: %v", what, slices.Sorted(maps.Keys(now(w.log))))
		}
		w.came.Wait()
	}
}

// holds waits until a topic's newest payload is text.
func (w *witness) holds(topic, text string) {
	w.t.Helper()
	w.until(topic+" "+text, func(log []mqtt.Message) bool { return now(log)[topic] == text })
}

// mark returns how much has come so far.
func (w *witness) mark() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.log)
}

// since returns the messages after a mark of a topic.
func (w *witness) since(mark int, topic string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return payloads(w.log[mark:], topic)
}

// payloads returns what a topic was told.
func payloads(log []mqtt.Message, topic string) (list []string) {
	for _, m := range log {
		if m.Topic() == topic {
			list = append(list, string(m.Payload()))
		}
	}
	return list
}

// settled waits until a message of its own came back, after all that was sent before it by others.
func (w *witness) settled() {
	w.t.Helper()
	mark := fmt.Sprint(witnesses.Add(1))
	w.say("witness", mark, false)
	w.holds("witness", mark)
}

// say publishes.
func (w *witness) say(topic, payload string, retain bool) {
	w.t.Helper()
	wait(w.t, w.client.Publish(topic, 1, retain, payload))
}

// now returns the newest payload of each topic.
func now(log []mqtt.Message) map[string]string {
	topics := map[string]string{}
	for _, m := range log {
		topics[m.Topic()] = string(m.Payload())
	}
	return topics
}

// retained returns what the broker keeps.
func retained(t *testing.T, broker string) map[string]string {
	t.Helper()
	w := newWitness(t, broker)
	w.settled()
	w.mu.Lock()
	defer w.mu.Unlock()
	return now(slices.DeleteFunc(slices.Clone(w.log), func(m mqtt.Message) bool { return !m.Retained() }))
}
