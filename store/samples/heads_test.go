package samples

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// TestSamplesThatCannotBeStoredAreBounded fills the memory while nothing can be stored.
func TestSamplesThatCannotBeStoredAreBounded(t *testing.T) {
	t.Parallel()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "samples.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte(Journal))
		for _, tier := range series.Tiers() {
			_, made := tx.CreateBucket([]byte(Bucket(tier)))
			err = errors.Join(err, made)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const network = motion.NetworkID(1)
	base := series.FiveSeconds.BlockStart(1764000000)
	clock, lost, summed := base, int64(0), int64(0)
	var full error
	samples := New(func() error { return full }, func(seconds int64) { lost += seconds })
	hours := func(from, to int64) {
		for second := base + from*3600; second < base+to*3600; second += 60 {
			frame := []series.Value{{ID: series.Network, Value: 0.5}}
			for _, link := range []string{"A.B", "A.C", "A.D", "A.E", "A.F", "A.G"} {
				frame = append(frame, series.Value{ID: series.Link(link), Value: 0.5})
			}
			samples.Add(network, motion.Time(second), frame)
		}
		clock = base + to*3600 + 60
	}
	flush := func() {
		var committed []func()
		err := db.Update(func(tx *bolt.Tx) (err error) {
			summed, err = samples.Flush(Tx{
				Bolt: tx, Now: motion.Time(clock), Logger: slog.New(slog.DiscardHandler),
				OnCommit: func(fn func()) { committed = append(committed, fn) },
			}, summed)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, then := range committed {
			then()
		}
	}
	hours(0, 24)
	if lost != 0 {
		t.Errorf("%d s lost with room on the disk", lost)
	}
	flush()
	full = errors.New("full")
	hours(24, 48)
	held := samples.head(network)
	if got := held.bytes(); got < unstoredBytes || got > unstoredBytes+7*600*4 {
		t.Errorf("%d bytes in memory, want %d and the last block", got, unstoredBytes)
	}
	kept := int64(len(held.blocks)) * 600
	if lost != 24*3600-kept {
		t.Errorf("%d s lost, %d kept of a day", lost, kept)
	}
	full = nil
	flush()
	reading := samples.Read(network, base, base+48*3600, 1)
	err = db.View(func(tx *bolt.Tx) error {
		reading.AddSealed(tx, summed, func(series.Tier) int64 { return 0 })
		return nil
	})
	set, damaged := reading.Set()
	if err := errors.Join(err, damaged); err != nil {
		t.Fatal(err)
	}
	points, err := set.Points(series.Query{Series: series.Network, Measure: series.Intensity, From: base, To: base + 48*3600, Bucket: 3600})
	story := ""
	for i := range points.Len() {
		if _, _, known := points.At(i); known {
			story += "x"
		} else {
			story += "-"
		}
	}
	if want := strings.Repeat("x", 24) + strings.Repeat("-", 13) + strings.Repeat("x", 11); err != nil || story != want {
		t.Errorf("hours with data %s, %v, want %s", story, err, want)
	}
}
