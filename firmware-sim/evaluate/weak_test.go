package evaluate

import (
	"math"
	"slices"
	"testing"

	"sensegate/firmware-sim/capture"
)

// weaken makes a recording of a link so weak that its median amplitude is 4.4
// counts, on top of which the receiver's gain steps by up to 4.5 dB either way
// every 0.3 to 1.5 s. I and Q are whole counts, as a device sends them.
func weaken(seed string, frames []capture.Frame) []capture.Frame {
	r := random(seed)
	scale := 4.4 / medianAmplitude(frames)
	gain, until := scale, math.Inf(-1)
	var weak []capture.Frame
	for _, f := range frames {
		if f.Time >= until {
			until = f.Time + 0.3 + 1.2*r.Float64()
			gain = scale * math.Pow(10, (9*r.Float64()-4.5)/20)
		}
		data := make([]byte, len(f.Data))
		for i, b := range f.Data {
			data[i] = byte(int8(math.Round(gain * float64(int8(b)))))
		}
		f.Data = data
		weak = append(weak, f)
	}
	return weak
}

// medianAmplitude returns the one of what is heard in the first frames, in counts.
func medianAmplitude(frames []capture.Frame) float64 {
	var heard []float64
	for _, f := range frames[:min(200, len(frames))] {
		for i := 0; i+1 < len(f.Data); i += 2 {
			if a := math.Hypot(float64(int8(f.Data[i])), float64(int8(f.Data[i+1]))); a > 0.5 {
				heard = append(heard, a)
			}
		}
	}
	slices.Sort(heard)
	return heard[len(heard)/2]
}

// Gain steps of a weak link, rounded to whole counts, look coherent; the gate
// takes away half of what the recipe makes of them.
func TestWeakLinkRaisesFewerFalseAlarms(t *testing.T) {
	t.Parallel()
	recordings, err := capture.Scan(captures(t))
	if err != nil {
		t.Fatal(err)
	}
	var product, lm1 score
	for _, r := range recordings {
		if r.Header.Kind != "iq_int8_imag_first" {
			continue
		}
		if err := r.Load(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			options Options
			sum     *score
		}{{Defaults(), &product}, {published(), &lm1}} {
			followed, err := follow(r, weaken(r.Name, r.Frames), c.options.config())
			if err != nil {
				t.Fatal(err)
			}
			c.sum.add(followed.score())
		}
	}
	p, l := product.figures(), lm1.figures()
	t.Logf("recall %.1f, false positives %.1f; the recipe's %.1f, %.1f", *p.Recall, *p.FalsePositives, *l.Recall, *l.FalsePositives)
	if *p.FalsePositives > 0.6**l.FalsePositives || *p.BalancedAccuracy < *l.BalancedAccuracy {
		t.Errorf("product %+v, recipe %+v", p.row(), l.row())
	}
}
