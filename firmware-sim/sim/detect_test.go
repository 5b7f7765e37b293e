package sim

import (
	"testing"

	"sensegate/firmware-sim/channel"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
)

// ticksOf runs the product's detector over the synthetic CSI of a link.
func ticksOf(r *radio, scene *channel.Scene, from, to motion.Time) []detect.Tick {
	var ticks []detect.Tick
	detector := detect.NewLink(detect.Defaults())
	var amplitudes []float32
	for at := from; at < to; at = at.Add(sampleStep) {
		b := r.frames(at, at.Add(sampleStep), scene)
		if b == nil {
			continue
		}
		for i, f := range b.Frames {
			amplitudes = csi.Amplitudes(amplitudes, f.Data, b.Flags)
			detector.Push(b.Time(i), amplitudes, b.Ends, f.RSSI, func(t detect.Tick) { ticks = append(ticks, t) })
		}
	}
	return ticks
}

func TestQuietLinkShowsNoMotion(t *testing.T) {
	t.Parallel()
	w := newWorld(42, NewHome(0), Scene{})
	for i := range w.links {
		moving, high := 0, 0
		ticks := ticksOf(newRadio(w, i), &channel.Scene{}, noon, noon.Add(60))
		for _, tick := range ticks {
			if tick.Normal.Motion {
				moving++
			}
			if tick.Features.R > 0.15 {
				high++
			}
		}
		if len(ticks) < 200 || moving > 0 || high > len(ticks)/50 {
			t.Errorf("%s: of %d quiet ticks %d are motion, %d have R > 0.15", w.links[i].Name, len(ticks), moving, high)
		}
	}
}

func TestWalkIsSeenWhereALinkLooksBest(t *testing.T) {
	t.Parallel()
	const begin, end = 10, 40
	for i := range NewHome(0).Links() {
		w := newWorld(42, NewHome(0), Scene{})
		best := ""
		for location, near := range w.nearness(i) {
			if near == 1 {
				best = location
			}
		}
		w.scene.Walks = []Walk{{Location: best, From: noon.Add(begin), To: noon.Add(end), Vigour: 0.7}}
		moving, during := 0, 0
		for _, tick := range ticksOf(newRadio(w, i), w.bodies(noon, noon.Add(end)), noon, noon.Add(end)) {
			if since := tick.Time.Since(noon) - begin; since > 2 {
				during++
				if tick.Normal.Motion {
					moving++
				}
			}
		}
		if moving < during/2 { // a link of a metre hardly minds somebody further off
			t.Errorf("%s, walk in %s: motion in %d of %d ticks", w.links[i].Name, best, moving, during)
		}
	}
}
