package store

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"sensegate/motion"
)

// Schema 2 kept who waits by deviceId, and an approval was for whatever it would show.
func TestWaitingDevicesOfSchema2GetEntriesWithoutApproval(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	db, err := open(options, migrations()[:2])
	if err != nil {
		t.Fatal(err)
	}
	old := func(tx *Tx, p motion.PendingDevice) error {
		data, err := json.Marshal(p)
		return errors.Join(err, tx.bucket("pending").Put([]byte(p.DeviceID), data))
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(
			old(tx, motion.PendingDevice{DeviceID: "approved", LocationID: "g", RootMode: 2, Address: "192.168.10.13", LastSeen: 5, Approved: true}),
			old(tx, motion.PendingDevice{DeviceID: "waits", LastSeen: 4}),
			tx.putMeta(adoptionUntilKey, 1764000600))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(options); err != nil {
		t.Fatal(err)
	}
	err = db.View(t.Context(), func(tx *Tx) error {
		list, err := tx.PendingDevices()
		if err != nil || len(list) != 2 {
			t.Fatalf("%+v, %v", list, err)
		}
		for i, want := range []string{"approved", "waits"} {
			if p := list[i]; p.DeviceID != want || p.ID == "" || p.ID == p.DeviceID || p.Approved {
				t.Errorf("entry %+v", p)
			}
		}
		until, _, err := tx.AdoptionUntil(0)
		if until != 1764000600 {
			t.Errorf("the open window is until %v", until)
		}
		return err
	})
	if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
}
