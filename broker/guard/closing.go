package guard

import (
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// lingerTimeout is how long a client that broke a rule may read the answer before its socket
// is closed: closing with unread input would discard the answer.
const lingerTimeout = 250 * time.Millisecond

// Close closes the connection after what is queued has been written.
func (s *sender) Close() error {
	s.shut(nil, nil)
	return nil
}

// Kick closes the connection for reason and tells an MQTT 5 client the reason
// code. It may be called from any goroutine and does not wait.
func (s *sender) Kick(code byte, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var answer []byte
	if s.version >= 5 {
		answer = disconnect(code)
	}
	s.shutLocked(reason, answer)
}

// shut begins the closing with an optional last packet.
func (s *sender) shut(reason error, answer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutLocked(reason, answer)
}

func (s *sender) shutLocked(reason error, answer []byte) {
	if s.closed {
		return
	}
	s.closed, s.reason, s.linger = true, reason, answer != nil
	s.deadline = time.Now().Add(s.guard.cfg.WriteTimeout)
	s.queue = append(s.queue, answer...)
	close(s.closing)
	_ = s.raw.SetReadDeadline(time.Unix(1, 0)) // wakes the reader
	if s.drop {
		_ = s.raw.SetWriteDeadline(time.Unix(1, 0)) // wakes the writer
	}
	s.room.Broadcast()
	s.startLocked()
}

// cut closes the connection of a client that does not read, and drops what waits for it.
func (s *sender) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cutLocked()
}

func (s *sender) cutLocked() {
	if !s.closed {
		s.guard.counters.slowReaders.Add(1)
	}
	s.drop = true
	s.queue, s.spare = nil, nil
	s.shutLocked(ErrSlowReader, nil)
}

// cause returns why the guard closed the connection, net.ErrClosed when the
// library did, nil while it is open.
func (s *sender) cause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed && s.reason == nil {
		return net.ErrClosed
	}
	return s.reason
}

// failed closes the connection after a write that ended with err.
func (s *sender) failed(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop = true
	if !s.closed && errors.Is(err, os.ErrDeadlineExceeded) {
		s.guard.counters.slowReaders.Add(1)
		err = ErrSlowReader
	}
	s.shutLocked(err, nil)
}

// hangUp closes the socket, or only its write half while the client may still read why it is
// disconnected.
func (s *sender) hangUp() {
	defer s.unfinished.Done()
	half, ok := s.raw.(interface{ CloseWrite() error })
	if !s.lingers() || !ok || half.CloseWrite() != nil {
		_ = s.raw.Close()
	}
}

// drain waits until the writer has ended and closes what hangUp left open. It reads unread
// input first, for a moment, because closing a socket with unread input would discard the
// answer on its way. Nobody else may read any more.
func (s *sender) drain() {
	s.unfinished.Wait()
	if s.lingers() && s.raw.SetReadDeadline(time.Now().Add(lingerTimeout)) == nil {
		_, _ = io.CopyN(io.Discard, s.raw, int64(s.guard.cfg.MaxPacket))
	}
	_ = s.raw.Close()
	s.mu.Lock()
	budget := s.budget
	s.mu.Unlock()
	if budget != nil {
		budget.leave(s)
	}
}

func (s *sender) lingers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.linger && !s.drop
}
