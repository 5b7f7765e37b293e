package sensing

import (
	"sensegate/motion"
	"sensegate/motion/fault"
)

// Calibrate has the detectors of a link, or of all links of a network when link is
// "", learn their quiet anew, and returns how many links that are. What they know
// is in force again when it is cancelled, or when the appliance restarts meanwhile.
// NotFound: the network, or the link is not sensed here.
func (se *Sensing) Calibrate(id motion.NetworkID, link string) (int, error) {
	return se.calibration(id, link, false, func(d detector) bool { d.Calibrate(); return true })
}

// CancelCalibration ends the calibrations under way, and returns of how many links.
// Errors are as those of Calibrate.
func (se *Sensing) CancelCalibration(id motion.NetworkID, link string) (int, error) {
	return se.calibration(id, link, true, detector.CancelCalibration)
}

// asked is the last calibration of a link that somebody has begun or cancelled.
type asked struct {
	ever      bool
	cancelled bool
	before    motion.Time // end of the calibration that was in force then
}

// What came of a link's last calibration.
const (
	NotCalibrated        = "none"
	CalibrationRuns      = "running"
	CalibrationDone      = "done"
	CalibrationDisturbed = "disturbed" // done, but somebody seems to have moved
	CalibrationCancelled = "cancelled" // what was known before is in force, else what it has gathered
	CalibrationFailed    = "failed"    // too little data came; what was known before is in force

	// CalibrationRepeat is disturbed or failed for those who must not learn that somebody has moved.
	CalibrationRepeat = "repeat"
)

// outcome returns what came of the last calibration of a link.
func (l *LinkState) outcome(last asked) string {
	switch {
	case l.Calibration == CalibrationRuns:
		return CalibrationRuns
	case l.Calibration == NotCalibrated:
		return NotCalibrated
	case last.cancelled:
		return CalibrationCancelled
	case last.ever && l.CalibratedAt <= last.before:
		return CalibrationFailed
	case l.Disturbed:
		return CalibrationDisturbed
	}
	return CalibrationDone
}

// calibration does something to the detectors of a link, or of all, and returns for
// how many links it did; cancel says that it cancels.
func (se *Sensing) calibration(id motion.NetworkID, link string, cancel bool, do func(detector) bool) (int, error) {
	n, err := se.network(id)
	if err != nil {
		return 0, err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	found, done := 0, 0
	for key, s := range n.pipeline.sensors {
		if link != "" && link != n.NameOf(key) {
			continue
		}
		found++
		did, before := false, s.active().Calibration().At
		for _, d := range s.detectors() {
			did = do(d) || did
		}
		if did {
			done++
			s.asked = asked{ever: true, cancelled: cancel, before: before}
		}
	}
	if found == 0 && link != "" {
		return 0, fault.New(fault.NotFound, "link %q is not sensed here: links shows those that are", link)
	}
	if found == 0 {
		return 0, fault.New(fault.NotFound, "no link of network %d is sensed here", id)
	}
	se.state.Log.Info("calibration changed", "network", id, "links", done)
	return done, nil
}
