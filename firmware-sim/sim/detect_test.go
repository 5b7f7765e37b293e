package sim

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
)

// ticksOf runs the product's detector over the synthetic CSI of a link.
func ticksOf(link *Link, seed uint64, walks []Walk, from, to motion.Time) []detect.Tick {
	var ticks []detect.Tick
	detector := detect.NewLink(detect.Defaults())
	r := newRadio(seed, link)
	var amplitudes []float32
	for at := from; at < to; at = at.Add(sampleStep) {
		b := r.frames(at, at.Add(sampleStep), walks)
		for i, f := range b.Frames {
			amplitudes = csi.Amplitudes(amplitudes, f.Data, b.Flags)
			detector.Push(b.Time(i), amplitudes, nil, f.RSSI, func(t detect.Tick) { ticks = append(ticks, t) })
		}
	}
	return ticks
}

func TestQuietLinkShowsNoMotion(t *testing.T) {
	t.Parallel()
	for _, link := range NewHome(0).Links() {
		moving, high := 0, 0
		ticks := ticksOf(&link, 42, nil, noon, noon.Add(60))
		for _, tick := range ticks {
			if tick.Normal.Motion {
				moving++
			}
			if tick.Features.R > 0.15 {
				high++
			}
		}
		if len(ticks) < 200 || moving > 0 || high > len(ticks)/50 {
			t.Errorf("%s: of %d quiet ticks %d are motion, %d have R > 0.15", link.Name, len(ticks), moving, high)
		}
	}
}

func TestWalkIsSeenWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	const begin, end = 20, 50
	for _, link := range NewHome(0).Links() {
		for location, near := range link.near {
			walks := []Walk{{Location: location, From: noon.Add(begin), To: noon.Add(end), Vigour: 0.6}}
			seen, coherent, during := motion.Seconds(-1), 0, 0
			for _, tick := range ticksOf(&link, 42, walks, noon, noon.Add(end)) {
				since := tick.Time.Since(noon) - begin
				if tick.Normal.Motion && seen < 0 {
					seen = since
				}
				if since > 2 {
					during++
					if tick.Features.R > 0.3 {
						coherent++
					}
				}
			}
			if seen < 0 || seen > 2 || coherent < during*9/10 {
				t.Errorf("%s, walk in %s (near %.1f): motion after %.2f s, R > 0.3 in %d of %d ticks", link.Name, location, near, seen, coherent, during)
			}
		}
	}
}
