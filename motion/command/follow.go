package command

import "sensegate/motion"

// World is what Follow must ask about commands that it is not given.
type World struct {
	Now     motion.Time
	Online  func(motion.NodeID) bool
	Waiting func(trigger ID) ([]Command, error) // those in WaitingForTrigger, as stored
}

// Follow returns the steps that changed something, and behind them everything
// that follows: the commands that wait for one that reached a final state, those
// that wait for them, and so on. Steps belong to different commands and are not
// stored yet. Every command appears once; all are to be stored in one
// transaction. It works in time and memory proportional to their number.
func Follow(first []Step, w World) ([]Step, error) {
	steps := make([]Step, 0, len(first))
	seen := make(map[ID]bool, len(first))
	for _, s := range first {
		if s.Changed {
			steps = append(steps, s)
			seen[s.Command.ID] = true
		}
	}
	for i := 0; i < len(steps); i++ {
		trigger := steps[i].Command
		if !trigger.State.Final() {
			continue
		}
		waiting, err := w.Waiting(trigger.ID)
		if err != nil {
			return nil, err
		}
		for _, c := range waiting {
			next := c.TriggerDone(trigger, w.Online(c.NodeID), w.Now)
			if next.Changed && !seen[c.ID] {
				steps = append(steps, next)
				seen[c.ID] = true
			}
		}
	}
	return steps, nil
}
