package store_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
	"sensegate/store"
	"sensegate/store/storetest"
)

// short is a retention that a test can live through.
func short() store.Retention {
	const hour = time.Hour
	return store.Retention{At1s: 2 * hour, At5s: 12 * hour, At60s: 8 * 24 * hour, At900s: 20 * 24 * hour, Events: 30 * hour, Commands: 30 * hour}
}

// newAging returns a sampling with a retention, whose clock is at the start of a
// block of 4 days.
func newAging(t testing.TB, keep store.Retention) (*sampling, int64) {
	s := &sampling{t: t, path: filepath.Join(t.TempDir(), "sensegate.db"), keep: keep, now: time.Unix(base, 0)}
	s.open()
	s.network = newNetwork(t, s.db, "g")
	t.Cleanup(func() { storetest.Close(t, s.db) })
	return s, series.QuarterHour.BlockStart(base) + series.QuarterHour.Span() - base
}

// answer returns the network's values of a measure in [from, to) after base, and
// the bucket that they came in.
func (s *sampling) answer(m series.Measure, from, to, bucket int64) (string, int64) {
	s.t.Helper()
	set, err := s.samples.Set(context.Background(), s.network, base+from, base+to, bucket)
	if err != nil {
		s.t.Fatal(err)
	}
	got, effective, err := set.AppendJSON(nil, series.Query{Series: series.Network, Measure: m, From: base + from, To: base + to, Bucket: bucket})
	if err != nil {
		s.t.Fatal(err)
	}
	return string(got), effective
}

// live adds a second's value each second of [from, to) after base and flushes
// every minute.
func (s *sampling) live(from, to int64, value func(second int64) float64) {
	for second := from; second < to; second++ {
		s.add(second, value(second))
		if second%60 == 59 {
			s.flush(second + 1)
		}
	}
}

func TestSumsFollowTheSeconds(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, store.Retention{})
	rng := rand.New(rand.NewPCG(1, 2))
	s.live(start, start+7*3600, func(second int64) float64 {
		if second/977%3 == 0 {
			return 0
		}
		return rng.Float64()
	})
	s.flush(start + 7*3600 + 11)
	seconds, err := series.NewSet(s.blocksOf(series.Second)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, measure := range []series.Measure{series.Intensity, series.Density, series.State, series.Mean} {
		for _, bucket := range []int64{5, 60, 300, 3600} {
			from, to := start-100, start+7*3600-123
			q := series.Query{Series: series.Network, Measure: measure, From: base + from, To: base + to, Bucket: bucket}
			want, _, err := seconds.AppendJSON(nil, q)
			got, _ := s.answer(measure, from, to, bucket)
			if same := got == string(want); err != nil || !same && (measure != series.Mean || !seriestest.SameMeans([]byte(got), want)) {
				t.Errorf("measure %d, bucket %d: %v\ngot  %s\nwant %s", measure, bucket, err, got, want)
			}
		}
	}
	for tier, blocks := range map[series.Tier]int{series.Second: 42, series.FiveSeconds: 7, series.Minute: 1, series.QuarterHour: 0} {
		if got := len(s.blocksOf(tier)); got != blocks {
			t.Errorf("%d blocks of %v, want %d", got, tier, blocks)
		}
	}
}

// blocksOf returns the sealed blocks of a tier.
func (s *sampling) blocksOf(tier series.Tier) [][]byte {
	s.t.Helper()
	blocks, err := store.SealedBlocks(s.db, tier)
	if err != nil {
		s.t.Fatal(err)
	}
	return blocks
}

func TestSilentNetworkIsSummedUpToo(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, store.Retention{})
	s.add(start, 0.5)
	s.flush(start + 611) // sealed; then silence, and a restart
	s.restart()
	s.flush(start + 3600 + 11)
	s.flush(start + 6*3600 + 11)
	s.flush(start + 4*24*3600 + 11)
	for _, tier := range series.Tiers() {
		if got := len(s.blocksOf(tier)); got != 1 {
			t.Errorf("%d blocks of %v, want 1", got, tier)
		}
	}
}

func TestLateHistoryReachesTheSums(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, store.Retention{})
	s.add(start, 0.5)
	s.flush(start + 4*24*3600 + 20)
	s.flush(start + 4*24*3600 + 4000)
	past := motion.Time(base + start + 7200)
	s.samples.Fill(s.network, past, []store.Value{{ID: series.Network, Value: 0.7}})
	got, _ := s.answer(series.Intensity, start+7200, start+9000, 900)
	want := fmt.Sprintf("[[0.7,%d],[null,%d]]", base+start+7200, base+start+8100)
	s.want("in memory", got, want)
	s.flush(start + 4*24*3600 + 4060)
	got, _ = s.answer(series.Intensity, start+7200, start+9000, 900)
	s.want("on disk", got, want)
	if blocks := s.blocksOf(series.QuarterHour); len(blocks) != 1 {
		t.Errorf("%d blocks of 15 min, want 1", len(blocks))
	}
}

func TestWhatIsPastItsRetentionIsNotShown(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, short())
	s.live(start, start+3600, func(int64) float64 { return 0.5 })
	s.flush(start + 3700)
	s.flush(start + 7300)
	_, bucket := s.answer(series.Intensity, start, start+600, 1)
	if bucket != 1 {
		t.Errorf("within its retention: bucket %d, want 1", bucket)
	}
	s.now = time.Unix(base+start+3600+7200, 0) // no flush since: it lies there still
	got, bucket := s.answer(series.Intensity, start, start+10, 1)
	s.want("an hour past", got, fmt.Sprintf("[[0.5,%d],[0.5,%d]]", base+start, base+start+5))
	if bucket != 5 {
		t.Errorf("past the retention of seconds: bucket %d, want 5", bucket)
	}
	s.flush(start + 6*3600 + 60)
	s.flush(start + 13*3600 + 60)
	s.now = time.Unix(base+start+13*3600+1200, 0)
	got, bucket = s.answer(series.Intensity, start, start+120, 5)
	s.want("13 hours past", got, fmt.Sprintf("[[0.5,%d],[0.5,%d]]", base+start, base+start+60))
	if bucket != 60 {
		t.Errorf("past the retention of 5 s: bucket %d, want 60", bucket)
	}
	s.now = time.Unix(base+start+21*24*3600, 0)
	if got, _ := s.answer(series.Intensity, start, start+120, 60); got != fmt.Sprintf("[[null,%d],[null,%d]]", base+start, base+start+60) {
		t.Errorf("21 days past: %s", got)
	}
}

// Retention never removes what is younger: every second within the retention of
// its resolution has the value that it was given.
func TestRetentionLeavesWhatIsYounger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s, start := newAging(t, short())
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		now, given := start, map[int64]float64{}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			for range rng.IntN(20) {
				second, v := now-rng.Int64N(1200), float64(1+rng.IntN(1000))/1000
				if _, taken := given[second]; !taken {
					given[second] = v
					s.add(second, v)
				}
			}
			now += rng.Int64N(10_000)
			s.flush(now)
			if rng.IntN(4) == 0 {
				s.restart()
			}
		}
		s.flush(now + 700)
		now += 700
		for _, c := range []struct{ bucket, keep int64 }{{1, 2 * 3600}, {5, 12 * 3600}, {60, 8 * 24 * 3600}} {
			for second, v := range given {
				at := second - ((base+second)%c.bucket+c.bucket)%c.bucket
				if at < now-c.keep || at+c.bucket > now {
					continue
				}
				peak := v
				for other, w := range given {
					if other >= at && other < at+c.bucket {
						peak = max(peak, w)
					}
				}
				got, bucket := s.answer(series.Intensity, at, at+c.bucket, c.bucket)
				if want := fmt.Sprintf("[[%v,%d]]", seriestest.Kept(peak), base+at); got != want || bucket != c.bucket {
					rt.Fatalf("now %d, second %d at %d s: got %s (%d), want %s", now, second, c.bucket, got, bucket, want)
				}
			}
		}
	})
}

func TestFileIsSteadyOnceRetentionIsReached(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, short())
	rng := rand.New(rand.NewPCG(5, 6))
	var sizes []int64
	for hour := range int64(45 * 24) {
		from := start + hour*3600
		for second := from; second < from+3600; second += 7 {
			s.add(second, rng.Float64())
		}
		for i := range int64(6) {
			s.flush(from + i*600 + 611)
		}
		addEvent(t, s.db, benchEvent(s.network, motion.MotionDetectedEvent, motion.Time(base+from)), fmt.Sprint(hour))
		if hour%(24*5) == 0 {
			sizes = append(sizes, int64(len(fileBytes(t, s.path))))
		}
	}
	first, last := sizes[6], sizes[len(sizes)-1] // day 30, day 40
	if last > first {
		t.Errorf("the file grew from %d bytes on day 30 to %d on day 40: %v", first, last, sizes)
	}
	view(t, s.db, func(tx *store.Tx) error {
		events, err := storetest.Events(tx, s.network)
		if n := len(events); n != 29 {
			t.Errorf("%d events, want the 29 of the last 30 hours", n)
		}
		return err
	})
}

// A power cut loses at most what came since the last flush: the file as it was
// after any flush holds everything that came before it.
func TestPowerCutCostsAtMostTheInterval(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, store.DefaultRetention())
	value := func(second int64) float64 { return float64(second%1000) / 1000 }
	rng := rand.New(rand.NewPCG(7, 8))
	for minute := range int64(150) {
		s.live(start+60*minute, start+60*minute+60, value)
		s.add(start+60*minute+61, 0.5) // never flushed
		if rng.IntN(12) > 0 {
			continue
		}
		path := filepath.Join(t.TempDir(), "sensegate.db")
		copyFile(t, s.path, path)
		after := &sampling{t: t, path: path, keep: s.keep, now: s.now, network: s.network}
		after.open()
		to := start + 60*minute + 60
		for _, bucket := range []int64{1, 60} {
			from := max(start, to-40*bucket)
			got, _ := after.answer(series.Intensity, from, to, bucket)
			want, _ := s.answer(series.Intensity, from, to, bucket)
			if got != want {
				t.Errorf("minute %d, bucket %d: got %s, want %s", minute, bucket, got, want)
			}
		}
		storetest.Close(t, after.db)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
	if err := target.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestClockThatJumpsCostsNoHistory(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * 3600
	for name, jump := range map[string]int64{"forward": year, "back": -year} {
		s, start := newAging(t, short())
		s.live(start, start+1800, func(int64) float64 { return 0.5 })
		want, _ := s.answer(series.Intensity, start, start+1200, 1)
		for hour := range int64(48) {
			s.flush(start + jump + hour*3600)
		}
		s.flush(start + 3800)
		got, _ := s.answer(series.Intensity, start, start+1200, 1)
		s.want(name, got, want)
	}
}

func TestClockThatWasNeverSetIsTrustedAfterAWeek(t *testing.T) {
	t.Parallel()
	s, start := newAging(t, short())
	s.flush(-base + 7200) // 1970
	s.live(start, start+600, func(int64) float64 { return 0.5 })
	for hour := range int64(24 * 9) {
		s.flush(start + 620 + hour*3600)
		if n := len(s.blocksOf(series.Second)); hour == 24*6 && n == 0 {
			t.Error("deleted before the clock could be trusted")
		}
	}
	if n := len(s.blocksOf(series.Second)); n != 0 {
		t.Errorf("%d blocks of seconds are left", n)
	}
}
