package store_test

import (
	"errors"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestApplicationSettingsArePerNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	first, second := newNetwork(t, db, "a"), newNetwork(t, db, "b")
	settings := motion.ApplicationSettings{NetworkID: first, Timezone: "Asia/Kolkata", Enabled: true, SleepHour: 22, SleepMinute: 30, WakeHour: 6, WakeMinute: 5}
	update(t, db, func(tx *store.Tx) error {
		return errors.Join(tx.PutApplicationSettings(settings), tx.PutApplicationSettings(motion.DefaultApplicationSettings(second)))
	})
	view(t, db, func(tx *store.Tx) error {
		got, err1 := tx.ApplicationSettings(first)
		other, err2 := tx.ApplicationSettings(second)
		if got != settings || other.SleepHour != 23 || other.NetworkID != second {
			t.Errorf("settings %+v and %+v", got, other)
		}
		return errors.Join(err1, err2)
	})
	update(t, db, func(tx *store.Tx) error { return tx.DeleteNetwork(first) })
	update(t, db, func(tx *store.Tx) error { return tx.DeleteApplicationSettings(second) })
	view(t, db, func(tx *store.Tx) error {
		for _, network := range []motion.NetworkID{first, second} {
			_, err := tx.ApplicationSettings(network)
			wantKind(t, err, fault.NotFound)
		}
		return nil
	})
	err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteApplicationSettings(second) })
	wantKind(t, err, fault.NotFound)
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		return tx.PutApplicationSettings(motion.DefaultApplicationSettings(first))
	})
	wantKind(t, err, fault.NotFound)
}
