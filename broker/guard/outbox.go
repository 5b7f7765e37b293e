package guard

import (
	"net"
	"sync"
	"time"
)

// writeChunk is how many bytes a client must take within the write timeout.
const writeChunk = 16 << 10

// retainedAhead is how many retained messages the library may have queued for
// one client, well under its own limit.
const retainedAhead = 64

// stallAfter is how long the retained messages of one subscription wait for their client
// before OnStall runs.
const stallAfter = time.Second

// LargeMessage is the payload in bytes over which a message is counted while it
// waits in the library's queue: retainedAhead smaller ones are 1 MiB at most.
const LargeMessage = 16 << 10

// outbox is the write half of a Conn: a bounded queue in memory, and a writer
// that runs only while there is something to write. It also owns the closing.
type outbox struct {
	raw      net.Conn
	cfg      *Config
	counters *counters
	closing  chan struct{} // closed by the first shut
	finished chan struct{} // closed when nothing more will be written

	mu       sync.Mutex
	room     sync.Cond      // signalled when queue or retained shrink, and at the end
	version  byte           // 0 until CONNECT
	queue    []byte         // not yet taken by the writer
	spare    []byte         // the writer's last batch, to be used again
	retained int            // retained messages that the library has queued; -1: it took one before it was counted
	ahead    int            // bytes of large messages that the library has and queue has not; below 0 likewise
	coming   int            // bytes of those that the library is about to write
	batch    int            // bytes that the writer has in hand
	unacked  map[uint16]int // bytes of the messages of QoS 1 under way, by packet id; of a holder of an account
	owed     int            // sum of unacked
	account  *Account       // nil: none
	writing  bool           // a writer runs
	closed   bool
	most     int  // bytes that may be queued
	drop     bool // closed without writing what is queued
	linger   bool
	reason   error     // why the guard closed, nil if the library did
	deadline time.Time // for all that is left, once closed
	onFirst  func()    // runs at the first write

	waited  time.Duration          // for the client, since it had all retained messages last
	onStall func() (resume func()) // nil: nothing
}

func (o *outbox) init(g *Guard, raw net.Conn) {
	o.raw, o.cfg, o.counters, o.most = raw, &g.cfg, &g.counters, g.cfg.MaxPending
	o.closing, o.finished = make(chan struct{}), make(chan struct{})
	o.room.L = &o.mu
}

// speak sets the protocol version of the client.
func (o *outbox) speak(version byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.version = version
}

// hold sets how many bytes may be queued, at least MaxPending.
func (o *outbox) hold(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.most = max(n, o.cfg.MaxPending)
}

// first registers fn to run at the first write.
func (o *outbox) first(fn func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.onFirst = fn
}

// readUntil sets the read deadline, unless the closing has set its own.
func (o *outbox) readUntil(t time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return net.ErrClosed
	}
	return o.raw.SetReadDeadline(t)
}

// Write queues p, or closes the connection when the client has left too much
// unread (ErrSlowReader).
func (o *outbox) Write(p []byte) (int, error) {
	n, err := o.enqueue(p)
	o.settle()
	return n, err
}

func (o *outbox) enqueue(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.onFirst != nil {
		defer o.onFirst()
		o.onFirst = nil
	}
	if o.closed {
		return 0, net.ErrClosed
	}
	n := len(p)
	if n > LargeMessage {
		o.ahead, o.coming = max(o.ahead-o.coming, -o.coming), 0
	}
	if o.version < 5 {
		p = withoutDisconnects(p)
	}
	if len(o.queue)+len(p) > o.most {
		o.cutLocked()
		return 0, ErrSlowReader
	}
	o.queue = append(o.queue, p...)
	o.startLocked()
	return n, nil
}

func (o *outbox) startLocked() {
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

// write writes the queue until it is empty, and closes the socket at the end.
func (o *outbox) write() {
	for {
		batch, latest, closed := o.nextBatch()
		o.settle()
		if len(batch) > 0 {
			o.failed(o.writeOut(batch, latest))
			continue
		}
		if closed {
			o.hangUp()
		}
		return
	}
}

// nextBatch takes what is queued; without any, the writer ends.
func (o *outbox) nextBatch() (batch []byte, latest time.Time, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.batch = 0
	o.room.Broadcast()
	if len(o.queue) == 0 || o.drop {
		o.writing = o.closed // a closed outbox starts no further writer
		return nil, time.Time{}, o.closed
	}
	batch, o.batch = o.queue, len(o.queue)
	o.queue, o.spare = o.spare[:0], batch
	if cap(batch) > keepBuffer {
		o.spare = nil
	}
	return batch, o.deadline, o.closed
}

func (o *outbox) writeOut(batch []byte, latest time.Time) error {
	for len(batch) > 0 {
		chunk := batch[:min(len(batch), writeChunk)]
		deadline := time.Now().Add(o.cfg.WriteTimeout)
		if !latest.IsZero() && latest.Before(deadline) {
			deadline = latest
		}
		if err := o.raw.SetWriteDeadline(deadline); err != nil {
			return err
		}
		if _, err := o.raw.Write(chunk); err != nil {
			return err
		}
		batch = batch[len(chunk):]
	}
	return nil
}

// retain notes one more retained message in the library's queue for this
// client, and waits while there are too many, or too many bytes with them.
func (o *outbox) retain(payload int) {
	o.mu.Lock()
	o.retained++
	o.ahead += large(payload)
	o.mu.Unlock()
	o.settle()
	o.mu.Lock()
	if !o.behind() {
		if !o.busy() {
			o.waited = 0
		}
		o.mu.Unlock()
		return
	}
	start, resume := time.Now(), func() {}
	stalled := o.onStall == nil
	wake := time.AfterFunc(stallAfter-o.waited, func() {
		o.mu.Lock() // or it would be missed
		defer o.mu.Unlock()
		o.room.Broadcast()
	})
	for o.behind() {
		if !stalled && o.waited+time.Since(start) >= stallAfter {
			stalled = true
			o.mu.Unlock()
			resume = o.onStall()
			o.mu.Lock()
			continue
		}
		o.room.Wait()
	}
	wake.Stop()
	o.waited += time.Since(start)
	o.mu.Unlock()
	resume()
}

// behind reports whether retained messages have to wait for the client; o.mu is held.
func (o *outbox) behind() bool {
	return !o.closed && (o.retained > retainedAhead || o.busy() && o.ahead+len(o.queue)+o.batch > o.most/2)
}

// busy reports whether anything is left to wait for.
func (o *outbox) busy() bool { return o.retained > 0 || o.batch+len(o.queue) > 0 }

// taken notes that the library took a message from its queue, perhaps before
// retain has counted it.
func (o *outbox) taken(payload int) {
	o.mu.Lock()
	o.retained = max(o.retained-1, -1)
	o.coming += large(payload)
	o.room.Broadcast()
	o.mu.Unlock()
	o.settle()
}

// large returns the bytes of a message that are counted while the library has it
// queued: of small ones, their number is bound enough.
func large(payload int) int {
	if payload <= LargeMessage {
		return 0
	}
	return payload
}
