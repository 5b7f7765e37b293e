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

// heads is what is open in memory, beside a database.
type heads struct {
	*Heads
	t      *testing.T
	db     *bolt.DB
	summed int64
	full   error // why nothing can be stored
	lost   int64 // s
}

func newHeads(t *testing.T) *heads {
	t.Helper()
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
	h := &heads{t: t, db: db}
	h.Heads = New(func() error { return h.full }, func(seconds int64) { h.lost += seconds })
	return h
}

// half adds half an intensity to series of a network.
func (h *heads) half(network motion.NetworkID, second int64, ids ...series.ID) {
	var frame []series.Value
	for _, id := range ids {
		frame = append(frame, series.Value{ID: id, Value: 0.5})
	}
	h.Add(network, motion.Time(second), frame)
}

func (h *heads) flush(clock int64) {
	h.t.Helper()
	var committed []func()
	err := h.db.Update(func(tx *bolt.Tx) (err error) {
		h.summed, err = h.Flush(Tx{
			Bolt: tx, Now: motion.Time(clock), Logger: slog.New(slog.DiscardHandler),
			OnCommit: func(fn func()) { committed = append(committed, fn) },
		}, h.summed)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, then := range committed {
		then()
	}
}

// known says for each bucket whether there is anything: x or -.
func (h *heads) known(network motion.NetworkID, id series.ID, from, to, bucket int64) (story string) {
	h.t.Helper()
	reading := h.Read(network, from, to, 1)
	err := h.db.View(func(tx *bolt.Tx) error {
		reading.AddSealed(tx, h.summed, func(series.Tier) int64 { return 0 })
		return nil
	})
	set, damaged := reading.Set()
	points, of := set.Points(series.Query{Series: id, Measure: series.Intensity, From: from, To: to, Bucket: bucket})
	if err := errors.Join(err, damaged, of); err != nil {
		h.t.Fatal(err)
	}
	for i := range points.Len() {
		if _, _, known := points.At(i); known {
			story += "x"
		} else {
			story += "-"
		}
	}
	return story
}

// TestSamplesThatCannotBeStoredAreBounded fills the memory while nothing can be stored.
func TestSamplesThatCannotBeStoredAreBounded(t *testing.T) {
	t.Parallel()
	samples := newHeads(t)
	const network = motion.NetworkID(1)
	home := []series.ID{series.Network}
	for _, link := range []string{"A.B", "A.C", "A.D", "A.E", "A.F", "A.G"} {
		home = append(home, series.Link(link))
	}
	base := series.FiveSeconds.BlockStart(1764000000)
	hours := func(from, to int64) {
		for second := base + from*3600; second < base+to*3600; second += 60 {
			samples.half(network, second, home...)
		}
	}
	hours(0, 24)
	if samples.lost != 0 {
		t.Errorf("%d s lost with room on the disk", samples.lost)
	}
	samples.flush(base + 24*3600 + 60)
	samples.full = errors.New("full")
	hours(24, 48)
	held := samples.head(network)
	if got := held.bytes(); got < unstoredBytes || got > unstoredBytes+7*600*4 {
		t.Errorf("%d bytes in memory, want %d and the last block", got, unstoredBytes)
	}
	kept := int64(len(held.blocks)) * 600
	if samples.lost != 24*3600-kept {
		t.Errorf("%d s lost, %d kept of a day", samples.lost, kept)
	}
	samples.full = nil
	samples.flush(base + 48*3600 + 60)
	story := samples.known(network, series.Network, base, base+48*3600, 3600)
	if want := strings.Repeat("x", 24) + strings.Repeat("-", 13) + strings.Repeat("x", 11); story != want {
		t.Errorf("hours with data %s, want %s", story, want)
	}
}

// TestBlocksTakeTheMemoryOfSealedOnes: storing a home's motion goes on in the memory of the block before, and what a link that is
// gone had there is gone with it.
func TestBlocksTakeTheMemoryOfSealedOnes(t *testing.T) {
	t.Parallel()
	samples := newHeads(t)
	const network = motion.NetworkID(1)
	link := series.Link("A.B")
	begin := series.Second.BlockStart(1764000000)
	samples.half(network, begin, series.Network, link)
	first := samples.head(network).recent
	samples.flush(begin + 700)
	samples.half(network, begin+600, series.Network)
	if second := samples.head(network).recent; second != first {
		t.Error("the next block has memory of its own")
	}
	samples.half(network, begin+1200, series.Network)
	if third := samples.head(network).recent; third == first {
		t.Error("two open blocks share their memory")
	}
	samples.flush(begin + 2000)
	for id, want := range map[series.ID]string{series.Network: "xxx", link: "x--"} {
		if got := samples.known(network, id, begin, begin+1800, 600); got != want {
			t.Errorf("series %q is known in %s, want %s", id, got, want)
		}
	}
}
