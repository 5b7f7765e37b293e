package moving_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sensegate/api/box/moving"
	"sensegate/motion"
	"sensegate/store"
)

// BenchmarkMove writes a network with events of 1 KB each into a file and takes it in, plain; it tells
// the size of the file and the longest that another commit waited meanwhile.
func BenchmarkMove(b *testing.B) {
	for _, records := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			from := openBox(b)
			filler := motion.Document{"text": strings.Repeat("some words and a number 0123456789; ", 20)}
			var id motion.NetworkID
			if err := from.Update(b.Context(), func(tx *store.Tx) error {
				n, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f"})
				id = n.ID
				return err
			}); err != nil {
				b.Fatal(err)
			}
			for at := 0; at < records; at += 1000 {
				err := from.Update(b.Context(), func(tx *store.Tx) error {
					for i := range 1000 {
						e := motion.Event{Event: motion.MotionDetectedEvent, NetworkID: id, TS: motion.Time(now - 1e6 + at + i), Detail: filler}
						if _, _, err := tx.AddEvent(e, fmt.Sprint(at, " ", i)); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				b.StopTimer()
				to := openBox(b)
				b.StartTimer()
				moveOnce(b, from, to, id)
			}
		})
	}
}

func openBox(b *testing.B) box {
	db, err := store.Open(store.Options{Path: b.TempDir() + "/sensegate.db"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	samples, err := store.OpenSamples(b.Context(), db)
	if err != nil {
		b.Fatal(err)
	}
	return box{db, samples}
}

func moveOnce(b *testing.B, from, to box, id motion.NetworkID) {
	var file bytes.Buffer
	s := moving.Source{Header: moving.Header{Copy: moving.NewReceipt(), Network: id}, Samples: from.samples}
	err := from.View(b.Context(), func(tx *store.Tx) (err error) {
		s.Network, s.Header.Left, err = tx.CopyNetwork(id)
		return err
	})
	began := time.Now()
	if err == nil {
		_, err = moving.Write(b.Context(), &file, s)
	}
	written := time.Since(began)
	stop, waited := make(chan struct{}), make(chan time.Duration)
	go func() {
		longest := time.Duration(0)
		for {
			select {
			case <-stop:
				waited <- longest
				return
			default:
			}
			began := time.Now()
			_ = to.Update(b.Context(), func(tx *store.Tx) error { return tx.AddAuditLine(store.AuditLine{Action: "x"}) })
			longest = max(longest, time.Since(began))
		}
	}()
	staged, err2 := moving.Stage(b.Context(), to.DB, bytes.NewReader(file.Bytes()), nil)
	if err = errors.Join(err, err2); err == nil {
		_, err = staged.Commit(b.Context())
	}
	close(stop)
	longest := <-waited
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(file.Len())/1e6, "MB-file")
	b.ReportMetric(written.Seconds(), "s-export")
	b.ReportMetric(longest.Seconds()*1e3, "ms-longest-commit")
}
