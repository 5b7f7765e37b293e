package guard

import (
	"net"
	"sync"
	"time"
)

// writeChunk is how many bytes a client must take within the write timeout.
const writeChunk = 16 << 10

// retainedAhead is how many retained messages the library may queue for one client, well under
// its own limit.
const retainedAhead = 64

// stallAfter is how long the retained messages of one subscription wait for the client before
// OnStall runs.
const stallAfter = time.Second

// LargeMessage is the payload in bytes over which a message is counted while it
// waits in the library's queue: retainedAhead smaller ones are 1 MiB at most.
const LargeMessage = 16 << 10

// sender is the write half of a Conn: a bounded queue in memory, and a writer that runs only
// while there is something to write. It also owns the closing.
type sender struct {
	raw     net.Conn
	guard   *Guard
	closing chan struct{} // closed by the first shut

	unfinished sync.WaitGroup // 1 until nothing more will be written

	mu       sync.Mutex
	room     sync.Cond      // signalled when queue or retained shrink, and at the end
	queue    []byte         // not yet taken by the writer
	spare    []byte         // the writer's last batch, to be used again
	retained int            // retained messages that the library has queued; -1: it took one before it was counted
	ahead    int            // bytes of large messages that are in the library's queue and not in ours; below 0 likewise
	coming   int            // bytes of those that the library is about to write
	batch    int            // bytes that the writer is writing
	unacked  map[uint16]int // bytes of the messages of QoS 1 under way, by packet id; with a budget
	owed     int            // sum of unacked
	budget   *Budget        // nil: none
	most     int            // bytes that may be queued
	version  byte           // 0 until CONNACK: no DISCONNECT comes before it (MQTT 5, section 3.14)
	writing  bool           // a writer runs
	closed   bool
	drop     bool // closed without writing what is queued
	linger   bool
	reason   error     // why the guard closed, nil if the library did
	deadline time.Time // for all that is left, once closed

	waited  time.Duration          // for the client, since it had all retained messages last
	onStall func() (resume func()) // nil: nothing
}

func (s *sender) init(g *Guard, raw net.Conn) {
	s.raw, s.guard, s.most = raw, g, g.cfg.MaxPending
	s.closing = make(chan struct{})
	s.unfinished.Add(1)
	s.room.L = &s.mu
}

// speak sets the protocol version of the client.
func (s *sender) speak(version byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// hold sets how many bytes may be queued, at least MaxPending.
func (s *sender) hold(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(n, s.guard.cfg.MaxPending)
}

// readUntil sets the read deadline, unless the closing has set its own.
func (s *sender) readUntil(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	return s.raw.SetReadDeadline(t)
}

// Write queues p. When too much is queued already it closes the connection (ErrSlowReader).
func (s *sender) Write(p []byte) (int, error) {
	n, err := s.enqueue(p)
	s.settle()
	return n, err
}

func (s *sender) enqueue(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, net.ErrClosed
	}
	n := len(p)
	if n > LargeMessage {
		s.ahead, s.coming = max(s.ahead-s.coming, -s.coming), 0
	}
	if s.version < 5 {
		p = withoutDisconnects(p)
	}
	if len(s.queue)+len(p) > s.most {
		s.cutLocked()
		return 0, ErrSlowReader
	}
	s.queue = append(s.queue, p...)
	s.startLocked()
	return n, nil
}

func (s *sender) startLocked() {
	if !s.writing {
		s.writing = true
		go s.write()
	}
}

// write writes the queue until it is empty, and closes the socket at the end.
func (s *sender) write() {
	for {
		batch, latest, closed := s.nextBatch()
		s.settle()
		if len(batch) > 0 {
			s.failed(s.writeOut(batch, latest))
			continue
		}
		if closed {
			s.hangUp()
		}
		return
	}
}

// nextBatch takes what is queued. An empty queue ends the writer.
func (s *sender) nextBatch() (batch []byte, latest time.Time, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batch = 0
	s.room.Broadcast()
	if len(s.queue) == 0 || s.drop {
		s.writing = s.closed // a closed sender starts no further writer
		s.queue, s.spare = unlessLarge(s.queue), unlessLarge(s.spare)
		return nil, time.Time{}, s.closed
	}
	batch, s.batch = s.queue, len(s.queue)
	s.queue, s.spare = s.spare[:0], batch
	if cap(batch) > keepBuffer {
		s.spare = nil
	}
	return batch, s.deadline, s.closed
}

// unlessLarge returns a buffer that an idle connection keeps, or nil.
func unlessLarge(buffer []byte) []byte {
	if cap(buffer) > idleBuffer {
		return nil
	}
	return buffer
}

func (s *sender) writeOut(batch []byte, latest time.Time) error {
	for len(batch) > 0 {
		chunk := batch[:min(len(batch), writeChunk)]
		deadline := time.Now().Add(s.guard.cfg.WriteTimeout)
		if !latest.IsZero() && latest.Before(deadline) {
			deadline = latest
		}
		if err := s.raw.SetWriteDeadline(deadline); err != nil {
			return err
		}
		if _, err := s.raw.Write(chunk); err != nil {
			return err
		}
		batch = batch[len(chunk):]
	}
	return nil
}

// retain notes one more retained message in the library's queue for this
// client, and waits while there are too many, or too many bytes with them.
func (s *sender) retain(payload int) {
	s.mu.Lock()
	s.retained++
	s.ahead += large(payload)
	s.mu.Unlock()
	s.settle()
	s.mu.Lock()
	if !s.behind() {
		if !s.busy() {
			s.waited = 0
		}
		s.mu.Unlock()
		return
	}
	start, resume := time.Now(), func() {}
	stalled := s.onStall == nil
	wake := time.AfterFunc(stallAfter-s.waited, func() {
		s.mu.Lock() // or it would be missed
		defer s.mu.Unlock()
		s.room.Broadcast()
	})
	for s.behind() {
		if !stalled && s.waited+time.Since(start) >= stallAfter {
			stalled = true
			s.mu.Unlock()
			resume = s.onStall()
			s.mu.Lock()
			continue
		}
		s.room.Wait()
	}
	wake.Stop()
	s.waited += time.Since(start)
	s.mu.Unlock()
	resume()
}

// behind reports whether retained messages have to wait for the client; s.mu is held.
func (s *sender) behind() bool {
	return !s.closed && (s.retained > retainedAhead || s.busy() && s.ahead+len(s.queue)+s.batch > s.most/2)
}

// busy reports whether anything is left to wait for.
func (s *sender) busy() bool { return s.retained > 0 || s.batch+len(s.queue) > 0 }

// taken notes that the library took a message from its queue, perhaps before
// retain has counted it.
func (s *sender) taken(payload int) {
	s.mu.Lock()
	s.retained = max(s.retained-1, -1)
	s.coming += large(payload)
	s.room.Broadcast()
	s.mu.Unlock()
	s.settle()
}

// large returns how many bytes of a message count while the library queues it: none of a small
// one, whose number is bounded.
func large(payload int) int {
	if payload <= LargeMessage {
		return 0
	}
	return payload
}
