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
	user             string     // of our broker that it comes by; "": none
	src              motion.MAC // that its link begins at; zero: unknown
}

// What a node's word is worth where its threshold is not known, or contradicts it: from one half on a reported
// intensity is motion (motion/detect, Reported).
const (
	tripPoint  = 0.5
	surely     = 0.6
	surelyNone = 0.4
)

// intensity returns what a node said as an intensity, 0..1, that is motion from one half on, as the node
// itself sees motion; ok is false when it has said nothing of use.
func (s *saying) intensity() (v float64, ok bool) {
	known := s.score != nil && s.threshold != nil && *s.threshold > 0
	if known {
		v = min(tripPoint**s.score / *s.threshold, 1)
	}
	switch {
	case s.moves == nil:
		return v, known
	case !known && *s.moves:
		return 1, true
	case *s.moves:
		return max(v, surely), true
	}
	return min(v, surelyNone), true
}

// says takes in what a node of another maker has said about motion.
func (d *Door) says(from source, m nodewire.Motion, user string, src motion.MAC) {
	now := d.options.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.sources[from]
	if n == nil {
		if n = d.meet(from, now); n == nil {
			return
		}
	}
	n.heard = now
	n.tally.arrived++
	if n.said == nil {
		n.said = &saying{}
	}
	s := n.said
	s.user, s.src = user, src
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
	} else {
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
		link := motion.LinkMotion{Src: s.src, Dst: n.receiver, MKAI: value, LRaw: math.NaN(), Throughput: math.NaN()}
		if link.Src.IsZero() {
			link.Src, _ = n.hears(motion.MAC{}, d.config.Transmitters)
		}
		d.mu.Unlock()
		if ok {
			d.report(ctx, n, key, motion.LinkMotions{TS: motion.TimeOf(now), Interval: 500, Links: []motion.LinkMotion{link}})
		}
	}
}

// user is an integration user of our broker that is connected.
type user struct {
	at       netip.Addr // of its newest connection
	sessions int
}

// UserConnected notes that an integration user of the broker has connected.
func (d *Door) UserConnected(name string, at netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users[name] = user{at.Unmap(), d.users[name].sessions + 1}
}

// UserGone notes that an integration user has disconnected: what its nodes have said before says nothing of now.
func (d *Door) UserGone(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.users[name]
	if u.sessions--; u.sessions > 0 {
		d.users[name] = u
		return
	}
	delete(d.users, name)
	for _, n := range d.nodes {
		if n.said != nil && n.said.user == name {
			n.said.gone, n.said.moves, n.said.score = true, nil, nil
		}
	}
}

// maxWhere is how long the part of a deviceId is that names a node of a user.
const maxWhere = 40

// UserSaid takes in a message that an integration user has published, if it tells of motion as nodes do.
// Such a node waits until it is let in as any other; what it says is worth more, as its user has a password.
func (d *Door) UserSaid(name, topic string, payload []byte) {
	m, err := nodewire.MQTTMotion(topic, payload)
	if err != nil {
		return
	}
	d.mu.Lock()
	from, connected := d.users[name]
	d.mu.Unlock()
	if !connected {
		return
	}
	where := strings.Trim(plain(name+"-"+m.Node), "-")
	if len(where) > maxWhere {
		where = fmt.Sprintf("%s-%.3x", where[:maxWhere-7], sha256.Sum256([]byte(where)))
	}
	d.says(source{kind: motion.MQTTMotion, address: from.at, where: where}, m, name, motion.MAC{})
}

// keep lets what a silent node has said hold on: one of the broker's, which would tell if it were gone, that
// speaks only when something changes. d.mu is held.
func (d *Door) keep(n *node, now time.Time) {
	s := n.said
	if s == nil || s.user == "" || s.gone || s.score != nil {
		return
	}
	if _, connected := d.users[s.user]; connected {
		n.heard = now
	}
}
