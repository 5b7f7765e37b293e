package store

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"sensegate/motion"
)

// TestUnreadableAdoptionWindowIsClosed damages the value or the key of a closed window, which
// is met while the store runs or by the next start. No network counts as one whose window was
// never closed, and it is told.
func TestUnreadableAdoptionWindowIsClosed(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(tx *Tx) error{
		"value": func(tx *Tx) error {
			return tx.bucket(windows.name).Put(key32[uint32](2), []byte(`{"until":1864000000}0000`))
		},
		"key": func(tx *Tx) error { // it is unknown whose it was
			b := tx.bucket(windows.name)
			value := bytes.Clone(b.Get(key32[uint32](2)))
			return errors.Join(b.Delete(key32[uint32](2)), b.Put(key32[uint32](2+1<<16), value))
		},
		"length of the key": func(tx *Tx) error {
			b := tx.bucket(windows.name)
			value := bytes.Clone(b.Get(key32[uint32](2)))
			return errors.Join(b.Delete(key32[uint32](2)), b.Put([]byte{0, 0}, value))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			o := testOptions(at(t, nil, nil))
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			db, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(t.Context(), func(tx *Tx) error {
				for _, guardian := range []string{"a", "b", "c"} {
					if _, err := tx.CreateNetwork(motion.Network{GuardianID: guardian}); err != nil {
						return err
					}
				}
				return errors.Join(tx.SetAdoptionUntil(1, tx.now.Add(600)), tx.SetAdoptionUntil(2, tx.now), damage(tx))
			})
			if err != nil {
				t.Fatal(err)
			}
			closed := func(db *DB) error {
				return db.View(t.Context(), func(tx *Tx) error {
					until, set, err := tx.AdoptionUntil(2)
					if !set || until > tx.now {
						t.Errorf("the window ends at %v, set %v; want a closed one", until, set)
					}
					if own, set, _ := tx.AdoptionUntil(1); !set || own <= tx.now {
						t.Errorf("the window of another network ends at %v, set %v; want it as it was", own, set)
					}
					return err
				})
			}
			if err := closed(db); err != nil {
				t.Error(err)
			}
			if db.Health().Unreadable != 1 || !strings.Contains(log.String(), "adoption_windows") {
				t.Errorf("running, it is not told: %+v\n%s", db.Health(), log.String())
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db, recovery, err := OpenOrRecover(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if recovery == nil || recovery.Lost != "1 of adoption_windows" || !strings.Contains(log.String(), "is closed") {
				t.Errorf("the start does not tell: %+v\n%s", recovery, log.String())
			}
			if err := errors.Join(closed(db), db.Check(t.Context()), db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDeviceOfADeletedNetworkIsKnownByItsMACOrElseItsAddress asks for the time of devices
// that LetReform was told of, from other addresses and MACs, and what the file keeps of them.
func TestDeviceOfADeletedNetworkIsKnownByItsMACOrElseItsAddress(t *testing.T) {
	t.Parallel()
	db := testDB(t)
	mac, other := motion.MAC{2, 0, 0, 0, 0, 1}, motion.MAC{2, 0, 0, 0, 0, 2}
	device := func(kind motion.DeviceKind, id string, mac motion.MAC) motion.Device {
		return motion.Device{DeviceKey: motion.DeviceKey{Kind: kind, ID: id}, Address: "192.0.2.1", MAC: mac}
	}
	err := db.Update(t.Context(), func(tx *Tx) error {
		until := tx.now.Add(600)
		if err := tx.LetReform("guard-a", []motion.Device{device(motion.RadarKind, "csi-over", mac)}, tx.now); err != nil {
			return err
		}
		err := tx.LetReform("guard-a", []motion.Device{
			device(motion.RadarKind, "csi-mac", mac), device(motion.RadarKind, "csi-address", motion.MAC{}), device(motion.Guardian, "guardian", mac),
		}, until)
		if err != nil {
			return err
		}
		for name, c := range map[string]struct {
			guardian, id, address string
			mac                   motion.MAC
			want                  motion.Time
		}{
			"its MAC":                          {"guard-a", "csi-mac", "192.0.2.9", mac, until},
			"another MAC":                      {"guard-a", "csi-mac", "192.0.2.1", other, 0},
			"its address, the MAC unknown now": {"guard-a", "csi-mac", "192.0.2.1", motion.MAC{}, until},
			"another address":                  {"guard-a", "csi-mac", "192.0.2.9", motion.MAC{}, 0},
			"its address, the MAC never known": {"guard-a", "csi-address", "192.0.2.1", mac, until},
			"another address, MAC never known": {"guard-a", "csi-address", "192.0.2.9", mac, 0},
			"a guardian":                       {"guard-a", "guardian", "192.0.2.1", mac, 0},
			"a device of no deleted network":   {"guard-a", "csi-else", "192.0.2.1", mac, 0},
			"another network":                  {"guard-b", "csi-mac", "192.0.2.1", mac, 0},
			"a device whose time is over":      {"guard-a", "csi-over", "192.0.2.1", mac, 0},
		} {
			if got, err := tx.ReformUntil(c.guardian, c.id, c.address, c.mac); got != c.want || err != nil {
				t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
			}
		}
		stored := tx.bucket(metaBucket).Get([]byte(reformKey))
		if n := bytes.Count(stored, []byte(`"until"`)); n != 2 {
			t.Errorf("%d devices are kept, want 2: %s", n, stored)
		}
		for _, told := range []string{"guard-a", "csi-", "192.0.2", mac.String()} {
			if bytes.Contains(stored, []byte(told)) {
				t.Errorf("%q is kept: %s", told, stored)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
