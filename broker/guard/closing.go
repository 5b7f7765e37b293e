package guard

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// lingerTimeout is how long a client that broke a rule gets to read why before
// its socket is closed: closing with unread input would discard the answer.
const lingerTimeout = 250 * time.Millisecond

// Close closes the connection after what is queued has been written.
func (o *outbox) Close() error {
	o.shut(nil, nil)
	return nil
}

// Kick closes the connection for reason and tells an MQTT 5 client the reason
// code. It may be called from any goroutine and does not wait.
func (o *outbox) Kick(code byte, reason error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var answer []byte
	if o.version >= 5 {
		answer = disconnect(code)
	}
	o.shutLocked(reason, answer)
}

// shut begins the closing with an optional last packet.
func (o *outbox) shut(reason error, answer []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shutLocked(reason, answer)
}

func (o *outbox) shutLocked(reason error, answer []byte) {
	if o.closed {
		return
	}
	o.closed, o.reason, o.linger = true, reason, answer != nil
	o.deadline = time.Now().Add(o.cfg.WriteTimeout)
	o.queue = append(o.queue, answer...)
	close(o.closing)
	_ = o.raw.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
	if o.drop {
		_ = o.raw.SetWriteDeadline(time.Unix(1, 0)) // wakes the writer
	}
	o.room.Broadcast()
	o.startLocked()
}

// cut closes the connection of a client that does not read, and forgets what
// waits for it.
func (o *outbox) cut() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cutLocked()
}

func (o *outbox) cutLocked() {
	if !o.closed {
		o.counters.slowReaders.Add(1)
	}
	o.drop = true
	o.queue, o.spare = nil, nil
	o.shutLocked(ErrSlowReader, nil)
}

// cause returns why the guard closed the connection, net.ErrClosed when the
// library did, nil while it is open.
func (o *outbox) cause() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed && o.reason == nil {
		return net.ErrClosed
	}
	return o.reason
}

// failed closes the connection after a write that ended with err.
func (o *outbox) failed(err error) {
	if err == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop = true
	if !o.closed && errors.Is(err, os.ErrDeadlineExceeded) {
		o.counters.slowReaders.Add(1)
		err = ErrSlowReader
	}
	o.shutLocked(err, nil)
}

// hangUp closes the socket, or only our half of it when the client is to read
// first why it is disconnected.
func (o *outbox) hangUp() {
	defer close(o.finished)
	half, ok := o.raw.(interface{ CloseWrite() error })
	if !o.lingers() || !ok || half.CloseWrite() != nil {
		_ = o.raw.Close()
	}
}

// bury waits for the writer's end and closes what hangUp left open. Unread input
// is read before, for a moment: closing a socket over it would discard the answer
// on its way. Nobody else may be reading any more.
func (o *outbox) bury() {
	<-o.finished
	if o.lingers() && o.raw.SetReadDeadline(time.Now().Add(lingerTimeout)) == nil {
		_, _ = io.CopyN(io.Discard, o.raw, int64(o.cfg.MaxPacket))
	}
	_ = o.raw.Close()
	o.mu.Lock()
	account := o.account
	o.mu.Unlock()
	if account != nil {
		account.leave(o)
	}
}

func (o *outbox) lingers() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.linger && !o.drop
}
