package engine_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
)

// outside stands for an outside service; err is why it is not ready.
type outside struct {
	err error

	mu     sync.Mutex
	frames []motion.LiveFrame
}

func (o *outside) Ready() error { return o.err }

func (o *outside) Deliver(_ motion.NetworkID, frame []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var f motion.LiveFrame
	if json.Unmarshal(frame, &f) == nil {
		o.frames = append(o.frames, f)
	}
}

// count returns how many frames were delivered, and forgets them.
func (o *outside) count() int {
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(o.frames)
	o.frames = nil
	return n
}

// relays offers services under their names.
func relays(services map[string]*outside) func(*engine.Options) {
	return func(o *engine.Options) {
		o.Relays = func() map[string]sensing.Relay {
			all := map[string]sensing.Relay{}
			for name, service := range services {
				all[name] = service
			}
			return all
		}
	}
}

func TestLiveMotionIsDeliveredForAMinute(t *testing.T) {
	service := &outside{}
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now())) // so that the appliance itself needs none
		b.devices.commands(guardianKey, "live")
		until, err := b.Sensing.StartRelay(id, "mqtt")
		if err != nil || until != now()+60 {
			t.Fatalf("until %v, %v", until, err)
		}
		equal(t, "asked for at once", b.devices.commands(guardianKey, "live"), []string{`{"enable":1,"interval":500,"timeout_s":60}`})
		b.send(30, 0.35, 0)
		if n := service.count(); n != 60 {
			t.Errorf("%d frames in 30 s", n)
		}
		if until, err := b.Sensing.StartRelay(id, "mqtt"); err != nil || until != now()+60 {
			t.Fatalf("prolonged until %v, %v", until, err)
		}
		b.send(70, 0.35, 0)
		if n := service.count(); n < 119 || n > 120 {
			t.Errorf("%d frames in the minute after that", n)
		}
		if _, err := b.Sensing.StartRelay(id, "mqtt"); err != nil {
			t.Fatal(err)
		}
		b.send(1, 0.35, 0)
		if n := service.count(); n != 2 {
			t.Errorf("%d frames when it was started again", n)
		}
	}, relays(map[string]*outside{"mqtt": service}))
}

func TestEachServiceGetsItsOwn(t *testing.T) {
	first, second := &outside{}, &outside{}
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for _, name := range []string{"mqtt", "webhook"} {
			if _, err := b.Sensing.StartRelay(id, name); err != nil {
				t.Fatal(err)
			}
		}
		b.send(2, 0.35, 0)
		if a, z := first.count(), second.count(); a != 4 || z != 4 {
			t.Errorf("%d and %d frames", a, z)
		}
	}, relays(map[string]*outside{"mqtt": first, "webhook": second}))
}

func TestRelayThatIsNotThereIsRefused(t *testing.T) {
	gone := &outside{err: fault.New(fault.Conflict, "gone")}
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		if _, err := b.Sensing.StartRelay(id+1, "mqtt"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
		if _, err := b.Sensing.StartRelay(id, "nats"); fault.KindOf(err) != fault.NotFound || !strings.HasSuffix(err.Error(), "configured: mqtt, webhook") {
			t.Errorf("unknown provider: %v", err)
		}
		if _, err := b.Sensing.StartRelay(id, "webhook"); fault.KindOf(err) != fault.Conflict {
			t.Errorf("gone provider: %v", err)
		}
	}, relays(map[string]*outside{"mqtt": {}, "webhook": gone}))
}

func TestDeliveriesEndWithTheEngine(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		if _, err := b.Sensing.StartRelay(id, "mqtt"); err != nil {
			t.Fatal(err)
		}
		b.stop()
		if _, err := b.Sensing.StartRelay(id, "mqtt"); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("after the end: %v", err)
		}
		b.start()
	}, relays(map[string]*outside{"mqtt": {}}))
}

// TestRefreshStartsLiveMotionWheneverTheGuardianComes: a refresh reaches a guardian
// that is there at once, and one that connects within the minute when it reports.
func TestRefreshStartsLiveMotionWheneverTheGuardianComes(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		want := []string{`{"enable":1,"interval":500,"timeout_s":60}`}
		b.report(guardianKey, motion.StatusReport{TS: now(), MotionEnabled: 1})
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now())) // so that the appliance itself needs none
		b.devices.commands(guardianKey, "live")
		if _, err := b.Sensing.Refresh(id); err != nil {
			t.Fatal(err)
		}
		equal(t, "at once", b.devices.commands(guardianKey, "live"), want)
		time.Sleep(2*time.Minute + time.Second) // between two renewals
		b.devices.commands(guardianKey, "live")

		b.State.Disconnected(guardianKey, "gone")
		if _, err := b.Sensing.Refresh(id); err != nil {
			t.Fatal(err)
		}
		equal(t, "while it is away", b.devices.commands(guardianKey, "live"), nil)
		b.State.Connected(guardianKey, address)
		b.report(guardianKey, motion.StatusReport{TS: now(), MotionEnabled: 1})
		equal(t, "when it is back", b.devices.commands(guardianKey, "live"), want)
	})
}
