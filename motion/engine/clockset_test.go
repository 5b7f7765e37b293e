package engine_test

import (
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
)

// TestSensingBearsClocksThatAreSet has a home seen in motion before and after the
// appliance's clock is set: both are told, none twice.
func TestSensingBearsClocksThatAreSet(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, play := range map[string]func(c *wallClock){
		"forward a year":           func(c *wallClock) { c.set(year) },
		"back a year":              func(c *wallClock) { c.set(-year) },
		"from 1970 to the present": func(c *wallClock) { c.set(56 * year) },
	} {
		t.Run(name, func(t *testing.T) {
			withClock(t, func(t *testing.T, b *box, clock *wallClock) {
				if name == "from 1970 to the present" {
					b.stop()
					clock.to(time.Unix(60, 0))
					b.start()
					if _, err := b.Devices.OpenAdoption(t.Context(), 0, 600); err != nil { // the first window is not open by such a clock
						t.Fatal(err)
					}
				}
				b.home()
				b.send(10, 0.35, 0)
				b.send(130, 0, 0)
				play(clock)
				b.send(130, 0, 0)
				b.send(10, 0.35, 0)
				b.send(130, 0, 0)
				all, late := map[string]int{}, map[string]int{}
				for _, event := range b.events() {
					all[event.Event]++
					if age := b.State.Now().Since(event.TS); age >= 0 && age < 600 {
						late[event.Event]++
					}
				}
				for _, kind := range []string{motion.MotionDetectedEvent, motion.MotionStoppedEvent} {
					if all[kind] != 2 || late[kind] != 1 {
						t.Errorf("%d %s, %d by the clock as it was set, want 2 and 1", all[kind], kind, late[kind])
					}
				}
				if all[motion.ClockSetEvent] != 1 || late[motion.ClockSetEvent] != 1 {
					t.Errorf("events %v, want one that marks where the clock was set", all)
				}
				if all[motion.LinkDisconnectedEvent] > 0 {
					t.Errorf("events %v, want no link to be lost", all)
				}
			})
		})
	}
}

// TestClockThatGoesBackOpensNoWindow starts an appliance without a battery again, before
// its clock is set: neither the first window nor one that an owner had opened is open.
func TestClockThatGoesBackOpensNoWindow(t *testing.T) {
	clock := &wallClock{}
	run(t, func(t *testing.T, b *box) {
		network := b.home()
		for _, id := range []motion.NetworkID{0, network} {
			if _, err := b.Devices.OpenAdoption(t.Context(), id, 3600); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(48 * time.Hour)
		b.stop()
		clock.to(time.Unix(60, 0))
		b.start()
		for _, id := range []motion.NetworkID{0, network} {
			if until, err := b.Devices.AdoptionUntil(t.Context(), id); err != nil || until > b.State.Now() {
				t.Errorf("network %d adopts devices until %v, and it is %v (%v)", id, until, b.State.Now(), err)
			}
		}
	}, func(o *engine.Options) { o.Now = clock.now })
}
