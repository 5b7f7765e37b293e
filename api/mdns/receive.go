package mdns

import (
	"net/netip"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// port is that of multicast DNS (RFC 6762 section 2).
const port = 5353

const (
	// A shared record is answered after a while, so that answers of several do not collide
	// (RFC 6762 section 6), and known answers that follow are waited for (section 7.2).
	leastDelay, mostDelay   = 20 * time.Millisecond, 120 * time.Millisecond
	leastToCome, mostToCome = 400 * time.Millisecond, 500 * time.Millisecond
	// legacyTTL is the longest that an asker outside multicast DNS may keep an answer
	// (RFC 6762 section 6.7), seconds.
	legacyTTL = 10
	// maxPending bounds the answers of a link that wait.
	maxPending = 32
)

// answer waits for its moment.
type answer struct {
	due     time.Time
	from    netip.AddrPort // who asked
	probed  bool           // they probe for one of the names
	records []record
}

// receive takes a message that came on a link. Only who is on the link itself is heard
// (RFC 6762 section 11).
func (c *core) receive(now time.Time, index int, from netip.AddrPort, data []byte) {
	at := slices.IndexFunc(c.links, func(l *link) bool { return l.Index == index })
	if at < 0 || !c.links[at].Reaches(from.Addr()) || !c.links[at].read.AllowN(now, 1) || c.isOwn(now, data) {
		return
	}
	m, err := parse(data)
	if err != nil {
		return
	}
	l := c.links[at]
	if !m.response {
		c.contend(now, l, from, m.authority)
		c.answer(now, l, from, m)
		return
	}
	if from.Port() != port {
		return
	}
	for _, r := range append(m.answers, m.additional...) {
		c.compare(now, l, from, r)
	}
}

// compare holds a record of somebody else against our names (RFC 6762 sections 8.1 and 9).
func (c *core) compare(now time.Time, l *link, from netip.AddrPort, r record) {
	for _, cl := range c.claims {
		if cl.lost || !cl.owns(r.name) || r.ttl == 0 || r.kind == typeNSEC || c.lend(now, l, cl, from, r) {
			continue
		}
		p := l.phases[cl]
		switch {
		case c.isOurs(cl, r): // repeated by a router that carries multicast DNS between networks
		case !p.held:
			if by := from.Addr().String(); cl.isNews("taken", r.name, by) {
				c.log.Warn("name on the local network is taken", "name", trimmed(r.name), "by", by, "interface", l.Name)
			}
			cl.lose(now)
			c.restart(now, cl, cl.delay(now))
		case r.kind == dnsmessage.TypeA || r.kind == dnsmessage.TypeAAAA || r.kind == dnsmessage.TypeSRV || r.kind == dnsmessage.TypeTXT:
			if cl.lent && r.name == cl.host() {
				continue // it is not for us to defend
			}
			c.restart(now, cl, cl.delay(now))
		}
	}
}

// isOurs reports whether a record is one of ours, on whichever link.
func (c *core) isOurs(cl *claim, r record) bool {
	return slices.ContainsFunc(c.links, func(l *link) bool { return contains(cl.unique(l.Link, c.options), r) })
}

// lend leaves a host name to another program of this machine, such as avahi, that tells its
// addresses, and reports whether it did. Both telling them would do no harm, but the other one
// would see a conflict when it starts.
func (c *core) lend(now time.Time, l *link, cl *claim, from netip.AddrPort, r record) bool {
	address, ok := r.addressOf()
	if !ok || r.name != cl.host() || !c.has(address) || !c.has(from.Addr()) {
		return false
	}
	if !cl.lent {
		cl.lent, cl.retry = true, now.Add(restTime)
		if cl.isNews("lent", r.name) {
			c.log.Info("name on the local network is told by another program of this machine", "name", trimmed(r.name), "interface", l.Name)
		}
	}
	return true
}

// contend decides about names that two probe for at the same time: who has the records that
// come later in order keeps the name (RFC 6762 section 8.2).
func (c *core) contend(now time.Time, l *link, from netip.AddrPort, proposed []record) {
	for _, cl := range c.claims {
		if cl.lost {
			continue
		}
		lent := false
		for _, r := range proposed {
			lent = c.lend(now, l, cl, from, r) || lent
		}
		if lent || l.phases[cl].held || l.phases[cl].probed == 0 {
			continue
		}
		for _, name := range cl.names() {
			theirs, ours := named(proposed, name), named(cl.unique(l.Link, c.options), name)
			if !slices.ContainsFunc(theirs, func(r record) bool { return !c.isOurs(cl, r) }) {
				continue // nobody's, the same, or ours, repeated by a router
			}
			if slices.CompareFunc(ours, theirs, record.compare) < 0 {
				c.restart(now, cl, deferred)
				break
			}
		}
	}
}

// named returns the records of a name, in order.
func named(records []record, name string) []record {
	var found []record
	for _, r := range records {
		if r.name == name {
			found = append(found, r)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].compare(found[j]) < 0 })
	return found
}

// answer answers a query, now or after a while.
func (c *core) answer(now time.Time, l *link, from netip.AddrPort, m message) {
	if len(m.questions) == 0 { // known answers that were to come
		l.forget(from, m.answers)
		return
	}
	var multicast, unicast []record
	shared := false
	for _, q := range m.questions {
		for _, r := range c.find(l, q) {
			if known := slices.IndexFunc(m.answers, r.same); known >= 0 && m.answers[known].ttl >= r.ttl/2 {
				continue // RFC 6762 section 7.1
			}
			recent := now.Sub(l.multicast[r.key()]) < time.Duration(r.ttl)*time.Second/4
			switch {
			case from.Port() != port || q.unicast && recent:
				unicast = appendNew(unicast, r)
			default:
				multicast = appendNew(multicast, r)
				shared = shared || !r.flush
			}
		}
	}
	if len(unicast) > 0 {
		c.unicast(now, l, from, m, unicast)
	}
	if len(multicast) == 0 || len(l.pending) >= maxPending {
		return
	}
	a := answer{due: now, from: from, probed: len(m.authority) > 0, records: multicast}
	switch {
	case m.truncated:
		a.due = now.Add(leastToCome + c.random(mostToCome-leastToCome))
	case shared && !a.probed:
		a.due = now.Add(leastDelay + c.random(mostDelay-leastDelay))
	}
	l.pending = append(l.pending, a)
}

// forget drops answers that somebody knows.
func (l *link) forget(from netip.AddrPort, known []record) {
	for i, a := range l.pending {
		if a.from == from {
			l.pending[i].records = slices.DeleteFunc(a.records, func(r record) bool {
				at := slices.IndexFunc(known, r.same)
				return at >= 0 && known[at].ttl >= r.ttl/2
			})
		}
	}
}

// find returns our records that answer a question on a link.
func (c *core) find(l *link, q question) []record {
	var found []record
	for _, cl := range c.claims {
		if cl.lost || !l.phases[cl].held {
			continue
		}
		for _, r := range cl.shared() {
			if r.name == q.name && (q.kind == r.kind || q.kind == dnsmessage.TypeALL) {
				found = appendNew(found, r)
			}
		}
		if !cl.owns(q.name) || cl.lent && q.name == cl.host() {
			continue
		}
		has := cl.unique(l.Link, c.options)
		exists := false
		for _, r := range has {
			if r.name == q.name && (q.kind == r.kind || q.kind == dnsmessage.TypeALL) {
				found, exists = appendNew(found, r), true
			}
		}
		if !exists {
			found = appendNew(found, noOther(q.name, has))
		}
	}
	return found
}

// unicast answers one who asks for that, or who knows nothing of multicast DNS: then with
// their id and question, and without the flush bit (RFC 6762 section 6.7).
func (c *core) unicast(now time.Time, l *link, from netip.AddrPort, asked message, records []record) {
	if !l.unicast.AllowN(now, 1) {
		return
	}
	m := message{response: true, answers: records}
	if from.Port() != port {
		m.id, m.questions = asked.id, asked.questions
		for i := range records {
			records[i].flush, records[i].ttl = false, min(records[i].ttl, legacyTTL)
		}
	}
	c.transmit(now, datagram{link: l.Link, to: from}, m)
}

// answerPending multicasts the answers of a link that are due, in one message, with what the
// asker will want to know next.
func (c *core) answerPending(now time.Time, l *link) {
	m := message{response: true}
	var later []answer
	for _, a := range l.pending {
		if now.Before(a.due) {
			later = append(later, a)
			continue
		}
		again := againAfter
		if a.probed {
			again = againToProbe
		}
		for _, r := range a.records {
			if now.Sub(l.multicast[r.key()]) >= again {
				m.answers = appendNew(m.answers, r)
			}
		}
	}
	l.pending = later
	for _, r := range c.related(l, m.answers) {
		if !contains(m.answers, r) && now.Sub(l.multicast[r.key()]) >= againAfter {
			m.additional = append(m.additional, r)
		}
	}
	c.multicast(now, l, m)
}

// related returns the records that belong to answers: those of a service to what leads to it,
// and all addresses to one of them (RFC 6763 section 12, RFC 6762 section 6.2).
func (c *core) related(l *link, answers []record) []record {
	var more []record
	for _, cl := range c.claims {
		if cl.lost || !l.phases[cl].held {
			continue
		}
		for _, r := range cl.unique(l.Link, c.options) {
			belongs := func(to record) bool {
				switch to.kind {
				case dnsmessage.TypePTR:
					return string(to.data) == string(wireName(r.name)) || r.name == cl.host() && slices.Contains(cl.services(), to.name)
				case dnsmessage.TypeSRV:
					return r.name == cl.host() && cl.owns(to.name)
				case dnsmessage.TypeA, dnsmessage.TypeAAAA:
					return r.name == to.name
				}
				return false
			}
			if slices.ContainsFunc(answers, belongs) {
				more = appendNew(more, r)
			}
		}
	}
	sort.SliceStable(more, func(i, j int) bool { return more[i].name < more[j].name })
	return more
}

func appendNew(records []record, r record) []record {
	if contains(records, r) {
		return records
	}
	return append(records, r)
}

// trimmed returns a name as people write it.
func trimmed(name string) string { return strings.TrimSuffix(name, ".") }
