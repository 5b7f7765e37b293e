package nodedoor

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// This file is about nodes that decide about motion themselves and tell the result.

// saying is what a node has said last.
type saying struct {
	moves            *bool
	score, threshold *float64
	gone             bool       // it has said, or its broker has, that it is not connected
	user             user       // of a broker that it comes by; zero: none
	topic            string     // below which it publishes there
	src              motion.MAC // that its link begins at; zero: unknown
}

// tripPoint is the intensity from which on a node's own threshold makes it motion, and surely the least of a node
// that says so itself. A node that sees none has 0, which is what the detector knows as quiet: it looks at how much
// an intensity has risen.
const (
	tripPoint = 0.5
	surely    = 0.9
)

// intensity returns what a node said as an intensity, 0..1, above 0 where the node itself sees motion; ok is
// false when it has said nothing of use.
func (s *saying) intensity() (v float64, ok bool) {
	known := s.score != nil && s.threshold != nil && *s.threshold > 0
	if known {
		v = min(tripPoint**s.score / *s.threshold, 1)
	}
	switch {
	case s.moves != nil && *s.moves:
		return max(v, surely), true
	case s.moves != nil || v < tripPoint:
		return 0, known || s.moves != nil
	}
	return v, true
}

// says takes in what a node of another maker has said about motion.
func (d *Door) says(from source, m nodewire.Motion, by user, topic string, src motion.MAC) {
	now := d.options.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.at(from, now)
	if n == nil {
		return
	}
	n.heard = now
	n.tally.arrived++
	if n.said == nil {
		n.said = &saying{}
	}
	s := n.said
	s.user, s.topic, s.src = by, topic, src
	if m.Moves != nil {
		s.moves = m.Moves
	}
	if m.Score != nil {
		s.score = m.Score
	}
	if m.Threshold != nil {
		s.threshold = m.Threshold
	}
	if s.gone = m.Alive != nil && !*m.Alive; s.gone { // what it said before says nothing of now
		s.moves, s.score = nil, nil
	} else if n.key.ID != "" {
		n.tally.used++
	}
}

// repeat reports what the nodes that decide themselves have said last, for as long as it holds: the engine
// wants figures steadily, and such a node may speak only when something changes.
func (d *Door) repeat(ctx context.Context) {
	now := d.options.Now()
	for _, n := range d.list() {
		d.mu.Lock()
		key, s := n.key, n.said
		if key.ID == "" || s == nil || now.Sub(n.heard) >= quietAfter {
			d.mu.Unlock()
			continue
		}
		value, ok := s.intensity()
		link := motion.LinkMotion{Src: s.src, Dst: n.receiver, MKAI: value, LRaw: math.NaN(), Throughput: math.NaN(), Decides: true}
		if link.Src.IsZero() {
			link.Src, _ = n.hears(motion.MAC{}, d.config.Transmitters)
		}
		d.mu.Unlock()
		if ok {
			d.report(ctx, n, key, motion.LinkMotions{TS: motion.TimeOf(now), Interval: 500, Links: []motion.LinkMotion{link}})
		}
	}
}

// user is a connection of an integration user of our broker, by its name and its client id, or that of an uplink to an
// outside broker, by its name.
type user struct {
	name, client string
	outside      bool
}

// UserConnected notes that an integration user of the broker has connected, from an address.
func (d *Door) UserConnected(name, client string, at netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users[user{name: name, client: client}] = at.Unmap()
}

// UserGone notes that a connection of an integration user has ended: what the nodes have said that came by it
// says nothing of now.
func (d *Door) UserGone(name, client string) { d.userGone(user{name: name, client: client}) }

func (d *Door) userGone(gone user) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.users, gone)
	for _, n := range d.nodes {
		if n.said != nil && n.said.user == gone {
			n.said.gone, n.said.moves, n.said.score = true, nil, nil
		}
	}
}

// maxWhere is how long the part of a deviceId is that names a node of a user.
const maxWhere = 40

// UserSaid takes in a message that an integration user has published, at a topic below its prefix, if it tells of
// motion as nodes do. Such a node waits until it is let in as any other; what it says is worth more, as its user has
// a password.
func (d *Door) UserSaid(name, client, prefix, topic string, payload []byte) {
	m, err := nodewire.MQTTMotion(topic, payload)
	if err != nil {
		return
	}
	by := user{name: name, client: client}
	d.mu.Lock()
	from, connected := d.users[by]
	d.mu.Unlock()
	if !connected {
		return
	}
	node := strings.Trim(prefix+"/"+m.Node, "/")
	d.says(source{kind: motion.MQTTMotion, address: from, where: whereOf(name + "-" + m.Node)}, m, by, node, motion.MAC{})
}

// whereOf returns the part of a deviceId that names a node of a broker.
func whereOf(name string) string {
	where := strings.Trim(plain(name), "-")
	if len(where) > maxWhere {
		where = fmt.Sprintf("%s-%.3x", where[:maxWhere-7], sha256.Sum256([]byte(where)))
	}
	return where
}

// keep lets what a silent node has said hold on: one of the broker's, which would tell if it were gone, that
// speaks only when something changes. d.mu is held.
func (d *Door) keep(n *node, now time.Time) {
	s := n.said
	if s == nil || s.user == (user{}) || s.gone || s.score != nil {
		return
	}
	if _, connected := d.users[s.user]; connected {
		n.heard = now
	}
}
