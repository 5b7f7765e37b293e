package command

import (
	"fmt"

	"sensegate/motion/fault"
)

// State is the three-digit state of a command. As texts, the states of an open command sort
// before Done and in the order in which they can follow each other.
type State string

// The states of interfaces.md 3 no. 1 and payloads.md 4.13. The states that Sent returns are
// between WaitingForOnline and Running. A device may answer with any other 2xx (success) or
// 4xx (failure).
const (
	Pending           State = "000"
	WaitingForTrigger State = "001"
	WaitingForOnline  State = "002"
	Running           State = "100"
	Done              State = "200"
	Failed            State = "400"
	UnknownCommand    State = "404"
	NoAnswer          State = "408"
	Cancelled         State = "409"
)

// MaxAttempts is the number of times a command is sent before it fails.
const MaxAttempts = 5

// Sent returns the state of a command that was sent attempts times, 1 to MaxAttempts.
func Sent(attempts int) State { return State(fmt.Sprintf("01%d", attempts)) }

// ParseState parses a state that a command can be in. Any other text is an Invalid fault.
func ParseState(s string) (State, error) {
	state := State(s)
	switch {
	case state == Pending, state == WaitingForTrigger, state == WaitingForOnline, state == Running:
		return state, nil
	case state.sent(), state.Final():
		return state, nil
	}
	return "", fault.New(fault.Invalid, "state: %.20q: want 000, 001, 002, 011 to 015, 100, 200 to 299 or 400 to 499", s)
}

// Final reports whether a command in this state can no longer change.
func (s State) Final() bool { return s.Succeeded() || s.hundreds('4') }

// Succeeded reports whether the command succeeded: 2xx.
func (s State) Succeeded() bool { return s.hundreds('2') }

// sent reports whether the command was sent and the device has not answered yet.
func (s State) sent() bool { return s >= Sent(1) && s <= Sent(MaxAttempts) && len(s) == 3 }

// hundreds reports whether the state has three digits and begins with first.
func (s State) hundreds(first byte) bool {
	return len(s) == 3 && s[0] == first && isDigit(s[1]) && isDigit(s[2])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// Text returns the description of the state, for state_text.
func (s State) Text() string {
	switch s {
	case Pending:
		return "pending"
	case WaitingForTrigger:
		return "waiting for trigger"
	case WaitingForOnline:
		return "waiting for the device"
	case Sent(1):
		return "sent 1 time"
	case Running:
		return "accepted by the device, running"
	case UnknownCommand:
		return "unknown command"
	case NoAnswer:
		return fmt.Sprintf("no answer after %d attempts", MaxAttempts)
	case Cancelled:
		return "cancelled"
	}
	switch {
	case s.sent():
		return "sent " + string(s[2]) + " times"
	case s.Succeeded():
		return "done"
	}
	return "failed on device"
}
