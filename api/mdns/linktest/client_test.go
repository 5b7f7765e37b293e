package linktest

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"sensegate/api/appliance/box"
)

// client asks and hears on the link as anybody may.
type client struct {
	t     *testing.T
	group *net.UDPConn // hears what is multicast over IPv4
	ask4  *net.UDPConn // asks from a port of its own, and gets the answers there
	ask6  *net.UDPConn
}

// client returns a client in the namespace of a member.
func (h *house) client(member string) *client {
	h.t.Helper()
	c := &client{t: h.t}
	var errs [4]error
	h.within(member, func() {
		var link *net.Interface
		if link, errs[0] = net.InterfaceByName("eth0"); errs[0] != nil {
			return
		}
		c.group, errs[1] = net.ListenMulticastUDP("udp4", link, net.UDPAddrFromAddrPort(group4))
		c.ask4, errs[2] = net.ListenUDP("udp4", nil)
		c.ask6, errs[3] = net.ListenUDP("udp6", nil)
		if errors.Join(errs[:]...) == nil {
			for _, ask := range []*net.UDPConn{c.ask4, c.ask6} {
				errs[0] = errors.Join(errs[0], multicastOn(ask, link.Index, ask == c.ask6))
			}
		}
	})
	if err := errors.Join(errs[:]...); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = errors.Join(c.group.Close(), c.ask4.Close(), c.ask6.Close()) }) // the test is over
	return c
}

var (
	group4 = netip.MustParseAddrPort("224.0.0.251:5353")
	group6 = netip.MustParseAddrPort("[ff02::fb]:5353")
)

// multicastOn sends the multicast of a socket out of an interface: the namespace has no route.
func multicastOn(c *net.UDPConn, index int, v6 bool) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		if v6 {
			set = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_IF, index)
			return
		}
		set = unix.SetsockoptIPMreqn(int(fd), unix.IPPROTO_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Ifindex: int32(index)})
	})
	return errors.Join(err, set)
}

// packed returns a message on the wire.
func packed(t *testing.T, m dnsmessage.Message) []byte {
	t.Helper()
	data, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// asked returns the records that answer a question within a moment, from all who answer.
func (c *client) asked(v6 bool, name string, kind dnsmessage.Type) []dnsmessage.Resource {
	c.t.Helper()
	socket, group := c.ask4, group4
	if v6 {
		socket, group = c.ask6, group6
	}
	query := packed(c.t, dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 99},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}},
	})
	if _, err := socket.WriteToUDPAddrPort(query, group); err != nil {
		c.t.Fatal(err)
	}
	var found []dnsmessage.Resource
	for _, m := range c.heard(socket, 300*time.Millisecond) {
		found = append(found, m.Answers...)
	}
	return found
}

// heard returns the messages that come within a time.
func (c *client) heard(socket *net.UDPConn, within time.Duration) []dnsmessage.Message {
	c.t.Helper()
	if err := socket.SetReadDeadline(time.Now().Add(within)); err != nil {
		c.t.Fatal(err)
	}
	var all []dnsmessage.Message
	buffer := make([]byte, 9000)
	for {
		n, _, err := socket.ReadFromUDPAddrPort(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return all
		}
		if err != nil {
			c.t.Fatal(err)
		}
		var m dnsmessage.Message
		if err := m.Unpack(buffer[:n]); err != nil {
			c.t.Errorf("a message that cannot be read: %v", err)
		}
		all = append(all, m)
	}
}

// eventually asks again and again until the addresses of a name are these.
func (c *client) eventually(name string, want ...string) {
	c.t.Helper()
	var got []string
	for end := time.Now().Add(box.Patience); time.Now().Before(end); {
		if got = c.addresses(name); slices.Equal(got, want) {
			return
		}
	}
	c.t.Fatalf("%s has the addresses %q, want %q", name, got, want)
}

// addresses returns the addresses of a name, asked for over both protocols, in order.
func (c *client) addresses(name string) []string {
	c.t.Helper()
	var found []string
	for _, r := range append(c.asked(false, name, dnsmessage.TypeA), c.asked(true, name, dnsmessage.TypeAAAA)...) {
		switch body := r.Body.(type) {
		case *dnsmessage.AResource:
			found = append(found, netip.AddrFrom4(body.A).String())
		case *dnsmessage.AAAAResource:
			found = append(found, netip.AddrFrom16(body.AAAA).String())
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// browsed asks until a service has as many instances, and returns where they are: name and
// port by instance.
func (c *client) browsed(service string, want int) (found map[string]dnsmessage.SRVResource) {
	c.t.Helper()
	for end := time.Now().Add(box.Patience); len(found) != want && time.Now().Before(end); {
		found = c.browse(service)
	}
	return found
}

func (c *client) browse(service string) map[string]dnsmessage.SRVResource {
	c.t.Helper()
	found := map[string]dnsmessage.SRVResource{}
	for _, r := range c.asked(false, service, dnsmessage.TypePTR) {
		pointer, ok := r.Body.(*dnsmessage.PTRResource)
		if !ok {
			continue
		}
		for _, r := range c.asked(true, pointer.PTR.String(), dnsmessage.TypeSRV) {
			if where, ok := r.Body.(*dnsmessage.SRVResource); ok {
				found[strings.TrimSuffix(pointer.PTR.String(), "."+service)] = *where
			}
		}
	}
	return found
}

// answerFor answers each question for a name with an address, as a responder that was there
// before, until the test ends.
func (h *house) answerFor(member, name, address string) {
	h.t.Helper()
	var socket *net.UDPConn
	var err error
	h.within(member, func() {
		var link *net.Interface
		if link, err = net.InterfaceByName("eth0"); err == nil {
			socket, err = net.ListenMulticastUDP("udp4", link, net.UDPAddrFromAddrPort(group4))
		}
	})
	if err != nil {
		h.t.Fatal(err)
	}
	header := dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Class: dnsmessage.ClassINET | 1<<15, TTL: 120}
	answer := packed(h.t, dnsmessage.Message{
		Header:  dnsmessage.Header{Response: true, Authoritative: true},
		Answers: []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()}}},
	})
	ended := make(chan struct{})
	h.t.Cleanup(func() {
		_ = socket.Close() // ends the reader
		<-ended
	})
	go func() {
		defer close(ended)
		buffer := make([]byte, 9000)
		for {
			n, _, err := socket.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || m.Response {
				continue
			}
			if slices.ContainsFunc(m.Questions, func(q dnsmessage.Question) bool { return strings.EqualFold(q.Name.String(), name) }) {
				_, _ = socket.WriteToUDPAddrPort(answer, group4) // the box asks three times
			}
		}
	}()
}
