package sensor

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
)

func to[T any](v T) *T { return &v }

func TestEditMustSayNotify(t *testing.T) {
	t.Parallel()
	d := device(Door)
	d.Config.Notify = true
	for name, e := range map[string]DeviceEdit{"nothing": {}, "something else": {Location: to("Hall")}} {
		if got, err := d.Apply(e); fault.KindOf(err) != fault.Invalid || !got.Config.Notify {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := d.Apply(DeviceEdit{Notify: to(false)})
	if err != nil || got.Config.Notify {
		t.Errorf("switched off: %+v %v", got, err)
	}
	got, err = got.Apply(DeviceEdit{Notify: to(true), Purpose: to(DoorSensor), FriendlyName: to("Haustür"), Location: to(""), HumidityDelta: to(2.5)})
	if err != nil || !got.Config.Notify || got.Purpose != DoorSensor || got.Config.FriendlyName != "Haustür" || got.Config.HumidityDelta != 2.5 || got.Config.TemperatureDelta != 1 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestEveryMistakeOfAnEditIsTold(t *testing.T) {
	t.Parallel()
	e := DeviceEdit{
		Purpose: to(MainHub), FriendlyName: to("a\x00b"), Location: to(strings.Repeat("x", 257)),
		TemperatureDelta: to(0.0), HumidityDelta: to(101.0),
	}
	_, err := device(Door).Apply(e)
	var wrong *fault.Error
	if !errors.As(err, &wrong) || len(wrong.Details) != 6 {
		t.Fatalf("%+v", wrong)
	}
	var places []string
	for _, d := range wrong.Details {
		places = append(places, strings.TrimPrefix(d.Location, "body."))
	}
	want := "config.notify purpose config.friendlyName config.location config.temperatureDelta config.humidityDelta"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("%s", got)
	}
	if _, err := device(Hub).Apply(DeviceEdit{Notify: to(true), Purpose: to(BathroomSensor)}); err == nil {
		t.Error("a hub is a bathroom sensor")
	}
}

func TestChangeIsThePayload(t *testing.T) {
	t.Parallel()
	got := DeviceEdit{Notify: to(true), Purpose: to(DoorSensor), Location: to("Hall")}.Change()
	want := motion.Document{"config": map[string]any{"notify": true, "location": "Hall"}, "purpose": "DoorSensor"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

func TestNewThingsKeepNothing(t *testing.T) {
	t.Parallel()
	i := Integration{Home: 17, Network: 1042, Account: Account{UserThingName: "USER_1"}}
	hub := New(i, Found{Type: Hub, Reading: Reading{Thing: "HUB_1"}}, 0)
	if second := New(i, Found{Type: Hub}, 1); hub.Purpose != MainHub || second.Purpose != SecondaryHub {
		t.Errorf("%s, %s", hub.Purpose, second.Purpose)
	}
	door := New(i, Found{Hub: "HUB_1", Type: Door, Name: "Front\tdoor", Reading: Reading{Thing: "SENSOR_1", Status: Open}}, 1)
	if door.Config.Notify || door.Config.Status != "" || door.Config.FriendlyName != "" || door.Purpose != "" || door.HubThingName != "HUB_1" {
		t.Errorf("%+v", door)
	}
}

func TestNewPhaseOfTheSetUpLetsHubsComeBack(t *testing.T) {
	t.Parallel()
	i := Integration{Dropped: []string{"HUB_1"}}
	for name, e := range map[string]Edit{"nothing": {}, "control": {OOBPhase: to("\n")}, "long": {OOBPhase: to(strings.Repeat("x", 65))}} {
		if _, err := i.Apply(e); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	enabled, err := i.Apply(Edit{Enabled: to(true)})
	if err != nil || !enabled.Enabled || len(enabled.Dropped) != 1 {
		t.Errorf("%+v %v", enabled, err)
	}
	phase, err := i.Apply(Edit{OOBPhase: to("started")})
	if err != nil || phase.OOBPhase != "started" || phase.Dropped != nil {
		t.Errorf("%+v %v", phase, err)
	}
}

func TestDeletionsAreTriedLaterAndLater(t *testing.T) {
	t.Parallel()
	f := PendingDeletion{}
	var waits []motion.Seconds
	for range 14 {
		f = f.Later(1000)
		waits = append(waits, f.Due.Since(1000))
	}
	if waits[0] != 30 || waits[1] != 60 || waits[13] != 6*3600 || f.Tries != 14 {
		t.Errorf("%v, %d tries", waits, f.Tries)
	}
}
