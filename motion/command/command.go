package command

import (
	"fmt"
	"maps"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// ID identifies a command, on the appliance and towards the device. Ids are
// positive.
type ID int64

// BatchID identifies a batch. Ids are positive.
type BatchID int64

// Command is something that a node was asked to do, and what became of it
// (payloads.md 4.13). State, StateText, Attempts and UpdatedAt change together,
// by the methods that return a Step and by nothing else: the time-outs count
// from UpdatedAt.
type Command struct {
	ID         ID                `json:"id"`
	BatchID    *BatchID          `json:"batch_id"` // nil: none
	NetworkID  motion.NetworkID  `json:"network_id"`
	NodeID     motion.NodeID     `json:"node_id"`
	TriggerID  *ID               `json:"trigger_id"` // the command that it waits for; nil: none
	ExecuteNow bool              `json:"executeNow"`
	Payload    map[string]string `json:"payload"` // "command" and its arguments
	State      State             `json:"state"`
	StateText  string            `json:"state_text"`
	Attempts   int               `json:"attempts"` // how often it was sent
	Result     motion.Document   `json:"result"`   // as the device sent it, at most MaxResult bytes; nil: none
	CreatedAt  motion.Time       `json:"created_at"`
	UpdatedAt  motion.Time       `json:"updated_at"`
}

// Batch is a group of commands that are watched together. Its commands name it.
type Batch struct {
	ID        BatchID          `json:"id"`
	NetworkID motion.NetworkID `json:"network_id"`
	Name      string           `json:"name"`
	CreatedAt motion.Time      `json:"created_at"`
}

// nameKey is the key of the payload that names what to do.
const nameKey = "command"

// New returns the command that was asked for, without an id, in the initial
// state of interfaces.md 3 no. 1: executeNow goes before a trigger. The
// request must have passed its check; trigger is what Trigger.Of returned for
// it, online says whether the node is.
//
// A trigger that is in a final state already makes no difference here: give it
// to TriggerDone once the command is stored, in the same transaction.
func New(r Request, trigger *ID, online bool, now motion.Time) Step {
	c := Command{
		NetworkID: r.NetworkID, NodeID: r.NodeID, TriggerID: trigger, ExecuteNow: r.ExecuteNow,
		Payload: maps.Clone(r.Payload), CreatedAt: now,
	}
	switch {
	case r.ExecuteNow:
		return c.start(online, now)
	case trigger != nil:
		return c.enter(WaitingForTrigger, now)
	}
	return c.enter(Pending, now)
}

// Name returns what to do, such as "reboot".
func (c Command) Name() string { return c.Payload[nameKey] }

// Args returns the arguments: the payload without the command. The map is the
// caller's.
func (c Command) Args() map[string]string {
	args := maps.Clone(c.Payload)
	delete(args, nameKey)
	return args
}

// Startable returns those of the commands that Execute starts. That there are
// none is a Conflict fault.
func Startable(commands []Command) ([]Command, error) {
	return choose(commands, func(s State) bool { return s == Pending }, "only a pending one can be executed", "is pending")
}

// Cancellable returns those of the commands that Cancel ends. That there are none is a
// Conflict fault.
func Cancellable(commands []Command) ([]Command, error) {
	return choose(commands, func(s State) bool { return !s.Final() }, "it has ended", "is open")
}

// choose returns the commands in a wanted state, or says why there are none: of one
// command, or of a batch.
func choose(commands []Command, wanted func(State) bool, ofOne, ofBatch string) ([]Command, error) {
	var chosen []Command
	for _, c := range commands {
		if wanted(c.State) {
			chosen = append(chosen, c)
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case len(commands) == 1:
		c := commands[0]
		return nil, fault.New(fault.Conflict, "command %d is in state %s (%s): %s", c.ID, c.State, c.StateText, ofOne)
	}
	return nil, fault.New(fault.Conflict, "no command of the batch %s", ofBatch)
}

// String returns the id and the state, for messages.
func (c Command) String() string { return fmt.Sprintf("command %d in state %s", c.ID, c.State) }
