package mdns

import (
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sensegate/api/lan"
)

// network is a simulated link with a clock of its own. Messages arrive at once, at everybody,
// at their sender too.
type network struct {
	t     *testing.T
	now   time.Time
	boxes []*member
	heard []heard // every message that went out, of boxes and others
	seed  uint64
}

// member is a box on a network.
type member struct {
	*core
	address netip.AddrPort // that it sends from
	next    time.Time
	off     bool
}

type heard struct {
	at   time.Time
	from netip.AddrPort
	to   netip.AddrPort // not valid: multicast
	message
	data []byte
}

func newNetwork(t *testing.T) *network {
	return &network{t: t, now: time.Date(2026, time.November, 1, 12, 0, 0, 0, time.UTC), seed: 1}
}

func linkAt(index int, addresses ...string) lan.Link {
	l := lan.Link{Index: index, Name: "eth0"}
	for _, a := range addresses {
		l.Addresses = append(l.Addresses, netip.MustParsePrefix(a))
	}
	return l
}

// join connects a box; its first address is what it sends from.
func (n *network) join(host string, addresses ...string) *member {
	n.seed++
	random := rand.New(rand.NewPCG(n.seed, 0))
	from := netip.AddrPortFrom(netip.MustParsePrefix(addresses[0]).Addr(), port)
	m := &member{address: from}
	m.core = newCore(Options{Host: host, Port: 8080, TLSPort: 8443}, func(d datagram) { n.deliver(from, d.to, d.data) }, slog.New(slog.DiscardHandler))
	m.random = func(below time.Duration) time.Duration { return time.Duration(random.Int64N(int64(below))) }
	m.setLinks(n.now, []lan.Link{linkAt(1, addresses...)})
	m.next = n.now
	n.boxes = append(n.boxes, m)
	return m
}

func (n *network) deliver(from, to netip.AddrPort, data []byte) {
	m, err := parse(data)
	if err != nil {
		n.t.Errorf("%s sent what cannot be read: %v", from, err)
	}
	n.heard = append(n.heard, heard{n.now, from, to, m, data})
	for _, box := range n.boxes {
		if !box.off && (!to.IsValid() || to.Addr() == box.address.Addr()) {
			box.receive(n.now, 1, from, data)
			box.next = n.now
		}
	}
}

// run lets time pass. A box whose message wakes another is stepped until nothing is due.
func (n *network) run(duration time.Duration) {
	end := n.now.Add(duration)
	for {
		var first *member
		for _, box := range n.boxes {
			if !box.off && !box.next.IsZero() && (first == nil || box.next.Before(first.next)) {
				first = box
			}
		}
		if first == nil || first.next.After(end) {
			n.now = end
			return
		}
		n.now = first.next
		first.next = time.Time{}
		if next := first.step(n.now); first.next.IsZero() || next.Before(first.next) {
			first.next = next
		}
	}
}

// say sends a message from somebody who is no box.
func (n *network) say(from string, m message) {
	n.t.Helper()
	data, err := m.pack()
	if err != nil {
		n.t.Fatal(err)
	}
	n.deliver(netip.MustParseAddrPort(from), netip.AddrPort{}, data)
}

// dispute lets time pass in which somebody answers each probe for a name, or for any when it
// is empty.
func (n *network) dispute(name string, duration time.Duration) {
	for end := n.now.Add(duration); n.now.Before(end); {
		before := len(n.heard)
		n.run(50 * time.Millisecond)
		for _, m := range slices.Clone(n.heard[before:]) {
			rival := message{response: true}
			for _, q := range m.questions {
				if !m.response && (name == "" || q.name == name) {
					rival.answers = append(rival.answers, addressRecord(q.name, netip.MustParseAddr("192.168.1.66")))
				}
			}
			if len(rival.answers) > 0 {
				n.say("192.168.1.66:5353", rival)
			}
		}
	}
}

// since returns what boxes sent from the nth message on.
func (n *network) since(nth int) []heard {
	n.run(time.Second)
	return slices.DeleteFunc(slices.Clone(n.heard[nth:]), func(h heard) bool {
		return !slices.ContainsFunc(n.boxes, func(m *member) bool { return m.address == h.from })
	})
}

// ask asks from an address and returns the answers that come within a second.
func (n *network) ask(from string, questions ...question) []heard {
	n.t.Helper()
	before := len(n.heard)
	n.say(from, message{questions: questions})
	return n.since(before)
}

func (n *network) names(m *member) []string {
	names, _ := m.held()
	return names
}

func (n *network) wantNames(m *member, want ...string) {
	n.t.Helper()
	if got := n.names(m); !slices.Equal(got, want) {
		n.t.Errorf("%s has the names %q, want %q", m.address, got, want)
	}
}

func ask(name string, kind dnsmessage.Type) question { return question{name: name, kind: kind} }

// told returns the records of a type in answers and additional records of messages.
func told(messages []heard, kind dnsmessage.Type) []record {
	var found []record
	for _, m := range messages {
		for _, r := range append(slices.Clone(m.answers), m.additional...) {
			if r.kind == kind {
				found = append(found, r)
			}
		}
	}
	return found
}
