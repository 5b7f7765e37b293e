package pki

import (
	"crypto/tls"
	"net"
	"runtime"
	"sync"
)

// newTurns returns the turns that handshakes compute in: half of the processors.
func newTurns() chan struct{} { return make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// Listener returns a bound listener with TLS 1.2 or later on it, whose connections
// are *tls.Conn. A handshake is made by the first Read or Write, which the caller
// gives a deadline. However many clients begin one, half of the processors remain
// to those that have: no turn is held while a client is waited for.
func (c *Certificates) Listener(bound net.Listener) net.Listener {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.shown.Load(), nil },
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if s, ok := hello.Conn.(*socket); ok {
				s.take()
			}
			return nil, nil
		},
	}
	return tls.NewListener(&listener{Listener: bound, turns: c.turns}, config)
}

// listener hands out sockets that know of turns.
type listener struct {
	net.Listener
	turns chan struct{}
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &socket{Conn: conn, turns: l.turns}, nil
}

// socket is the connection below TLS. It holds a turn from the client's hello until
// the answer to it is written, which is the costly part of a handshake.
type socket struct {
	net.Conn
	turns chan struct{}

	mu     sync.Mutex
	held   bool
	closed bool
}

// NetConn returns the connection below, as that of tls.Conn does.
func (s *socket) NetConn() net.Conn { return s.Conn }

// take waits for a turn. Whoever has one computes, and waits for nobody.
func (s *socket) take() {
	s.turns <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		<-s.turns
		return
	}
	s.held = true
}

// give ends the turn, if one is held; after the last one none is taken any more.
func (s *socket) give(last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || last
	if s.held {
		s.held = false
		<-s.turns
	}
}

// Write ends the turn, if it is the first one after the hello.
func (s *socket) Write(p []byte) (int, error) {
	s.give(false)
	return s.Conn.Write(p)
}

// Close ends the turn, if no answer was written.
func (s *socket) Close() error {
	s.give(true)
	return s.Conn.Close()
}
