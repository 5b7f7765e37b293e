package insight_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"testing"
	"time"
	_ "time/tzdata" // the zones of these tests, wherever they run

	"sensegate/motion"
	"sensegate/motion/insight"
	"sensegate/motion/series"
)

// still, moving and silent are what a home does at a second.
const (
	still  = 0.0
	moving = 0.5
	silent = -1.0 // no data
)

// home says what a network does at each second.
type home func(ts int64) float64

// record returns the set of [from, to) in one tier.
func record(t testing.TB, tier series.Tier, from, to int64, does home) *series.Set {
	t.Helper()
	var values [][]byte
	for start := tier.BlockStart(from); start < to; start += tier.Span() {
		b := series.NewBlock(tier, start)
		network, _ := b.Index(series.Network)
		for ts := start; ts < min(b.End(), to); ts += tier.Step() {
			if ts < from {
				continue
			}
			if v := does(ts); v != silent {
				b.Fill(network, ts, v)
			}
		}
		values = append(values, b.AppendValue(nil))
	}
	return setOf(t, values...)
}

func setOf(t testing.TB, values ...[]byte) *series.Set {
	t.Helper()
	s, err := series.NewSet(values...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// span is [from, to), of one doing.
type span struct {
	from, to string // local wall times
	does     float64
}

// spans returns the home that does what the last span that holds a second says,
// and rest outside all of them.
func spans(t testing.TB, zone *time.Location, rest float64, list ...span) home {
	t.Helper()
	from, to := make([]int64, len(list)), make([]int64, len(list))
	for i, s := range list {
		from[i], to[i] = at(t, zone, s.from), at(t, zone, s.to)
	}
	return func(ts int64) float64 {
		does := rest
		for i, s := range list {
			if from[i] <= ts && ts < to[i] {
				does = s.does
			}
		}
		return does
	}
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// at returns the second of a local wall time such as "2025-11-24 23:30".
func at(t testing.TB, zone *time.Location, text string) int64 {
	t.Helper()
	ts, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return ts.Unix()
}

func date(t testing.TB, text string) insight.Date {
	t.Helper()
	d, err := insight.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// leaf returns the address 02:bb:00:00:00:last.
func leaf(last byte) motion.MAC { return motion.MAC{2, 0xbb, 0, 0, 0, last} }

// TestDamageIsToldNotHidden breaks the run lists of the columns behind a sound
// checksum: their last number goes on after their end.
func TestDamageIsToldNotHidden(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.FiveSeconds, base)
	for rows, id := range []series.ID{series.Network, series.Location(leaf(0x31))} { // of two columns that are alike one is stored
		i, _ := b.Index(id)
		for row := range int64(rows + 1) {
			b.Fill(i, base+5*row, still)
		}
	}
	value := b.AppendValue(nil)
	body := value[:len(value)-4]
	const column = 4 // bytes: head, a run of 1 or 2 rows, a run of the others
	body[len(body)-1] |= 0x80
	body[len(body)-1-column] |= 0x80
	s := setOf(t, binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli))))
	d, h := date(t, "2025-11-24"), usualHours(time.UTC)
	h.SleepHour, h.WakeHour = 5, 6
	for name, ask := range map[string]func() error{
		"activity": func() error { _, err := insight.ActivityOf(s, base, base+900); return err },
		"days":     func() error { _, err := insight.Days(s, d, d, time.UTC); return err },
		"nights":   func() error { _, err := insight.Nights(s, h, d-1, d-1, base+86400); return err },
		"first":    func() error { _, _, err := insight.First(s, base, base+900); return err },
		"warm-up":  func() error { _, err := insight.WarmedUp(s, base, base+3*3600); return err },
		"places":   func() error { _, err := insight.HistogramOf(s, base, base+900, 900, nil); return err },
	} {
		if err := ask(); !errors.Is(err, series.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}
