package alerting

import (
	"context"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestStepOfAnAlertThatWasChangedIsNotStored(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	now := time.Unix(1764000000, 0)
	rrule := "DTSTART:20251124T080000Z\nRRULE:FREQ=DAILY"
	job, err := alert.New(alert.Edit{RRule: &rrule, Monitor: &alert.Monitor{Mode: alert.None}}, now)
	if err != nil {
		t.Fatal(err)
	}
	var before store.Alert
	update := func(fn func(tx *store.Tx) error) error { return db.Update(context.Background(), fn) }
	err = update(func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		if err != nil {
			return err
		}
		before, err = tx.CreateAlert(n.ID, job)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	target := before.Rule.Target.Std()
	next, result, err := before.Step(target, nil)
	if err != nil || result.Fired == nil {
		t.Fatalf("%+v %v", result, err)
	}
	step := alertStep{before: before, after: before, result: result, at: target}
	step.after.Job = next
	err = update(func(tx *store.Tx) error {
		changed := before
		changed.Rule.AlertName = "changed"
		_, err := tx.PutAlert(changed)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = update(func(tx *store.Tx) error {
		_, err := step.fire(tx)
		return err
	})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("stored over the change: %v", err)
	}
	if err := update(func(tx *store.Tx) error { return tx.DeleteAlert(before.Key()) }); err != nil {
		t.Fatal(err)
	}
	if err := update(step.put); fault.KindOf(err) != fault.NotFound {
		t.Errorf("stored after it was deleted: %v", err)
	}
}
