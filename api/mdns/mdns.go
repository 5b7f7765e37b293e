// Package mdns lets the box be found on the networks of the house: it answers for
// sensegate.local and <host name>.local, and announces its web server as a service, by
// multicast DNS (RFC 6762) and DNS-based service discovery (RFC 6763).
//
// A name is taken only where a probe finds that nobody answers for it, and sensegate.local has
// sensegate-2.local and so on to go on with. A later conflict has it probed for anew. Names are
// the same on all links. Where another program of this machine answers for a name, it is left
// to that.
//
// The sockets are bound to the multicast groups, not to all addresses: what is sent to port
// 5353 of this machine by unicast stays with avahi, if that runs, and nobody from another
// network gets an answer.
//
// The package must not know HTTP, or anything of the household.
package mdns

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/api/lan"
)

// lookEvery is how often the interfaces and their addresses are looked at.
const lookEvery = 5 * time.Second

// Options say what is announced, and where.
type Options struct {
	Host       string     // the host name of this machine
	Bound      netip.Addr // what the web server is bound to
	Port       uint16     // of plain HTTP
	TLSPort    uint16     // of HTTPS, 0 without
	Interfaces []string   // empty: those of the house (lan.Links)
}

// State is what others find.
type State struct {
	Names      []string // host names that lead to this box, without a final dot, the best first
	Interfaces []string // where they do
	Why        string   // why there is no name; empty when there is one
}

// Responder answers and announces. Run is called once, the other methods concurrently.
type Responder struct {
	options Options
	log     *slog.Logger
	state   atomic.Pointer[State]

	settle  sync.Once
	settled chan struct{}
}

// New returns a responder that does nothing before Run.
func New(o Options, log *slog.Logger) *Responder {
	r := &Responder{options: o, log: log, settled: make(chan struct{})}
	r.state.Store(&State{Why: "it has not begun"})
	return r
}

// Off returns a responder that announces nothing, because of why.
func Off(why string) *Responder {
	r := &Responder{settled: make(chan struct{})}
	r.publish(State{Why: why}, true)
	return r
}

// State returns what others find now.
func (r *Responder) State() State { return *r.state.Load() }

// Holds reports whether a host name in lower case, without a final dot, leads to this box.
func (r *Responder) Holds(name string) bool { return slices.Contains(r.state.Load().Names, name) }

// Settled is closed once it is known which names the box has, or that it has none.
func (r *Responder) Settled() <-chan struct{} { return r.settled }

func (r *Responder) publish(s State, settled bool) {
	r.state.Store(&s)
	if settled {
		r.settle.Do(func() { close(r.settled) })
	}
}

// Run answers and announces until ctx ends; then it tells everybody to forget the names. It
// returns nil: what cannot be announced is logged and told by State.
func (r *Responder) Run(ctx context.Context) error {
	if r.log == nil { // Off
		<-ctx.Done()
		return nil
	}
	why := ""
	for {
		packets := make(chan packet, 64)
		socket, err := open(packets)
		if err == nil {
			r.serve(ctx, socket, packets)
			socket.close()
			return nil
		}
		if err.Error() != why {
			why = err.Error()
			r.log.Warn("the box cannot be found by name", "err", err)
		}
		r.publish(State{Why: why}, true)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
}

// packet is a message that came in.
type packet struct {
	index int // of the interface
	from  netip.AddrPort
	data  []byte
}

// serve lets a core work on a socket, from which packets come, until ctx ends.
func (r *Responder) serve(ctx context.Context, s *socket, packets <-chan packet) {
	c := newCore(r.options, func(d datagram) {
		if err := s.send(d); err != nil {
			r.log.Debug("message of multicast DNS not sent", "interface", d.link.Name, "err", err)
		}
	}, r.log)
	timer, look := time.NewTimer(0), time.NewTicker(lookEvery)
	defer timer.Stop()
	defer look.Stop()
	c.setLinks(time.Now(), r.links(s))
	for {
		next := c.step(time.Now())
		r.publish(stateOf(c), c.settled())
		if !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			c.goodbye()
			return
		case <-timer.C:
		case <-look.C:
			c.setLinks(time.Now(), r.links(s))
		case p := <-packets:
			c.receive(time.Now(), p.index, p.from, p.data)
		}
	}
}

// links returns the links where the web server is reached, with the addresses by which it is,
// and has the socket hear what is said there.
func (r *Responder) links(s *socket) []lan.Link {
	found, err := lan.Links(r.options.Interfaces)
	if err != nil {
		r.log.Debug("interfaces cannot be listed", "err", err)
	}
	var links []lan.Link
	for _, l := range found {
		l.Addresses = slices.DeleteFunc(l.Addresses, func(p netip.Prefix) bool { return !r.options.serves(p.Addr()) })
		if len(l.Addresses) == 0 {
			continue
		}
		if err := s.join(l); err != nil {
			r.log.Debug("interface cannot be listened on", "interface", l.Name, "err", err)
		}
		links = append(links, l)
	}
	s.keep(links)
	return links
}

// serves reports whether the web server is reached by an address.
func (o Options) serves(a netip.Addr) bool {
	bound := o.Bound.Unmap()
	switch {
	case bound == netip.IPv4Unspecified():
		return a.Is4()
	case !bound.IsValid() || bound.IsUnspecified():
		return true
	}
	return bound.WithZone("") == a
}

// stateOf says what others find of a core's names.
func stateOf(c *core) State {
	names, interfaces := c.held()
	s := State{Names: names, Interfaces: interfaces}
	switch {
	case len(names) > 0:
	case len(c.links) == 0:
		s.Why = "no interface leads to a private network (http.mdns_interfaces names others)"
	case !c.settled():
		s.Why = "it asks whether somebody else has the names"
	default:
		s.Why = "others on the network have " + strings.Join(wanted(c), " and ")
	}
	return s
}

func wanted(c *core) []string {
	var names []string
	for _, cl := range c.claims {
		if cl.renamed {
			names = append(names, "each name up to "+cl.base+"-9.local")
			continue
		}
		names = append(names, trimmed(cl.host()))
	}
	return names
}
