package command

import (
	"fmt"
	"maps"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// ID identifies a command, on the appliance and for the device. Ids are positive.
type ID int64

// BatchID identifies a batch. Ids are positive.
type BatchID int64

// Command is a request to a node and its state (payloads.md 4.13). Only the methods that
// return a Step change State, StateText, Attempts and UpdatedAt, all together: time-outs count
// from UpdatedAt.
type Command struct {
	ID         ID                `json:"id"`
	BatchID    *BatchID          `json:"batch_id"` // nil: none
	NetworkID  motion.NetworkID  `json:"network_id"`
	NodeID     motion.NodeID     `json:"node_id"`
	TriggerID  *ID               `json:"trigger_id"` // the command to wait for; nil: none
	ExecuteNow bool              `json:"executeNow"`
	Payload    map[string]string `json:"payload"` // "command" and its arguments
	State      State             `json:"state"`
	StateText  string            `json:"state_text"`
	Attempts   int               `json:"attempts"` // number of times it was sent
	Result     motion.Document   `json:"result"`   // as the device sent it, at most MaxResult bytes; nil: none
	CreatedAt  motion.Time       `json:"created_at"`
	UpdatedAt  motion.Time       `json:"updated_at"`
}

// Batch is a group of commands that share a monitor. Its commands name it.
type Batch struct {
	ID        BatchID          `json:"id"`
	NetworkID motion.NetworkID `json:"network_id"`
	Name      string           `json:"name"`
	CreatedAt motion.Time      `json:"created_at"`
}

// nameKey is the payload key of the name of the command.
const nameKey = "command"

// New returns the requested command, without an id, in the initial state of interfaces.md 3
// no. 1: executeNow takes precedence over a trigger. The request must have passed Check;
// trigger is the result of Trigger.Of for it, online is whether the node is online.
//
// New ignores that a trigger may be in a final state already: call TriggerDone once the
// command is stored, in the same transaction.
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

// Name returns the name of the command, such as "reboot".
func (c Command) Name() string { return c.Payload[nameKey] }

// Args returns the arguments: a copy of the payload without the name.
func (c Command) Args() map[string]string {
	args := maps.Clone(c.Payload)
	delete(args, nameKey)
	return args
}

// Startable returns the commands that Execute starts, or a Conflict fault if there are none.
func Startable(commands []Command) ([]Command, error) {
	return choose(commands, func(s State) bool { return s == Pending }, "only a pending one can be executed", "is pending")
}

// Cancellable returns the commands that Cancel ends, or a Conflict fault if there are none.
func Cancellable(commands []Command) ([]Command, error) {
	return choose(commands, func(s State) bool { return !s.Final() }, "it has ended", "is open")
}

// choose returns the commands in a wanted state, or a Conflict fault that says why there are
// none.
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
