package broker

import (
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// retainedLock keeps apart what the library does not: a SUBSCRIBE with a wildcard
// looks through the retained messages without a lock while a publish changes
// them. A subscription holds it for reading, a retained publish for writing, from
// the hook before the library's work to the one after it.
type retainedLock struct{ sync.RWMutex }

// hold is what a connection holds of a retainedLock.
type hold int32

const (
	nothing hold = iota
	reading
	writing
)

// holder is the part of a session that remembers its hold.
type holder struct{ held atomic.Int32 }

func (l *retainedLock) acquire(s *holder, wanted hold) {
	if wanted == reading {
		l.RLock()
	} else {
		l.Lock()
	}
	s.held.Store(int32(wanted))
}

// release gives back what the session holds, if anything.
func (l *retainedLock) release(s *holder) {
	switch hold(s.held.Swap(int32(nothing))) {
	case reading:
		l.RUnlock()
	case writing:
		l.Unlock()
	}
}

// OnPacketProcessed ends the hold that OnSubscribe or OnPublish began.
func (h *hook) OnPacketProcessed(cl *mqtt.Client, _ packets.Packet, _ error) {
	if s, ok := h.sessions.get(cl.ID); ok {
		h.retained.release(&s.holder)
	}
}
