package homeassistant_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sensegate/motion/sensor"
	"sensegate/motion/sensor/homeassistant"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
)

// people is a household that keeps what is detected, as the product decides.
type people struct {
	mu       sync.Mutex
	provider *homeassistant.Provider
	status   map[string]string
	names    map[string]string
	online   map[string]bool
	told     []string // name and status
}

func (p *people) Accounts(context.Context) ([]sensor.Account, error) {
	return []sensor.Account{{UserThingName: "USER_1"}}, nil
}

func (p *people) Cursor(context.Context) (string, error) { return "", nil }
func (p *people) BadInput(string, []byte)                {}

func (p *people) Deliver(ctx context.Context, b sensor.Batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(b.Changed) > 0 {
		found, err := p.provider.ListDevices(ctx, sensor.Account{})
		if err != nil {
			return err
		}
		clear(p.names)
		for _, f := range found {
			p.names[f.Reading.Thing] = f.Name
			b.Readings = append(b.Readings, f.Reading)
		}
	}
	for _, r := range b.Readings {
		kind := sensor.Motion
		if strings.HasPrefix(r.Thing, "HUB_") {
			kind = sensor.Hub
		}
		next, tells := sensor.Device{Type: kind}.Take(sensor.State{Status: p.status[r.Thing]}, r)
		p.status[r.Thing], p.online[r.Thing] = next.Status, *r.Online
		if tells {
			p.told = append(p.told, p.names[r.Thing]+" "+next.Status)
		}
	}
	return nil
}

// await waits until something is so.
func (p *people) await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		p.mu.Lock()
		yes := is()
		state := fmt.Sprintf("names %v, status %v, online %v, told %q", p.names, p.status, p.online, p.told)
		p.mu.Unlock()
		if yes {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: %s", what, state)
		}
	}
}

// box is an appliance whose uplink leads to a broker.
type box struct {
	*people
	stop func()
}

// start starts an appliance; former is what its household knows from before.
func start(t *testing.T, at *uplinktest.Broker, former *people) box {
	t.Helper()
	provider := homeassistant.New(slog.New(slog.DiscardHandler))
	known := &people{provider: provider, status: map[string]string{}, names: map[string]string{}, online: map[string]bool{}}
	if former != nil {
		known.status, known.told = former.status, former.told
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = provider.Run(ctx, known) })
	conn := at.Connect("box")
	part := provider.Part(homeassistant.Options{Uplink: "house", Discovery: "homeassistant", Base: "sensegate/0a1b2c3d"})
	running.Go(func() {
		connected, end := context.WithCancel(ctx)
		defer end()
		go func() {
			select {
			case <-conn.Ended():
				end()
			case <-connected.Done():
			}
		}()
		if err := part.Run(connected, conn); err != nil {
			t.Error(err)
		}
	})
	stop := sync.OnceFunc(func() {
		conn.Close()
		cancel()
		running.Wait()
	})
	t.Cleanup(stop)
	return box{known, stop}
}

// TestAtARealBroker plays the day of a maker's sensor at mosquitto: it is announced, moves, and is removed; the box and
// the broker are restarted.
func TestAtARealBroker(t *testing.T) {
	t.Parallel()
	mosquitto := uplinktest.Start(t, uplinktest.Options{})
	maker := mosquitto.Connect("maker")
	say := func(topic, payload string, retain bool) {
		t.Helper()
		if err := maker.Publish(t.Context(), uplink.Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retain: retain}); err != nil {
			t.Fatal(err)
		}
	}
	const (
		config    = "homeassistant/binary_sensor/hall/config"
		announced = `{"name":"Hall","device_class":"motion","state_topic":"makers/hall","unique_id":"maker_hall","availability_topic":"makers/alive"}`
	)
	announce := func() {
		say(config, announced, true)
		say("makers/alive", "online", true)
		say("homeassistant/device/sensegate_4d3c2b1a_1/config", `{"device":{"identifiers":["sensegate_4d3c2b1a_1"],"name":"Another box"},"origin":{"name":"sensegate"},"components":{"motion":{"platform":"binary_sensor","device_class":"motion","unique_id":"sensegate_4d3c2b1a_1_motion","state_topic":"sensegate/4d3c2b1a/1/motion"}}}`, true)
	}
	announce()
	say("makers/hall", "ON", true)
	b := start(t, mosquitto, nil)
	is := func(status string) func() bool {
		return func() bool {
			for thing, name := range b.names {
				if name == "Hall" {
					return b.status[thing] == status && b.online[thing]
				}
			}
			return false
		}
	}
	b.await(t, "announced, and the kept state", is(sensor.Moving))
	say("makers/hall", "OFF", true)
	b.await(t, "still", is(sensor.Clear))
	say("makers/hall", "ON", true)
	b.await(t, "motion", is(sensor.Moving))
	const told = "Hall clear,Hall motion"
	check := func(when string) {
		t.Helper()
		b.mu.Lock()
		defer b.mu.Unlock()
		if got := strings.Join(b.told, ","); got != told {
			t.Errorf("%s: %s is told, want %s", when, got, told)
		}
		if len(b.names) != 2 || !slices.Contains([]string{b.names["HUB_house"]}, "house") {
			t.Errorf("%s: things %v, want the hub and the sensor: never what sensegate announces", when, b.names)
		}
	}
	check("two changes")

	b.stop()
	say("makers/hall", "OFF", true)
	b = start(t, mosquitto, b.people)
	b.await(t, "the box was restarted", is(sensor.Clear))
	check("the box was restarted")

	mosquitto.Down()
	b.await(t, "without a broker it is offline", func() bool { return !b.online["HUB_house"] })
	b.stop()
	mosquitto.Up()
	maker = mosquitto.Connect("maker")
	announce()
	say("makers/hall", "ON", true)
	b = start(t, mosquitto, b.people)
	b.await(t, "the broker was restarted", is(sensor.Moving))
	check("the broker was restarted")

	say("makers/alive", "offline", true)
	b.await(t, "its maker is away", func() bool { return !is(sensor.Moving)() })
	say(config, "", true)
	b.await(t, "its announcement is removed", func() bool { return len(b.names) == 1 })
}
