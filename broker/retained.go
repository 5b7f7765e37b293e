package broker

import (
	"fmt"
	"sync"
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// retainedLock is a lock that the library lacks: a SUBSCRIBE with a wildcard reads the
// retained messages while a publish changes them. A subscription holds it for reading, a
// retained publish for writing, from the hook before the library's work to the one after it.
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

// What the retained messages of integration users may take, in bytes with what each takes
// beside its payload. They are made for a machine with 64 MB: the process takes 25 MB, and its
// heap may double before the collector runs. The retained messages of one user and what waits
// for its connections (maxWaiting) are 28 MB then, and fit. There is room for 2,000 messages
// of 2 KiB, such as Home Assistant's discovery makes of 200 devices.
const (
	maxRetained     = 8 << 20 // of all users
	maxRetainedUser = 6 << 20
	retainedCost    = 1 << 10 // of one, beside its payload and topic
)

// noRoom is the reason for which a message is not retained.
var noRoom = fmt.Sprintf("no room to retain more: %d MiB are for one user, %d MiB for all", maxRetainedUser>>20, maxRetained>>20)

// kept is one retained message of an integration user.
type kept struct {
	user string
	size int
}

// retainedRoom counts the retained messages of integration users.
type retainedRoom struct {
	mu     sync.Mutex
	topics map[string]kept
	users  map[string]int // bytes
	sum    int
}

// keep reports whether there is room for a message of a user, and counts it instead of the
// topic's earlier one. An empty payload, and one no larger than the earlier one of the same
// user, always fit.
func (r *retainedRoom) keep(user string, pk packets.Packet) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(pk.Payload) == 0 {
		r.dropLocked(pk.TopicName)
		return true
	}
	size := sizeOf(pk)
	before := r.topics[pk.TopicName]
	own := r.users[user]
	if before.user == user {
		own -= before.size
	}
	if (before.user != user || size > before.size) && (own+size > maxRetainedUser || r.sum-before.size+size > maxRetained) {
		return false
	}
	r.dropLocked(pk.TopicName)
	if r.topics == nil {
		r.topics, r.users = make(map[string]kept), make(map[string]int)
	}
	r.topics[pk.TopicName] = kept{user, size}
	r.users[user] += size
	r.sum += size
	return true
}

// sizeOf returns how many bytes a retained message takes.
func sizeOf(pk packets.Packet) int {
	p := &pk.Properties
	size := retainedCost + len(pk.TopicName) + len(pk.Payload) + len(p.CorrelationData) + len(p.ContentType) + len(p.ResponseTopic)
	for _, property := range p.User {
		size += len(property.Key) + len(property.Val)
	}
	return size
}

// drop forgets a topic's message.
func (r *retainedRoom) drop(topic string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropLocked(topic)
}

// dropUser forgets the messages of a user, and returns their topics.
func (r *retainedRoom) dropUser(user string) (topics []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for topic, message := range r.topics {
		if message.user == user {
			topics = append(topics, topic)
		}
	}
	for _, topic := range topics {
		r.dropLocked(topic)
	}
	return topics
}

func (r *retainedRoom) dropLocked(topic string) {
	message, ok := r.topics[topic]
	if !ok {
		return
	}
	delete(r.topics, topic)
	r.sum -= message.size
	if r.users[message.user] -= message.size; r.users[message.user] == 0 {
		delete(r.users, message.user)
	}
}

// retain counts a message that is to be retained, and holds the lock for writing until the
// message has been processed. Without room it reports a refusal and returns false; so it does for a user
// who was removed while it waited.
func (h *hook) retain(s *session, pk packets.Packet) bool {
	h.retainedLock.acquire(&s.holder, writing)
	if s.over.Load() {
		return false
	}
	return h.retained.keep(s.identity.User, pk) || h.refusedBy(s, ActPublish, noRoom)
}

// outdated removes the retained message of a topic whose newer message has no room.
func (h *hook) outdated(topic string) {
	h.retained.drop(topic)
	h.mqtt.Topics.RetainMessage(packets.Packet{TopicName: topic})
}

// OnRetainedExpired stops counting a message that has expired.
func (h *hook) OnRetainedExpired(topic string) { h.retained.drop(topic) }

// OnPacketProcessed ends the hold that OnSubscribe or OnPublish began.
func (h *hook) OnPacketProcessed(cl *mqtt.Client, _ packets.Packet, _ error) {
	if s, ok := sessionOf(cl.Net.Conn); ok {
		h.retainedLock.release(&s.holder)
		s.restore(cl)
	}
}
