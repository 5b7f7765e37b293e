package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// addAtOnce creates an alert that tells of motion between 00:10 and 01:00 when it begins.
func (b *box) addAtOnce(id motion.NetworkID, scene string) alert.Rule {
	b.t.Helper()
	edit := b.edit(fmt.Sprintf(`{"rrule":%q,"monitor":{"monitor_mode":"SIMPLE","duration_minutes":50},"meta":{"sensegate":{"at_once":true%s}},
		"motion_actions":[{"action":"event","payload":{"_consumer":"moved"}}],"no_motion_actions":[{"action":"event","payload":{"_consumer":"still"}}]}`, daily, scene))
	rule, err := b.Alerts.CreateAlert(context.Background(), id, edit)
	if err != nil {
		b.t.Fatal(err)
	}
	return rule
}

func TestAlertTellsOfMotionAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		play func(b *box) // from midnight
		want []string
	}{
		"in the period": {func(b *box) { b.send(720, 0, 0); b.send(30, 0.4, 0) }, []string{"moved 00:12"}},
		"before it":     {func(b *box) { b.send(300, 0, 0); b.send(30, 0.4, 0) }, []string{}},
		"after it":      {func(b *box) { b.send(3700, 0, 0); b.send(30, 0.4, 0) }, []string{}},
		"none":          {func(b *box) { b.send(3700, 0, 0) }, []string{}},
		"motion for long is told again after half an hour": {func(b *box) { b.send(720, 0, 0); b.send(2400, 0.4, 0) }, []string{"moved 00:12", "moved 00:42"}},
		"paused, though it moves": {func(b *box) {
			b.configure(func(n *motion.Network) { n.Meta = motion.Document{"motion_paused": 1} })
			b.send(720, 0, 0)
			b.send(60, 0.4, 0)
		}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.addAtOnce(b.home(), "")
				c.play(b)
				time.Sleep(2 * time.Minute)
				equal(t, "fired", b.fired(), c.want)
			})
		})
	}
}

func TestAlertOfASceneIsSilentInTheOther(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		var house home.Home
		update := func(change func(*store.Tx) error) {
			t.Helper()
			if err := b.State.DB.Update(context.Background(), change); err != nil {
				t.Fatal(err)
			}
		}
		update(func(tx *store.Tx) (err error) {
			house, err = tx.CreateHome(home.Home{ExternalID: id, Scene: home.AtHome, ClaimedAt: tx.Now(), OwnedBefore: true})
			return err
		})
		b.addAtOnce(id, `,"scene":"away"`)
		b.send(720, 0, 0)
		b.send(60, 0.4, 0)
		b.send(600, 0, 0)
		equal(t, "at home", b.fired(), []string{})
		update(func(tx *store.Tx) error {
			house.Scene = home.Away
			return tx.PutHome(house)
		})
		b.send(60, 0.4, 0)
		time.Sleep(time.Minute)
		equal(t, "away", b.fired(), []string{"moved 00:23"})
	})
}

func TestSnoozedAlertComesBackByItself(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		rule := b.addAlert(id, "DTSTART:20000101T010000Z\nRRULE:FREQ=HOURLY", atOnce)
		snooze := func(until motion.Time) error {
			_, err := b.Alerts.SnoozeAlert(context.Background(), id, rule.UUID, until)
			return err
		}
		begin := motion.TimeOf(time.Now())
		if err := snooze(begin.Add(8 * 24 * 3600)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("for eight days: %v, want Invalid", err)
		}
		if err := snooze(begin.Add(2.5 * 3600)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Minute)
		equal(t, "snoozed", b.fired(), []string{})
		if s := b.alertStatus(); s.State != alert.Delayed || !s.Data.Enabled || s.Data.Target != alert.Target(begin.Add(3*3600).Stamp()) {
			t.Errorf("others see %+v, want an enabled rule that waits for its next target", s)
		}
		time.Sleep(35 * time.Minute)
		equal(t, "awake", b.fired(), []string{"still 03:00"})
		if err := snooze(begin.Add(8 * 3600)); err != nil {
			t.Fatal(err)
		}
		if err := snooze(0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		equal(t, "ended by hand", b.fired(), []string{"still 03:00", "still 04:00"})
	})
}

// TestPreviewIsWhatTheRuleDoes: what is rehearsed of a day is what was told on it.
func TestPreviewIsWhatTheRuleDoes(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		begin := motion.TimeOf(time.Now())
		b.addAtOnce(id, "")
		b.addAlert(id, daily, simple)
		b.send(720, 0, 0)
		b.send(2400, 0.4, 0)
		b.send(500, 0, 0)
		time.Sleep(2 * time.Minute)
		equal(t, "fired", b.fired(), []string{"moved 00:12", "moved 00:42", "moved 01:00"})
		records, err := b.Alerts.Records(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]string{{"00:12", "00:42"}, {"01:00"}} {
			rule := records[i].Rule
			p, err := b.Alerts.Preview(context.Background(), id, begin, alert.Edit{RRule: &rule.RRule, Monitor: &rule.Monitor, Meta: &rule.Meta, Motion: &rule.Motion})
			if err != nil || !p.Computed || len(p.Runs) != 5 || p.Timezone != "UTC" {
				t.Fatalf("%+v %v", p, err)
			}
			told := []string{}
			for _, at := range p.Told {
				told = append(told, at.Std().Format("15:04"))
			}
			equal(t, "rehearsed", told, want)
		}
		p, err := b.Alerts.Preview(context.Background(), id, motion.TimeOf(time.Now()), alert.Edit{RRule: &records[1].Rule.RRule, Monitor: &records[1].Rule.Monitor, Motion: &records[1].Rule.Motion})
		if err != nil || len(p.Told) != 0 || p.Unknown != 0 {
			t.Errorf("of who came afterwards: %+v %v, want nothing of before", p, err)
		}
	})
}
