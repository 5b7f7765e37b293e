package sensing

import (
	"fmt"
	"time"
)

// Text returns the reason in English, with what would help.
func (r Reason) Text() string {
	switch f := r.Figures; r.Code {
	case Silent:
		return "silent for " + (time.Duration(f["for_s"]) * time.Second).String()
	case FewFigures:
		return fmt.Sprintf("%.1f figures a second: signal strength is needed four times a second, a computed intensity at least every 1.5 s", f["rate"])
	case FewFrames:
		return fmt.Sprintf("%.0f frames in its window: eight are needed, the newest at most half a second old; let the device sound it more often", f["frames"])
	case SlowLink:
		return fmt.Sprintf("%.1f a second is slow: below %.0f it is weak", f["rate"], f["least"])
	case WeakSignal:
		return fmt.Sprintf("its signal is weak: a median amplitude of %.1f counts, below %.0f; move device or antenna", f["amplitude"], f["least"])
	case ByPower:
		return fmt.Sprintf("below %.0f frames a second it compares power with the calibrated quiet; more frames sense sooner", f["least"])
	case Gaps:
		return fmt.Sprintf("%.0f %% of the last minute had no data", 100*f["missing"])
	}
	return texts[r.Code]
}

// texts are the reasons without figures.
var texts = map[Code]string{
	NetworkPaused:   "the network is paused",
	SoundingOff:     "sounding is switched off in the network's settings",
	SourceDenied:    "the settings deny its source a part in motion",
	GuardianDecides: "the network's guardian decides about motion: what its devices send is not used here",
	LowScore:        "less of its sounding succeeds than the settings ask for (leafblower_cutoff)",
	OverLimit:       "the settings let no more links be sounded (link_limit), and others are better",
	NotHeard:        "nothing has come since the start: no device sends csi or link-motion for it",
	JustBegun:       "it has just begun: the first decision comes after a second",
	LateFigures:     "the newest figure is too old: reports come late or in bursts",
	FewSubcarriers:  "its frames have too few usable subcarriers, or come with gaps: a segment needs six that are heard",
	SignalStrength:  "it has no channel state: signal strength alone is coarse",
	DeviceFigures:   "it has no channel state here: its device computes the figure",
	NoisyLink:       "it has long moved while no other link agreed, or moves at one rhythm, as a fan or curtain does: it is outvoted",
	Calibrating:     "it is calibrating; the room need not be empty",
	Disturbed:       "somebody seems to have moved while it was calibrated: calibrate it again",
	Recalibrate:     "its calibration did not go well: calibrate it again",
	OnlyLink:        "it decides all the same: no other link of the network senses",
}
