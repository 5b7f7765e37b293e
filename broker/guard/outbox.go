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

// outbox is the write half of a Conn: a bounded queue in memory, and a writer
// that runs only while there is something to write. It also owns the closing.
type outbox struct {
	raw      net.Conn
	cfg      *Config
	counters *counters
	closing  chan struct{} // closed by the first shut
	finished chan struct{} // closed when nothing more will be written

	mu       sync.Mutex
	room     sync.Cond // signalled when queue or retained shrink, and at the end
	version  byte      // 0 until CONNECT
	queue    []byte    // not yet taken by the writer
	spare    []byte    // the writer's last batch, to be used again
	retained int       // retained messages that the library has queued
	writing  bool      // a writer runs
	closed   bool
	most     int  // bytes that may be queued
	drop     bool // closed without writing what is queued
	linger   bool
	reason   error     // why the guard closed, nil if the library did
	deadline time.Time // for all that is left, once closed
	onFirst  func()    // runs at the first write
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
	if o.version < 5 {
		p = withoutDisconnects(p)
	}
	if len(o.queue)+len(p) > o.most {
		o.counters.slowReaders.Add(1)
		o.drop = true
		o.shutLocked(ErrSlowReader, nil)
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
	if len(o.queue) == 0 || o.drop {
		o.writing = o.closed // a closed outbox starts no further writer
		return nil, time.Time{}, o.closed
	}
	batch = o.queue
	o.queue, o.spare = o.spare[:0], batch
	if cap(batch) > keepBuffer {
		o.spare = nil
	}
	o.room.Broadcast()
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
// client, and waits while there are too many, or too many bytes behind them.
func (o *outbox) retain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.retained++
	for !o.closed && (o.retained > retainedAhead || len(o.queue) > o.most/2) {
		o.room.Wait()
	}
}

// unretain notes that the library took a message from its queue.
func (o *outbox) unretain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.retained > 0 {
		o.retained--
		o.room.Broadcast()
	}
}
