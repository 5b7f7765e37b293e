package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
)

// paused reports whether motion is paused, and until when.
func (b *box) paused() (bool, motion.Time) {
	b.t.Helper()
	synctest.Wait()
	s, err := b.Inventory.NetworkState(b.network())
	if err != nil {
		b.t.Fatal(err)
	}
	return s.Paused(), s.PausedUntil
}

// wantPause fails unless motion is paused, or not.
func (b *box) wantPause(when string, want bool) {
	b.t.Helper()
	if got, until := b.paused(); got != want {
		b.t.Errorf("%s: paused %v until %v, want %v", when, got, until, want)
	}
}

func (b *box) pause(length motion.Seconds) {
	b.t.Helper()
	if err := b.Inventory.Pause(b.t.Context(), b.network(), length); err != nil {
		b.t.Fatal(err)
	}
}

func TestPauseEndsByItselfAndSensesAgain(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.pause(900)
		b.devices.commands(guardianKey, "config")
		time.Sleep(899 * time.Second)
		b.wantPause("before its end", true)
		time.Sleep(2 * time.Second)
		b.wantPause("after its end", false)
		b.send(10, 0.4, 0)
		if got := b.kinds(); len(got) != 1 {
			t.Errorf("after the pause: %v", got)
		}
	})
}

func TestPauseWithoutAnEndStays(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.pause(900)
		b.sound(`{"motion_paused":1}`) // by an app: without an end
		time.Sleep(48 * time.Hour)
		b.wantPause("an app's", true)
		b.pause(900)
		b.sound(`{"motion_paused":0}`)
		b.sound(`{"motion_paused":1}`)
		time.Sleep(time.Hour)
		b.wantPause("one after another that had an end", true)
		b.pause(0)
		time.Sleep(48 * time.Hour)
		b.wantPause("one until it is ended", true)
	})
}

func TestEndOfAPauseSurvivesARestart(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.pause(3600)
		b.stop()
		time.Sleep(1800 * time.Second)
		b.start()
		time.Sleep(10 * time.Second)
		b.wantPause("restarted within it", true)
		b.stop()
		time.Sleep(1800 * time.Second)
		b.start()
		time.Sleep(10 * time.Second)
		b.wantPause("restarted after it", false)
	})
}

// TestPauseIsAsLongAsItWasByAClockThatIsSet sets the clock within a pause of an hour.
func TestPauseIsAsLongAsItWasByAClockThatIsSet(t *testing.T) {
	for name, by := range map[string]time.Duration{"forward": 2 * time.Hour, "back": -2 * time.Hour, "a year forward": year} {
		t.Run(name, func(t *testing.T) {
			withClock(t, func(t *testing.T, b *box, clock *wallClock) {
				b.home()
				b.pause(3600)
				time.Sleep(600 * time.Second)
				clock.set(by)
				time.Sleep(2900 * time.Second)
				b.wantPause("before its end", true)
				time.Sleep(200 * time.Second)
				b.wantPause("after its end", false)
			})
		})
	}
}

// TestPauseBegunIn1970 begins a pause before the clock is set; another begins with the clock set, and
// the appliance starts again without it.
func TestPauseBegunIn1970(t *testing.T) {
	withoutClock(t, func(t *testing.T, b *box, c *wallClock) {
		b.home()
		b.pause(3600)
		time.Sleep(600 * time.Second)
		now := time.Now()
		c.to(now)
		time.Sleep(2900 * time.Second)
		b.wantPause("begun in 1970, before its end", true)
		time.Sleep(200 * time.Second)
		b.wantPause("begun in 1970, after its end", false)

		b.pause(3600)
		b.stop()
		c.to(time.Unix(60, 0))
		b.start()
		time.Sleep(600 * time.Second)
		c.to(time.Now())
		time.Sleep(2900 * time.Second)
		b.wantPause("after a start in 1970, before its end", true)
		time.Sleep(200 * time.Second)
		b.wantPause("after a start in 1970, after its end", false)
	})
}
