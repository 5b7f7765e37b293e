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

	forms [apis]form
}

// API tells apart the interfaces that deliver live messages in a form of their own.
type API int

// The interfaces.
const (
	CoreAPI API = iota
	AppAPI
	WebAPI
	apis
)

// form holds what an interface made of a message, once.
type form struct {
	once  sync.Once
	value any
}

// Prepared returns what prepare returned for the first reader of an interface that asked:
// the message as the interface sends it, made once however many readers there are. So
// prepare must give the same for every reader of the network there.
func (m Message) Prepared(to API, prepare func(Message) any) any {
	f := &m.forms[to]
	f.once.Do(func() { f.value = prepare(m) })
	return f.value
}

// NewMessage makes a message of its JSON, and of the frame or event that it tells of.
func NewMessage(json []byte, frame *motion.LiveFrame, event *motion.Event) Message {
	return Message{&message{JSON: json, Frame: frame, Event: event}}
}
