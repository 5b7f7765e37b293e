package broker

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

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
	live     bool        // Connected has been reported; belongs to the connection's goroutine
	over     atomic.Bool // its user is no more: nothing of it is published any more

	aside *packets.Packet // see OnPacketRead; belongs to the connection's goroutine

	holder // of Server.retainedLock
}

// keeps reports whether a message to a topic that is not the client's own is acknowledged and dropped, instead of
// ending the connection, as MQTT before version 5 has no way to refuse one alone: that of an integration user,
// such as a node that also announces itself to Home Assistant.
func (s *session) keeps() bool { return !s.identity.IsDevice() && s.info.Version < 5 }

// sessions are the authenticated connections by key.
type sessions struct {
	mu    sync.RWMutex
	byKey map[string]*session
	all   map[*session]struct{} // including those that another connection takes over
}

func (s *sessions) add(client *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey == nil {
		s.byKey, s.all = make(map[string]*session), make(map[*session]struct{})
	}
	s.byKey[client.key], s.all[client] = client, struct{}{}
	client.conn.Own(client)
}

func (s *sessions) remove(client *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[client.key] == client {
		delete(s.byKey, client.key)
	}
	delete(s.all, client)
	client.conn.Own((*session)(nil))
}

// sessionOf returns the session of a connection, also while another connection with its key takes
// over.
func sessionOf(conn net.Conn) (*session, bool) {
	c, ok := conn.(*guard.Conn)
	if !ok {
		return nil, false
	}
	client, _ := c.Owner().(*session)
	return client, client != nil
}

func (s *sessions) get(key string) (*session, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	client, ok := s.byKey[key]
	return client, ok
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
	for client := range s.all {
		if match(client.identity) {
			found = append(found, client)
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
