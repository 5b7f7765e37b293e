package engine

import (
	"context"
	"fmt"
	"net/netip"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
)

// Report takes in one report of an adopted device, received now. It returns nil
// when the report is taken in as durably as device-protocol.md 2 says
// for its kind; a fault.Error when it is against a rule, and sending it again
// would not help; any other error when it could not be stored, and the device
// has to send it again.
func (e *Engine) Report(ctx context.Context, key motion.DeviceKey, report motion.Report) error {
	if e.State.OwnClock.Unset.Load() {
		if err := e.watchClock(ctx); err != nil {
			return err
		}
	}
	now := e.State.Now()
	s, device := e.State.Heard(key, now)
	if s == nil {
		return fmt.Errorf("device %s is not logged in", key)
	}
	err := e.report(ctx, s, device, report, now)
	if fault.KindOf(err) == fault.NotFound {
		if _, refuses := e.State.Away(device.NetworkID); refuses {
			return fmt.Errorf("device %s: its network goes to another box: %v", key, err) // there it is taken
		}
	}
	return err
}

// report takes in a report of a session.
func (e *Engine) report(ctx context.Context, s *state.Session, device motion.Device, report motion.Report, now motion.Time) error {
	key := device.DeviceKey
	n, err := e.State.Network(device.NetworkID)
	if err != nil {
		return err
	}
	if err := speaks(key, report); err != nil {
		return err
	}
	switch r := report.(type) {
	case motion.StatusReport:
		if !r.Heartbeat() { // raises events
			if err := e.Events.Hold(ctx, n, key); err != nil {
				return err
			}
		}
		if err := e.Inventory.Report(ctx, n, s, r, now); err != nil {
			return err
		}
		if e.State.Greets(s) {
			e.Sensing.AskLive(n, now)
		}
		return nil
	case *motion.Matrix:
		e.State.NoteClock(s, r.TS, now)
		return e.Sensing.Matrix(n, r, now)
	case motion.History:
		return e.Sensing.History(n, s, r, now)
	case motion.EventReport:
		if err := e.Events.Hold(ctx, n, key); err != nil {
			return err
		}
		return e.Sensing.Event(ctx, n, key, r, now)
	case motion.LinkMotions:
		e.State.NoteClock(s, r.TS, now)
		return e.Sensing.LinkMotions(ctx, n, device, r, now)
	case motion.RawCSI:
		return e.Sensing.RawCSI(ctx, n, s, device, r, 0, now)
	case motion.NodeCSI:
		return e.Sensing.RawCSI(ctx, n, s, device, r.Batch, r.Format, now)
	case motion.ManageResult:
		return e.Commands.Result(ctx, key, r)
	case motion.DeviceInfoAck:
		e.State.Log.Debug("device info acknowledged", "device", key.String())
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
	case motion.StatusReport, *motion.Matrix, motion.History:
		if device.Kind != motion.Guardian {
			return fault.New(fault.Forbidden, "only the guardian speaks for its network")
		}
	case motion.RawCSI, motion.NodeCSI, motion.LinkMotions:
		if device.Kind != motion.RadarKind {
			return fault.New(fault.Forbidden, "only a radar sends channel state of its own links")
		}
	}
	return nil
}

// The broker and the gatekeeper reach the engine by what follows, as by Report.

// Admit decides about a device that posts to the gatekeeper, as devices.Fleet has it.
func (e *Engine) Admit(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	return e.Devices.Admit(ctx, b, c)
}

// Login returns the device that has the id and the token.
func (e *Engine) Login(ctx context.Context, id, token string) (motion.DeviceKey, error) {
	return e.Devices.Login(ctx, id, token)
}

// LoginUser returns the topics of the integration user that has the password.
func (e *Engine) LoginUser(ctx context.Context, name, password string) (motion.UserTopics, error) {
	return e.Devices.LoginUser(ctx, name, password)
}

// Connected notes that a device that has logged in has a live session.
func (e *Engine) Connected(device motion.DeviceKey, address netip.Addr) {
	e.State.Connected(device, address)
}

// Disconnected notes the end of a device's session.
func (e *Engine) Disconnected(device motion.DeviceKey, reason string) {
	e.State.Disconnected(device, reason)
}

// BadInput counts a message that could not be read or was against a rule.
func (e *Engine) BadInput(device, reason string, message []byte) {
	e.State.BadInput(device, reason, message)
}

// Receiver decides about a node of another maker that is heard, as devices.Fleet has it.
func (e *Engine) Receiver(ctx context.Context, said motion.Radar, substitute motion.MAC, c motion.Credentials) (key motion.DeviceKey, receiver motion.MAC, why string, err error) {
	return e.Devices.Receiver(ctx, said, substitute, c)
}

// KnowsTransmitter reports whether an address is one of a node in the network of a device.
func (e *Engine) KnowsTransmitter(device motion.DeviceKey, mac motion.MAC) bool {
	return e.State.KnowsTransmitter(device, mac)
}

// NodeFigures keeps what arrives of a node of another maker, by its deviceId; nil: it is not heard any more.
func (e *Engine) NodeFigures(deviceID string, figures *motion.NodeFigures) {
	e.State.SetNodeFigures(deviceID, figures)
}
