package household

import (
	"slices"

	"sensegate/motion"
)

// grave is the advice about a node that does not work as it should; other advice says what would be better.
var grave = []motion.NodeAdvice{motion.NothingArrives, motion.SecondSource, motion.SameAgain, motion.NoTransmitter}

// explainOther adds to a node of another maker what arrives of it, nil when nothing is known, and says by its
// advice why it does not work: that tells more than what holds of every device. live: the viewer may
// see figures that waver.
func (d *Device) explainOther(figures *motion.NodeFigures, live bool) {
	kind := motion.NodeKindOf(d.DeviceID)
	if kind == "" {
		return
	}
	if figures == nil {
		figures = &motion.NodeFigures{Kind: kind, Lengths: []motion.FrameLength{}, Transmitters: []motion.Transmitter{}, Advice: []motion.NodeAdvice{motion.NothingArrives}}
	}
	shown := *figures
	if !live {
		shown = shown.Guarded()
	}
	d.Other = &shown
	adopted := d.State == DeviceOnline || d.State == DeviceOffline
	switch {
	case !adopted || d.Why == codeBadInput:
	case len(shown.Advice) > 0 && slices.Contains(grave, shown.Advice[0]):
		d.Why, d.Figures = string(shown.Advice[0]), nil
	case d.Why == codeNoFrames && figures.Used == 0: // it is being found out whose frames count
		d.Why = ""
	}
}
