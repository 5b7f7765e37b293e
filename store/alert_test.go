package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// newJob returns the job of an alert at eight each morning.
func newJob(t testing.TB) alert.Job {
	t.Helper()
	rrule := "DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=DAILY"
	actions := []alert.Action{{Action: alert.FCMPush, UserIDs: []int64{5}, Payload: motion.Document{"data": map[string]any{"title": "x"}}}}
	job, err := alert.New(alert.Edit{RRule: &rrule, Monitor: &alert.Monitor{Mode: alert.None}, NoMotion: &actions}, time.Unix(1764000000, 0))
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// createAlert stores an alert and returns it.
func createAlert(t testing.TB, db *store.DB, network motion.NetworkID) (a store.Alert) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		a, err = tx.CreateAlert(network, newJob(t))
		return err
	})
	return a
}

func TestAlertIsKeptAsGiven(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	first, second := createAlert(t, db, network), createAlert(t, db, network)
	if first.Rule.ID != "1" || first.State.JobID != "1" || first.Rule.ExternalID != network || first.Rule.NetworkID != network || first.Rule.UUID == second.Rule.UUID {
		t.Errorf("created %+v", first)
	}
	first.Runs = []store.AlertRun{{At: 1764000000250, Target: 1764000000000, Verdict: alert.NoMotion, LateSeconds: 540}}
	first.State.Fired = []motion.Stamp{1764000000000}
	first.Snoozed = 1764003600000
	update(t, db, func(tx *store.Tx) (err error) {
		first, err = tx.RequeueAlert(first)
		return err
	})
	if first.State.JobID != "3" || first.Rev != 1 {
		t.Errorf("requeued under job %s, revision %d", first.State.JobID, first.Rev)
	}
	view(t, db, func(tx *store.Tx) error {
		list, err := tx.Alerts(network)
		if diff := cmp.Diff([]store.Alert{first, second}, list); diff != "" {
			t.Error(diff)
		}
		all, err2 := tx.Alerts(0)
		if len(all) != 2 || err2 != nil {
			t.Errorf("%d of all networks, %v", len(all), err2)
		}
		_, foreign := tx.Alert(store.AlertKey{Network: network + 1, UUID: first.Rule.UUID})
		wantKind(t, foreign, fault.NotFound)
		return err
	})
}

func TestAlertRemembersItsLastRuns(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	a := createAlert(t, db, newNetwork(t, db, "g"))
	for i := range 30 {
		a.Runs = append(a.Runs, store.AlertRun{At: motion.Stamp(i)})
	}
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.PutAlert(a)
		return err
	})
	view(t, db, func(tx *store.Tx) error {
		got, err := tx.Alert(a.Key())
		if len(got.Runs) != 20 || got.Runs[0].At != 10 {
			t.Errorf("%d runs from %d", len(got.Runs), got.Runs[0].At)
		}
		return err
	})
}

func TestAlertsAreBounded(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network, other := newNetwork(t, db, "g"), newNetwork(t, db, "h")
	update(t, db, func(tx *store.Tx) error {
		for range 100 {
			if _, err := tx.CreateAlert(network, newJob(t)); err != nil {
				return err
			}
		}
		_, err := tx.CreateAlert(network, newJob(t))
		wantKind(t, err, fault.Conflict)
		_, err = tx.CreateAlert(99, newJob(t))
		wantKind(t, err, fault.NotFound)
		_, err = tx.CreateAlert(other, newJob(t))
		return err
	})
}

func TestDeletedAlertCannotBeStored(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	a := createAlert(t, db, newNetwork(t, db, "g"))
	update(t, db, func(tx *store.Tx) error { return tx.DeleteAlert(a.Key()) })
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutAlert(a)
		return err
	})
	wantKind(t, err, fault.NotFound)
}

func TestOldestPushesGo(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network, other := newNetwork(t, db, "g"), newNetwork(t, db, "h")
	update(t, db, func(tx *store.Tx) error {
		if _, err := tx.AddPush(store.Push{NetworkID: other}); err != nil {
			return err
		}
		for i := range 300 {
			p := store.Push{NetworkID: network, UserIDs: []int64{5}, Payload: motion.Document{"n": float64(i)}, Alert: "a", Late: 540}
			if _, err := tx.AddPush(p); err != nil {
				return err
			}
		}
		return nil
	})
	view(t, db, func(tx *store.Tx) error {
		list, err := tx.Pushes(network)
		if len(list) != 256 {
			t.Fatalf("%d pushes", len(list))
		}
		want := store.Push{ID: 46, NetworkID: network, UserIDs: []int64{5}, Payload: motion.Document{"n": 44.0}, Alert: "a", Late: 540, CreatedAt: 1764000000}
		if diff := cmp.Diff(want, list[0]); diff != "" {
			t.Error(diff)
		}
		kept, err2 := tx.Pushes(other)
		if len(kept) != 1 || err2 != nil {
			t.Errorf("%d of the other network, %v", len(kept), err2)
		}
		return err
	})
}

func TestAlertsGoWithTheirNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network, other := newNetwork(t, db, "g"), newNetwork(t, db, "h")
	for _, id := range []motion.NetworkID{network, other} {
		createAlert(t, db, id)
		update(t, db, func(tx *store.Tx) error {
			_, err := tx.AddPush(store.Push{NetworkID: id})
			return err
		})
	}
	update(t, db, func(tx *store.Tx) error { return tx.DeleteNetwork(network) })
	view(t, db, func(tx *store.Tx) error {
		alerts, err := tx.Alerts(0)
		pushes, err2 := tx.Pushes(network)
		kept, err3 := tx.Pushes(other)
		if len(alerts) != 1 || len(pushes) != 0 || len(kept) != 1 {
			t.Errorf("%d alerts, %d and %d pushes, %v", len(alerts), len(pushes), len(kept), fmt.Sprint(err, err2, err3))
		}
		return err
	})
}
