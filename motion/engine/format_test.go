package engine_test

import (
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// A link that changes over between formats is calibrated once on each, over restarts too.
func TestCalibrationIsKeptForEachFormatOfALink(t *testing.T) {
	node := func(format uint16) func(motion.RawCSI) motion.Report {
		return func(b motion.RawCSI) motion.Report { return motion.NodeCSI{Format: format, Batch: b} }
	}
	changed := func(change func(*csi.Batch)) func(motion.RawCSI) motion.Report {
		return func(payload motion.RawCSI) motion.Report {
			var b csi.Batch
			if err := csi.Decode(payload, &b); err != nil {
				t.Fatal(err)
			}
			change(&b)
			return motion.RawCSI(csi.Append(nil, &b))
		}
	}
	own := func(b motion.RawCSI) motion.Report { return b }
	for name, other := range map[string]func(motion.RawCSI) motion.Report{
		"of a node":   node(7),
		"channel":     changed(func(b *csi.Batch) { b.Channel = 11 }),
		"locked gain": changed(func(b *csi.Batch) { b.Flags |= csi.GainLocked }),
		"segments":    changed(func(b *csi.Batch) { b.Ends = []int{32, 64} }),
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				send := func(form func(motion.RawCSI) motion.Report, length motion.Seconds) {
					for range int(length * 2) {
						time.Sleep(time.Second / 2)
						b.report(masterKey, form(batch(kitchen, masterAP, now()-0.5, nil)))
					}
				}
				send(own, 90)
				first := b.explain()[kitchenLink]
				send(other, 2)
				if s := b.explain()[kitchenLink]; s.Calibration != "running" {
					t.Errorf("a format that has not been met: calibration %s", s.Calibration)
				}
				send(other, 90)
				second := b.explain()[kitchenLink]
				if first.Calibration != "done" || second.Calibration != "done" || second.CalibratedAt <= first.CalibratedAt {
					t.Fatalf("calibrated %s at %v, then %s at %v", first.Calibration, first.CalibratedAt, second.Calibration, second.CalibratedAt)
				}
				send(own, 2)
				if s := b.explain()[kitchenLink]; s.Calibration != "done" || s.CalibratedAt != first.CalibratedAt {
					t.Errorf("the first format has come back: calibrated %s at %v, want %v", s.Calibration, s.CalibratedAt, first.CalibratedAt)
				}
				b.stop()
				b.start()
				b.reconnect()
				send(other, 2)
				if s := b.explain()[kitchenLink]; s.Calibration != "done" || s.CalibratedAt != second.CalibratedAt {
					t.Errorf("the second format after a restart: calibrated %s at %v, want %v", s.Calibration, s.CalibratedAt, second.CalibratedAt)
				}
			})
		})
	}
}
