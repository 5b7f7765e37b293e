package pki

import (
	"crypto/tls"
	"net"
	"runtime"
	"sync"
)

// newSlots returns the semaphore of handshakes: half of the processors compute them.
func newSlots() chan struct{} { return make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// Listener returns a bound listener with TLS 1.2 or later on it, whose connections are
// *tls.Conn. A handshake is made by the first Read or Write, which the caller gives a
// deadline. However many clients begin one, half of the processors serve those that have
// finished theirs; a handshake that waits for its client holds no slot.
func (c *Certificates) Listener(bound net.Listener) net.Listener {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.shown.Load(), nil },
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if s, ok := hello.Conn.(*socket); ok {
				s.acquire()
			}
			return nil, nil
		},
	}
	return tls.NewListener(&listener{Listener: bound, slots: c.slots}, config)
}

// listener accepts sockets that share its slots.
type listener struct {
	net.Listener
	slots chan struct{}
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &socket{Conn: conn, slots: l.slots}, nil
}

// socket is the connection below TLS. It holds a slot from the client's hello until the answer
// to it is written, which is the costly part of a handshake.
type socket struct {
	net.Conn
	slots chan struct{}

	mu     sync.Mutex
	held   bool
	closed bool
}

// NetConn returns the connection below, as that of tls.Conn does.
func (s *socket) NetConn() net.Conn { return s.Conn }

// acquire waits for a slot. Whoever holds one computes, and waits for nothing.
func (s *socket) acquire() {
	s.slots <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		<-s.slots
		return
	}
	s.held = true
}

// release releases the slot, if one is held; after the last call none is acquired any more.
func (s *socket) release(last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || last
	if s.held {
		s.held = false
		<-s.slots
	}
}

// Write releases the slot before the first write after the hello.
func (s *socket) Write(p []byte) (int, error) {
	s.release(false)
	return s.Conn.Write(p)
}

// Close releases the slot if no answer was written.
func (s *socket) Close() error {
	s.release(true)
	return s.Conn.Close()
}
