package channel

import (
	"bytes"
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// hall is a plan of one room, 8 × 6 m, in which nothing reflects but floor and
// ceiling.
func hall() *Plan { return &Plan{} }

// clean is a receiver that spoils nothing but what counting in bytes does.
func clean() Device { return Device{Counts: 60, Power: 15, Floor: -94} }

func configOf(plan *Plan, from, to Point) Config {
	return Config{Seed: 1, Plan: plan, From: from, To: to, Layout: HT20(), Device: clean()}
}

func walker(from, to motion.Time) Body {
	area := Area{Max: Point{8, 6, 0}}
	at := Point{4, 4, 0}
	return Body{Seed: 5, Track: NewTrack(area.Wander(nil, 3, at, at, from, to, 0.7))}
}

func TestPowerFallsWithTheSquareOfTheDistance(t *testing.T) {
	t.Parallel()
	near := NewLink(configOf(hall(), Point{0, 0, 1}, Point{2, 0, 1})).straight
	far := NewLink(configOf(hall(), Point{0, 0, 1}, Point{4, 0, 1})).straight
	if ratio := near / far; math.Abs(ratio-2) > 1e-9 {
		t.Errorf("twice as far is %.3f times as weak, want 2", ratio)
	}
	wavelength := lightSpeed / carrier24Hz
	if want := wavelength / (4 * math.Pi * 2); math.Abs(near-want) > 1e-12 {
		t.Errorf("amplitude at 2 m is %g, by Friis %g", near, want)
	}
}

func TestAWallTakesItsDecibels(t *testing.T) {
	t.Parallel()
	open := NewLink(configOf(hall(), Point{1, 1, 1}, Point{5, 1, 1}))
	walled := hall()
	walled.Walls = []Wall{{A: Point{3, 0, 0}, B: Point{3, 6, 0}, Loss: 6}}
	behind := NewLink(configOf(walled, Point{1, 1, 1}, Point{5, 1, 1}))
	if loss := 20 * math.Log10(open.straight/behind.straight); math.Abs(loss-6) > 1e-9 {
		t.Errorf("a wall of 6 dB takes %.2f dB", loss)
	}
	beside := NewLink(configOf(walled, Point{1, 1, 1}, Point{2.5, 5, 1}))
	if beside.straight != beside.friis/beside.config.From.Distance(beside.config.To) {
		t.Error("a wall beside the way weakens it")
	}
}

func TestAClosedDoorIsAWallAndAnOpenOneIsNone(t *testing.T) {
	t.Parallel()
	plan := hall()
	plan.Doors = []Door{{A: Point{3, 0.5, 0}, B: Point{3, 1.5, 0}, Loss: 4}}
	link := NewLink(configOf(plan, Point{1, 1, 1}, Point{5, 1, 1}))
	closed := link.straight
	scene := &Scene{Open: [][]Span{{{From: 10, To: 20}}}}
	for _, test := range []struct {
		name string
		at   motion.Time
		loss float64
	}{{"before", 9, 0}, {"while it is open", 15, -4}, {"half way", 10 + motion.Time(DoorSwing/2), -2}, {"afterwards", 21, 0}} {
		link.Response(test.at, scene)
		if loss := -20 * math.Log10(link.straight/closed); math.Abs(loss-test.loss) > 1e-9 {
			t.Errorf("%s: %.2f dB against the closed door, want %.2f", test.name, loss, test.loss)
		}
	}
}

func TestABodyScattersMostlyForward(t *testing.T) {
	t.Parallel()
	back, aside, on := forward(2, 2, 0), forward(2, 2, 2*math.Sqrt2), forward(2, 2, 4)
	if back > 1e-6 || aside > 0.01 || on != 1 {
		t.Errorf("of the forward lobe back %.2g, at a right angle %.2g, straight on %.2g; want 0, next to 0 and 1", back, aside, on)
	}
	link := NewLink(configOf(hall(), Point{1, 1, 1}, Point{2, 5, 1}))
	image := source{at: Point{15, 1, 1}, gain: 1, wall: 0} // of (1, 1) in a wall at x = 8
	gains := func(at Point, from *source) float64 {        // of the amplitude over a person by its lobe
		over := func(lobe float64) float64 {
			clear(link.now.bins)
			link.over([]part{{at, 1}}, ray{from, 1}, ray{&link.rx[0], 1}, lobe)
			return link.now.mean()
		}
		return over(Person.lobe()) / over(0)
	}
	for _, test := range []struct {
		name string
		at   Point
		from *source
		want float64
	}{
		{"in a reflected path", Point{6.5, 1 + 4*8.5/13, 1}, &image, 1 + Person.lobe()},
		{"beside it", Point{2, 1, 1}, &image, 1},
		{"in the direct path, which it shadows", Point{1.5, 3, 1}, &link.tx[0], 1},
	} {
		if got := gains(test.at, test.from); math.Abs(got-test.want) > 0.02 {
			t.Errorf("%s: %.3f times the amplitude, want %.3f", test.name, got, test.want)
		}
	}
}

func TestADoorThatIsClosedAgainLeavesNoTrace(t *testing.T) {
	t.Parallel()
	plan := hall()
	plan.Doors = []Door{{A: Point{3, 0.5, 0}, B: Point{3, 1.5, 0}, Loss: 4}}
	for i := range 40 {
		plan.Reflectors = append(plan.Reflectors, Reflector{Point{1 + float64(i)/8, 5, 1}, 0.01 * float64(i+1)})
	}
	scene := &Scene{Open: [][]Span{{{From: 10, To: 20}}}, Bodies: []Body{walker(0, 100)}}
	config := configOf(plan, Point{1, 1, 1}, Point{5, 1, 1})
	used := NewLink(config)
	used.Response(15, scene)
	if got, want := must(used, 30, scene), must(NewLink(config), 30, scene); !bytes.Equal(got, want) {
		t.Error("a measurement depends on what was asked before")
	}
}

func TestAWallReflectsWhereTheImageSaysSo(t *testing.T) {
	t.Parallel()
	plan := hall()
	plan.Walls = []Wall{{A: Point{0, 3, 0}, B: Point{4, 3, 0}, Loss: 100, Reflection: 0.5}}
	sources := sourcesOf(plan, Point{1, 1, 1}, 2, 1)
	lit := func(p Point) bool {
		o := newObstacles(plan)
		for _, r := range o.rays(nil, sources, p, anyGain) {
			if r.source.wall == 0 {
				return true
			}
		}
		return false
	}
	if !lit(Point{3, 1, 1}) {
		t.Error("a place in front of the wall does not see its image")
	}
	if lit(Point{9, 1, 1}) {
		t.Error("a place whose reflection would lie beyond the wall's end sees it")
	}
}

// TestRaysThatAreLeftOutAreTooFaint compares the channel with that of all rays.
func TestRaysThatAreLeftOutAreTooFaint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		place := func(name string) Point {
			return Point{rapid.Float64Range(0, 8).Draw(t, name), rapid.Float64Range(0, 6).Draw(t, name), 1}
		}
		plan := hall()
		for i := range rapid.IntRange(0, 6).Draw(t, "walls") {
			plan.Walls = append(plan.Walls, Wall{A: place("wall"), B: place("wall"), Loss: float64(2 * i), Reflection: 0.5})
		}
		l := NewLink(configOf(plan, place("from"), place("to")))
		parts := []part{{place("body"), rapid.Float64Range(0.1, 1).Draw(t, "size")}}
		parts = append(parts, part{parts[0].at.toward(place("limb"), 0.1), 0.4})
		clear(l.now.bins)
		lobe := rapid.SampledFrom([]float64{0, Person.lobe()}).Draw(t, "lobe")
		l.disturb(parts, lobe)
		got := slices.Clone(l.now.bins)
		clear(l.now.bins)
		in, out := l.obstacles.rays(nil, l.tx, parts[0].at, anyGain), l.obstacles.rays(nil, l.rx, parts[0].at, anyGain)
		for _, r := range in {
			l.over(parts, r, out[0], lobe)
		}
		for _, r := range out[1:] {
			l.over(parts, in[0], r, lobe)
		}
		if !slices.Equal(got, l.now.bins) {
			t.Fatal("a path is missing")
		}
	})
}

func TestPathsOfOneLengthDifferAreFlatAndTwoAreNot(t *testing.T) {
	t.Parallel()
	layout := HT20()
	s := newSpectrum(&layout, carrier24Hz)
	spread := func() float64 {
		low, high := math.Inf(1), 0.0
		for _, r := range s.runs {
			for _, h := range s.bins[r.bin : r.bin+r.count] {
				low, high = min(low, cmplx.Abs(h)), max(high, cmplx.Abs(h))
			}
		}
		return high / low
	}
	s.add(1, 7)
	if r := spread(); r > 1+1e-9 {
		t.Errorf("one path: the strongest bin is %.4f times the weakest", r)
	}
	s.add(0.8, 7+lightSpeed/20e6) // half a turn or more between the edges
	if r := spread(); r < 3 {
		t.Errorf("two paths: the strongest bin is only %.2f times the weakest", r)
	}
}

func TestEveryBinHasThePhaseOfItsFrequency(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom([]Layout{legacy20(), HT20(), HT20Ascending(), LegacyHT(), vht80()}).Draw(t, "layout")
		length := rapid.Float64Range(0.5, 60).Draw(t, "length")
		s := newSpectrum(&layout, carrier24Hz)
		s.add(1, length)
		for bin, index := range layout.Indices {
			want := complex(0, 0)
			if index != Empty {
				cycles := (carrier24Hz + SpacingHz*float64(index)) * length / lightSpeed
				want = cmplx.Rect(1, -2*math.Pi*(cycles-math.Floor(cycles)))
			}
			if cmplx.Abs(s.bins[bin]-want) > 1e-6 {
				t.Fatalf("bin %d (subcarrier %d) is %v, want %v", bin, index, s.bins[bin], want)
			}
		}
	})
}

func TestNobodyMovingChangesNothing(t *testing.T) {
	t.Parallel()
	link := NewLink(configOf(hall(), Point{1, 1, 1}, Point{6, 4, 1}))
	first := bytes.Clone(must(link, 0, &Scene{}))
	for at := motion.Time(1); at < 50; at++ {
		link.Response(at, &Scene{})
	}
	again := must(link, 0, &Scene{})
	if !bytes.Equal(first, again) {
		t.Error("the same measurement of the same scene differs")
	}
}

func must(l *Link, t motion.Time, scene *Scene) []byte {
	data, _ := l.Measure(nil, 7, t, scene)
	return data
}

func TestSomebodyWalkingChangesTheChannel(t *testing.T) {
	t.Parallel()
	link := NewLink(configOf(hall(), Point{1, 1, 1}, Point{6, 4, 1}))
	scene := &Scene{Bodies: []Body{walker(10, 60)}}
	change := func(from motion.Time) float64 {
		before := append([]complex128(nil), link.Response(from, scene)...)
		total, mean := 0.0, 0.0
		for k, h := range link.Response(from+0.1, scene) {
			total += cmplx.Abs(h - before[k])
			mean += cmplx.Abs(h)
		}
		return total / mean
	}
	rest, walk := 0.0, 0.0
	for i := motion.Time(0); i < 20; i++ {
		rest = max(rest, change(i/5))
		walk += change(15+2*i) / 20
	}
	if walk < 0.01 || rest > walk/3 {
		t.Errorf("in 0.1 s the channel changes by %.4f while somebody walks, by up to %.4f at rest", walk, rest)
	}
}

func TestMeasurementsDependOnSeedAndTimeAlone(t *testing.T) {
	t.Parallel()
	config := configOf(hall(), Point{1, 1, 1}, Point{6, 4, 1})
	config.Device = DeviceOf("esp32")
	config.Device.Loss, config.Device.Burst = 0.1, 0.02
	scene := &Scene{Bodies: []Body{walker(0, 100)}}
	rapid.Check(t, func(t *rapid.T) {
		from := motion.Time(rapid.Float64Range(0, 50).Draw(t, "from"))
		middle := from.Add(rapid.Float64Range(0, 3).Draw(t, "middle"))
		to := middle.Add(rapid.Float64Range(0, 3).Draw(t, "to"))
		whole := flatten(NewLink(config).Sound(nil, from, to, scene))
		link := NewLink(config)
		parts := flatten(link.Sound(nil, from, middle, scene))
		parts = append(parts, flatten(link.Sound(nil, middle, to, scene))...)
		if !bytes.Equal(whole, parts) {
			t.Fatalf("%v to %v at once and in two parts differ", from, to)
		}
	})
}

func flatten(frames []Frame) []byte {
	var all []byte
	for _, f := range frames {
		all = append(append(all, byte(f.Number), byte(f.RSSI)), f.Data...)
	}
	return all
}

func TestFramesAreLostAtTheirRate(t *testing.T) {
	t.Parallel()
	config := configOf(hall(), Point{1, 1, 1}, Point{6, 4, 1})
	config.Device.Loss = 0.2
	n := len(NewLink(config).Sound(nil, 1000, 1200, &Scene{}))
	if n < 3800 || n > 4200 {
		t.Errorf("%d of 5000 frames arrive, want about 4000", n)
	}
}

func TestClockErrorStaysWithinOffsetAndDrift(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := Device{Offset: rapid.Float64Range(-0.1, 0.1).Draw(t, "offset"), Drift: rapid.Float64Range(-50, 50).Draw(t, "drift")}
		at := motion.Time(rapid.Float64Range(1e9, 2e9).Draw(t, "at"))
		if off := d.clock(at).Since(at) - d.Offset; math.Abs(off) > math.Abs(d.Drift)/1e6*SyncInterval+1e-5 {
			t.Fatalf("%v s beyond the offset", off)
		}
	})
}

func TestLayoutsAreThoseOfTheStandardAndTheCaptures(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		layout      Layout
		bins, used  int
		first, last int // bins in use
		width       int
	}{
		{"legacy", legacy20(), 64, 52, 1, 63, 2},
		{"HT", HT20(), 64, 56, 1, 63, 2},
		{"HT of c5 and c6", HT20Ascending(), 64, 56, 4, 60, 2},
		{"legacy and HT", LegacyHT(), 128, 108, 1, 127, 1},
		{"VHT 80", vht80(), 256, 244, 6, 250, 2},
	} {
		used, first, last := 0, -1, 0
		for bin, index := range test.layout.Indices {
			if index == Empty {
				continue
			}
			if used++; first < 0 {
				first = bin
			}
			last = bin
		}
		if len(test.layout.Indices) != test.bins || used != test.used || first != test.first || last != test.last || test.layout.Flags.Width() != test.width {
			t.Errorf("%s: %d bins, %d in use, %d to %d, %d bytes each", test.name, len(test.layout.Indices), used, first, last, test.layout.Flags.Width())
		}
		config := configOf(hall(), Point{1, 1, 1}, Point{6, 4, 1})
		config.Layout = test.layout
		data, rssi := NewLink(config).Measure(nil, 1, 1, &Scene{})
		if len(data) != test.bins*test.width || rssi > -20 || rssi < -80 {
			t.Errorf("%s: %d bytes at %d dBm", test.name, len(data), rssi)
		}
	}
}

func TestCountsAreThoseOfTheDeviceHoweverFarTheLink(t *testing.T) {
	t.Parallel()
	for _, far := range []float64{1.5, 5, 20} {
		config := configOf(hall(), Point{0, 0, 1}, Point{far, 0, 1})
		data, _ := NewLink(config).Measure(nil, 1, 1, &Scene{})
		total, used := 0.0, 0
		for _, a := range csi.Amplitudes(nil, data, csi.ImagFirst) {
			if a > 0 {
				total += float64(a)
				used++
			}
		}
		if mean := total / float64(used); mean < 45 || mean > 75 {
			t.Errorf("%.1f m: %.1f counts on average, want 60", far, mean)
		}
	}
}

func TestAWeakSignalIsNoisy(t *testing.T) {
	t.Parallel()
	d := DeviceOf("s3")
	if strong, weak := d.noise(-50), d.noise(-88); strong != d.Noise || weak < 5*strong {
		t.Errorf("noise of %.2f counts at -50 dBm, %.2f at -88", strong, weak)
	}
}

// legacy20 returns a 20 MHz legacy training field, 64 bins in the order of a fast
// Fourier transform (0…31, −32…−1).
func legacy20() Layout { return Layout{Indices: fourier(64, legacyMost), Flags: csi.ImagFirst} }

// vht80 returns an 80 MHz field (IEEE 802.11, 21.3), 256 bins −128…127.
func vht80() Layout { return Layout{Indices: ascending(256, 122)} }

func TestPeopleBreatheAsUnevenlyAsMeasured(t *testing.T) {
	const every = 0.01 // s
	b := Body{Seed: 7}
	var rates, depths []float64 // of breaths, between two ways up through the middle
	began, deepest, before := -1.0, 0.0, 0.0
	for k := range 360_000 {
		at := float64(k) * every
		x := b.swings(1, 0.26, 1, at)
		deepest = max(deepest, x)
		if before < 0 && x >= 0 {
			if began >= 0 {
				rates, depths = append(rates, 1/(at-began)), append(depths, deepest)
			}
			began, deepest = at, 0
		}
		before = x
	}
	spread := func(values []float64) (deviation, memory float64) { // in parts of the mean; correlation with the next one
		mean, own, next := 0.0, 0.0, 0.0
		for _, v := range values {
			mean += v / float64(len(values))
		}
		for i, v := range values {
			own += (v - mean) * (v - mean)
			if i > 0 {
				next += (v - mean) * (values[i-1] - mean)
			}
		}
		return math.Sqrt(own/float64(len(values))) / mean, next / own
	}
	if deviation, memory := spread(rates); math.Abs(deviation-0.208) > 0.03 || memory < 0.1 || memory > 0.4 {
		t.Errorf("the frequency of breaths varies by %.3f with a memory of %.2f, want 0.208 (Tobin et al., 1988) and 0.2 to 0.3 (Tobin et al., 1995)", deviation, memory)
	}
	if deviation, _ := spread(depths); math.Abs(deviation-0.33) > 0.05 {
		t.Errorf("the depth of breaths varies by %.3f, want 0.33 (Tobin et al., 1988)", deviation)
	}
}
