package sensing

import (
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
)

// stretch is so many seconds of one throughput, in samples of 0.5 s.
type stretch struct {
	seconds float64
	value   float64
}

func TestLowThroughputNeedsTimeBothWays(t *testing.T) {
	t.Parallel()
	config := motion.LinkEvents{Enabled: 1, LowThroughput: 0.5, LowThroughputS: 30}
	for name, c := range map[string]struct {
		stretches []stretch
		at        []float64 // seconds at which an event is raised
	}{
		"good":                             {[]stretch{{300, 1}}, nil},
		"at the threshold":                 {[]stretch{{300, 0.5}}, nil},
		"low, not long enough":             {[]stretch{{29.5, 0.2}, {60, 1}}, nil},
		"low":                              {[]stretch{{100, 0.2}}, []float64{30}},
		"dead but reporting":               {[]stretch{{100, 0}}, []float64{30}},
		"a good moment does not clear it":  {[]stretch{{20, 0.2}, {2, 1}, {20, 0.2}}, []float64{34}},
		"in between changes nothing":       {[]stretch{{20, 0.2}, {500, 0.55}, {20, 0.2}}, []float64{530}},
		"once while it stays low":          {[]stretch{{1000, 0.2}}, []float64{30}},
		"hovering just above is still low": {[]stretch{{40, 0.2}, {100, 0.55}, {100, 0.2}}, []float64{30}},
		"short recovery is none":           {[]stretch{{40, 0.2}, {29, 1}, {100, 0.2}}, []float64{30}},
		"again after a recovery":           {[]stretch{{40, 0.2}, {30, 1}, {100, 0.2}}, []float64{30, 100}},
		"half and half is not low":         {[]stretch{{1, 0.2}, {1, 1}, {1, 0.2}, {1, 1}, {1, 0.2}, {1, 1}}, nil},
	} {
		link, at := starved{}, 0.0
		var got []float64
		for _, s := range c.stretches {
			for range int(2 * s.seconds) {
				at += 0.5
				if link.add(s.value, motion.Time(1000+at), 0.5, config) {
					got = append(got, at)
				}
			}
		}
		if len(got) != len(c.at) {
			t.Errorf("%s: events at %v, want %v", name, got, c.at)
			continue
		}
		for i := range got {
			if got[i] != c.at[i] {
				t.Errorf("%s: events at %v, want %v", name, got, c.at)
			}
		}
	}
}

func TestTimeBetweenReadingsCountsUpToAGap(t *testing.T) {
	t.Parallel()
	config := motion.LinkEvents{Enabled: 1, LowThroughput: 0.5, LowThroughputS: 10}
	for name, c := range map[string]struct {
		step    motion.Seconds
		samples int // until the event
	}{
		"every sample": {0.5, 20}, "each second": {1, 11}, "every four seconds": {4, 4}, "hours apart": {3600, 20},
	} {
		link, n := starved{}, 0
		for at := motion.Time(1000); ; at = at.Add(c.step) {
			if n++; link.add(0.2, at, 0.5, config) {
				break
			}
		}
		if n != c.samples {
			t.Errorf("%s: an event after %d samples, want %d", name, n, c.samples)
		}
	}
}

func TestMeanIsThatOfTheBadStretch(t *testing.T) {
	t.Parallel()
	config := motion.LinkEvents{Enabled: 1, LowThroughput: 0.5, LowThroughputS: 2}
	link, at := starved{}, motion.Time(1000)
	for _, x := range []float64{1, 1, 1, 0.1, 0.2, 0.3, 0.4} {
		at += 0.5
		if link.add(x, at, 0.5, config) != (x == 0.4) {
			t.Fatalf("at %v", x)
		}
	}
	if got := link.mean(); got < 0.2499 || got > 0.2501 {
		t.Errorf("mean %v", got)
	}
}

// TestLowThroughputProperties: whatever comes, events of one link are as far apart
// as it takes to become good and low again, none comes without low readings of
// low_throughput_s, and all the state stays in its bounds.
func TestLowThroughputProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		config := motion.LinkEvents{
			Enabled: 1, LowThroughput: rapid.Float64Range(0, 1).Draw(t, "threshold"), LowThroughputS: rapid.IntRange(0, 40).Draw(t, "seconds"),
		}
		limit := max(float64(config.LowThroughputS), 1)
		link, at := starved{}, 1000.0
		lowTime, goodTime, events := 0.0, 0.0, 0
		for range rapid.IntRange(1, 60).Draw(t, "stretches") {
			value := rapid.Float64Range(0, 1).Draw(t, "value")
			for range rapid.IntRange(1, 100).Draw(t, "samples") {
				at += 0.5
				switch {
				case value < config.LowThroughput:
					lowTime += 0.5
				case value >= min(1, config.LowThroughput+throughputMargin):
					goodTime += 0.5
				}
				if !link.add(value, motion.Time(at), 0.5, config) {
					continue
				}
				if value >= config.LowThroughput {
					t.Fatalf("an event at throughput %v, threshold %v", value, config.LowThroughput)
				}
				if lowTime < limit || events > 0 && goodTime < limit {
					t.Fatalf("event %d after %v s low and %v s good, limit %v s", events, lowTime, goodTime, limit)
				}
				events, lowTime, goodTime = events+1, 0, 0
			}
			if link.balance < 0 || link.balance > limit || link.mean() < 0 || link.mean() > 1 {
				t.Fatalf("%+v", link)
			}
		}
	})
}

func BenchmarkGoodThroughput(b *testing.B) {
	config := motion.DefaultGuardianConfig().LinkEvents
	link := starved{}
	at := motion.Time(0)
	for b.Loop() {
		at += 0.5
		link.add(0.98, at, 0.5, config)
	}
}
