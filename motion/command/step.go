package command

import (
	"fmt"

	"sensegate/motion"
)

// Time-outs of a command (payloads.md 4.13).
const (
	AnswerTimeout motion.Seconds = 30  // for any answer, before the next attempt
	RunTimeout    motion.Seconds = 300 // for the result, once the device accepted it
)

// Step is a command after an event.
type Step struct {
	Command Command
	Changed bool // store the command and notify its monitors
	Send    bool // send it to its device once stored; Tick repeats what could not be sent
}

// Execute starts a pending command (POST /manage/execute). online is whether its node is online.
func (c Command) Execute(online bool, now motion.Time) Step {
	if c.State != Pending {
		return Step{Command: c}
	}
	return c.start(online, now)
}

// TriggerDone handles that another command reached a final state: a command that waited for it
// starts or fails in the same way. online is whether the node of c is online.
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

// Answer handles an answer of the device: 100 means started, 2xx or 4xx is the result. Any other
// answer, one to a command that was never sent, and a repeated one have no effect.
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

// answerText returns the text of a result: a failure with any code happened on the device.
func answerText(state State) string {
	if state.Succeeded() || state == UnknownCommand {
		return state.Text()
	}
	return Failed.Text()
}

// Cancel ends a command that has not ended: on request, or because its node or network is
// deleted or the configuration is reset. A sent command cannot be recalled, but it is not sent
// again, and a later answer has no effect.
func (c Command) Cancel(now motion.Time) Step {
	if c.State.Final() {
		return Step{Command: c}
	}
	return c.enter(Cancelled, now)
}

// Due returns when Tick will change the command unless something else does, and false if the
// command waits for no time-out. Time during which the appliance did not run counts.
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

// Tick handles the passage of time: it sends a command without an answer again, up to MaxAttempts
// times, and ends one without a result. If the clock was set back to before the last change, the
// time-out starts again.
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

// start sends the command if its node is online, or else waits for the node.
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
