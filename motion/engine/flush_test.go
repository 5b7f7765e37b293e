package engine_test

import (
	"testing"
	"time"

	"sensegate/motion"
)

func TestHeartbeatSurvivesAPowerCutWithoutItsReport(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		time.Sleep(61 * time.Second)
		tripped := 1
		beat := motion.StatusReport{TS: now(), MotionEnabled: 1, MotionTripped: &tripped, LastMotion: now() - 5}
		b.report(guardianKey, beat)
		time.Sleep(11 * time.Minute)
		b.crash()
		b.start()
		report, err := b.lastStatus(b.network())
		if err != nil {
			t.Fatal(err)
		}
		if report.TS != beat.TS || report.LastMotion != beat.LastMotion || len(report.Radars) != 2 {
			t.Errorf("after the restart: ts %v, last motion %v, %d radars; want %v, %v, 2", report.TS, report.LastMotion, len(report.Radars), beat.TS, beat.LastMotion)
		}
	})
}

func TestWholeReportIsWrittenSeldom(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		versions := func(text string) {
			report := status()
			report.Version = motion.Document{"core": text}
			b.report(guardianKey, report)
		}
		stored := func() any {
			b.crash()
			b.start()
			b.reconnect()
			report, err := b.lastStatus(b.network())
			if err != nil {
				t.Fatal(err)
			}
			return report.Version["core"]
		}
		versions("first")
		time.Sleep(2 * time.Minute)
		versions("second")
		time.Sleep(2 * time.Minute)
		if got := stored(); got != "first" {
			t.Errorf("after minutes the report %v is stored, want the first", got)
		}
		versions("third")
		time.Sleep(6*time.Hour + 2*time.Minute)
		if got := stored(); got != "third" {
			t.Errorf("after six hours the report %v is stored, want the third", got)
		}
	})
}
