package state

import (
	"sync"

	"sensegate/motion"
)

// Message is one live value, shared by all its readers, which must not change it. It
// is as small as a pointer: a reader's queue of them costs little.
type Message struct{ *message }

type message struct {
	JSON  []byte            // the whole message
	Frame *motion.LiveFrame // of a motion stream
	Event *motion.Event     // of an event stream

	forms [doors]form
}

// Door tells apart the interfaces that deliver live messages in a form of their own.
type Door int

// The doors.
const (
	CoreDoor Door = iota
	HouseholdDoor
	doors
)

// form holds what a door made of a message, once.
type form struct {
	once  sync.Once
	value any
}

// Prepared returns what prepare returned for the first reader at a door that asked:
// the message as the door sends it, made once however many readers there are.
func (m Message) Prepared(d Door, prepare func(Message) any) any {
	f := &m.forms[d]
	f.once.Do(func() { f.value = prepare(m) })
	return f.value
}

// NewMessage makes a message of its JSON, and of the frame or event that it tells of.
func NewMessage(json []byte, frame *motion.LiveFrame, event *motion.Event) Message {
	return Message{&message{JSON: json, Frame: frame, Event: event}}
}
