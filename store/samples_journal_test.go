package store_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store"
	"sensegate/store/storetest"
)

// A journal of rows of one network is read, and deleted with its block.
func TestFormerJournalIsReplayed(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(*store.DB, series.Tier, int64, motion.NetworkID, []byte) error{
		"schema 1": store.PutJournalV1, "schema 2 in its beginnings": store.PutJournalOfNetwork,
	} {
		s, start := newAging(t, store.Retention{})
		b := series.NewBlock(series.Second, base+start)
		i, _ := b.Index(series.Network)
		b.Add(i, base+start+5, 0.7)
		if err := put(s.db, series.Second, base+start, s.network, b.AppendValue(nil)); err != nil {
			t.Fatal(err)
		}
		s.restart()
		s.add(start+6, 0.8)
		s.flush(start + 60)
		s.restart()
		s.want(name+", replayed", s.rows(start+4, start+8, 1), "- 0.7 0.8 - ")
		s.flush(start + 700)
		if n, err := store.JournalEntries(s.db); n != 0 || err != nil {
			t.Errorf("%s: %d entries are left in the journal, %v", name, n, err)
		}
		s.want(name+", sealed", s.rows(start+4, start+8, 1), "- 0.7 0.8 - ")
	}
}

func TestFormerJournalGoesWithItsNetwork(t *testing.T) {
	t.Parallel()
	s := newSampling(t)
	err := errors.Join(
		store.PutJournalV1(s.db, series.Second, base, s.network, []byte("rows")),
		store.PutJournalOfNetwork(s.db, series.Second, base, s.network, []byte("rows")),
	)
	if err != nil {
		t.Fatal(err)
	}
	update(t, s.db, func(tx *store.Tx) error { return tx.DeleteNetwork(s.network) })
	if n, err := store.JournalEntries(s.db); n != 0 || err != nil {
		t.Errorf("%d entries are left in the journal, %v", n, err)
	}
}

func TestJournalThatIsNotUnderstoodGoesWithTheFirstFlush(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	db := storetest.Open(t, fixedTime, func(o *store.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	network := newNetwork(t, db, "g")
	second := uint32(series.Second)
	for _, words := range [][]uint32{
		{1}, {uint32(base), 7, second}, {uint32(base), 7, 99, 1}, {uint32(base), 7, second, 0}, {uint32(base), second, 1, 0, 7, 1},
	} {
		if err := store.PutJournal(db, []byte("rows"), words...); err != nil {
			t.Fatal(err)
		}
	}
	samples, err := store.OpenSamples(context.Background(), db)
	if !errors.Is(err, series.ErrDamaged) {
		t.Errorf("error %v, want ErrDamaged", err)
	}
	other := newNetwork(t, db, "h")
	update(t, db, func(tx *store.Tx) error { return tx.DeleteNetwork(other) })
	samples.Add(network, motion.TimeOf(time.Unix(1764000000, 0)), []store.Value{{ID: series.Network, Value: 0.5}})
	for range 2 {
		update(t, db, samples.Flush)
	}
	if n, err := store.JournalEntries(db); n != 1 || err != nil {
		t.Errorf("%d entries are in the journal, %v, want the new one", n, err)
	}
	if _, err := store.OpenSamples(context.Background(), db); err != nil {
		t.Errorf("the next start: %v", err)
	}
	if n := strings.Count(log.String(), "not understood"); n != 1 || !strings.Contains(log.String(), "entries=5") {
		t.Errorf("said %d times, want once of 5 entries: %s", n, log.String())
	}
}
