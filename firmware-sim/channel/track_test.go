package channel

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
)

func TestTracksAreSmoothAndMeetTheirKnots(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		area := Area{Min: Point{1, 2, 0}, Max: Point{1 + rapid.Float64Range(0.5, 9).Draw(t, "width"), 2 + rapid.Float64Range(0.5, 9).Draw(t, "depth"), 0}}
		seed := rapid.Uint64().Draw(t, "seed")
		speed := rapid.Float64Range(0.2, 1.5).Draw(t, "speed")
		length := rapid.Float64Range(0.5, 60).Draw(t, "length")
		begin, end := area.Spot(seed, 1), area.Spot(seed, 1)
		knots := area.Wander(nil, seed, begin, end, 100, motion.Time(100).Add(length), speed)
		track := NewTrack(knots)
		for i, k := range knots {
			if i > 0 && k.Time <= knots[i-1].Time {
				t.Fatalf("knot %d is not after the one before", i)
			}
			if !area.Holds(k.At) || track.At(k.Time).Distance(k.At) > 1e-9 {
				t.Fatalf("knot %d at %+v: the track is at %+v", i, k.At, track.At(k.Time))
			}
		}
		if track.At(0) != begin || track.At(1e6) != end || speedAt(track, 0) != 0 || speedAt(track, 1e6) != 0 {
			t.Fatal("it does not rest at its ends")
		}
		const step = 0.01
		for at := motion.Time(99.5); at < motion.Time(100.5).Add(length); at += step {
			if far := track.At(at).Distance(track.At(at + step)); far > 4*speed*step+1e-9 {
				t.Fatalf("at %v it jumps by %.3f m", at, far)
			}
		}
	})
}

// speedAt returns the speed of a track at a time in m/s.
func speedAt(track *Track, at motion.Time) float64 {
	s := track.state(at)
	return math.Hypot(s.vx, s.vy)
}

func TestSpeedIsTheChangeOfPlace(t *testing.T) {
	t.Parallel()
	area := Area{Max: Point{5, 5, 0}}
	track := NewTrack(area.Wander(nil, 9, Point{1, 1, 0}, Point{4, 4, 0}, 0, 40, 0.8))
	for at := motion.Time(0.5); at < 39; at += 0.37 {
		const h = 1e-5
		if want := track.At(at+h).Distance(track.At(at-h)) / (2 * h); math.Abs(speedAt(track, at)-want) > 1e-3 {
			t.Fatalf("at %v the speed is %.4f, the place changes by %.4f m/s", at, speedAt(track, at), want)
		}
	}
}

func TestAShortWalkMovesToo(t *testing.T) {
	t.Parallel()
	area := Area{Max: Point{5, 5, 0}}
	at := Point{2, 2, 0}
	track := NewTrack(area.Wander(nil, 9, at, at, 0, 2, 0.3))
	if far := track.At(1).Distance(at); far < 0.05 {
		t.Errorf("after half of a walk of 2 s it is %.3f m from where it began", far)
	}
}

func TestBodiesAreWhereTheyShouldBe(t *testing.T) {
	t.Parallel()
	at := Point{3, 3, 0}
	for _, kind := range []Kind{Person, Pet, Fan} {
		b := Body{Kind: kind, Seed: 4, Track: Stay(at), Present: []Span{{From: 10, To: 20}}}
		if b.present(9) || !b.present(15) || b.present(20) {
			t.Errorf("kind %d: is not there from 10 to 20 alone", kind)
		}
		for when := motion.Time(10); when < 20; when += 0.1 {
			parts := b.parts(nil, when)
			if len(parts) == 0 || len(parts) > maxParts {
				t.Fatalf("kind %d has %d parts", kind, len(parts))
			}
			for _, p := range parts {
				if math.Hypot(p.at.X-at.X, p.at.Y-at.Y) > 0.8 {
					t.Fatalf("kind %d: a part is at %+v", kind, p.at)
				}
			}
		}
	}
}

func TestASleeperMovesLessThanASitter(t *testing.T) {
	t.Parallel()
	b := Body{Seed: 4, Track: Stay(Point{3, 3, 0})}
	range3 := func() float64 {
		low, high := math.Inf(1), math.Inf(-1)
		for at := motion.Time(0); at < 60; at += 0.1 {
			for _, p := range b.parts(nil, at)[1:2] {
				low, high = min(low, p.at.X), max(high, p.at.X)
			}
		}
		return high - low
	}
	sits := range3()
	b.Asleep = []Span{{From: 0, To: 100}}
	if sleeps := range3(); sleeps == 0 || sleeps > sits/1.5 {
		t.Errorf("a hand moves by %.4f m asleep, by %.4f awake", sleeps, sits)
	}
}

func BenchmarkMeasure(b *testing.B) {
	plan := &Plan{}
	corners := []Point{{0, 0, 0}, {8, 0, 0}, {8, 6, 0}, {0, 6, 0}}
	for i, a := range corners {
		plan.Walls = append(plan.Walls, Wall{A: a, B: corners[(i+1)%4], Loss: 10, Reflection: 0.5})
	}
	link := NewLink(configOf(plan, Point{1, 1, 1}, Point{6, 4, 1}))
	scene := &Scene{Bodies: []Body{walker(0, 1e6)}}
	var data []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		data, _ = link.Measure(data[:0], uint64(i), motion.Time(i)/25, scene)
	}
}
