package command

import (
	"fmt"

	"sensegate/motion"
)

// How long a command waits for its device (payloads.md 4.13), in seconds.
const (
	AnswerTimeout motion.Seconds = 30  // for any answer, before it is sent again
	RunTimeout    motion.Seconds = 300 // for the result, once the device accepted it
)

// Step is a command after something happened.
type Step struct {
	Command Command
	Changed bool // store it and tell who watches
	Send    bool // to its device, once stored; what cannot be sent is sent again by Tick
}

// Execute starts a command that is pending (POST /manage/execute). online says
// whether its node is.
func (c Command) Execute(online bool, now motion.Time) Step {
	if c.State != Pending {
		return Step{Command: c}
	}
	return c.start(online, now)
}

// TriggerDone takes in that a command has reached a final state: one that waited
// for it starts, or fails in the same way. online says whether the node of c is.
func (c Command) TriggerDone(trigger Command, online bool, now motion.Time) Step {
	waits := c.State == WaitingForTrigger && c.TriggerID != nil && *c.TriggerID == trigger.ID
	switch {
	case !waits || !trigger.State.Final():
		return Step{Command: c}
	case trigger.State.Succeeded():
		return c.start(online, now)
	}
	step := c.enter(trigger.State, now)
	step.Command.StateText = fmt.Sprintf("trigger %d failed", trigger.ID)
	return step
}

// DeviceOnline sends a command that waited for its node.
func (c Command) DeviceOnline(now motion.Time) Step {
	if c.State != WaitingForOnline {
		return Step{Command: c}
	}
	return c.send(now)
}

// Answer takes in what the device says: 100 is that it has begun, 2xx or 4xx its
// result. Anything else, an answer to a command that was never sent, and a
// repeated one change nothing.
func (c Command) Answer(state State, result motion.Document, now motion.Time) Step {
	begins := state == Running && c.State.sent()
	ends := state.Final() && (c.State.sent() || c.State == Running)
	if !begins && !ends {
		return Step{Command: c}
	}
	step := c.enter(state, now)
	if ends {
		step.Command.Result = bounded(result)
		step.Command.StateText = answerText(state)
	}
	return step
}

// answerText returns the text of a result: whatever the code of a failure, it
// happened on the device.
func answerText(state State) string {
	if state.Succeeded() || state == UnknownCommand {
		return state.Text()
	}
	return Failed.Text()
}

// Cancel ends a command that has not ended: somebody wants it no more, its node or network
// is deleted, or the configuration is reset. What was sent cannot be taken back, but it is not
// sent again, and a later answer changes nothing.
func (c Command) Cancel(now motion.Time) Step {
	if c.State.Final() {
		return Step{Command: c}
	}
	return c.enter(Cancelled, now)
}

// Due returns when Tick will change the command unless something else does, and
// false when it waits for no time. Time in which the appliance did not run
// counts.
func (c Command) Due(now motion.Time) (at motion.Time, ok bool) {
	wait := RunTimeout
	switch {
	case c.State.sent():
		wait = AnswerTimeout
	case c.State != Running:
		return 0, false
	}
	if now < c.UpdatedAt {
		return now, true
	}
	return c.UpdatedAt.Add(wait), true
}

// Tick takes in that time has passed: a command without an answer is sent again
// until it has had MaxAttempts, one without a result is given up. When the clock
// was set back behind the last change, the wait begins anew.
func (c Command) Tick(now motion.Time) Step {
	at, waits := c.Due(now)
	switch {
	case !waits || now < at:
		return Step{Command: c}
	case now < c.UpdatedAt:
		c.UpdatedAt = now
		return Step{Command: c, Changed: true}
	case c.State.sent() && c.Attempts < MaxAttempts:
		return c.send(now)
	}
	step := c.enter(NoAnswer, now)
	if c.State == Running {
		step.Command.StateText = fmt.Sprintf("no result within %.0f s", RunTimeout)
	}
	return step
}

// start sends the command when its node is online, else makes it wait for that.
func (c Command) start(online bool, now motion.Time) Step {
	if !online {
		return c.enter(WaitingForOnline, now)
	}
	return c.send(now)
}

// send counts one more attempt.
func (c Command) send(now motion.Time) Step {
	c.Attempts++
	step := c.enter(Sent(c.Attempts), now)
	step.Send = true
	return step
}

// enter changes the state.
func (c Command) enter(state State, now motion.Time) Step {
	c.State, c.StateText, c.UpdatedAt = state, state.Text(), now
	return Step{Command: c, Changed: true}
}
