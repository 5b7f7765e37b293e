package engine

import (
	"sensegate/motion"
	"sensegate/store"
)

// cutTold is the shortest time between two events that tell of events that went.
const cutTold motion.Seconds = 3600

// historyCut is what went of a network's history since that was last told. Only the writer
// of events uses it.
type historyCut struct {
	told   motion.Time
	events int
}

// tellCuts queues an event for each network whose oldest events went because it had too
// many, at most one an hour unless the last one went too; the next one tells of the rest.
func (e *Engine) tellCuts(cuts []store.EventCut) {
	now := e.now()
	for _, cut := range cuts {
		n, err := e.network(cut.Network)
		if err != nil {
			continue // deleted meanwhile
		}
		n.cut.events += cut.Events
		if passed := now.Since(n.cut.told); passed >= 0 && passed < cutTold && cut.Until < n.cut.told {
			continue
		}
		detail := motion.Document{"events": n.cut.events, "until": float64(cut.Until)}
		n.cut = historyCut{told: now}
		n.mu.Lock()
		guardian := n.record.GuardianID
		n.mu.Unlock()
		e.log.Warn("a network has too many events: its oldest go", "network", n.id)
		e.recorder.append(entry{event: motion.Event{
			Event: motion.HistoryCutEvent, NetworkID: n.id, GuardianID: guardian, TS: now, Detail: detail,
		}})
	}
}
