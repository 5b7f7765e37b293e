package store_test

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
	"sensegate/store/storetest"
)

// newSensorHome makes a home with an integration and two sensors.
func newSensorHome(t *testing.T, db *store.DB, guardian, account string) (h home.Home, devices []sensor.Device) {
	t.Helper()
	network := newNetwork(t, db, guardian)
	update(t, db, func(tx *store.Tx) (err error) {
		if h, err = tx.CreateHome(home.Home{ExternalID: network}); err != nil {
			return err
		}
		if _, err = tx.PutIntegration(sensor.Integration{Home: h.ID, Network: network, Provider: "cloud", Account: sensor.Account{UserThingName: account}}); err != nil {
			return err
		}
		for _, thing := range []string{"SENSOR_1", "SENSOR_2"} {
			d, err := tx.PutSensor(sensor.Device{Home: h.ID, Network: network, ThingName: thing, HubThingName: "HUB_1", Type: sensor.Door})
			if err != nil {
				return err
			}
			devices = append(devices, d)
		}
		return nil
	})
	return h, devices
}

func TestIntegrationIsFoundByHomeAndAccount(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	h, devices := newSensorHome(t, db, "a", "USER_1")
	other, _ := newSensorHome(t, db, "b", "USER_2")
	view(t, db, func(tx *store.Tx) error {
		byHome, _, _ := tx.IntegrationOf(h.ID)
		byAccount, ok, _ := tx.IntegrationByAccount("USER_1")
		all, _ := tx.Integrations()
		if byHome.ID != byAccount.ID || !ok || len(all) != 2 || byHome.CreatedAt != 1764000000000 {
			t.Errorf("%+v, %+v, %d in all", byHome, byAccount, len(all))
		}
		if _, ok, _ := tx.IntegrationByAccount(""); ok {
			t.Error("an empty account is somebody's")
		}
		found, err := tx.Sensor(h.ID, "SENSOR_2")
		if found.ID != devices[1].ID || err != nil {
			t.Errorf("%+v %v", found, err)
		}
		elsewhere, _ := tx.Sensor(other.ID, "SENSOR_2")
		if elsewhere.ID == found.ID || elsewhere.Home != other.ID {
			t.Errorf("%+v", elsewhere)
		}
		_, err = tx.Sensor(h.ID, "SENSOR_3")
		wantKind(t, err, fault.NotFound)
		return nil
	})
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutIntegration(sensor.Integration{Home: h.ID, Account: sensor.Account{UserThingName: "USER_3"}})
		return err
	})
	wantKind(t, err, fault.Conflict)
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutSensor(sensor.Device{Home: 77, ThingName: "SENSOR_1"})
		return err
	})
	wantKind(t, err, fault.NotFound)
}

// TestDeletedHomeLeavesNothingOfItsSensors deletes the network of a home: what remains is
// that its account has to be deleted elsewhere, and another home is as it was.
func TestDeletedHomeLeavesNothingOfItsSensors(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	h, devices := newSensorHome(t, db, "a", "USER_1")
	other, others := newSensorHome(t, db, "b", "USER_2")
	update(t, db, func(tx *store.Tx) error {
		for _, d := range append(devices, others...) {
			if _, err := tx.AddDetection(d, sensor.Detection{Home: d.Home, ThingName: d.ThingName, TS: 1764000000}); err != nil {
				return err
			}
		}
		return tx.DeleteNetwork(h.ExternalID)
	})
	view(t, db, func(tx *store.Tx) error {
		for one, want := range map[home.ID]int{h.ID: 0, other.ID: 2} {
			sensors, err := tx.Sensors(one)
			found, _ := tx.Detections(store.DetectionQuery{Home: one, Last: 10})
			_, ok, _ := tx.IntegrationOf(one)
			if err != nil || len(sensors) != want || len(found) != want || ok != (want > 0) {
				t.Errorf("home %d: %d sensors, %d detections, integration %t, want %d; %v", one, len(sensors), len(found), ok, want, err)
			}
		}
		list, err := tx.PendingDeletions()
		if len(list) != 1 || list[0].Account.UserThingName != "USER_1" || list[0].Provider != "cloud" || list[0].Due != 1764000000 {
			t.Errorf("%+v", list)
		}
		return err
	})
}

// TestDetectionsAreAsTheModel compares queries, trimming and removal with a list.
func TestDetectionsAreAsTheModel(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	a, sensorsA := newSensorHome(t, db, "a", "USER_1")
	b, sensorsB := newSensorHome(t, db, "b", "USER_2")
	rapid.Check(t, func(r *rapid.T) {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			var model []sensor.Detection
			for _, d := range append(sensorsA, sensorsB...) {
				for range rapid.IntRange(0, 12).Draw(r, "count") {
					ts := motion.Time(rapid.IntRange(1, 40).Draw(r, "ts"))
					found, err := tx.AddDetection(d, sensor.Detection{Home: d.Home, ThingName: d.ThingName, TS: ts})
					if err != nil {
						return err
					}
					model = append(model, found)
				}
			}
			most, cutoff := rapid.IntRange(0, 12).Draw(r, "most"), motion.Time(rapid.IntRange(0, 41).Draw(r, "cutoff"))
			trim := rapid.Bool().Draw(r, "trim")
			if trim {
				if err := trimAll(tx, cutoff, most, rapid.IntRange(1, 10).Draw(r, "limit")); err != nil {
					return err
				}
				model = trimmed(model, cutoff, cmp.Or(most, len(model)))
			}
			for _, q := range []store.DetectionQuery{
				{Home: a.ID, Last: 100}, {Home: b.ID, Last: 3}, {Home: a.ID, Sensor: sensorsA[0].ID, Last: 100},
				{Home: a.ID, From: 10, To: 20, Last: 100}, {Home: b.ID, Sensor: sensorsB[1].ID, From: 5, To: 30, Last: 4},
			} {
				got, err := tx.Detections(q)
				if err != nil {
					return err
				}
				if want := selected(model, q, append(sensorsA, sensorsB...)); !slices.EqualFunc(got, want, func(x, y sensor.Detection) bool { return x.ID == y.ID }) {
					r.Fatalf("%+v: %d, want %d", q, len(got), len(want))
				}
			}
			_, err := tx.TrimDetections(100, 0, 1000)
			return err
		})
		if err != nil {
			r.Fatal(err)
		}
	})
}

// trimAll trims in steps until nothing is left to trim.
func trimAll(tx *store.Tx, cutoff motion.Time, most, limit int) error {
	for {
		if n, err := tx.TrimDetections(cutoff, most, limit); err != nil || n < limit {
			return err
		}
	}
}

// newestFirst orders detections as queries do.
func newestFirst(x, y sensor.Detection) int {
	return cmp.Or(cmp.Compare(y.TS, x.TS), cmp.Compare(y.ID, x.ID))
}

// trimmed returns what a trim leaves.
func trimmed(model []sensor.Detection, cutoff motion.Time, most int) (left []sensor.Detection) {
	slices.SortFunc(model, newestFirst)
	kept := map[string]int{}
	for _, d := range model {
		key := string(rune(d.Home)) + d.ThingName
		if kept[key]++; kept[key] <= most && d.TS >= cutoff {
			left = append(left, d)
		}
	}
	return left
}

// selected returns what a query selects.
func selected(model []sensor.Detection, q store.DetectionQuery, devices []sensor.Device) (list []sensor.Detection) {
	slices.SortFunc(model, newestFirst)
	for _, d := range model {
		isSensor := q.Sensor == 0 || slices.ContainsFunc(devices, func(one sensor.Device) bool {
			return one.ID == q.Sensor && one.Home == d.Home && one.ThingName == d.ThingName
		})
		if d.Home == q.Home && isSensor && d.TS >= q.From && (q.To == 0 || d.TS <= q.To) && len(list) < q.Last {
			list = append(list, d)
		}
	}
	return list
}

func TestRemovedSensorTakesItsDetectionsAlong(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	h, devices := newSensorHome(t, db, "a", "USER_1")
	update(t, db, func(tx *store.Tx) error {
		for _, d := range devices {
			if _, err := tx.AddDetection(d, sensor.Detection{Home: h.ID, ThingName: d.ThingName, TS: 1764000000.25}); err != nil {
				return err
			}
		}
		return tx.DeleteSensor(h.ID, "SENSOR_1")
	})
	view(t, db, func(tx *store.Tx) error {
		left, err := tx.Detections(store.DetectionQuery{Home: h.ID, Last: 10})
		if len(left) != 1 || left[0].ThingName != "SENSOR_2" || left[0].TS != 1764000000.25 || len(left[0].ID) != 36 {
			t.Errorf("%+v", left)
		}
		return err
	})
}
