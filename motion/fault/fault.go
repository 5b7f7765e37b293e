// Package fault holds the kinds of errors that a caller can be told about. A
// rule anywhere in the product returns one; the doors (api, broker) translate
// the kind once. Everything that is not a *fault.Error is our own trouble and
// is never shown.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"
)

// Kind says whose mistake it was and what can be done about it.
type Kind uint8

// The kinds, in the order of their HTTP status (payloads.md 1).
const (
	Malformed    Kind = iota + 1 // unreadable input
	Unauthorized                 // no valid credentials
	Forbidden                    // valid credentials, wrong role
	NotFound                     // unknown or foreign
	Conflict                     // at odds with the present state
	TooLarge                     // over a stated limit
	Unsupported                  // media type
	Invalid                      // readable, but against a rule
	Throttled                    // too often
	Unavailable                  // not ready, or read-only
)

// Detail is one mistake at one place of the input.
type Detail struct {
	Location string // such as body[1].mac_address or query.from
	Message  string
	Value    any
}

// Details collects everything that is wrong with one input, in the order in which it is
// found. The zero value is empty.
type Details []Detail

// Add notes a mistake at a place of the input.
func (d *Details) Add(location string, value any, format string, args ...any) {
	*d = append(*d, Detail{Location: location, Message: fmt.Sprintf(format, args...), Value: value})
}

// Sort orders the mistakes by their places, those of one place as they were found.
func (d Details) Sort() {
	sort.SliceStable(d, func(i, j int) bool { return d[i].Location < d[j].Location })
}

// Err returns an Invalid error with all that is wrong, nil when nothing is.
func (d Details) Err() error {
	if len(d) == 0 {
		return nil
	}
	return Mistakes(d...)
}

// Error is a mistake that the caller is told about.
type Error struct {
	Kind       Kind
	Message    string        // lower case, says what to do, starts with the field where there is one
	Code       string        // stable word for programs; "" = the kind's own
	Details    []Detail      // every mistake, when there are several
	RetryAfter time.Duration // for Throttled and Unavailable
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// New returns an error of kind with a formatted message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Mistakes returns an Invalid error with all that is wrong with an input.
func Mistakes(list ...Detail) error {
	return &Error{Kind: Invalid, Message: "request is not valid", Details: list}
}

// At returns an Invalid error with one mistake at a place of the input.
func At(location string, value any, format string, args ...any) error {
	return Mistakes(Detail{Location: location, Message: fmt.Sprintf(format, args...), Value: value})
}

// Also adds further mistakes to those of err, which is nil or an Invalid error with
// Details. Any other error is returned as it is.
func Also(err error, further []Detail) error {
	if len(further) == 0 || err != nil && KindOf(err) != Invalid {
		return err
	}
	var e *Error
	if errors.As(err, &e) {
		further = append(slices.Clone(e.Details), further...)
	}
	return Mistakes(further...)
}

// KindOf returns the kind of the first *Error in err's tree, 0 when there is none.
func KindOf(err error) Kind {
	if err == nil {
		return 0 // without the allocation of e: each message that is taken comes here
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}
