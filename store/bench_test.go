package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sensegate/motion"
	"sensegate/store"
	"sensegate/store/storetest"
)

// benchEvent is an event of usual size.
func benchEvent(network motion.NetworkID, kind string, ts motion.Time) motion.Event {
	armed := 1
	return motion.Event{
		Category: motion.CategoryMotion, Event: kind, NetworkID: network, GuardianID: "a41f00c2d97b4e5580136c2e",
		TS: ts, DetectedTS: ts - 50, IntensityWindow: []float64{0.3, 0.56, 0.43, 0.27, 0.13, 0, 0.04},
		LinkID: "GWA1000133.02bb00000031", LinkDstName: "GWA1000133", LinkSrcName: "02bb00000031",
		Loc:     []motion.EventLoc{{MAC: "02:bb:00:00:00:31", Location: "Kitchen", FriendlyName: "Kitchen speaker", Confidence: 0.82}},
		LocName: "Kitchen", Armed: &armed,
	}
}

// manyEvents opens a database with 100,000 events of 10 networks: every tenth is
// detected, every tenth its stopped, the rest are of links.
func manyEvents(b *testing.B) *store.DB {
	b.Helper()
	db := storetest.Open(b)
	for i := range 10 {
		network := newNetwork(b, db, fmt.Sprint(i))
		update(b, db, func(tx *store.Tx) error {
			for j := range 10_000 {
				kind := motion.LinkConnectedEvent
				switch j % 10 {
				case 0:
					kind = motion.MotionDetectedEvent
				case 5:
					kind = motion.MotionStoppedEvent
				}
				if _, _, err := tx.AddEvent(benchEvent(network, kind, motion.Time(1764000000+10*j)), ""); err != nil {
					return err
				}
			}
			return nil
		})
	}
	b.ResetTimer()
	return db
}

// BenchmarkAddEvent stores one event a commit: bbolt syncs the data, then the
// meta page, so two fdatasync each, and a third when the file has to grow.
func BenchmarkAddEvent(b *testing.B) {
	db := storetest.Open(b, func(o *store.Options) { o.EventShare = 32 << 20 })
	network := newNetwork(b, db, "g")
	b.ResetTimer()
	b.ReportAllocs()
	for i := range b.N {
		e := benchEvent(network, motion.MotionDetectedEvent, motion.Time(1764000000+i))
		addEvent(b, db, e, fmt.Sprint(i))
	}
}

func BenchmarkQuery100Of100k(b *testing.B) {
	db := manyEvents(b)
	from := motion.Time(1764050000)
	for name, query := range map[string]store.EventQuery{
		"newest":  {Last: 100},
		"forward": {Last: 100, From: &from},
		"kind":    {Last: 100, Kinds: []string{motion.MotionStoppedEvent}},
		"no such": {Last: 100, Kinds: []string{motion.LinkNoisyEvent}},
	} {
		query.Network = 5
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				view(b, db, func(tx *store.Tx) error {
					list, err := tx.Events(query)
					if len(list) != 100 && name != "no such" {
						b.Fatalf("%d events", len(list))
					}
					return err
				})
			}
		})
	}
	b.Run("pairs", func(b *testing.B) {
		for b.Loop() {
			view(b, db, func(tx *store.Tx) error {
				list, _, err := tx.PairPage(store.EventQuery{Network: 5, Last: 100})
				if len(list) != 100 {
					b.Fatalf("%d pairs", len(list))
				}
				return err
			})
		}
	})
}

// BenchmarkOpen opens a database with 100,000 events: every page is verified.
func BenchmarkOpen(b *testing.B) {
	db := manyEvents(b)
	data, err := os.ReadFile(db.Path()) // nothing writes meanwhile
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "sensegate.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		db, err := store.Open(store.Options{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
