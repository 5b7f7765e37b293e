package engine_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/store"
)

// glance returns the kitchen's link as somebody without a part in the household is shown it.
func (b *box) glance(id motion.NetworkID) sensing.LinkState {
	b.t.Helper()
	links, err := b.Sensing.Glances(id)
	if err != nil {
		b.t.Fatal(err)
	}
	i := slices.IndexFunc(links, func(l sensing.LinkState) bool { return l.Link == kitchenLink })
	if i < 0 {
		b.t.Fatalf("links %+v", links)
	}
	return links[i]
}

// received reports so many seconds of the kitchen's link at a signal strength.
func (b *box) received(length motion.Seconds, dbm int) {
	b.t.Helper()
	for range int(2 * length) {
		time.Sleep(500 * time.Millisecond)
		r := linkMotion(0.02)
		r.Links[0].RSSI = float64(dbm)
		b.report(masterKey, r)
	}
}

// shownFigures are what wavers of a link.
func shownFigures(l sensing.LinkState) [4]float64 {
	return [4]float64{l.Rate, l.RSSI, l.Amplitude, l.Missing}
}

// TestGlancesAreTakenByTime: however often somebody looks, a link's figures are renewed once in a quarter
// of an hour, while the household sees them change.
func TestGlancesAreTakenByTime(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.received(20, -55)
		if l := b.glance(id); !l.Unknown || l.Can != sensing.LinkBlind || l.Reasons[0].Code != sensing.JustBegun || l.RSSI != 0 || l.Outcome == "" {
			t.Errorf("at first %+v, want that nothing is known yet", l)
		}
		b.received(130, -55)
		first := b.glance(id)
		if first.Unknown || first.RSSI != -54 || first.Rate != 2 || first.Level != nil || first.LastMotion != 0 || first.Can != sensing.LinkDecides {
			t.Errorf("after two minutes %+v", first)
		}
		renewed, own := 0, map[float64]bool{}
		before := shownFigures(first)
		for i := range 2 * 15 {
			b.received(60, -50-5*(i%7))
			if l := b.glance(id); shownFigures(l) != before {
				before = shownFigures(l)
				renewed++
			}
			links, err := b.Sensing.ExplainLinks(id)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range links {
				if l.Link == kitchenLink {
					own[l.RSSI] = true
				}
			}
		}
		if renewed == 0 || renewed > 2 {
			t.Errorf("in half an hour the figures changed %d times, want 1 or 2", renewed)
		}
		if len(own) < 7 {
			t.Errorf("the household sees %v alone", own)
		}
		time.Sleep(20 * time.Second)
		if l := b.glance(id); l.Can != sensing.LinkBlind || l.Reasons[0].Code != sensing.Silent || shownFigures(l) != before {
			t.Errorf("silent %+v, want that now and the figures of before", l)
		}
	})
}

// TestGlancesAreCoarse: rssi to 3 dB, rate to whole figures, missing to a tenth, once in a quarter of an
// hour that is over.
func TestGlancesAreCoarse(t *testing.T) {
	trace := sensing.LinkTrace{From: 900*1000 + 300}
	for i := range 9 { // two of a quarter that began before, two whole ones, and one of the present
		trace.Steps = append(trace.Steps, sensing.LinkStep{Rate: 10*float64(i) + 4.6, RSSI: -58, Missing: 0.26, Can: sensing.LinkDecides})
	}
	coarse := trace.Coarse()
	if coarse.From != 900*1001 || len(coarse.Steps) != 2 || coarse.Steps[0].Rate != 45 || coarse.Steps[1].Rate != 75 {
		t.Fatalf("from %v %+v", coarse.From, coarse.Steps)
	}
	if got := coarse.Steps[0]; got.RSSI != -57 || math.Abs(got.Missing-0.3) > 1e-9 || got.Can != sensing.LinkDecides {
		t.Errorf("coarse %+v", got)
	}
	if trace.Steps[4].Rate != 44.6 {
		t.Error("the trace itself was changed")
	}
	short := sensing.LinkTrace{From: 900 * 1000, Steps: trace.Steps[:2]}
	if got := short.Coarse(); len(got.Steps) != 0 || got.From != 0 {
		t.Errorf("of a quarter that is not over %+v", got)
	}
}

// TestRemovedLinkIsNotGlancedAtAnew: an installer who removes a leaf, which comes back at once, gets no
// new figures by it.
func TestRemovedLinkIsNotGlancedAtAnew(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for int64(now())%900 < 10 || int64(now())%900 > 60 { // at the beginning of a quarter of an hour
			time.Sleep(time.Second)
		}
		b.received(150, -55)
		before := b.glance(id)
		if before.Unknown {
			t.Fatalf("before %+v", before)
		}
		leafs, err := store.Read(t.Context(), b.db, func(tx *store.Tx) ([]motion.Leaf, error) { return tx.Leafs(id) })
		if err != nil {
			t.Fatal(err)
		}
		for _, leaf := range leafs {
			if err := b.Sensing.RemoveLeaf(t.Context(), id, leaf.ID); err != nil {
				t.Fatal(err)
			}
		}
		b.received(200, -75)
		if l := b.glance(id); l.Unknown || shownFigures(l) != shownFigures(before) {
			t.Errorf("after its return %+v, want the figures of before %+v", l, before)
		}
	})
}
