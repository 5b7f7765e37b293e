package sensing

import (
	"math"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// slowRate is the rate in frames/s below which a link decides by power against its
// calibrated quiet instead of by coherence (lm1.md 2 no. 5).
const slowRate = 20

// Code names what stands in the way of a link, or limits it. The web app has the words of each.
type Code string

// Why a link is blind.
const (
	NetworkPaused   Code = "paused"
	SoundingOff     Code = "sounding_off"
	SourceDenied    Code = "denied"
	GuardianDecides Code = "guardian_decides"
	LowScore        Code = "low_score"
	OverLimit       Code = "link_limit"
	NotHeard        Code = "not_heard"
	Silent          Code = "silent" // for_s
	JustBegun       Code = "just_begun"
	FewFigures      Code = "few_figures" // rate, least
	LateFigures     Code = "late_figures"
	FewSubcarriers  Code = "few_subcarriers"
	FewFrames       Code = "few_frames" // frames, least
)

// What limits a link that senses.
const (
	SignalStrength Code = "signal_strength"
	DeviceFigures  Code = "device_figures"
	SlowLink       Code = "slow"     // rate, least
	WeakSignal     Code = "weak"     // amplitude, least
	ByPower        Code = "by_power" // rate, least
	NoisyLink      Code = "noisy"
	Gaps           Code = "gaps"        // missing
	Calibrating    Code = "calibrating" // left_s
	Disturbed      Code = "disturbed"
	OnlyLink       Code = "only_link"

	// Recalibrate is Disturbed for those who must not learn that somebody has moved.
	Recalibrate Code = "recalibrate"
)

// Figures are the numbers of a reason, by name: rates and amplitudes are those of LinkState, least
// is what is needed, times are in seconds.
type Figures map[string]float64

// Reason is why a link is blind or limited.
type Reason struct {
	Code    Code    `json:"code"`
	Figures Figures `json:"figures"`
}

// reason returns a reason with its figures, which it rounds as LinkState does.
func reason(code Code, figures Figures) Reason {
	rounded := Figures{}
	for name, v := range figures {
		rounded[name] = motion.Round(v, 2)
	}
	return Reason{code, rounded}
}

// whyBlind returns why a link takes no part in motion; ok is false when it does. n.Mu is held.
func (n *network) whyBlind(l *LinkState, key fuse.Link, s *sensor, now motion.Time) (why Reason, ok bool) {
	switch {
	case n.Record.Paused():
		return reason(NetworkPaused, nil), true
	case n.Radar.Sounding.Enabled == 0:
		return reason(SoundingOff, nil), true
	case !n.MayTakePart(key):
		return reason(SourceDenied, nil), true
	case n.Source.Holder == state.GuardianHolds && now.Since(n.Source.Heard) <= state.SourceHold:
		return reason(GuardianDecides, nil), true
	case s == nil:
		return reason(NotHeard, nil), true
	case now.Since(l.Heard) > linkSilent:
		return reason(Silent, Figures{"for_s": math.Round(now.Since(l.Heard))}), true
	case s.leftOut == state.ReasonLowScore:
		return reason(LowScore, nil), true
	case s.leftOut == state.ReasonLinkLimit:
		return reason(OverLimit, nil), true
	case s.last.Time.IsZero():
		return reason(JustBegun, nil), true
	case !s.last.Valid:
		return whyInvalid(&s.last), true
	}
	return Reason{}, false
}

// What a link needs.
const (
	leastFigures = 4 // a second, of signal strength
	leastFrames  = 8 // in a window
	leastData    = 0.2
)

// whyInvalid returns why the newest decision of a link that is heard had no data.
func whyInvalid(last *detect.Tick) Reason {
	switch q := last.Quality; {
	case q.Coarse && q.Rate < leastFigures:
		return reason(FewFigures, Figures{"rate": q.Rate, "least": leastFigures})
	case q.Coarse:
		return reason(LateFigures, nil)
	case last.Frames == 0 && q.Rate >= detect.MinRate:
		return reason(FewSubcarriers, nil)
	}
	return reason(FewFrames, Figures{"frames": float64(last.Frames), "least": leastFrames})
}

// doubts returns what limits a link that senses.
func (l *LinkState) doubts(left motion.Seconds) []Reason {
	var why []Reason
	add := func(yes bool, code Code, figures Figures) {
		if yes {
			why = append(why, reason(code, figures))
		}
	}
	add(l.Source == "rssi", SignalStrength, nil)
	add(l.Source == "intensity", DeviceFigures, nil)
	slow := l.Rate < detect.MinRate
	add(l.Weak && slow, SlowLink, Figures{"rate": l.Rate, "least": detect.MinRate})
	add(l.Weak && !slow && !l.Coarse, WeakSignal, Figures{"amplitude": l.Amplitude, "least": detect.MinAmplitude})
	add(!l.Coarse && !slow && l.Rate < slowRate, ByPower, Figures{"rate": l.Rate, "least": slowRate})
	add(l.Noisy, NoisyLink, nil)
	add(l.Missing > leastData, Gaps, Figures{"missing": l.Missing})
	add(l.Calibration == "running", Calibrating, Figures{"left_s": math.Ceil(left)})
	add(l.Disturbed, Disturbed, nil)
	return why
}
