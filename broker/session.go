package broker

import (
	"errors"
	"io"
	"net"
	"sync"

	"sensegate/broker/guard"

	"github.com/mochi-mqtt/server/v2/packets"
)

// session is one authenticated connection.
type session struct {
	key      string // the client id inside the library: unique, and never another identity's
	identity Identity
	clientID string // as sent
	rights   rights
	info     Session
	conn     *guard.Conn
	live     bool // Connected has been reported; belongs to the connection's goroutine

	holder // of Server.retained
}

// sessions are the authenticated connections by key.
type sessions struct {
	mu     sync.RWMutex
	byKey  map[string]*session
	byConn map[net.Conn]*session // also of those that another connection takes over
}

func (s *sessions) add(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil {
		s.byKey, s.byConn = make(map[string]*session), make(map[net.Conn]*session)
	}
	s.byKey[one.key], s.byConn[one.conn] = one, one
}

func (s *sessions) remove(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[one.key] == one {
		delete(s.byKey, one.key)
	}
	delete(s.byConn, one.conn)
}

// of returns the session of a connection, also while another one of its key takes over.
func (s *sessions) of(conn net.Conn) (*session, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	one, ok := s.byConn[conn]
	return one, ok
}

func (s *sessions) get(key string) (*session, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	one, ok := s.byKey[key]
	return one, ok
}

func (s *sessions) len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.byKey)
}

// matching returns the sessions of the identities that match.
func (s *sessions) matching(match func(Identity) bool) []*session {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*session
	for _, one := range s.byKey {
		if match(one.identity) {
			found = append(found, one)
		}
	}
	return found
}

// reasonText says in words why a connection ended.
func reasonText(err error) string {
	var code packets.Code
	switch {
	case err == nil:
		return "disconnected"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection lost"
	case errors.As(err, &code):
		return code.Reason
	}
	text := err.Error()
	return text[:min(len(text), 200)]
}
