package state

import "sensegate/motion"

// Bounds of a device clock that is believed (payloads.md 6 no. 14).
const (
	maxAge   motion.Seconds = 24 * 3600
	MaxAhead motion.Seconds = 5 * 60
)

// BelievedAfterBuild is how far past the build date a device's clock is believed while the
// own clock is before that date.
const BelievedAfterBuild motion.Seconds = 10 * 365.25 * 24 * 3600

// Believes reports whether a device time can be taken as it is.
func (c *OwnClock) Believes(ts, received motion.Time) bool {
	if c.IsUnset(received) {
		return ts >= c.Built && ts <= c.Built.Add(BelievedAfterBuild)
	}
	age := received.Since(ts)
	return !ts.IsZero() && age <= maxAge && age >= -MaxAhead
}

// Stamp returns ts, or the receive time where the device's clock is wrong; server
// says which.
func (c *OwnClock) Stamp(ts, received motion.Time) (at motion.Time, server bool) {
	if c.Believes(ts, received) {
		return ts, false
	}
	return received, true
}

// Shifted returns a further time of a report whose own, ts, was taken as at: moved
// along, and never later than the report. Zero is unknown.
func Shifted(t, ts, at motion.Time) motion.Time {
	if t.IsZero() || ts.IsZero() {
		return 0
	}
	return min(t.Add(at.Since(ts)), at)
}

// Anchor turns the times of a device whose clock is wrong or missing into
// times of ours, keeping the device's own spacing for as long as it agrees with
// the arrivals.
type Anchor struct {
	offset motion.Seconds
	set    bool
}

// anchorSlack is how far a batch may arrive from where the device's own spacing
// puts it before the two are tied together anew.
const anchorSlack motion.Seconds = 1

// Base returns the time of a batch's first frame: first and last are its device
// times (first 0: no clock), received is when it arrived.
func (a *Anchor) Base(clock *OwnClock, first, last, received motion.Time) motion.Time {
	if clock.Believes(first, received) {
		a.set = false
		return first
	}
	span := last.Since(first)
	if first.IsZero() {
		return received.Add(-span)
	}
	if late := received.Since(last.Add(a.offset)); !a.set || late > anchorSlack || late < -anchorSlack {
		a.offset, a.set = received.Since(last), true
	}
	return first.Add(a.offset)
}

// Bounds of what devices' clocks may differ before one is moved onto the
// network's: fusion waits a second for a link, and a device's batches come every
// half second.
const (
	clockSlack   motion.Seconds = 1.5
	clockPersist                = 20 // batches in a row
	newestFresh  motion.Seconds = 2
)

// alignment moves a device whose clock is steadily off onto the clock of its
// network, so that its links can be fused with the others.
type alignment struct {
	offset motion.Seconds
	off    int // batches in a row that were off
}

// Align returns what to add to the device's times: at is where its newest frame lies,
// others how far the data of other devices has come, received when the frame came.
// usable is false for frames of the future, which would make everything else too late
// to be fused.
func (a *alignment) Align(at, others, received motion.Time) (offset motion.Seconds, usable bool) {
	if others.IsZero() {
		if late := received.Since(at); late < clockSlack && late > -clockSlack {
			a.offset = 0 // nobody to be aligned with, and its clock is right
		}
		return a.offset, true
	}
	gap := others.Since(at.Add(a.offset))
	if gap < clockSlack && gap > -clockSlack {
		a.off = 0
		return a.offset, true
	}
	if a.off++; a.off >= clockPersist {
		a.offset, a.off = a.offset+gap, 0
		return a.offset, true
	}
	return a.offset, gap > 0
}

// reach is how far a network's data has come.
type reach struct {
	newest   motion.Time // on the data's clock
	Received motion.Time // when that came; zero: no data yet
	by       motion.DeviceKey
}

// Note takes in data of a device up to t. What was newest is forgotten when it has
// not been surpassed for a while, for its clock was set back; what is far ahead of
// another device's is left out as long, for a clock that is wrong must not move the
// others onto it.
func (r *reach) Note(t, received motion.Time, by motion.DeviceKey) {
	stale := received.Since(r.Received) > newestFresh
	near := by == r.by || t.Since(r.At(received)) < clockSlack
	if stale || t > r.newest && near {
		r.newest, r.Received, r.by = t, received, by
	}
}

// Others returns how far the data of others than a device should have come by now,
// zero when what is known of it is stale or is the device's own.
func (r *reach) Others(received motion.Time, device motion.DeviceKey) motion.Time {
	if r.by == device || received.Since(r.Received) > newestFresh {
		return 0
	}
	return r.At(received)
}

// At returns what it is on the data's clock when ours says now.
func (r *reach) At(now motion.Time) motion.Time {
	if r.Received.IsZero() {
		return now
	}
	return r.newest.Add(now.Since(r.Received))
}
