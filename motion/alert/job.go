package alert

import (
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Job is a rule with its state in the job queue: the stored record.
type Job struct {
	Rule  Rule  `json:"rule"`
	State State `json:"state"`
}

// State is the state of a rule in the job queue, between two steps and across restarts.
type State struct {
	JobID   string         `json:"job_id"`          // set by the caller
	Armed   motion.Stamp   `json:"armed"`           // when the rule was last armed: later occurrences count
	Seen    motion.Stamp   `json:"seen"`            // the clock at the last step; earlier occurrences are done
	Doubt   motion.Stamp   `json:"doubt,omitempty"` // since when the clock has been behind Seen; 0 = it is not
	Wake    motion.Stamp   `json:"wake"`            // time of the next step with something to do
	Fired   []motion.Stamp `json:"fired"`           // the latest occurrences that fired, oldest first
	Open    motion.Stamp   `json:"open,omitempty"`  // an occurrence that fired and is still monitored
	From    motion.Stamp   `json:"from,omitempty"`  // when inactivity was last found and the monitor started again
	Done    bool           `json:"done"`            // no occurrence is left
	Queued  motion.Stamp   `json:"queued"`          // when Rule.Target was armed
	Tries   int            `json:"tries"`           // of the current occurrence, without a verdict
	Looked  motion.Stamp   `json:"looked"`          // when motion was last read or the rule fired
	Ended   motion.Stamp   `json:"ended"`           // when the rule last fired or missed an occurrence
	Skipped *Skip          `json:"skipped,omitempty"`
}

// Skip counts occurrences that were missed by more than 15 minutes.
type Skip struct {
	Count int          `json:"count"`
	First motion.Stamp `json:"first"`
	Last  motion.Stamp `json:"last"`
}

// New returns the job of a new rule. The caller must set ID, UUID, ExternalID and NetworkID of
// the rule and JobID of the state. It returns fault.Invalid with all mistakes, also if no
// occurrence is after now.
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

// Patch returns the job after a change. A rule that is enabled or gets another rrule is armed
// again and needs an occurrence after now; after the last one it needs a new rrule
// (interfaces.md 3 no. 4). Patch returns fault.Invalid with all mistakes and then leaves j
// unchanged.
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

// arm checks the rule and starts it at now: earlier occurrences do not count. It keeps Fired,
// because the clock may go back.
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
