package mdns

import (
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/time/rate"

	"sensegate/api/lan"
)

const (
	probes        = 3                      // RFC 6762 section 8.1
	probeEvery    = 250 * time.Millisecond // the same
	deferred      = time.Second            // RFC 6762 section 8.2
	announcements = 2                      // RFC 6762 section 8.3
	announceEvery = time.Second            // the same
	againAfter    = time.Second            // a record is not multicast again before (RFC 6762 section 6)
	againToProbe  = 250 * time.Millisecond // when somebody probes for it

	// ownTime is how long a message of ours may come back: from another interface of this
	// machine on the same network, or from loopback of multicast.
	ownTime = 2 * time.Second
	ownMost = 64

	// Beyond these a link's messages are not read, and unicast answers not sent: nobody can
	// use the box to flood another, or the box itself.
	readRate, readBurst       = 200, 400 // a second
	unicastRate, unicastBurst = 10, 20   // a second
)

// datagram is a message that goes out: by multicast when to is not valid.
type datagram struct {
	link lan.Link
	to   netip.AddrPort
	data []byte
}

// core is the responder without sockets and clock: what it is told and what it sends. It
// belongs to one goroutine.
type core struct {
	options Options
	claims  []*claim
	links   []*link // by index
	send    func(datagram)
	sent    []sentMessage // the latest
	random  func(time.Duration) time.Duration
	log     *slog.Logger
}

type sentMessage struct {
	sum [sha256.Size]byte
	at  time.Time
}

// link is a network that names are announced on.
type link struct {
	lan.Link
	phases    map[*claim]*phase
	pending   []answer
	multicast map[string]time.Time // when a record went out last, by its key
	read      *rate.Limiter
	unicast   *rate.Limiter
}

// phase is how far a claim has come on a link: after its probes it is held, after its
// announcements nothing more is due.
type phase struct {
	probed    int
	held      bool
	announced int
	due       time.Time // of the next step; zero: none
}

func newCore(o Options, send func(datagram), log *slog.Logger) *core {
	return &core{options: o, claims: claimsOf(o.Host), send: send, log: log, random: func(below time.Duration) time.Duration { return rand.N(below) }}
}

// setLinks says which links there are now. On a new one all names are probed for; on one with
// other addresses than before they are announced again (RFC 6762 section 8.4).
func (c *core) setLinks(now time.Time, links []lan.Link) {
	before := c.links
	c.links = nil
	for _, l := range links {
		at := slices.IndexFunc(before, func(b *link) bool { return b.Index == l.Index && b.Name == l.Name })
		if at < 0 {
			made := &link{
				Link: l, phases: map[*claim]*phase{}, multicast: map[string]time.Time{},
				read: rate.NewLimiter(readRate, readBurst), unicast: rate.NewLimiter(unicastRate, unicastBurst),
			}
			for _, cl := range c.claims {
				made.phases[cl] = c.beginning(now)
			}
			c.links = append(c.links, made)
			continue
		}
		known := before[at]
		if !known.Equal(l) {
			c.withdraw(known, func(r record) bool {
				address, ok := r.addressOf()
				return ok && !l.Has(address)
			})
			known.Link, known.multicast = l, map[string]time.Time{}
			for _, p := range known.phases {
				if p.held {
					p.announced, p.due = 0, now
				}
			}
		}
		c.links = append(c.links, known)
	}
}

// beginning returns the phase of a claim that is to be probed for soon: not at the same time
// as all others whose power has come back.
func (c *core) beginning(now time.Time) *phase {
	return &phase{due: now.Add(c.random(probeEvery))}
}

// restart has a claim probed for anew on all links.
func (c *core) restart(now time.Time, cl *claim, after time.Duration) {
	for _, l := range c.links {
		l.phases[cl] = &phase{due: now.Add(after + c.random(probeEvery))}
	}
}

// step does what is due and returns when something is due next, zero for never.
func (c *core) step(now time.Time) (next time.Time) {
	sooner := func(at time.Time) {
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	for _, cl := range c.claims {
		if (cl.lost || cl.lent) && !now.Before(cl.retry) {
			cl.lost, cl.lent = false, false
			c.restart(now, cl, 0)
		}
		if cl.lost || cl.lent {
			sooner(cl.retry)
		}
	}
	for _, l := range c.links {
		c.advance(now, l)
		c.answerPending(now, l)
		for _, cl := range c.claims {
			if !cl.lost {
				sooner(l.phases[cl].due)
			}
		}
		for _, a := range l.pending {
			sooner(a.due)
		}
	}
	return next
}

// advance sends the probes and announcements of a link that are due, each in one message.
func (c *core) advance(now time.Time, l *link) {
	var probe, announcement message
	announcement.response = true
	for _, cl := range c.claims {
		p := l.phases[cl]
		if cl.lost || p.due.IsZero() || now.Before(p.due) {
			continue
		}
		if !p.held && p.probed < probes {
			for _, name := range cl.names() {
				probe.questions = append(probe.questions, question{name: name, kind: dnsmessage.TypeALL})
			}
			probe.authority = append(probe.authority, withoutFlush(cl.unique(l.Link, c.options))...)
			p.probed++
			p.due = now.Add(probeEvery)
			continue
		}
		p.held = true
		if !cl.held {
			cl.held = true
			c.log.Info("name on the local network", "name", trimmed(cl.host()), "interface", l.Name)
		}
		announcement.answers = append(append(announcement.answers, cl.unique(l.Link, c.options)...), cl.shared()...)
		p.announced++
		p.due = now.Add(announceEvery)
		if p.announced >= announcements {
			p.due = time.Time{}
		}
	}
	c.multicast(now, l, probe)
	c.multicast(now, l, announcement)
}

// multicast sends a message to everybody on a link, unless it is empty, and notes which
// records it has.
func (c *core) multicast(now time.Time, l *link, m message) {
	if len(m.questions)+len(m.answers) == 0 {
		return
	}
	for _, r := range append(slices.Clone(m.answers), m.additional...) {
		l.multicast[r.key()] = now
	}
	c.transmit(now, datagram{link: l.Link}, m)
}

func (c *core) transmit(now time.Time, d datagram, m message) {
	data, err := m.pack()
	if err != nil { // a host name that DNS does not know
		c.log.Error("message of multicast DNS not sent", "err", err)
		return
	}
	c.sent = append(c.sent, sentMessage{sha256.Sum256(data), now})
	c.sent = c.sent[max(0, len(c.sent)-ownMost):]
	d.data = data
	c.send(d)
}

// isOwn reports whether a message is one that was sent a moment ago.
func (c *core) isOwn(now time.Time, data []byte) bool {
	sum := sha256.Sum256(data)
	return slices.ContainsFunc(c.sent, func(s sentMessage) bool { return s.sum == sum && now.Sub(s.at) < ownTime })
}

// goodbye tells everybody to forget the names (RFC 6762 section 10.1).
func (c *core) goodbye() {
	for _, l := range c.links {
		c.withdraw(l, func(record) bool { return true })
	}
}

// withdraw tells everybody on a link to forget those of our records that are gone. Which kinds
// of services there are in the house is left: others may offer them.
func (c *core) withdraw(l *link, gone func(record) bool) {
	m := message{response: true}
	for _, cl := range c.claims {
		if cl.lost || !l.phases[cl].held {
			continue
		}
		for _, r := range append(cl.unique(l.Link, c.options), cl.shared()...) {
			if r.name != allServices && gone(r) {
				r.ttl, r.flush = 0, false
				m.answers = append(m.answers, r)
			}
		}
	}
	if len(m.answers) > 0 {
		c.transmit(time.Time{}, datagram{link: l.Link}, m)
	}
}

// withoutFlush returns records as they stand in a probe (RFC 6762 section 10.2).
func withoutFlush(records []record) []record {
	for i := range records {
		records[i].flush = false
	}
	return records
}

// has reports whether an address is one of this machine, on any link.
func (c *core) has(address netip.Addr) bool {
	return slices.ContainsFunc(c.links, func(l *link) bool { return l.Has(address) })
}

// held returns the host names that lead to this box, that of the box first, and the
// interfaces where. A name that is probed for anew, after a conflict, is among them.
func (c *core) held() (names, interfaces []string) {
	if len(c.links) == 0 {
		return nil, nil
	}
	for _, cl := range c.claims {
		if cl.held {
			names = append(names, trimmed(cl.host()))
		}
	}
	for _, l := range c.links {
		if slices.ContainsFunc(c.claims, func(cl *claim) bool { return cl.held && l.phases[cl].held }) {
			interfaces = append(interfaces, l.Name)
		}
	}
	return names, interfaces
}

// settled reports whether nothing is being probed for.
func (c *core) settled() bool {
	for _, l := range c.links {
		for _, cl := range c.claims {
			if !cl.lost && !l.phases[cl].held {
				return false
			}
		}
	}
	return true
}
