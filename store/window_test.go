package store

import (
	"bytes"
	"testing"

	"sensegate/motion"
)

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
