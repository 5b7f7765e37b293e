package uplink

import (
	"context"
	"errors"
)

// Connection is a Peer with its end. Its methods may be called concurrently.
type Connection interface {
	Peer
	// Begin sends a message at QoS 1 and does not wait for its acknowledgement: acknowledged receives
	// nil with that, or why there was none. It waits while as many messages are on their way as the
	// connection allows. Messages begun one after the other arrive in this order.
	Begin(ctx context.Context, m Message) (acknowledged <-chan error, err error)
	// Online announces that the appliance is there.
	Online(ctx context.Context) error
	// Ended is closed when the connection has ended.
	Ended() <-chan struct{}
	// Err returns why it ended, nil before that and after Close.
	Err() error
	// Close announces that the appliance goes offline, disconnects and waits for the end.
	Close()
	// Traffic returns what it has carried.
	Traffic() Traffic
}

// Traffic counts the messages of a connection.
type Traffic struct {
	Sent    uint64 // written at QoS 0, acknowledged at QoS 1
	Dropped uint64 // live messages that were not sent: too many waited, or the connection ended
	Refused uint64 // messages of the broker that were not read: too long or too many
	Queue   int    // messages that wait
}

// Step is a step of a connection.
type Step string

// The steps, in their order.
const (
	Reach   Step = "reach"   // name, TCP and TLS
	Login   Step = "login"   // the broker accepts the client
	Publish Step = "publish" // it acknowledges a message
)

// Failure is why there is no connection.
type Failure struct {
	Code   string // stable, for programs: docs/uplinks.md; "": it has none
	Text   string // a sentence that says what to do
	Step   Step   // how far it came
	Slow   bool   // trying again soon would not help, and could lock an account
	Closed bool   // the broker ended a connection that it had accepted
	Err    error  // what happened
}

func (f *Failure) Error() string { return f.Text }

func (f *Failure) Unwrap() error { return f.Err }

// CodeOf returns the code of a Failure, "" of every other error.
func CodeOf(err error) string {
	if f := (*Failure)(nil); errors.As(err, &f) {
		return f.Code
	}
	return ""
}

// isSlow reports whether the next try of a failed connection is minutes away.
func isSlow(err error) bool {
	var f *Failure
	return errors.As(err, &f) && f.Slow
}
