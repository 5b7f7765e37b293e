package engine_test

import (
	"testing"
	"time"

	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
)

func TestLinksAreTracedForADay(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		trace := func() sensing.LinkTrace {
			t.Helper()
			got, err := b.Sensing.LinkTrace(id, kitchenLink)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		b.figures(60, constant(0.02))
		begun := trace()
		if len(begun.Steps) != 1 || begun.Since.Since(now()) > 0 || now().Since(begun.Since) > 65 {
			t.Errorf("at first %+v", begun)
		}
		b.figures(600, constant(0.02))
		after := trace()
		last := after.Steps[len(after.Steps)-1]
		if len(after.Steps) != 3 || last.Can != sensing.LinkDecides || last.Rate < 1.5 || last.Rate > 2.5 || last.Missing > 0.1 || after.Since != begun.Since {
			t.Errorf("after ten minutes %+v", after)
		}
		time.Sleep(30 * time.Minute)
		silent := trace()
		if end := silent.Steps[len(silent.Steps)-1]; end.Can != sensing.LinkBlind || len(silent.Steps) != 9 {
			t.Errorf("after half an hour of silence %+v", silent)
		}
		time.Sleep(24 * time.Hour)
		day := trace()
		if len(day.Steps) != 288 || now().Since(day.From) > 24*3600 || day.Since != begun.Since {
			t.Errorf("after a day %d steps from %v, known since %v", len(day.Steps), day.From, day.Since)
		}
		if _, err := b.Sensing.LinkTrace(id, "nobody.knows"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("an unknown link: %v", err)
		}
		b.stop()
		b.start()
		if anew := trace(); len(anew.Steps) > 1 {
			t.Errorf("after a restart %+v, want it to begin anew", anew)
		}
	})
}
