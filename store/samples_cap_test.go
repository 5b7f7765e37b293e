package store

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
)

// TestSamplesThatCannotBeStoredAreBounded fills the memory while the disk has no room.
func TestSamplesThatCannotBeStoredAreBounded(t *testing.T) {
	t.Parallel()
	base := series.FiveSeconds.BlockStart(1764000000)
	var clock atomic.Int64
	clock.Store(base)
	db := testDB(t, func(o *Options) {
		o.MinFree, o.Now = 800, func() time.Time { return time.Unix(clock.Load(), 0) }
	})
	var network motion.NetworkID
	err := db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		network = n.ID
		return err
	})
	samples, err2 := OpenSamples(t.Context(), db)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	hours := func(from, to int64) {
		for second := base + from*3600; second < base+to*3600; second += 60 {
			frame := []Value{{ID: series.Network, Value: 0.5}}
			for _, link := range []string{"A.B", "A.C", "A.D", "A.E", "A.F", "A.G"} {
				frame = append(frame, Value{ID: series.Link(link), Value: 0.5})
			}
			samples.Add(network, motion.Time(second), frame)
		}
		clock.Store(base + to*3600 + 60)
	}
	hours(0, 24)
	if lost := db.Health().SamplesLost; lost != 0 {
		t.Errorf("%d s lost with room on the disk", lost)
	}
	if err := db.Update(t.Context(), samples.Flush); err != nil {
		t.Fatal(err)
	}
	var free atomic.Int64
	db.space.measure = roomOf(&free)
	db.lookAtSpace()
	hours(24, 48)
	held := samples.head(network)
	if got := held.bytes(); got < unstoredBytes || got > unstoredBytes+7*600*4 {
		t.Errorf("%d bytes in memory, want %d and the last block", got, unstoredBytes)
	}
	kept := int64(len(held.blocks)) * 600
	if lost := db.Health().SamplesLost; lost != 24*3600-kept {
		t.Errorf("%d s lost, %d kept of a day", lost, kept)
	}
	free.Store(1 << 30)
	db.lookAtSpace()
	if err := db.Update(t.Context(), samples.Flush); err != nil {
		t.Fatal(err)
	}
	set, err := samples.Set(t.Context(), network, base, base+48*3600)
	if err != nil {
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
