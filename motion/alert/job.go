package alert

import (
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Job is a rule with what the job queue remembers of it: the record to store.
type Job struct {
	Rule  Rule  `json:"rule"`
	State State `json:"state"`
}

// State is what the job queue remembers of a rule between two steps and across
// restarts.
type State struct {
	JobID   string         `json:"job_id"`          // set by the caller
	Armed   motion.Stamp   `json:"armed"`           // since when the rule stands as it is: occurrences after this count
	Seen    motion.Stamp   `json:"seen"`            // the clock at the last step; what should have fired by then is accounted for
	Doubt   motion.Stamp   `json:"doubt,omitempty"` // since when the clock has been behind Seen; 0 = it is not
	Wake    motion.Stamp   `json:"wake"`            // when the next step has something to do
	Fired   []motion.Stamp `json:"fired"`           // the last occurrences that fired, oldest first
	Open    motion.Stamp   `json:"open,omitempty"`  // an occurrence that fired and is still monitored
	From    motion.Stamp   `json:"from,omitempty"`  // when inactivity was last found: the monitor began again
	Done    bool           `json:"done"`            // no occurrence is left
	Queued  motion.Stamp   `json:"queued"`          // when Rule.Target was armed
	Tries   int            `json:"tries"`           // of the present occurrence, that brought no verdict
	Looked  motion.Stamp   `json:"looked"`          // when motion was last looked at, or the rule fired
	Ended   motion.Stamp   `json:"ended"`           // when the rule last fired or was found to have missed
	Skipped *Skip          `json:"skipped,omitempty"`
}

// Skip is a number of occurrences that came and went more than 15 minutes before
// anyone could fire them.
type Skip struct {
	Count int          `json:"count"`
	First motion.Stamp `json:"first"`
	Last  motion.Stamp `json:"last"`
}

// New returns the job of a new rule. The caller has still to set ID, UUID,
// ExternalID and NetworkID of the rule and JobID of the state. Errors:
// fault.Invalid with all mistakes, also when no occurrence lies after now.
func New(edit Edit, now time.Time) (Job, error) {
	var m fault.Details
	if edit.Monitor == nil {
		m.Add("body.monitor", nil, "is needed")
	}
	stamp := motion.StampOf(now)
	fresh := Rule{
		Enabled: true, Monitor: Monitor{Mode: None, RepeatMonitoring: true}, Meta: motion.Document{},
		NoMotion: []Action{}, Motion: []Action{}, NoHistory: []Action{}, CreatedAt: stamp,
	}
	j := Job{Rule: edit.apply(fresh), State: State{Fired: []motion.Stamp{}}}
	if err := j.arm(&m, stamp); err != nil {
		return Job{}, err
	}
	return j, nil
}

// Patch returns the job after a change. A rule that is switched on, and one with
// another rrule, is armed anew and needs an occurrence after now: after the last
// one it takes a new rrule (interfaces.md 3 no. 4). Errors: fault.Invalid
// with all mistakes; j is then unchanged.
func (j Job) Patch(edit Edit, now time.Time) (Job, error) {
	var m fault.Details
	if edit.Enabled == nil {
		m.Add("body.enabled", nil, "is needed")
	}
	if edit.UUID != nil && *edit.UUID != j.Rule.UUID {
		m.Add("body.uuid", *edit.UUID, "cannot be changed")
	}
	if edit.ExternalID != nil && *edit.ExternalID != j.Rule.ExternalID {
		m.Add("body.external_id", *edit.ExternalID, "cannot be changed")
	}
	stamp := motion.StampOf(now)
	next := Job{Rule: edit.apply(j.Rule), State: j.State}
	var err error
	if next.Rule.RRule != j.Rule.RRule || next.Rule.Enabled && !j.Rule.Enabled {
		err = next.arm(&m, stamp)
	} else {
		next.Rule.check(&m)
		next.Rule.UpdatedAt, next.State.Wake = stamp, 0
		err = m.Err()
	}
	if err != nil {
		return j, err
	}
	return next, nil
}

// arm checks the rule and lets it begin anew: what lies before now does not
// count. Fired is kept, as the clock may yet go back.
func (j *Job) arm(m *fault.Details, now motion.Stamp) error {
	before := len(*m)
	recurrence := j.Rule.check(m)
	if len(*m) > before {
		return m.Err()
	}
	target, ok := recurrence.Next(now.Std())
	if !ok {
		m.Add("body.rrule", j.Rule.RRule, "has no occurrence left: send a new rrule with at least one in the future")
	}
	if err := m.Err(); err != nil {
		return err
	}
	j.Rule.Timezone, j.Rule.Target, j.Rule.UpdatedAt = recurrence.Zone(), Target(motion.StampOf(target)), now
	j.State = State{
		JobID: j.State.JobID, Armed: now, Seen: now, Queued: now,
		Fired: slices.Clone(j.State.Fired), Looked: j.State.Looked, Ended: j.State.Ended,
	}
	return nil
}
