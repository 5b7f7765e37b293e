package homeassistant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion/sensor"
	"sensegate/motion/uplink"
)

// message returns one that was not kept.
func message(topic, payload string) uplink.Message {
	return uplink.Message{Topic: topic, Payload: []byte(payload)}
}

// broker is one that a house runs, in memory: what it keeps, and who listens.
type broker struct {
	mu      sync.Mutex
	kept    map[string]string
	filters []subscription
	refuses string // a filter
}

type subscription struct {
	filter string
	hear   func(uplink.Message)
}

func (b *broker) Publish(context.Context, uplink.Message) error {
	return errors.New("who only reads has published")
}

func (b *broker) Offer(uplink.Message) { panic("who only reads has published") }

func (b *broker) Subscribe(_ context.Context, filter string, hear func(uplink.Message)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if filter == b.refuses {
		return errors.New("not allowed")
	}
	b.filters = append(b.filters, subscription{filter, hear})
	for topic, payload := range b.kept {
		if uplink.Matches(filter, topic) {
			hear(uplink.Message{Topic: topic, Payload: []byte(payload), Retain: true})
		}
	}
	return nil
}

// publish sends messages, each a topic and a payload, to who listens.
func (b *broker) publish(retain bool, messages ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := 0; i < len(messages); i += 2 {
		topic, payload := messages[i], messages[i+1]
		if retain {
			b.kept[topic] = payload
		}
		if retain && payload == "" {
			delete(b.kept, topic)
		}
		for _, s := range b.filters {
			if uplink.Matches(s.filter, topic) {
				s.hear(message(topic, payload))
			}
		}
	}
}

// household is a host with one account, which keeps what it is told.
type household struct {
	mu       sync.Mutex
	provider *Provider
	status   map[string]string // of things, by name
	online   map[string]bool
	told     []string // detections: the thing's name and its status
	listed   []string // names at the last change of the list
	bad      []string
	fails    int // deliveries that fail next
}

func (h *household) Accounts(context.Context) ([]sensor.Account, error) {
	return []sensor.Account{{UserThingName: "USER_1"}}, nil
}

func (h *household) Cursor(context.Context) (string, error) { return "", nil }

func (h *household) BadInput(reason string, _ []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bad = append(h.bad, reason)
}

func (h *household) Deliver(ctx context.Context, b sensor.Batch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fails > 0 {
		h.fails--
		return errors.New("the disk is full")
	}
	h.take(b.Readings)
	if len(b.Changed) > 0 {
		found, err := h.provider.ListDevices(ctx, sensor.Account{})
		if err != nil {
			return err
		}
		h.listed = nil
		for _, f := range found {
			if f.Type != sensor.Hub {
				h.listed = append(h.listed, f.Name)
			}
			h.take([]sensor.Reading{f.Reading})
		}
	}
	return nil
}

// take decides about readings as the product does.
func (h *household) take(readings []sensor.Reading) {
	for _, r := range readings {
		kind := sensor.Motion
		if strings.HasPrefix(r.Thing, "HUB_") {
			kind = sensor.Hub
		}
		next, tells := sensor.Device{Type: kind}.Take(sensor.State{Status: h.status[r.Thing]}, r)
		h.status[r.Thing] = next.Status
		if r.Online != nil {
			h.online[r.Thing] = *r.Online
		}
		if tells {
			h.told = append(h.told, next.Status)
		}
	}
}

// house is a broker with its makers, an appliance and its household. Its clock is that of a synctest bubble.
type house struct {
	*household
	t          *testing.T
	broker     *broker
	options    Options
	disconnect func()
}

// inHouse runs a test in a house whose broker keeps messages from before, each a topic and a payload.
func inHouse(t *testing.T, kept []string, test func(h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, broker: &broker{kept: map[string]string{}}, options: Options{Uplink: "house", Discovery: "homeassistant", Base: "sensegate/0a1b2c3d"}}
		for i := 0; i < len(kept); i += 2 {
			h.broker.kept[kept[i]] = kept[i+1]
		}
		h.start()
		h.connect()
		test(h)
		h.disconnect()
	})
}

// start starts the appliance anew: it knows what its household has kept.
func (h *house) start() {
	p := New(slog.New(slog.DiscardHandler))
	if h.household == nil {
		h.household = &household{status: map[string]string{}, online: map[string]bool{}}
	}
	h.mu.Lock()
	h.provider = p
	h.mu.Unlock()
	ctx, cancel := context.WithCancel(h.t.Context())
	go func() { _ = p.Run(ctx, h.household) }()
	h.t.Cleanup(cancel)
	synctest.Wait()
}

// connect makes a connection, and lets the time pass in which the broker tells what it keeps.
func (h *house) connect() {
	ctx, cancel := context.WithCancel(h.t.Context())
	ended := make(chan error)
	part := h.provider.Part(h.options)
	go func() { ended <- part.Run(ctx, h.broker) }()
	h.disconnect = func() {
		cancel()
		if err := <-ended; err != nil {
			h.t.Error(err)
		}
		h.broker.mu.Lock()
		h.broker.filters = nil
		h.broker.mu.Unlock()
	}
	h.passes(settleAfter + step)
}

// passes lets time pass.
func (h *house) passes(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// says has makers publish messages, each a topic and a payload, and lets a second pass.
func (h *house) says(retain bool, messages ...string) {
	h.broker.publish(retain, messages...)
	h.passes(step + time.Millisecond)
}

// wants compares what the household knows: its list, and what was detected since it was last asked.
func (h *house) wants(when, listed, told string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.listed)
	if got := strings.Join(h.listed, ","); got != listed {
		h.t.Errorf("%s: the list is %q, want %q", when, got, listed)
	}
	if got := fmt.Sprint(h.household.told); got != "["+told+"]" {
		h.t.Errorf("%s: %s is detected, want [%s]", when, got, told)
	}
	h.household.told = nil
}

// isOnline returns whether the thing with a key is online.
func (h *house) isOnline(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.online[thingName(key)]
}
