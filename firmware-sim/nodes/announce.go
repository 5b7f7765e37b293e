package nodes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/ipv4"

	"sensegate/motion"
)

// espectreService is what nodes of ESPectre are found by (RFC 6763).
const espectreService = "_espectre._tcp.local."

// mdnsGroup is where multicast DNS is spoken (RFC 6762).
var mdnsGroup = netip.MustParseAddrPort("224.0.0.251:5353")

// announcement is a node as others find it by multicast DNS.
type announcement struct {
	instance, host string
	address        netip.Addr
	port           uint16
	text           []string
}

// announcement returns how the node is found at an address.
func (n *ESPectre) announcement(address netip.Addr) announcement {
	id := n.DeviceID()
	return announcement{
		instance: n.config.Name + "." + espectreService, host: "espectre-" + id + ".local.", address: address,
		port: uint16(n.listener.Addr().(*net.TCPAddr).Port),
		text: []string{
			"txtvers=1", "protovers=1.0", "device_id=" + id, "name=" + n.config.Name, "frontend=native", "transport=http",
			"path=/espectre/v1", "firmware=3.0.0", "chip=esp32c6", "capabilities=sensing,events,raw_csi",
		},
	}
}

// Announce lets the node be found by multicast DNS on the network of the address that it listens on, or the first
// one of this machine, until ctx ends.
func (n *ESPectre) Announce(ctx context.Context) error {
	bound := n.listener.Addr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	link, address, err := linkOf(bound)
	if err != nil {
		return fmt.Errorf("announce an ESPectre node: %w", err)
	}
	conn, err := net.ListenMulticastUDP("udp4", link, net.UDPAddrFromAddrPort(mdnsGroup))
	if err != nil {
		return fmt.Errorf("announce an ESPectre node: %w", err)
	}
	raw := ipv4.NewPacketConn(conn)
	const here = 255 // RFC 6762 section 11
	if err := errors.Join(raw.SetMulticastLoopback(true), raw.SetMulticastTTL(here)); err != nil {
		return errors.Join(fmt.Errorf("announce an ESPectre node: %w", err), conn.Close())
	}
	return n.announcement(address).serve(ctx, conn)
}

// StationMAC returns the address of the interface that has an IP address, or of the first one that can multicast for
// an unspecified one; a made-up one where there is none.
func StationMAC(address netip.Addr) motion.MAC {
	if link, _, err := linkOf(address); err == nil && len(link.HardwareAddr) == len(motion.MAC{}) {
		return motion.MAC(link.HardwareAddr)
	}
	return motion.MAC{0x02, 'E', 'S', 'P', 0, 1}
}

// linkOf returns the interface of an address, and that address; for an unspecified one, the first interface that
// can multicast and its first IPv4 address.
func linkOf(bound netip.Addr) (*net.Interface, netip.Addr, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, bound, err
	}
	for _, link := range links {
		if link.Flags&net.FlagUp == 0 || link.Flags&net.FlagMulticast == 0 || link.Flags&net.FlagLoopback != 0 {
			continue
		}
		addresses, err := link.Addrs()
		if err != nil { // it has gone meanwhile
			continue
		}
		for _, a := range addresses {
			prefix, err := netip.ParsePrefix(a.String())
			if err == nil && prefix.Addr().Is4() && (bound.IsUnspecified() || prefix.Addr() == bound) {
				return &link, prefix.Addr(), nil
			}
		}
	}
	return nil, bound, fmt.Errorf("no interface with the address %s can multicast", bound)
}

// Times of announcing, in RFC 6762 section 8.3 and 10.
const (
	announceAgain = time.Second
	mdnsTTL       = 120 // s
)

// serve announces, and answers questions, until ctx ends; then it says goodbye.
func (a announcement) serve(ctx context.Context, conn *net.UDPConn) error {
	group := net.UDPAddrFromAddrPort(mdnsGroup)
	multicast := func(ttl uint32) {
		if message, err := a.message(dnsmessage.Header{}, nil, ttl); err == nil {
			_, _ = conn.WriteToUDP(message, group) // nobody may be there
		}
	}
	multicast(mdnsTTL)
	again := time.AfterFunc(announceAgain, func() { multicast(mdnsTTL) })
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	defer stop()
	buffer := make([]byte, 9000)
	for {
		size, from, err := conn.ReadFromUDP(buffer)
		if err != nil {
			again.Stop()
			if ctx.Err() != nil {
				multicast(0)
				err = nil
			}
			return errors.Join(err, conn.Close())
		}
		to := group
		legacy := from.Port != int(mdnsGroup.Port()) // RFC 6762 section 6.7
		if legacy {
			to = from
		}
		if message := a.reply(buffer[:size], legacy); message != nil {
			_, _ = conn.WriteToUDP(message, to)
		}
	}
}

// reply returns the answer to a question about the node, nil for any other message. A legacy one asks as
// programs do that speak usual DNS.
func (a announcement) reply(query []byte, legacy bool) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil || header.Response {
		return nil
	}
	questions, err := parser.AllQuestions()
	about := slices.ContainsFunc(questions, func(q dnsmessage.Question) bool {
		return slices.ContainsFunc([]string{espectreService, a.instance, a.host}, func(name string) bool { return strings.EqualFold(q.Name.String(), name) })
	})
	if err != nil || !about {
		return nil
	}
	if !legacy {
		header.ID, questions = 0, nil
	}
	message, err := a.message(dnsmessage.Header{ID: header.ID}, questions, mdnsTTL)
	if err != nil {
		return nil
	}
	return message
}

// message returns all that there is to say of the node.
func (a announcement) message(header dnsmessage.Header, questions []dnsmessage.Question, ttl uint32) ([]byte, error) {
	const unique = 1 << 15 // this is all there is of a name: RFC 6762 section 10.2
	header.Response, header.Authoritative = true, true
	b := dnsmessage.NewBuilder(nil, header)
	b.EnableCompression()
	errs := []error{b.StartQuestions()}
	for _, q := range questions {
		errs = append(errs, b.Question(q))
	}
	service, err := dnsmessage.NewName(espectreService)
	instance, err2 := dnsmessage.NewName(a.instance)
	host, err3 := dnsmessage.NewName(a.host)
	head := func(name dnsmessage.Name, class dnsmessage.Class) dnsmessage.ResourceHeader {
		return dnsmessage.ResourceHeader{Name: name, Class: class, TTL: ttl}
	}
	only := dnsmessage.ClassINET | unique
	if len(questions) > 0 { // whoever speaks usual DNS does not know the bit
		only = dnsmessage.ClassINET
	}
	errs = append(errs, err, err2, err3, b.StartAnswers(),
		b.PTRResource(head(service, dnsmessage.ClassINET), dnsmessage.PTRResource{PTR: instance}),
		b.SRVResource(head(instance, only), dnsmessage.SRVResource{Port: a.port, Target: host}),
		b.TXTResource(head(instance, only), dnsmessage.TXTResource{TXT: a.text}),
		b.AResource(head(host, only), dnsmessage.AResource{A: a.address.As4()}))
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return b.Finish()
}
