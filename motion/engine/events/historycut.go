package events

import (
	"sensegate/motion"
	"sensegate/store"
)

// tellCuts queues an event for each network whose oldest events went because it had too many: at
// most one an hour, and sooner only where the cut took the last such event along. Each event
// counts what went since the one before.
func (w *Writer) tellCuts(cuts []store.EventCut) {
	now := w.state.Now()
	for _, cut := range cuts {
		n, err := w.state.Network(cut.Network)
		if err != nil { // deleted meanwhile
			delete(w.cuts, cut.Network)
			continue
		}
		untold := w.cuts[n.ID]
		untold.events += cut.Events
		if passed := now.Since(untold.told); passed >= 0 && passed < cutTold && cut.Until < untold.told {
			w.cuts[n.ID] = untold
			continue
		}
		detail := motion.Document{"events": untold.events, "until": float64(cut.Until)}
		w.cuts[n.ID] = historyCut{told: now}
		guardian := n.GuardianID()
		w.state.Log.Warn("too many events: oldest deleted", "network", n.ID)
		w.Queue(Entry{Event: motion.Event{
			Event: motion.HistoryCutEvent, NetworkID: n.ID, GuardianID: guardian, TS: now, Detail: detail,
		}})
	}
}

// cutTold is the shortest time between two events that tell of events that went.
const cutTold motion.Seconds = 3600

// historyCut is what went of a network's history since that was last told. Only the writer
// of events uses it.
type historyCut struct {
	told   motion.Time
	events int
}
