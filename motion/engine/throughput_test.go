package engine_test

import (
	"testing"
	"time"

	"sensegate/motion"
)

// sendThroughput reports so many seconds of motion-matrix with these throughputs.
func (b *box) sendThroughput(length, kitchenLink, hallwayLink float64) {
	b.t.Helper()
	for range int(2 * length) {
		time.Sleep(500 * time.Millisecond)
		m := matrix(0, 0)
		m.Values[motion.Throughput] = [][]float64{{kitchenLink}, {hallwayLink}}
		b.report(guardianKey, m)
	}
}

func TestLinkThatSoundsBadlyIsToldOnce(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		b.sendThroughput(29.5, 0.21, 0.9)
		if got := b.events(motion.LinkLowThroughputEvent); len(got) != 0 {
			t.Fatalf("after 29.5 s: %+v", got)
		}
		b.sendThroughput(60, 0.21, 0.9)
		got := b.events(motion.LinkLowThroughputEvent)
		if len(got) != 1 {
			t.Fatalf("%d events", len(got))
		}
		e := got[0]
		if e.Category != motion.CategoryLink || e.LinkID != masterName+"."+kitchen.Name() || e.LinkDstName != masterName || e.LinkSrcName != kitchen.Name() ||
			e.NodeName != masterName || e.NodeID == 0 || e.Armed != nil || e.GuardianID != location {
			t.Errorf("%+v", e)
		}
		if len(e.Detail) != 2 || e.Detail["throughput"] != 0.21 || e.Detail["threshold"] != 0.5 {
			t.Errorf("detail %v", e.Detail)
		}
		b.sendThroughput(31, 0.9, 0.9)
		b.sendThroughput(31, 0.1, 0.9)
		if got := b.events(motion.LinkLowThroughputEvent); len(got) != 2 {
			t.Errorf("%d events after it was good and bad again", len(got))
		}
	})
}

func TestLowThroughputIsAsConfigured(t *testing.T) {
	for name, c := range map[string]struct {
		config map[string]any
		want   int
	}{
		"off":              {map[string]any{"enabled": 0.0}, 0},
		"lower threshold":  {map[string]any{"low_throughput": 0.1}, 0},
		"shorter and both": {map[string]any{"low_throughput": 0.95, "low_throughput_s": 5.0}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.configure(func(n *motion.Network) { n.GuardianConfig = motion.Document{"link_events": c.config} })
				b.sendThroughput(60, 0.21, 0.9)
				if got := b.events(motion.LinkLowThroughputEvent); len(got) != c.want {
					t.Errorf("%d events, want %d", len(got), c.want)
				}
			})
		})
	}
}

func TestGuardianThatRaisesEventsRaisesTheseToo(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		b.sendThroughput(60, 0.1, 0.1)
		if got := b.events(motion.LinkLowThroughputEvent); len(got) != 0 {
			t.Errorf("doubled: %+v", got)
		}
	})
}

func TestNodesOwnThroughputCounts(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		send := func(samples int) {
			for range samples {
				time.Sleep(500 * time.Millisecond)
				b.report(masterKey, motion.LinkMotions{TS: now(), Interval: 500, Links: []motion.LinkMotion{
					{Src: kitchen, Dst: masterAP, MKAI: 0, LRaw: 0.01, Throughput: 0.3, RSSI: -59},
				}})
			}
		}
		send(160)
		live, err := b.Sensing.Live(b.network())
		if err != nil {
			t.Fatal(err)
		}
		send(20)
		got := b.events(motion.LinkLowThroughputEvent)
		if len(got) != 1 || got[0].Detail["throughput"] != 0.3 {
			t.Errorf("%+v", got)
		}
		shown := frames(t, live)
		if len(shown) == 0 {
			t.Fatal("no live frames")
		}
		for _, f := range shown {
			if len(f.Data.Throughput) != 1 || f.Data.Throughput[0] == nil || *f.Data.Throughput[0] != 0.3 {
				t.Errorf("a live frame does not show it: %+v", f.Data)
			}
		}
	})
}

func TestOwnEngineSeesALinkThatLosesItsFrames(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for i := range 300 { // two of three batches are lost
			time.Sleep(500 * time.Millisecond)
			if i%6 < 2 {
				b.report(masterKey, batch(kitchen, masterAP, now()-0.5, nil))
			}
		}
		if got := b.events(motion.LinkLowThroughputEvent); len(got) != 1 {
			t.Errorf("%d events, want 1", len(got))
		}
	})
}
