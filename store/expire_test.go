package store_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/sensor"
	"sensegate/store"
)

func TestTooManyDetectionsGoInTheFollowingFlushes(t *testing.T) {
	t.Parallel()
	keep := short()
	keep.DetectionsOfSensor = 2
	s, start := newAging(t, keep)
	h, devices := newSensorHome(t, s.db, "a", "USER_1")
	update(t, s.db, func(tx *store.Tx) error {
		for i := range 9000 {
			d := devices[i/6000]
			if _, err := tx.AddDetection(d, sensor.Detection{Home: h.ID, ThingName: d.ThingName, TS: motion.Time(base + start + int64(i))}); err != nil {
				return err
			}
		}
		return nil
	})
	for i, want := range []int{4000, 4, 4} {
		s.flush(start + 4*3600 + int64(60*(i+1)))
		if left := layoutKeys(t, s.db, "detections"); left != want {
			t.Errorf("flush %d: %d detections are left, want %d", i+1, left, want)
		}
	}
	view(t, s.db, func(tx *store.Tx) error {
		for i, d := range devices {
			list, err := tx.Detections(store.DetectionQuery{Home: h.ID, Sensor: d.ID, Last: 10})
			if want := base + start + int64(5999+3000*i); err != nil || len(list) != 2 || list[0].TS.Second() != want {
				t.Errorf("of sensor %d %+v are left, %v, want the last at %d", i, list, err, want)
			}
		}
		return nil
	})
}

func TestUnreadableSensorIsTrimmedAsOthers(t *testing.T) {
	t.Parallel()
	keep := short()
	keep.DetectionsOfSensor = 2
	s, start := newAging(t, keep)
	h, devices := newSensorHome(t, s.db, "a", "USER_1")
	update(t, s.db, func(tx *store.Tx) error {
		for i := range 10 {
			d := devices[i%2]
			if _, err := tx.AddDetection(d, sensor.Detection{Home: h.ID, ThingName: d.ThingName, TS: motion.Time(base + start + int64(i))}); err != nil {
				return err
			}
		}
		return nil
	})
	if err := store.SpoilFirst(s.db, "sensors", true); err != nil {
		t.Fatal(err)
	}
	s.flush(start + 4*3600)
	if left := layoutKeys(t, s.db, "detections"); left != 4 {
		t.Errorf("%d detections are left, want 4", left)
	}
	if err := store.SpoilFirst(s.db, "sensors", false); err != nil { // for the check at the end
		t.Fatal(err)
	}
}
