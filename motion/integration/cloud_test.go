package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/cloud"
	"sensegate/store"
)

// living is a fixture whose cloud has a hub, a door and a thermometer.
func living(t *testing.T) (*fixture, func(cloud.Told)) {
	t.Helper()
	f, played := newCloudFixture(t)
	i := f.enabled()
	furnish(played, i.Account.UserThingName)
	f.eventually("the things are known", func() bool {
		_, ok := f.device(climate)
		d, _ := f.device(door)
		return ok && d.Config.Online
	})
	return f, func(told cloud.Told) { played.Tell(i.Account.UserThingName, told) }
}

func TestNewThingsAreAddedWithAnEvent(t *testing.T) {
	t.Parallel()
	f, _ := living(t)
	var got []string
	for _, e := range f.events() {
		got = append(got, fmt.Sprint(e.Event, " ", e.Detail["thingName"], " ", e.Detail["deviceType"], " ", e.Detail["hubThingName"]))
	}
	slices.Sort(got)
	want := []string{
		"DeviceAddedEvent " + hubName + " Hub ",
		"DeviceAddedEvent " + door + " SensorDoor " + hubName,
		"DeviceAddedEvent " + climate + " SensorTemperatureHumidity " + hubName,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	hub, _ := f.device(hubName)
	d, _ := f.device(door)
	if hub.Purpose != sensor.MainHub || d.Config.Notify || d.Config.FriendlyName != "Door" || d.Network != f.network || d.Config.Status != sensor.Closed {
		t.Errorf("%+v, %+v", hub, d)
	}
}

func TestNothingIsKeptBeforeNotify(t *testing.T) {
	t.Parallel()
	f, tell := living(t)
	tell(cloud.Told{ThingName: door, Status: sensor.Open, BatteryLevel: to(90)})
	f.eventually("the door is seen open", func() bool { d, _ := f.device(door); return d.Config.Status == sensor.Open })
	if err := f.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stored, _, err := f.find(t.Context(), f.home, door); err != nil || stored.Config.Status != "" || stored.Config.BatteryLevel != nil || len(f.statuses(door)) != 0 {
		t.Errorf("kept: %+v, %v", stored.Config, f.statuses(door))
	}
	f.notify(door)
	if stored, _, _ := f.find(t.Context(), f.home, door); stored.Config.Status != sensor.Open || *stored.Config.BatteryLevel != 90 {
		t.Errorf("what detections begin with: %+v", stored.Config)
	}
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	tell(cloud.Told{ThingName: door, Status: sensor.Closed})
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.eventually("both changes are kept", func() bool { return len(f.statuses(door)) == 2 })
	if got := f.statuses(door); !slices.Equal(got, []string{sensor.Closed, sensor.Open}) {
		t.Errorf("%v", got)
	}
	last := f.events()[len(f.events())-1]
	change, _ := last.Detail["change"].(map[string]any)
	config, _ := change["config"].(map[string]any)
	if last.Event != motion.IntegrationsConfigChangedEvent || last.Detail.Text("thingName") != door || config["notify"] != true {
		t.Errorf("%+v", last)
	}
}

func TestSensorWhoseNotificationsAreSwitchedOffKeepsNoMore(t *testing.T) {
	t.Parallel()
	f, tell := living(t)
	f.notify(door)
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.eventually("it is kept", func() bool { return len(f.statuses(door)) == 1 })
	off, err := f.ChangeDevice(t.Context(), f.home, door, sensor.DeviceEdit{Notify: to(false)})
	if err != nil || off.Config.Notify {
		t.Fatalf("%+v %v", off, err)
	}
	tell(cloud.Told{ThingName: door, Status: sensor.Closed})
	f.eventually("it is seen closed", func() bool { d, _ := f.device(door); return d.Config.Status == sensor.Closed })
	f.notify(door)
	tell(cloud.Told{ThingName: door, Status: sensor.Closed})
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.eventually("what comes after is kept", func() bool { return len(f.statuses(door)) == 2 })
	if got := f.statuses(door); !slices.Equal(got, []string{sensor.Open, sensor.Open}) {
		t.Errorf("kept %v, want what was told while notifications were on", got)
	}
}

func TestDetectionSaysWhereItWas(t *testing.T) {
	t.Parallel()
	f, tell := living(t)
	edit := sensor.DeviceEdit{Notify: to(true), Purpose: to(sensor.DoorSensor), Location: to("Hallway")}
	if d, err := f.ChangeDevice(t.Context(), f.home, door, edit); err != nil || !d.Config.Online || d.Config.Location != "Hallway" {
		t.Fatalf("%+v %v", d, err)
	}
	tell(cloud.Told{ThingName: door, Status: sensor.Open, BatteryLevel: to(100), TS: f.engine.State.Now() - 1})
	f.eventually("it is kept", func() bool { return len(f.statuses("")) == 1 })
	found, err := f.History(t.Context(), f.home, "", 0, 0, 0)
	d := found[0]
	if err != nil || d.Home != f.home || d.Network != f.network || d.Type != sensor.Door || d.Purpose != sensor.DoorSensor ||
		d.Location != "Hallway" || d.Event != sensor.ChangedValue || d.Value.Status != sensor.Open || *d.Value.BatteryLevel != 100 {
		t.Errorf("%+v %v", d, err)
	}
	for name, window := range map[string][3]motion.Time{
		"since the claim": {d.TS + 1, 0, 0}, "from": {0, d.TS + 0.001, 0}, "to": {0, 0, d.TS - 0.001},
	} {
		if list, err := f.History(t.Context(), f.home, door, window[0], window[1], window[2]); err != nil || len(list) != 0 {
			t.Errorf("%s: %+v %v", name, list, err)
		}
	}
	if list, err := f.History(t.Context(), f.home, door, d.TS, d.TS, d.TS); err != nil || len(list) != 1 {
		t.Errorf("at its very time: %+v %v", list, err)
	}
	if _, err := f.History(t.Context(), f.home, "SENSOR_0", 0, 0, 0); fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown sensor: %v", err)
	}
	f.ahead.Add(int64(store.DefaultRetention().Detections/time.Second) + 10)
	if list, err := f.History(t.Context(), f.home, door, 0, 0, 0); err != nil || len(list) != 0 {
		t.Errorf("past its retention: %+v %v", list, err)
	}
}

func TestDeletedIntegrationTakesItsDetectionsAlong(t *testing.T) {
	t.Parallel()
	f, tell := living(t)
	f.notify(door)
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.eventually("kept", func() bool { return len(f.statuses(door)) > 0 })
	if err := f.Delete(t.Context(), f.home); err != nil {
		t.Fatal(err)
	}
	err := f.db.View(t.Context(), func(tx *store.Tx) error {
		left, err := tx.Detections(store.DetectionQuery{Home: f.home, Last: 10})
		if len(left) != 0 {
			t.Errorf("left %+v", left)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDisabledIntegrationKeepsNothing(t *testing.T) {
	t.Parallel()
	f, tell := living(t)
	f.notify(door)
	if _, err := f.Change(t.Context(), f.home, sensor.Edit{Enabled: to(false)}); err != nil {
		t.Fatal(err)
	}
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.eventually("the feed is followed all the same", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.cursors[cloud.Name] == "4"
	})
	if got := f.statuses(door); len(got) != 0 {
		t.Errorf("kept %v", got)
	}
	if _, err := f.Pair(t.Context(), f.home, hubName, 60); fault.KindOf(err) != fault.Conflict {
		t.Errorf("paired: %v", err)
	}
	f.enabled()
	tell(cloud.Told{ThingName: door, Status: sensor.Closed})
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.eventually("kept again", func() bool { got := f.statuses(door); return len(got) > 0 && got[len(got)-1] == sensor.Open })
}

func TestCloudThatIsAwayLeavesWhatIsKnown(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	i := f.enabled()
	furnish(played, i.Account.UserThingName)
	f.eventually("the things are known", func() bool { d, _ := f.device(door); return d.Config.Online })
	played.SetDown(true)
	if list, err := f.Devices(t.Context(), f.home); err != nil || len(list) != 3 || list[1].Config.Status != sensor.Closed {
		t.Errorf("%+v %v", list, err)
	}
	if d, err := f.Device(t.Context(), f.home, door); err != nil || d.Config.Status != sensor.Closed {
		t.Errorf("%+v %v", d, err)
	}
	_, pair := f.Pair(t.Context(), f.home, hubName, 60)
	_, change := f.ChangeDevice(t.Context(), f.home, door, sensor.DeviceEdit{Notify: to(true)})
	for name, err := range map[string]error{"pair": pair, "change": change, "remove": f.RemoveDevice(t.Context(), f.home, door)} {
		if fault.KindOf(err) != fault.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d, ok := f.device(door); !ok || d.Config.Notify {
		t.Errorf("something has changed: %+v", d)
	}
}

func TestPairingIsPerHub(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	i := f.enabled()
	furnish(played, i.Account.UserThingName)
	f.eventually("the hub is known", func() bool { _, ok := f.device(hubName); return ok })
	before := f.engine.State.Now()
	until, err := f.Pair(t.Context(), f.home, hubName, 600)
	if err != nil || until < before.Add(600).Stamp() {
		t.Errorf("%v %v", until, err)
	}
	if until, err = f.Pair(t.Context(), f.home, hubName, 20); err != nil || until > f.engine.State.Now().Add(20).Stamp() {
		t.Errorf("%v %v", until, err)
	}
	if left := time.Until(played.PairingUntil(i.Account.UserThingName, hubName)); left > 21*time.Second {
		t.Errorf("a shorter time does not shorten: %s", left)
	}
	for _, hub := range []string{"HUB_0", door} {
		if _, err := f.Pair(t.Context(), f.home, hub, 60); fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", hub, err)
		}
	}
	if _, err := f.Pair(t.Context(), f.other, hubName, 60); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another home's: %v", err)
	}
}

func TestRemovedHubTakesItsSensorsAlong(t *testing.T) {
	t.Parallel()
	f, _ := living(t)
	if err := f.RemoveDevice(t.Context(), f.home, hubName); err != nil {
		t.Fatal(err)
	}
	list, err := f.Devices(t.Context(), f.home)
	if err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	var removed []string
	for _, e := range f.events() {
		if e.Event == motion.DeviceRemoved {
			removed = append(removed, e.Detail.Text("thingName"))
		}
	}
	slices.Sort(removed)
	if !slices.Equal(removed, []string{door, climate}) {
		t.Errorf("removed: %v", removed)
	}
	if err := f.RemoveDevice(t.Context(), f.home, hubName); fault.KindOf(err) != fault.NotFound {
		t.Errorf("once more: %v", err)
	}
}

// TestRestartLosesNoDetectionAndRepeatsNone stops the service, lets the door close and
// open meanwhile, and starts another one.
func TestRestartLosesNoDetectionAndRepeatsNone(t *testing.T) {
	t.Parallel()
	f, tell := living(t)
	f.notify(door)
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.eventually("it is kept", func() bool { return len(f.statuses(door)) == 1 })
	f.stop()
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	tell(cloud.Told{ThingName: door, Status: sensor.Closed})
	tell(cloud.Told{ThingName: door, Status: sensor.Open})
	f.Service = New(f.db, f.engine, f.options)
	background(t, f.Run)
	f.eventually("what was missed is kept", func() bool { return len(f.statuses(door)) == 3 })
	if got := f.statuses(door); !slices.Equal(got, []string{sensor.Open, sensor.Closed, sensor.Open}) {
		t.Errorf("%v", got)
	}
}
