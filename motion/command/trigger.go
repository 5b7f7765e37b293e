package command

import (
	"strconv"
	"strings"
)

// Trigger is the trigger_id of a request: "" for none, the decimal id of a
// command, or in a batch "#" and the position of an earlier action, "#0" being
// the first (payloads.md 4.13). Any text can be one until [Request.Check].
type Trigger string

// Of returns the id of the command that t names, nil for none; earlier holds the
// ids of the actions before it in its batch, none outside of one. t must have
// passed the check of its request.
func (t Trigger) Of(earlier []ID) *ID {
	if position, ok := t.position(); ok && position < len(earlier) {
		id := earlier[position]
		return &id
	}
	if id, ok := t.id(); ok {
		return &id
	}
	return nil
}

// id returns the id of the command that t names by its id.
func (t Trigger) id() (ID, bool) {
	id, err := strconv.ParseInt(string(t), 10, 64)
	return ID(id), err == nil && id > 0
}

// position returns the position of the action that t names.
func (t Trigger) position() (int, bool) {
	digits, ok := strings.CutPrefix(string(t), "#")
	position, err := strconv.ParseUint(digits, 10, 31)
	return int(position), ok && err == nil
}

// mistake says what is wrong with t where actions actions of the batch stand
// before it, none outside of a batch; "" is nothing.
func (t Trigger) mistake(inBatch bool, actions int) string {
	position, byPosition := t.position()
	_, byID := t.id()
	switch {
	case t == "", byID:
		return ""
	case byPosition && !inBatch:
		return "must be the id of a command: positions are for batches"
	case byPosition && position < actions:
		return ""
	case byPosition:
		return "must be the position of an earlier action"
	case inBatch:
		return `must be the id of a command, or "#" and the position of an earlier action`
	}
	return "must be the id of a command"
}
