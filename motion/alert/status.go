package alert

import (
	"fmt"

	"sensegate/motion"
)

// Phase is the phase of a job in the queue.
type Phase string

// The phases.
const (
	Delayed   Phase = "delayed"   // waits for its target
	Active    Phase = "active"    // still monitors after it fired, or waits for late data
	Paused    Phase = "paused"    // disabled
	Completed Phase = "completed" // no occurrence is left
)

// Status is the queue's view of a job (payloads.md 4.10). Times are milliseconds since the epoch,
// null for never.
type Status struct {
	ID           string  `json:"id" doc:"Job id"`
	Name         string  `json:"name" doc:"Name of the queue"`
	State        Phase   `json:"state" enum:"delayed,active,paused,completed"`
	Timestamp    int64   `json:"timestamp" doc:"When the present target was queued, ms"`
	DelayMS      int64   `json:"delay_ms" doc:"From timestamp to the target, ms"`
	AttemptsMade int     `json:"attempts_made" doc:"Looks at motion that brought no verdict on the present target"`
	ProcessedOn  *int64  `json:"processed_on" doc:"When motion was last looked at, ms"`
	FinishedOn   *int64  `json:"finished_on" doc:"When it last fired or was found to have missed, ms"`
	FailedReason *string `json:"failed_reason" doc:"What was missed since it last fired"`
	Data         Rule    `json:"data" doc:"The alert"`
}

// Status returns the queue's view of j.
func (j Job) Status() Status {
	st := j.State
	status := Status{
		ID: st.JobID, Name: "universal-alert", State: j.phase(),
		Timestamp: int64(st.Queued), DelayMS: max(0, int64(j.Rule.Target)-int64(st.Queued)),
		AttemptsMade: st.Tries, ProcessedOn: millis(st.Looked), FinishedOn: millis(st.Ended), Data: j.Rule,
	}
	if st.Skipped != nil {
		reason := st.Skipped.String()
		status.FailedReason = &reason
	}
	return status
}

func (j Job) phase() Phase {
	switch st := j.State; {
	case st.Done:
		return Completed
	case !j.Rule.Enabled:
		return Paused
	case st.Open != 0 || st.Tries > 0:
		return Active
	}
	return Delayed
}

// String returns a sentence for people: "missed 3 occurrences from … to …".
func (s Skip) String() string {
	const form = "2006-01-02T15:04:05Z"
	first, last := s.First.Std().Format(form), s.Last.Std().Format(form)
	if s.Count == 1 {
		return "missed the occurrence of " + first
	}
	return fmt.Sprintf("missed %d occurrences from %s to %s", s.Count, first, last)
}

func millis(s motion.Stamp) *int64 {
	if s == 0 {
		return nil
	}
	ms := int64(s)
	return &ms
}
