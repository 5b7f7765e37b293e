// Package fleet plays many boxes at an engine that an integrator runs: each has the product's MQTT
// connection and sends events, minutes and health as an uplink does, at their rates or faster. It knows
// what boxes send and counts what that costs. It must not know how an engine keeps it.
package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
)

// Config says who sends how much to whom.
type Config struct {
	Boxes    int
	URLs     []*url.URL // of the engine's nodes; each box prefers one of them
	Password string     // of each box, whose user is box-<id>; "": they have no user
	Events   float64    // a day and box
	Speed    float64    // how many times faster than boxes send
	Duration time.Duration
	PIDs     []int // of the engine's processes on this machine, whose CPU time is measured; none: it is not
}

// MaxBoxes is how many boxes one process plays: each has a connection.
const MaxBoxes = 5000

// Validate returns the first mistake.
func (c Config) Validate() error {
	switch {
	case c.Boxes < 1 || c.Boxes > MaxBoxes:
		return fmt.Errorf("boxes: want 1 to %d", MaxBoxes)
	case len(c.URLs) == 0:
		return errors.New("engine: want the addresses of its nodes")
	case c.Events < 0 || c.Events > 1e6:
		return errors.New("events: want 0 to 1000000 a day")
	case c.Speed <= 0 || c.Speed > 1000:
		return errors.New("speed: want more than 0, at most 1000")
	case c.Duration <= 0:
		return errors.New("duration: want more than 0")
	}
	return nil
}

// starts is how many boxes connect at once.
const starts = 16

// Run connects all boxes, lets them send for the duration, and returns what that cost.
func Run(ctx context.Context, c Config) (Report, error) {
	var tally tally
	boxes := make([]*box, c.Boxes)
	began := time.Now()
	for i := range boxes {
		boxes[i] = &box{id: fmt.Sprintf("%08x", i+1), config: c, tally: &tally}
	}
	err := eachOf(ctx, boxes, func(b *box, i int) error { return b.connect(ctx, c.URLs[i%len(c.URLs)]) })
	defer eachOf(context.WithoutCancel(ctx), boxes, func(b *box, _ int) error { b.close(); return nil })
	if err != nil {
		return Report{}, err
	}
	connecting := time.Since(began)
	before, err := cpuOf(c.PIDs)
	if err != nil {
		return Report{}, err
	}
	running, cancel := context.WithTimeout(ctx, c.Duration)
	defer cancel()
	began = time.Now()
	var all sync.WaitGroup
	for _, b := range boxes {
		all.Go(func() { b.run(running) })
	}
	all.Wait()
	took := time.Since(began)
	after, err := cpuOf(c.PIDs)
	if err != nil {
		return Report{}, err
	}
	return tally.report(c, connecting, took, after-before), ctx.Err()
}

// eachOf does something with each box, some at once, and returns the first error.
func eachOf(ctx context.Context, boxes []*box, do func(*box, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(starts, len(boxes)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(boxes) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := do(boxes[i], i); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// box is one box with one network.
type box struct {
	id     string
	config Config
	tally  *tally
	conn   uplink.Connection
}

func (b *box) base() string { return uplink.DefaultPrefix + "/" + b.id }

func (b *box) connect(ctx context.Context, to *url.URL) (err error) {
	target := uplink.Target{URL: to, ClientID: "sensegate-" + b.id, Status: b.base() + "/availability"}
	if b.config.Password != "" {
		target.Username, target.Password = "box-"+b.id, b.config.Password
	}
	if b.conn, err = mqtt.Connect(ctx, target, slog.New(slog.DiscardHandler)); err == nil {
		err = b.conn.Online(ctx)
	}
	if err != nil {
		return fmt.Errorf("box %s: %w", b.id, err)
	}
	return nil
}

func (b *box) close() {
	if b.conn != nil {
		b.conn.Close()
	}
}

// run sends until ctx ends or the connection does.
func (b *box) run(ctx context.Context) {
	minute := time.Duration(float64(time.Minute) / b.config.Speed)
	var all sync.WaitGroup
	defer all.Wait()
	each := func(every func() time.Duration, message func() uplink.Message) {
		all.Go(func() {
			for wait := rand.N(every() + 1); ; wait = every() { // not all boxes at once
				select {
				case <-ctx.Done():
					return
				case <-b.conn.Ended():
					b.tally.lost()
					return
				case <-time.After(wait):
					b.send(ctx, message())
				}
			}
		})
	}
	steady := func() time.Duration { return minute }
	each(steady, b.health)
	each(steady, b.minute)
	if b.config.Events > 0 {
		mean := float64(24*time.Hour) / b.config.Events / b.config.Speed
		each(func() time.Duration { return time.Duration(rand.ExpFloat64() * mean) }, b.event)
	}
}

// send sends a message and counts it.
func (b *box) send(ctx context.Context, m uplink.Message) {
	began := time.Now()
	err := b.conn.Publish(ctx, m)
	if ctx.Err() == nil || err == nil {
		b.tally.sent(m, time.Since(began), err)
	}
}

// encoded returns a message of a document.
func (b *box) encoded(topic string, document any, retain bool) uplink.Message {
	raw, err := json.Marshal(document)
	if err != nil {
		panic(err) // these types always can be encoded
	}
	return uplink.Message{Topic: b.base() + topic, Payload: raw, QoS: 1, Retain: retain}
}

func (b *box) health() uplink.Message {
	return b.encoded("/health", uplink.Health{
		TS: motion.TimeOf(time.Now()), Version: "fleet", UptimeS: 86400, Problems: []string{}, DiskFree: 12e9, Database: 40e6, Networks: 1, Devices: 6, Online: 6,
	}, true)
}

func (b *box) minute() uplink.Message {
	share := rand.Float64()
	m := uplink.Minute{TS: motion.TimeOf(time.Now().Truncate(time.Minute)), Interval: 60, Motion: &share, Intensity: &share}
	for _, room := range []string{"Bedroom", "Hall", "Kitchen", "Living room", "Office"} {
		m.Places = append(m.Places, uplink.PlaceMinute{Name: room, Motion: &share, Intensity: &share})
	}
	return b.encoded("/1/history", m, false)
}

func (b *box) event() uplink.Message {
	return b.encoded("/1/event", motion.Event{
		ID: fmt.Sprintf("%s-%d", b.id, time.Now().UnixNano()), Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, NetworkID: 1,
		GuardianID: "a41f00c2d97b4e5580136c2e", TS: motion.TimeOf(time.Now()), IntensityWindow: []float64{0.12, 0.31, 0.44}, LinkID: "GWA1000133.02bb00000031", LocName: "Kitchen",
	}, false)
}
