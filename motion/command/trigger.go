package command

import (
	"strconv"
	"strings"
)

// Trigger is the trigger_id of a request: "" for none, the decimal id of a command, or in a
// batch "#" and the position of an earlier action, counted from "#0" (payloads.md 4.13). It is
// unchecked until [Request.Check].
type Trigger string

// Of returns the id of the command that t names, or nil; earlier holds the ids of the earlier
// actions of its batch, if any. The request of t must have passed its check.
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

// id returns the id in t.
func (t Trigger) id() (ID, bool) {
	id, err := strconv.ParseInt(string(t), 10, 64)
	return ID(id), err == nil && id > 0
}

// position returns the position in t.
func (t Trigger) position() (int, bool) {
	digits, ok := strings.CutPrefix(string(t), "#")
	position, err := strconv.ParseUint(digits, 10, 31)
	return int(position), ok && err == nil
}

// mistake returns what is wrong with t, or ""; actions is the number of earlier actions of the
// batch, 0 outside of one.
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
