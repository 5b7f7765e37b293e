package engine

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// How many events a network may have stored: each is a commit, which costs the flash some
// 40 KB, and a long one nine times as much. A device that was away for days sends a few
// thousand at once.
const (
	paceBurst  = 8192            // at once, of which half is for the guardian alone
	paceEvery  = 2 * time.Second // and then one in
	paceLength = 2 << 10         // bytes of JSON that count as one more
	paceHold   = 10 * time.Second
)

// pace counts the events that a network has had stored lately, whoever raised them. Its
// methods may be called concurrently.
type pace struct{ tokens *rate.Limiter }

func newPace() pace { return pace{rate.NewLimiter(rate.Every(paceEvery), paceBurst)} }

// note counts an event of so many bytes that was stored at now, while there is more of the
// burst than it leaves to others. It may go into debt.
func (p pace) note(size, leaves int, now time.Time) {
	if p.wait(leaves, now) <= 0 {
		p.tokens.ReserveN(now, min(1+size/paceLength, paceBurst))
	}
}

// wait returns how long to wait at now until the next event may be stored that leaves so many
// of the burst to others, 0 or less when it may be at once.
func (p pace) wait(leaves int, now time.Time) time.Duration {
	return time.Duration((float64(leaves) + 1 - p.tokens.TokensAt(now)) * float64(paceEvery))
}

// leaves is how many of the burst events leave to the guardian, which speaks for the network.
func leaves(ofGuardian bool) int {
	if ofGuardian {
		return 0
	}
	return paceBurst / 2
}

// hold waits until a network may have another event of a device stored, for paceHold at
// most: who waits is not acknowledged. Whose turn comes later than that is refused, to send
// again.
func (e *Engine) hold(ctx context.Context, n *network, device motion.DeviceKey) error {
	wait := n.pace.wait(leaves(device.Kind == motion.Guardian), e.options.Now())
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(min(wait, paceHold))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if wait <= paceHold {
		return nil
	}
	const reason = "too many events of the network: they are held back"
	e.BadInput(device.String(), reason, nil)
	return fault.New(fault.Unavailable, reason)
}

// throttle refuses a caller's event while the network has had too many.
func (n *network) throttle(now time.Time) error {
	wait := n.pace.wait(leaves(false), now)
	if wait <= 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Throttled, Message: "too many events of this network: wait as long as Retry-After says", RetryAfter: wait}
}
