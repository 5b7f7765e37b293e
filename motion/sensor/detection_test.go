package sensor

import (
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
)

func at(v float64) *float64 { return &v }

func percent(v int) *int { return &v }

func device(kind Type) Device {
	return Device{Type: kind, Config: Config{Notify: true, TemperatureDelta: 1, HumidityDelta: 5}}
}

func TestChangesOfStateTell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind          Type
		known, status string
		tells         bool
	}{
		"door opens":                   {Door, Closed, Open, true},
		"door closes":                  {Door, Open, Closed, true},
		"door stays open":              {Door, Open, Open, false},
		"door is open at first":        {Door, "", Open, true},
		"door is closed at first":      {Door, "", Closed, false},
		"motion":                       {Motion, Clear, Moving, true},
		"no motion any more":           {Motion, Moving, Clear, true},
		"the first motion there is":    {Motion, "", Moving, true},
		"vibration":                    {Vibration, Still, Vibrating, true},
		"a word of another type":       {Door, Closed, Moving, false},
		"a word that nobody knows":     {Door, Closed, "ajar", false},
		"nothing":                      {Door, Closed, "", false},
		"hubs tell nothing":            {Hub, Ready, Pairing, false},
		"climate has no states at all": {Climate, "", Open, false},
	} {
		_, tells := device(c.kind).Take(State{Status: c.known}, Reading{Status: c.status})
		if tells != c.tells {
			t.Errorf("%s: tells %t", name, tells)
		}
	}
}

func TestSmallChangesOfClimateDoNotTell(t *testing.T) {
	t.Parallel()
	d := device(Climate)
	for _, c := range []struct {
		name                  string
		temperature, humidity *float64
		tells                 bool
	}{
		{"the first", at(20), nil, true},
		{"a bit more", at(20.9), nil, false},
		{"by the delta", at(21), nil, true},
		{"slowly back", at(20.1), nil, false},
		{"further back", at(20), nil, true},
		{"impossible", at(4000), nil, false},
		{"humidity, the first", nil, at(50), true},
		{"humidity, a bit less", nil, at(45.1), false},
		{"humidity, by the delta", at(20), at(45), true},
		{"humidity, impossible", nil, at(130), false},
	} {
		next, tells := d.Take(d.Config.State, Reading{Temperature: c.temperature, Humidity: c.humidity})
		if tells != c.tells {
			t.Errorf("%s: tells %t", c.name, tells)
		}
		if tells {
			d.Config.State = next
		}
	}
}

// TestStateIsThatOfTheLastReading walks a door through random readings: its state is that
// of the last reading that said one, what it tells alternates, and a level that is none
// is never taken.
func TestStateIsThatOfTheLastReading(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d, state, told := device(Door), State{}, ""
		wantStatus, wantBattery := "", -1
		for range rapid.IntRange(0, 30).Draw(t, "readings") {
			r := Reading{Status: rapid.SampledFrom([]string{"", Open, Closed, Moving}).Draw(t, "status")}
			if level := rapid.IntRange(-5, 105).Draw(t, "battery"); rapid.Bool().Draw(t, "has battery") {
				r.BatteryLevel = &level
				if level >= 0 && level <= 100 {
					wantBattery = level
				}
			}
			if r.Status == Open || r.Status == Closed {
				wantStatus = r.Status
			}
			next, tells := d.Take(state, r)
			if tells && next.Status == told || tells && told == "" && next.Status != Open {
				t.Fatalf("told %q after %q", next.Status, told)
			}
			if state = next; tells {
				told = next.Status
			}
		}
		if state.Status != wantStatus || wantBattery < 0 != (state.BatteryLevel == nil) || wantBattery >= 0 && *state.BatteryLevel != wantBattery {
			t.Fatalf("%+v, want %q and %d", state, wantStatus, wantBattery)
		}
	})
}

func TestPaceBoundsWhatASensorTells(t *testing.T) {
	t.Parallel()
	var p Pace
	kept := 0
	for i := range 6000 { // a bouncing contact: 100 times a second for a minute
		if p.Allow(motion.Time(1000 + float64(i)/100)) {
			kept++
		}
	}
	if kept != burst {
		t.Errorf("%d kept, want %d", kept, burst)
	}
	if !p.Allow(1060) || !(&Pace{since: 9999, count: burst}).Allow(100) {
		t.Error("a new minute, or a clock that went back, is refused")
	}
}

func TestImpossibleTimesOfDetectionsAreNow(t *testing.T) {
	t.Parallel()
	const now = motion.Time(1764000000)
	for ts, want := range map[motion.Time]motion.Time{
		0: now, now - 60: now - 60, now + 299: now + 299, now + 301: now, now - 91*86400: now,
	} {
		if got := device(Door).Detect(State{}, ts, now).TS; got != want {
			t.Errorf("%v: %v, want %v", ts, got, want)
		}
	}
}

func TestSettledRecordKeepsWhatReadingsAreComparedWith(t *testing.T) {
	t.Parallel()
	d := device(Climate)
	d.Config.Temperature = at(20)
	got := d.Settle(State{Online: true, BatteryLevel: percent(7), Temperature: at(20.5), Humidity: at(40)})
	if got.Config.Online || *got.Config.BatteryLevel != 7 || *got.Config.Temperature != 20 || got.Config.Humidity != nil {
		t.Errorf("%+v", got.Config)
	}
}
