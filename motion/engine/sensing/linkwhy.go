package sensing

import (
	"fmt"
	"time"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// slowRate is the rate in frames/s below which a link decides by power against its
// calibrated quiet instead of by coherence (lm1.md 2 no. 5).
const slowRate = 20

// whyBlind returns why a link takes no part in motion, "" when it does; n.Mu is
// held.
func (n *network) whyBlind(l *LinkState, key fuse.Link, s *sensor, now motion.Time) string {
	switch {
	case n.Record.Paused():
		return "the network is paused"
	case n.Radar.Sounding.Enabled == 0:
		return "sounding is switched off in the network's settings"
	case !n.MayTakePart(key):
		return "the settings deny its source a part in motion"
	case n.Source.Holder == state.GuardianHolds && now.Since(n.Source.Heard) <= state.SourceHold:
		return "the network's guardian decides about motion: what its devices send is not used here"
	case s != nil && s.leftOut == state.ReasonLowScore:
		return "less of its sounding succeeds than the settings ask for (leafblower_cutoff)"
	case s != nil && s.leftOut == state.ReasonLinkLimit:
		return "the settings let no more links be sounded (link_limit), and others are better"
	case s == nil:
		return "nothing has come since the start: no device sends csi or link-motion for it"
	case now.Since(l.Heard) > linkSilent:
		return "silent for " + time.Duration(now.Since(l.Heard)*float64(time.Second)).Round(time.Second).String()
	case s.last.Time.IsZero():
		return "it has just begun: the first decision comes after a second"
	case !s.last.Valid:
		return whyInvalid(&s.last)
	}
	return ""
}

// whyInvalid returns why the newest decision of a link that is heard had no data.
func whyInvalid(last *detect.Tick) string {
	switch q := last.Quality; {
	case q.Coarse && q.Rate < 4:
		return fmt.Sprintf("%.1f figures a second: signal strength is needed four times a second, a computed intensity at least every 1.5 s", q.Rate)
	case q.Coarse:
		return "the newest figure is too old: reports come late or in bursts"
	case last.Frames == 0 && q.Rate >= detect.MinRate:
		return "its frames have too few usable subcarriers, or come with gaps: a segment needs six that are heard"
	}
	return fmt.Sprintf("%d frames in its window: eight are needed, the newest at most half a second old; let the device sound it more often", last.Frames)
}

// doubts returns what limits a link that senses, and what would help.
func (l *LinkState) doubts() []string {
	var why []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	add(l.Source == "rssi", "it has no channel state: signal strength alone is coarse")
	add(l.Source == "intensity", "it has no channel state here: its device computes the figure")
	slow := l.Rate < detect.MinRate
	add(l.Weak && slow, "%.1f a second is slow: below %.0f it is weak", l.Rate, detect.MinRate)
	add(l.Weak && !slow && !l.Coarse, "its signal is weak: a median amplitude of %.1f counts, below %.0f; move device or antenna", l.Amplitude, detect.MinAmplitude)
	add(!l.Coarse && !slow && l.Rate < slowRate, "below %d frames a second it compares power with the calibrated quiet; more frames sense sooner", slowRate)
	add(l.Noisy, "it has long moved while no other link agreed, as a fan or curtain does: it is outvoted")
	add(l.Missing > 0.2, "%.0f %% of the last minute had no data", 100*l.Missing)
	add(l.Calibration == "running", "it is calibrating; the room need not be empty")
	add(l.Disturbed, "somebody seems to have moved while it was calibrated: calibrate it again")
	return why
}
