package integration

import (
	"fmt"
	"slices"
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// watched is a fixture whose home has a door, a motion sensor and a thermometer that tell.
func watched(t *testing.T) (*fixture, func(thing string, r sensor.Reading)) {
	t.Helper()
	const bath = "SENSOR_02CC00FFFE000003"
	f := newFixture(t, map[string]sensor.Provider{"shelf": shelf{
		{Reading: sensor.Reading{Thing: hubName}, Type: sensor.Hub}, {Reading: sensor.Reading{Thing: door}, Hub: hubName, Type: sensor.Door},
		{Reading: sensor.Reading{Thing: bath}, Hub: hubName, Type: sensor.Motion}, {Reading: sensor.Reading{Thing: climate}, Hub: hubName, Type: sensor.Climate},
	}})
	i := f.enabled()
	if err := f.synchronise(t.Context(), i); err != nil {
		t.Fatal(err)
	}
	for _, thing := range []string{door, bath, climate} {
		edit := sensor.DeviceEdit{Notify: to(true), Location: to("of " + thing)}
		if _, err := f.ChangeDevice(t.Context(), f.home, thing, edit); err != nil {
			t.Fatal(err)
		}
	}
	return f, func(thing string, r sensor.Reading) {
		t.Helper()
		r.Account, r.Thing = i.Account.UserThingName, thing
		if r.TS == 0 {
			r.TS = f.engine.State.Now()
		}
		if err := f.take(t.Context(), "shelf", sensor.Batch{Readings: []sensor.Reading{r}}); err != nil {
			t.Fatal(err)
		}
	}
}

// scene sets the scene of the first home, and whether its network is armed.
func (f *fixture) scene(s home.Scene, armed int) {
	f.t.Helper()
	f.update(func(tx *store.Tx) error {
		h, err := tx.Home(f.home)
		if err != nil {
			return err
		}
		h.Scene = s
		if err := tx.PutHome(h); err != nil {
			return err
		}
		n, err := tx.Network(f.network)
		if err != nil {
			return err
		}
		n.GuardianConfig = motion.Document{"motion_events": map[string]any{"armed": armed, "cooldown": 120}}
		return tx.PutNetwork(n)
	})
}

func TestDetectionsArePushedWhileAwayAndArmed(t *testing.T) {
	t.Parallel()
	f, read := watched(t)
	for _, c := range []struct {
		scene home.Scene
		armed int
		want  int
	}{{home.AtHome, 1, 0}, {home.Away, 0, 0}, {home.Away, 1, 1}} {
		f.scene(c.scene, c.armed)
		read(door, sensor.Reading{Status: sensor.Open})
		read(door, sensor.Reading{Status: sensor.Closed}) // is no news
		if len(f.pushes) != c.want {
			t.Errorf("scene %v, armed %d: pushed %+v", c.scene, c.armed, f.pushes)
		}
	}
	kept, err := f.History(t.Context(), f.home, door, 0, 0, 0)
	if err != nil || len(kept) != 6 {
		t.Fatalf("kept %d, %v", len(kept), err)
	}
	if e := f.pushes[0]; e.Event != "SensorChangedValue" || e.Category != motion.CategoryMotion || e.NetworkID != f.network ||
		e.LocName != "of "+door || e.ID != kept[1].ID || e.TS != kept[1].TS {
		t.Errorf("pushed %+v of %+v", e, kept[1])
	}
}

func TestOneSensorIsPushedOnceInTheCooldown(t *testing.T) {
	t.Parallel()
	f, read := watched(t)
	f.scene(home.Away, 1)
	bounce := func() {
		for range 5 {
			read(door, sensor.Reading{Status: sensor.Open})
			read(door, sensor.Reading{Status: sensor.Closed})
		}
	}
	bounce()
	read("SENSOR_02CC00FFFE000003", sensor.Reading{Status: sensor.Moving}) // another
	f.ahead.Add(121)
	bounce()
	var got []string
	for _, e := range f.pushes {
		got = append(got, e.LocName)
	}
	if want := []string{"of " + door, "of SENSOR_02CC00FFFE000003", "of " + door}; !slices.Equal(got, want) {
		t.Errorf("pushed %q", got)
	}
}

func TestWhatIsOldOrMeasuredIsNotPushed(t *testing.T) {
	t.Parallel()
	f, read := watched(t)
	f.scene(home.Away, 1)
	read(climate, sensor.Reading{Temperature: to(20.0)})
	read(door, sensor.Reading{Status: sensor.Open, TS: f.engine.State.Now() - 400})
	if kept := fmt.Sprint(f.statuses(""), f.pushes); kept != "[open ] []" && kept != "[ open] []" {
		t.Errorf("kept and pushed %s", kept)
	}
}
