package engine_test

import (
	"testing"

	"sensegate/motion"
)

// thresholds returns the threshold that each link was last held against, by the
// source of the link.
func thresholds(frames []motion.LiveFrame, links ...string) []float64 {
	last := make([]float64, len(links))
	for _, f := range frames {
		for i, name := range f.Links {
			for k, wanted := range links {
				if name == wanted && f.Data.MConf[i] != nil {
					last[k] = *f.Data.MConf[i]
				}
			}
		}
	}
	return last
}

func TestSensitivityReachesTheRunningDetectors(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.quiet(r, 20)
		measured := func() (kitchenLink, hallwayLink float64) {
			t.Helper()
			s, err := b.Sensing.Live(id)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			b.quiet(r, 5)
			last := thresholds(frames(t, s), masterName+"."+kitchen.Name(), peerName+"."+hallway.Name())
			return last[0], last[1]
		}
		highKitchen, highHallway := measured()
		b.sound(`{"sensitivity":4}`)
		lowKitchen, lowHallway := measured()
		if !(lowKitchen > highKitchen && lowHallway > highHallway && highKitchen > 0) {
			t.Errorf("Very Low: thresholds %g and %g, High: %g and %g", lowKitchen, lowHallway, highKitchen, highHallway)
		}
		if err := b.clients(`{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity_mode":"override","sensitivity":1}]}`); err != nil {
			t.Fatal(err)
		}
		ownKitchen, ownHallway := measured()
		if ownKitchen >= lowKitchen || ownHallway < lowHallway*0.9 {
			t.Errorf("with an override: thresholds %g and %g, without %g and %g", ownKitchen, ownHallway, lowKitchen, lowHallway)
		}
	})
}
