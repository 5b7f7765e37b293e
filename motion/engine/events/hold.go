package events

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
)

// Hold waits until a network may have another event of a device stored, for state.PaceHold at
// most: who waits is not acknowledged. Whose turn comes later than that is refused, to send
// again.
func (w *Writer) Hold(ctx context.Context, n *state.Network, device motion.DeviceKey) error {
	wait := n.Pace.Wait(state.Leaves(device.Kind == motion.Guardian), w.state.Wall())
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(min(wait, state.PaceHold))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if wait <= state.PaceHold {
		return nil
	}
	const reason = "too many events of the network: they are held back"
	w.state.BadInput(device.String(), reason, nil)
	return fault.New(fault.Unavailable, reason)
}

// throttle refuses a caller's event while the network has had too many.
func throttle(n *state.Network, now time.Time) error {
	wait := n.Pace.Wait(state.Leaves(false), now)
	if wait <= 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Throttled, Message: "too many events of this network: wait as long as Retry-After says", RetryAfter: wait}
}
