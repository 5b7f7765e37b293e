package engine

import (
	"context"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Report takes in one report of an adopted device, received now. It returns nil
// when the report is taken in as durably as device-protocol.md 2 says
// for its kind; a fault.Error when it is against a rule, and sending it again
// would not help; any other error when it could not be stored, and the device
// has to send it again.
func (e *Engine) Report(ctx context.Context, key motion.DeviceKey, report motion.Report) error {
	if e.clock.unset.Load() {
		if err := e.watchClock(ctx); err != nil {
			return err
		}
	}
	now := e.now()
	s, device := e.heard(key, now)
	if s == nil {
		return fmt.Errorf("device %s is not logged in", key)
	}
	n, err := e.network(device.NetworkID)
	if err != nil {
		return err
	}
	if err := speaks(key, report); err != nil {
		return err
	}
	switch r := report.(type) {
	case motion.StatusReport:
		if !r.Heartbeat() { // raises events
			if err := e.hold(ctx, n, key); err != nil {
				return err
			}
		}
		return e.statusReport(ctx, n, s, r, now)
	case motion.Matrix:
		e.noteClock(s, r.TS, now)
		return e.matrix(n, r, now)
	case motion.History:
		return e.history(n, s, r, now)
	case motion.EventReport:
		if err := e.hold(ctx, n, key); err != nil {
			return err
		}
		return e.deviceEvent(ctx, n, key, r, now)
	case motion.LinkMotions:
		e.noteClock(s, r.TS, now)
		return e.linkMotions(ctx, n, device, r, now)
	case motion.RawCSI:
		return e.rawCSI(ctx, n, s, device, r, now)
	case motion.ManageResult:
		return e.manageResult(ctx, key, r)
	case motion.DeviceInfoAck:
		e.log.Debug("device info acknowledged", "device", key.String())
		return nil
	}
	return fmt.Errorf("report of type %T is not known", report)
}

// speaks checks that a report comes from the kind of device that sends it: the
// guardian speaks for the network, a radar for its own links.
func speaks(device motion.DeviceKey, report motion.Report) error {
	switch r := report.(type) {
	case motion.EventReport:
		if r.Event.Category == motion.CategoryMotion && device.Kind != motion.Guardian {
			return fault.New(fault.Forbidden, "only the guardian raises motion events; a radar sends csi or link-motion")
		}
	case motion.StatusReport, motion.Matrix, motion.History:
		if device.Kind != motion.Guardian {
			return fault.New(fault.Forbidden, "only the guardian speaks for its network")
		}
	case motion.RawCSI, motion.LinkMotions:
		if device.Kind != motion.RadarKind {
			return fault.New(fault.Forbidden, "only a radar sends channel state of its own links")
		}
	}
	return nil
}

// noteClock remembers whether a device's clock was right when it last said
// something about the present.
func (e *Engine) noteClock(s *session, ts, now motion.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.clockTrusted = e.clocks.believable(ts, now)
}

// clockTrusted reports what noteClock remembered.
func (e *Engine) clockTrusted(s *session) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.clockTrusted
}
