package detect

import "sensegate/motion"

// learnFrames is the number of frames for the final selection of the valid bins.
const learnFrames = 200

// learner keeps the first frames of a link unchanged, because the valid bins are known only
// after some of them (lm1.md 2 no. 0).
type learner struct {
	length int
	times  []motion.Time
	rssi   []int8
	amps   []float32 // per frame: length
	done   bool
}

func (l *learner) start(length int) { *l = learner{length: length} }

// take keeps a frame and reports whether it was the last one needed.
func (l *learner) take(t motion.Time, amp []float32, rssi int8) bool {
	if l.done {
		return false
	}
	l.times = append(l.times, t)
	l.rssi = append(l.rssi, rssi)
	l.amps = append(l.amps, amp...)
	return len(l.times) == learnFrames
}

// finish releases the frames.
func (l *learner) finish() { *l = learner{length: l.length, done: true} }

// means returns the mean amplitude of each bin.
func (l *learner) means() []float64 {
	mean := make([]float64, l.length)
	for i := range l.times {
		for k, a := range l.frame(i) {
			mean[k] += float64(a)
		}
	}
	for k := range mean {
		mean[k] /= float64(len(l.times))
	}
	return mean
}

func (l *learner) frame(i int) []float32 { return l.amps[i*l.length : (i+1)*l.length] }

// replay puts the kept frames that the window still covers into w: it closes the blocks up to
// the grid's last boundary and leaves later frames in the open one.
func (l *learner) replay(w *window, g *grid) {
	w.clear()
	boundary := g.next - maxBlocks
	for i, t := range l.times {
		if t <= g.at(boundary-1) {
			continue
		}
		for ; boundary < g.next && t > g.at(boundary); boundary++ {
			w.close()
		}
		w.push(t, l.frame(i), l.rssi[i])
	}
	for ; boundary < g.next; boundary++ {
		w.close()
	}
}
