package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
)

// restarts are the ways to end: in good order, and as a power cut does.
var restarts = map[string]func(*box){
	"stop":      (*box).stop,
	"power cut": (*box).crash,
}

func TestOpenDetectionSurvivesARestart(t *testing.T) {
	for name, end := range restarts {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.send(10, 0.35, 0)
				end(b)
				b.start()
				b.reconnect()
				b.send(5, 0.35, 0)
				b.send(130, 0, 0)
				list := b.events(motion.MotionDetectedEvent, motion.MotionStoppedEvent)
				if len(list) != 2 || list[1].Event != motion.MotionStoppedEvent || list[1].DetectedTS != list[0].TS {
					t.Errorf("events %v", b.kinds())
				}
			}, func(o *engine.Options) { o.FlushInterval = time.Hour })
		})
	}
}

func TestEndedDetectionStaysEndedOverARestart(t *testing.T) {
	for name, end := range restarts {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.send(10, 0.35, 0)
				if err := b.Flush(context.Background()); err != nil {
					t.Fatal(err)
				}
				b.send(130, 0, 0)
				end(b)
				b.start()
				b.reconnect()
				b.send(130, 0, 0)
				equal(t, "events", b.kinds(), []string{motion.MotionDetectedEvent, motion.MotionStoppedEvent})
			}, func(o *engine.Options) { o.FlushInterval = time.Hour })
		})
	}
}

func TestOpenDetectionEndsWhenNothingComesBack(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.send(10, 0.35, 0)
		b.stop()
		b.start()
		time.Sleep(11 * time.Minute)
		list := b.events(motion.MotionStoppedEvent)
		if len(list) != 1 || list[0].Detail["reason"] != "no_data" {
			t.Errorf("events %+v", list)
		}
	})
}

func TestSamplesSurviveARestart(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*box)
		want string
	}{
		"stop":                            {(*box).stop, "0.2 0.5 "},
		"power cut: up to the last flush": {(*box).crash, "0.2 null "},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				time.Sleep(20 * time.Second)
				begin := int64(now())
				b.send(20, 0.2, 0)
				if err := b.Flush(context.Background()); err != nil {
					t.Fatal(err)
				}
				b.send(20, 0.5, 0)
				c.end(b)
				b.start()
				if got := b.points(begin, begin+40, 20); got != c.want {
					t.Errorf("samples %s, want %s", got, c.want)
				}
			}, func(o *engine.Options) { o.FlushInterval = time.Hour })
		})
	}
}

func TestWhatLinksHaveLearnedSurvivesARestart(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.quiet(r, 28)
		b.figures(40, constant(0.02))
		b.stop()
		b.start()
		before := b.learned()
		b.reconnect()
		b.quiet(r, 5)
		b.stop()
		b.start()
		after := b.learned()
		for _, key := range []string{"02bb00000031>02aa00000112", "02bb00000032>02aa00000212"} {
			was, is := before.Links[key], after.Links[key]
			if len(was.Bins) < 40 || was.Rate < 90 || len(is.Bins) != len(was.Bins) || is.Rate == 0 {
				t.Errorf("%s: before %+v, after %+v", key, was, is)
			}
		}
		coarse := "02bb00000031>02aa00000112:1"
		if was := before.Coarse[coarse]; !was.Calibrated || was.Baseline != after.Coarse[coarse].Baseline {
			t.Errorf("figures: before %+v, after %+v", was, after.Coarse[coarse])
		}
	})
}

// learned is what of the detectors' stored state the tests look at.
type learned struct {
	Links, Coarse map[string]struct {
		Bins       []int
		Rate       float64
		Baseline   float64
		Calibrated bool
	}
}

func (b *box) learned() (l learned) {
	b.t.Helper()
	b.view(func(tx *store.Tx) error {
		raw, err := tx.DetectorState(b.network())
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, &l)
	})
	return l
}

func TestRecordsSurviveARestart(t *testing.T) {
	for name, end := range restarts {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				b.report(guardianKey, status())
				before, err := b.Inventory.Topology(id, true)
				if err != nil {
					t.Fatal(err)
				}
				end(b)
				b.start()
				after, err := b.Inventory.Topology(id, true)
				if err != nil || len(after.Devices) != len(before.Devices) || len(after.Links) != len(before.Links) {
					t.Errorf("before %+v\nafter %+v, %v", before, after, err)
				}
				b.reconnect()
				b.report(guardianKey, status())
				if got := b.linkEvents(); len(got) != 3 {
					t.Errorf("link events %q", got)
				}
			})
		})
	}
}

func TestStateThatCannotBeReadBeginsAnew(t *testing.T) {
	for name, state := range map[string]string{"of other types": `{"links":"many","fusion":[7],"open":"yes"}`, "a list": `[1,2]`, "a number": `8`} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.send(10, 0.35, 0)
				id := b.network()
				b.stop()
				db, err := store.Open(store.Options{Path: b.path})
				if err != nil {
					t.Fatal(err)
				}
				err = db.Update(context.Background(), func(tx *store.Tx) error {
					return errors.Join(tx.PutDetectorState(id, json.RawMessage(state)), tx.PutEventState(id, json.RawMessage(state)))
				})
				if err := errors.Join(err, db.Close()); err != nil {
					t.Fatal(err)
				}
				b.start()
				for _, said := range []string{"they learn anew", "it begins anew"} {
					if !strings.Contains(log.String(), said) {
						t.Errorf("the log does not say %q: %s", said, log.String())
					}
				}
				b.reconnect()
				b.send(10, 0.35, 0)
				equal(t, "events", b.kinds(), []string{motion.MotionDetectedEvent, motion.MotionDetectedEvent})
			}, func(o *engine.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
		})
	}
}
