package sensing

import (
	"context"
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/series"
	"sensegate/store"
)

// Import stores history and events of the past, as a device that was away would
// report them, without showing them to live readers.
func (se *Sensing) Import(ctx context.Context, id motion.NetworkID, history []motion.History, events []motion.Event) error {
	n, err := se.network(id)
	if err != nil {
		return err
	}
	for _, h := range history {
		se.fill(n, h)
	}
	events = slices.Clone(events)
	n.Mu.Lock()
	for i := range events {
		n.complete(&events[i])
	}
	n.Mu.Unlock()
	return se.events.RecordPast(ctx, events)
}

// maxHistory is how long samples of 5 s are kept (payloads.md 6 no. 9).
const maxHistory motion.Seconds = 7 * 24 * 3600

// historySlot is the resolution of what devices report afterwards, in seconds.
const historySlot = int64(series.FiveSeconds)

// History takes in what a device measured while nobody watched (device-protocol.md
// 2.3): it fills gaps and raises no event.
func (se *Sensing) History(of *state.Network, s *state.Session, r motion.History, now motion.Time) error {
	n := networkOf(of)
	if r.TS.IsZero() {
		return fault.New(fault.Invalid, "motion-history: ts 0 is no time, and the receive time says nothing about the past")
	}
	end := r.TS.Add(float64(r.Count) * float64(r.Interval) / 1000)
	if se.state.OwnClock.IsUnset(now) && !se.state.OwnClock.Believes(r.TS, now) {
		return fault.New(fault.Invalid, "motion-history: ts is not believed while the appliance's own clock is not set")
	}
	if !se.state.OwnClock.IsUnset(now) && (now.Since(r.TS) > maxHistory || now.Since(end) < -state.MaxAhead) {
		return fault.New(fault.Invalid, "motion-history: want samples of the last 7 days: older ones are not kept, later ones have not happened")
	}
	if !se.state.OwnClock.Believes(r.TS, now) && !se.state.ClockTrusted(s) {
		return fault.New(fault.Invalid, "motion-history: over a day old from a device whose clock is not known to be right")
	}
	n.Mu.Lock()
	unwanted := n.Record.Paused() || n.Guardian.MotionHistory.Enabled == 0
	for i, msad := range r.MSAD {
		r.MKAI[i] = n.gated(r.MKAI[i], msad, n.Guardian.MotionEvents.Sens)
	}
	n.Mu.Unlock()
	if unwanted {
		return nil
	}
	se.fill(n, r)
	return nil
}

// fill puts a history into the 5 s samples.
func (se *Sensing) fill(n *network, r motion.History) {
	slots, order := slotsOf(r)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if n.Deletions > 0 {
		return
	}
	for _, at := range order {
		se.state.Series.Fill(n.ID, motion.Time(at), slots[at].values(r.MACs))
	}
}

// slot is what the samples of a history that fall into one 5 s sample come to.
type slot struct {
	peak   float64
	moving int       // samples in motion
	told   []bool    // by place: whether a sample told its share
	shares []float64 // by place, of the samples in motion
}

// slotsOf distributes a history over 5 s samples, and returns their times in order. A
// sample goes to each slot whose middle it covers, so that 60 samples of 5 s make 60
// whenever they begin; a shorter one that covers none goes to the slot it begins in.
func slotsOf(r motion.History) (slots map[int64]*slot, order []int64) {
	step := motion.Seconds(r.Interval) / 1000
	slots = map[int64]*slot{}
	for i, intensity := range r.MKAI {
		if math.IsNaN(intensity) {
			continue
		}
		from := r.TS.Add(float64(i) * step)
		first, stop := slotFrom(from), slotFrom(from.Add(step))
		if first >= stop {
			first = state.FloorTo(from.Second(), historySlot)
			stop = first + historySlot
		}
		for at := first; at < stop; at += historySlot {
			if slots[at] == nil {
				slots[at] = &slot{told: make([]bool, len(r.MACs)), shares: make([]float64, len(r.MACs))}
				order = append(order, at)
			}
			slots[at].add(intensity, r, i)
		}
	}
	return slots, order
}

// slotFrom returns the first slot whose middle is not before t.
func slotFrom(t motion.Time) int64 {
	return historySlot * int64(math.Ceil(float64(t)/float64(historySlot)-0.5))
}

// add takes in sample i of a history. Of a place that the history names and the sample
// says nothing of, nothing of the sample's motion was there: a list of shares may be empty
// (device-protocol.md 2.3). A share that is not a number is unknown.
func (s *slot) add(intensity float64, r motion.History, i int) {
	s.peak = max(s.peak, intensity)
	if intensity > 0 {
		s.moving++
	}
	if i >= len(r.Density) {
		return
	}
	for k := range r.MACs {
		share := 0.0
		if k < len(r.Density[i]) {
			share = r.Density[i][k]
		}
		switch {
		case math.IsNaN(share):
			continue
		case intensity > 0:
			s.shares[k] += share
		}
		s.told[k] = true
	}
}

// values returns the intensity, and of each place the mean share of the samples in motion.
func (s *slot) values(places []motion.MAC) []store.Value {
	values := []store.Value{{ID: series.Network, Value: s.peak}}
	for k, mac := range places {
		if s.told[k] {
			values = raise(values, series.Location(mac), s.shares[k]/float64(max(s.moving, 1)))
		}
	}
	return values
}
