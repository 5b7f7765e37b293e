package command

import "sensegate/motion"

// World supplies facts about commands that Follow is not given.
type World struct {
	Now     motion.Time
	Online  func(motion.NodeID) bool
	Waiting func(trigger ID) ([]Command, error) // those in WaitingForTrigger, as stored
}

// Follow returns the steps that changed something, followed by their effects: on commands that
// wait for one that reached a final state, on those that wait for them, and so on. The steps
// in first must belong to different commands and must not be stored yet. Every command appears
// once; store all in one transaction. Time and memory are proportional to their number.
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
