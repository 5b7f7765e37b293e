package fuse_test

import (
	"fmt"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

// defaults is the configuration of a new network.
var defaults = fuse.ConfigOf(motion.DefaultGuardianConfig().MotionEvents, false)

// with returns the defaults, changed.
func with(change func(*fuse.Config)) fuse.Config {
	c := defaults
	change(&c)
	return c
}

// sampleAt returns sample i of 0.5 s: "1" in motion, "0" quiet, "-" without data.
func sampleAt(i int, letter byte) *fuse.Sample {
	t := start.Add(0.5 * float64(i+1))
	if letter == '-' {
		return fuse.Silence(t, 0.5)
	}
	intensity := fuse.Reading(0)
	if letter == '1' {
		intensity = 0.3 + fuse.Reading(i%5)/10
	}
	return fuse.FromLinks(t, 0.5, []fuse.LinkSample{
		measured(1, "Kitchen", intensity, 100*intensity, 30), measured(2, "Hallway", 0, fuse.Unknown(), fuse.Unknown()),
	}, nil)
}

// play feeds samples ("." = not fed at all) and writes the transitions as
// "detected@3 stopped@7:quiet", with the number of the sample.
func play(e *fuse.Events, samples string) string {
	var out []string
	for i := range len(samples) {
		if samples[i] == '.' {
			continue
		}
		if tr, ok := e.Add(sampleAt(i, samples[i])); ok {
			out = append(out, brief(tr))
		}
	}
	return strings.Join(out, " ")
}

// brief writes a transition with the number of the sample it belongs to.
func brief(tr fuse.Transition) string {
	s := fmt.Sprintf("%s@%v", tr.Kind, 2*tr.Time.Since(start)-1)
	if tr.Kind == fuse.Stopped {
		s += ":" + string(tr.Reason)
	}
	return s
}

func letters(s string, n int) string { return strings.Repeat(s, n) }

func TestTransitionsFollowTheDensityRule(t *testing.T) {
	t.Parallel()
	short := with(func(c *fuse.Config) { c.Cooldown = 3 })
	cases := []struct {
		name    string
		config  fuse.Config
		samples string
		want    string
	}{
		{"half of eight samples in motion", defaults, "000000001111", "detected@11"},
		{"scattered over the window", defaults, "0000000010101010", "detected@14"},
		{"three of eight are not enough", defaults, "0000000011100000111", ""},
		{"a first window of two seconds is enough", defaults, "1111", "detected@3"},
		{"less than half a window of data is not", defaults, "111", ""},
		{"a threshold of one wants all", with(func(c *fuse.Config) { c.DensityThreshold = 1 }), "000000001111111011111111", "detected@23"},
		{"a window of one sample", with(func(c *fuse.Config) { c.DensityWindow = 1 }), "01", "detected@1"},
		{"no data is not quiet: all that was heard is motion", defaults, "00000000-1-1-1-1-1", "detected@13"},
		{"stopped after the cooldown", short, "1111000000", "detected@3 stopped@9:quiet"},
		{"motion in the cooldown prolongs it", short, "1111000001000000", "detected@3 stopped@15:quiet"},
		{"no data stops the cooldown clock", short, "1111000----000", "detected@3 stopped@13:quiet"},
		{"samples that did not come stop it too", short, "1111000....000", "detected@3 stopped@13:quiet"},
		{"a cooldown of zero ends with the first quiet sample", with(func(c *fuse.Config) { c.Cooldown = 0 }), "11110", "detected@3 stopped@4:quiet"},
		{"a quiet sample never detects", with(func(c *fuse.Config) { c.Cooldown = 0 }), "1111000", "detected@3 stopped@4:quiet"},
		{"the default cooldown is 120 s", defaults, "1111" + letters("0", 240), "detected@3 stopped@243:quiet"},
		{"ten minutes without data end a detection", defaults, "1111" + letters("-", 1300), "detected@3 stopped@1203:no_data"},
		{"also when nothing was fed", defaults, "1111" + letters(".", 5000) + "0", "detected@3 stopped@1203:no_data"},
		{"a shorter silence does not", defaults, "1111" + letters("-", 1190) + "1", "detected@3"},
		{"nothing is open, nothing ends", defaults, letters("-", 1300), ""},
		{"motion before a gap does not count after it", defaults, "0000011" + letters(".", 20) + "11", ""},
		{"paused networks detect nothing", with(func(c *fuse.Config) { c.Paused = true }), letters("1", 20), ""},
		{"disabled events detect nothing", with(func(c *fuse.Config) { c.Enabled = false }), letters("1", 20), ""},
		{"unarmed networks detect", with(func(c *fuse.Config) { c.Armed = false }), "1111", "detected@3"},
		{"values out of range are taken as the nearest end", fuse.Config{Enabled: true, DensityWindow: -4, DensityThreshold: 9, Cooldown: -1}, "010", "detected@1 stopped@2:quiet"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := play(fuse.NewEvents(c.config), c.samples); got != c.want {
				t.Errorf("samples %.40q: %q, want %q", c.samples, got, c.want)
			}
		})
	}
}

func TestDetectionCarriesWhatARecordNeeds(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(defaults)
	for i, c := range []byte("00-00111") {
		if _, ok := e.Add(sampleAt(i, c)); ok {
			t.Fatalf("detected at sample %d", i)
		}
	}
	tr, ok := e.Add(sampleAt(8, '1'))
	if !ok || tr.Kind != fuse.Detected {
		t.Fatalf("transition %+v, want a detection", tr)
	}
	d := tr.Detection
	if got, want := fmt.Sprint(d.Window), "[0 NaN 0 0 0.3 0.4 0.5]"; got != want {
		t.Errorf("intensity window %s, want %s", got, want)
	}
	if tr.Time != d.Time || d.Time != start.Add(4.5) || !d.Armed || d.Link != key(1) || !near(d.Intensity, 0.6) || !near(d.Density, 4.0/7) {
		t.Errorf("detection %+v, want armed, at %v, of link 1 with intensity 0.6 and density 4/7", d, start.Add(4.5))
	}
	if len(d.Places) != 1 || d.Places[0].Zone != "Kitchen" || !(d.Places[0].Confidence > 0) {
		t.Errorf("places %+v, want Kitchen", d.Places)
	}
	if len(d.Links) != 1 || d.Links[0] != key(1) || len(d.MSAD) != 1 || !near(float64(d.MSAD[0]), 60) || d.MConf[0] != 30 {
		t.Errorf("figures of links %v: %v against %v, want link 1 alone with 60 against 30", d.Links, d.MSAD, d.MConf)
	}
	if open, ok := e.Open(); !ok || open.Time != d.Time || e.LastMotion() != d.Time {
		t.Errorf("open %+v, last motion %v, want the detection at %v", open, e.LastMotion(), d.Time)
	}
}

func TestStoppedRefersToItsDetection(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(with(func(c *fuse.Config) { c.Cooldown = 1 }))
	play(e, "1111")
	tr, ok := e.Add(sampleAt(4, '0'))
	if ok {
		t.Fatalf("stopped before the cooldown: %+v", tr)
	}
	tr, ok = e.Add(sampleAt(5, '0'))
	if !ok || tr.Kind != fuse.Stopped || tr.Detection.Time != start.Add(2) || tr.Time != start.Add(3) || len(tr.Detection.Window) != 7 {
		t.Errorf("transition %+v, want stopped at %v of the detection at %v", tr, start.Add(3), start.Add(2))
	}
	if _, ok := e.Open(); ok {
		t.Error("the detection is still open")
	}
}

func TestConfigurationChangesWhileRunning(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name          string
		before        fuse.Config
		samples       string
		after         fuse.Config
		change, later string // transitions of the change and of eight samples in motion
	}{
		{"pausing ends a detection", defaults, "1111", with(func(c *fuse.Config) { c.Paused = true }), "stopped@4:paused", ""},
		{"disabling ends a detection", defaults, "1111", with(func(c *fuse.Config) { c.Enabled = false }), "stopped@4:disabled", ""},
		{"pausing a quiet network says nothing", defaults, "0000", with(func(c *fuse.Config) { c.Paused = true }), "", ""},
		{"arming ends an unarmed detection, and motion that goes on raises an armed one",
			with(func(c *fuse.Config) { c.Armed = false }), "1111", defaults, "stopped@4:armed", "detected@8"},
		{"disarming leaves a detection open", defaults, "1111", with(func(c *fuse.Config) { c.Armed = false }), "", ""},
		{"a larger window keeps what was seen", defaults, "011", with(func(c *fuse.Config) { c.DensityWindow = 10 }), "", "detected@6"},
		{"a smaller window keeps the newest", defaults, "000011", with(func(c *fuse.Config) { c.DensityWindow = 4; c.DensityThreshold = 0.75 }), "", "detected@6"},
		{"another cooldown leaves a detection open", defaults, "1111", with(func(c *fuse.Config) { c.Cooldown = 5 }), "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := fuse.NewEvents(c.before)
			play(e, c.samples)
			var change string
			if tr, ok := e.Configure(start.Add(2.5), c.after); ok {
				change = brief(tr)
			}
			later := play(e, letters(".", max(5, len(c.samples)))+"11111111")
			if change != c.change || later != c.later {
				t.Errorf("change %q, later %q, want %q, %q", change, later, c.change, c.later)
			}
		})
	}
}

func TestPairKeepsTheArmedStateOfItsDetection(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(with(func(c *fuse.Config) { c.Cooldown = 1 }))
	play(e, "1111")
	if _, ok := e.Configure(start.Add(2), with(func(c *fuse.Config) { c.Armed, c.Cooldown = false, 1 })); ok {
		t.Fatal("disarming ended the detection")
	}
	e.Add(sampleAt(4, '0'))
	tr, ok := e.Add(sampleAt(5, '0'))
	if !ok || !tr.Detection.Armed {
		t.Errorf("transition %+v, want the end of an armed detection", tr)
	}
}

func TestSilenceEndsADetectionWithoutSamples(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(defaults)
	play(e, "1111")
	if tr, ok := e.Advance(start.Add(601)); ok {
		t.Fatalf("%+v after 599 s of silence", tr)
	}
	tr, ok := e.Advance(start.Add(10_000))
	if !ok || tr.Reason != fuse.NoData || tr.Time != start.Add(602) {
		t.Errorf("%+v, want stopped by no data at %v", tr, start.Add(602))
	}
}

func TestDensityCountsOnlyData(t *testing.T) {
	t.Parallel()
	cases := []struct {
		samples string
		want    fuse.Reading
	}{{"", fuse.Unknown()}, {"--------", fuse.Unknown()}, {"0000", 0}, {"01-1", 2. / 3}, {"1111111100", 0.75}}
	for _, c := range cases {
		e := fuse.NewEvents(defaults)
		play(e, c.samples)
		if got := e.Density(); got.Known() != c.want.Known() || c.want.Known() && !near(float64(got), float64(c.want)) {
			t.Errorf("samples %q: density %v, want %v", c.samples, got, c.want)
		}
	}
}

func TestSampleDeliveredTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(defaults)
	for range 20 {
		if tr, ok := e.Add(sampleAt(0, '1')); ok {
			t.Fatalf("%+v from one sample", tr)
		}
	}
}

func TestClockSetBackKeepsTheMachineGoing(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(with(func(c *fuse.Config) { c.Cooldown = 2 }))
	for i := range 4 {
		e.Add(sampleAt(100_000+i, '1'))
	}
	detected, ok := e.Open()
	if !ok {
		t.Fatal("nothing detected before the clock was set back")
	}
	var stopped fuse.Transition
	for i := range 4 {
		if tr, ok := e.Add(sampleAt(i, '0')); ok {
			stopped = tr
		}
	}
	if stopped.Reason != fuse.Quiet || stopped.Time != detected.Time {
		t.Errorf("%+v, want stopped by quiet, not before its detection", stopped)
	}
	if got, want := play(e, "....1111"), "detected@7"; got != want {
		t.Errorf("then %q, want %q", got, want)
	}
}

func TestSilenceAfterTheClockWasSetBackEndsADetection(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(defaults)
	for i := range 4 {
		e.Add(sampleAt(100_000+i, '1'))
	}
	e.Add(sampleAt(0, '-'))
	if tr, ok := e.Advance(start.Add(601)); !ok || tr.Reason != fuse.NoData {
		t.Errorf("%+v, want stopped by no data", tr)
	}
	if got := e.LastMotion(); got > start.Add(601) {
		t.Errorf("last motion at %v, in the future", got)
	}
}

func TestOtherIntervalsCountSamples(t *testing.T) {
	t.Parallel()
	e := fuse.NewEvents(with(func(c *fuse.Config) { c.Cooldown = 4 }))
	var got []string
	for i, c := range []byte("00000000111100") {
		s := sampleAt(i, c)
		s.Time, s.Interval = start.Add(2*float64(i+1)), 2
		if tr, ok := e.Add(s); ok {
			got = append(got, fmt.Sprintf("%s@%v", tr.Kind, tr.Time.Since(start)/2-1))
		}
	}
	if want := "[detected@11 stopped@13]"; fmt.Sprint(got) != want {
		t.Errorf("transitions %v, want %s", got, want)
	}
}
