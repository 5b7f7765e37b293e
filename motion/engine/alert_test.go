package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/engine/alerting"
	"sensegate/motion/fault"
	"sensegate/store"
)

// addAlert creates an alert whose lists each store an event of their own consumer;
// no_motion also queues a push. Tests begin at midnight UTC.
func (b *box) addAlert(id motion.NetworkID, rrule, monitor string) alert.Rule {
	b.t.Helper()
	edit := b.edit(fmt.Sprintf(`{"alert_name":"Tea","rrule":%q,"monitor":%s,
		"no_motion_actions":[{"action":"event","payload":{"_consumer":"still","data":{"id":7}}},{"action":"fcm_push","user_ids":[5],"payload":{"data":{"title":"Tea"}}}],
		"motion_actions":[{"action":"event","payload":{"_consumer":"moved"}}],
		"no_history_actions":[{"action":"event","payload":{"_consumer":"unknown"}}]}`, rrule, monitor))
	rule, err := b.Alerts.CreateAlert(context.Background(), id, edit)
	if err != nil {
		b.t.Fatal(err)
	}
	return rule
}

// edit reads what a caller writes.
func (b *box) edit(body string) (edit alert.Edit) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(body), &edit); err != nil {
		b.t.Fatal(err)
	}
	return edit
}

// fired returns what has fired, "consumer at minutes since midnight", with "late"
// when it says so.
func (b *box) fired() []string {
	b.t.Helper()
	list := []string{}
	for _, e := range b.events(motion.CustomAlertEvent) {
		text := fmt.Sprintf("%s %s", e.Consumer, e.TS.Std().Format("15:04"))
		if late, ok := e.Detail["late_s"]; ok {
			text += fmt.Sprintf(" late %v", late)
		}
		list = append(list, text)
	}
	return list
}

// alertStatus returns the queue's view of the one alert.
func (b *box) alertStatus() alerting.AlertStatus {
	b.t.Helper()
	synctest.Wait()
	list, err := b.Alerts.AlertStatuses(context.Background(), b.network())
	if err != nil || len(list) != 1 {
		b.t.Fatalf("%d alerts, error %v", len(list), err)
	}
	return list[0]
}

// pushes returns the pushes that wait.
func (b *box) pushes() (list []store.Push) {
	b.t.Helper()
	b.view(func(tx *store.Tx) (err error) {
		list, err = tx.Pushes(b.network())
		return err
	})
	return list
}

const (
	daily   = "DTSTART:20000101T010000Z\nRRULE:FREQ=DAILY"
	once    = "DTSTART:20000101T010000Z\nRRULE:FREQ=DAILY;COUNT=1"
	atOnce  = `{"monitor_mode":"NONE"}`
	simple  = `{"monitor_mode":"SIMPLE","duration_minutes":10}`
	quarter = `{"monitor_mode":"INACTIVITY","duration_minutes":30,"inactive_minutes":10,"repeat_monitoring":%t}`
)

func TestAlertFiresAtItsTime(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		live, err := b.Sensing.LiveEvents(id)
		if err != nil {
			t.Fatal(err)
		}
		defer live.Close()
		rule := b.addAlert(id, once, atOnce)
		time.Sleep(time.Hour - time.Second)
		equal(t, "before", b.fired(), []string{})
		time.Sleep(2 * time.Second)
		list := b.events(motion.CustomAlertEvent)
		if len(list) != 1 {
			t.Fatalf("%d events", len(list))
		}
		e := list[0]
		want := motion.Document{"title": "Tea", "uuid": rule.UUID, "id": 7.0}
		if e.Category != motion.CategorySystem || e.GuardianID != location || e.Consumer != "still" || fmt.Sprint(e.Data) != fmt.Sprint(want) || e.Armed != nil {
			t.Errorf("event %+v, want data %v", e, want)
		}
		target := float64(time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC).Unix())
		if e.Detail["verdict"] != "time" || e.Detail["target"] != target || e.Detail["late_s"] != nil || e.TS.Since(motion.Time(target)) > 1 {
			t.Errorf("at %v with detail %v", e.TS.Std(), e.Detail)
		}
		pushes := b.pushes()
		if len(pushes) != 1 || pushes[0].UserIDs[0] != 5 || pushes[0].Alert != rule.UUID || fmt.Sprint(pushes[0].Payload) != "map[data:map[title:Tea]]" {
			t.Errorf("pushes %+v", pushes)
		}
		seen := 0
		for _, m := range drain(t, live) {
			if m.Event.Event == motion.CustomAlertEvent {
				seen++
			}
		}
		if seen != 1 {
			t.Errorf("live readers saw %d", seen)
		}
		status := b.alertStatus()
		if status.State != alert.Completed || status.Data.Enabled || len(status.History) != 1 || status.History[0].Verdict != alert.AtTime || status.FinishedOn == nil {
			t.Errorf("afterwards %+v", status)
		}
	})
}

func TestSimpleAlertTellsMotionFromNone(t *testing.T) {
	for name, c := range map[string]struct {
		play func(b *box) // from 00:49 to 01:00
		want string
	}{
		"motion":              {func(b *box) { b.send(480, 0, 0); b.send(30, 0.4, 0); b.send(150, 0, 0) }, "moved 01:00"},
		"no motion":           {func(b *box) { b.send(660, 0, 0) }, "still 01:00"},
		"motion before it":    {func(b *box) { b.send(50, 0.4, 0); b.send(610, 0, 0) }, "still 01:00"},
		"no data":             {func(b *box) { time.Sleep(660 * time.Second) }, "unknown 01:05"},
		"data for half of it": {func(b *box) { b.send(360, 0, 0); time.Sleep(300 * time.Second) }, "unknown 01:05"},
		"no guardian":         {func(b *box) { b.State.Disconnected(guardianKey, "lost"); time.Sleep(660 * time.Second) }, "unknown 01:00"},
		"told afterwards": {func(b *box) {
			time.Sleep(11*time.Minute + 4*time.Minute)
			b.report(guardianKey, history(now()-900, make([]float64, 180)...))
		}, "still 01:04 late 240"},
		"motion, then no data": {func(b *box) { b.send(120, 0.4, 0); time.Sleep(540 * time.Second) }, "moved 01:00"},
		"paused, though it moves": {func(b *box) {
			b.configure(func(n *motion.Network) { n.Meta = motion.Document{"motion_paused": 1} })
			b.send(660, 0.4, 0)
		}, "unknown 01:00"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.addAlert(b.home(), daily, simple)
				time.Sleep(49 * time.Minute)
				c.play(b)
				time.Sleep(10 * time.Minute)
				equal(t, "fired", b.fired(), []string{c.want})
			})
		})
	}
}

// TestAlertJudgesTheWindowAskedFor: of a target that is no whole minute, with what the
// event tells of it.
func TestAlertJudgesTheWindowAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		before, moving, after float64 // seconds from 00:59 on
		want                  string
	}{
		"motion inside":       {75, 33, 12, "moved"},
		"motion just before":  {20, 30, 62, "still"},
		"motion at the start": {50, 1, 61, "moved"},
		"motion at the end":   {109, 1, 2, "moved"},
		"motion just after":   {110, 2, 0, "still"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.addAlert(b.home(), "DTSTART:20000101T010050Z\nRRULE:FREQ=DAILY", `{"monitor_mode":"SIMPLE","duration_minutes":1}`)
				time.Sleep(59 * time.Minute)
				b.send(c.before, 0, 0)
				b.send(c.moving, 0.4, 0)
				b.send(c.after, 0, 0)
				time.Sleep(10 * time.Second)
				list := b.events(motion.CustomAlertEvent)
				if len(list) != 1 {
					t.Fatalf("fired %v", b.fired())
				}
				target := float64(time.Date(2000, 1, 1, 1, 0, 50, 0, time.UTC).Unix())
				e := list[0]
				if e.Consumer != c.want || e.Detail["target"] != target || e.Detail["from"] != target-60 || e.Detail["to"] != target || e.TS.Since(motion.Time(target)) > 4 {
					t.Errorf("%s at %v with %v, want %s", e.Consumer, e.TS.Std(), e.Detail, c.want)
				}
			})
		})
	}
}

func TestInactivityFiresWithinThePeriod(t *testing.T) {
	for name, c := range map[string]struct {
		repeat bool
		play   func(b *box) // from 00:30 to 01:00
		want   []string
	}{
		"quiet all the time, once":     {false, func(b *box) { b.send(1800, 0, 0) }, []string{"still 00:40"}},
		"quiet all the time, repeated": {true, func(b *box) { b.send(1800, 0, 0) }, []string{"still 00:40", "still 00:50", "still 01:00"}},
		"quiet after motion":           {false, func(b *box) { b.send(650, 0.4, 0); b.send(1150, 0, 0) }, []string{"still 00:50"}},
		"motion often enough": {true, func(b *box) {
			for range 6 {
				b.send(10, 0.4, 0)
				b.send(290, 0, 0)
			}
		}, []string{"moved 01:00"}},
		"no data": {true, func(b *box) { time.Sleep(30 * time.Minute) }, []string{"unknown 01:05"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.addAlert(b.home(), daily, fmt.Sprintf(quarter, c.repeat))
				time.Sleep(30 * time.Minute)
				c.play(b)
				time.Sleep(10 * time.Minute)
				equal(t, "fired", b.fired(), c.want)
			})
		})
	}
}

func TestChangedAlertFiresAsItNowStands(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *box, id motion.NetworkID, uuid string) error
		want   []string
	}{
		"switched off": {func(b *box, id motion.NetworkID, uuid string) error {
			_, err := b.Alerts.ChangeAlert(context.Background(), id, uuid, b.edit(`{"enabled":false}`))
			return err
		}, []string{}},
		"moved to an earlier time": {func(b *box, id motion.NetworkID, uuid string) error {
			_, err := b.Alerts.ChangeAlert(context.Background(), id, uuid, b.edit(`{"enabled":true,"rrule":"DTSTART:20000101T004500Z\nRRULE:FREQ=DAILY"}`))
			return err
		}, []string{"still 00:45"}},
		"deleted": {func(b *box, id motion.NetworkID, uuid string) error {
			_, err := b.Alerts.DeleteAlert(context.Background(), id, uuid)
			return err
		}, []string{}},
		"switched off and on": {func(b *box, id motion.NetworkID, uuid string) error {
			for _, on := range []bool{false, true} {
				if _, err := b.Alerts.SwitchAlerts(context.Background(), id, []alert.Switch{{UUID: uuid, Enabled: on}}); err != nil {
					return err
				}
			}
			return nil
		}, []string{"still 01:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				rule := b.addAlert(id, daily, atOnce)
				time.Sleep(30 * time.Minute)
				if err := c.change(b, id, rule.UUID); err != nil {
					t.Fatal(err)
				}
				time.Sleep(45 * time.Minute)
				equal(t, "fired", b.fired(), c.want)
			})
		})
	}
}

func TestFinishedAlertIsRearmedByANewRule(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		rule := b.addAlert(id, once, atOnce)
		time.Sleep(70 * time.Minute)
		for _, body := range []string{`{"enabled":true}`, `{"enabled":true,"rrule":"DTSTART:20000101T010500Z\nRRULE:FREQ=DAILY;COUNT=1"}`} {
			if _, err := b.Alerts.ChangeAlert(context.Background(), id, rule.UUID, b.edit(body)); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %v, want Invalid", body, err)
			}
		}
		again, err := b.Alerts.ChangeAlert(context.Background(), id, rule.UUID, b.edit(`{"enabled":true,"rrule":"DTSTART:20000101T013000Z\nRRULE:FREQ=DAILY;COUNT=1"}`))
		if err != nil || !again.Enabled {
			t.Fatalf("%+v %v", again, err)
		}
		time.Sleep(30 * time.Minute)
		equal(t, "fired", b.fired(), []string{"still 01:00", "still 01:30"})
	})
}

func TestManyAlertsFireTogether(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for range 50 {
			b.addAlert(id, once, atOnce)
		}
		time.Sleep(61 * time.Minute)
		if n := len(b.fired()); n != 50 {
			t.Errorf("%d fired, want 50", n)
		}
	})
}

func TestAlertThatCannotBeReadDoesNotHoldUpOthers(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		broken := b.addAlert(id, daily, atOnce)
		b.addAlert(id, daily, atOnce)
		synctest.Wait()
		err := b.db.Update(context.Background(), func(tx *store.Tx) error {
			a, err := tx.Alert(store.AlertKey{Network: id, UUID: broken.UUID})
			if err != nil {
				return err
			}
			a.Rule.RRule = "DTSTART;TZID=Atlantis/Gone:20000101T010000\nRRULE:FREQ=DAILY"
			_, err = tx.PutAlert(a)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(70 * time.Minute)
		equal(t, "fired", b.fired(), []string{"still 01:00"})
	})
}
