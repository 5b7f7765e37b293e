package mdns

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sensegate/api/lan"
)

const (
	browseFor    = 2 * time.Second
	maxInstances = 64
	mdnsGroup4   = "224.0.0.251:5353"
)

// Browse asks once on each link who offers a service, such as _espectre._tcp.local., and returns where those are that
// answer within two seconds, by IPv4. It asks from a port of its own, so that the
// answers come here alone (RFC 6762 section 6.7).
func Browse(ctx context.Context, service string, links []lan.Link) (found []netip.AddrPort, err error) {
	name, err := dnsmessage.NewName(service)
	if err != nil {
		return nil, err
	}
	query := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypePTR, Class: dnsmessage.ClassINET}}}
	message, err := query.Pack()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, browseFor)
	defer cancel()
	answers := make(chan []byte)
	asked := 0
	var failed []error
	for _, l := range links {
		for _, own := range l.Addresses {
			if !own.Addr().Is4() {
				continue
			}
			if err := askFrom(ctx, own.Addr(), message, answers); err != nil {
				failed = append(failed, err)
				continue
			}
			asked++
		}
	}
	if asked == 0 {
		return nil, errors.Join(failed...)
	}
	for {
		select {
		case <-ctx.Done():
			return found, nil
		case answer := <-answers:
			found = append(found, instances(answer, service)...)
			if len(found) >= maxInstances {
				return found[:maxInstances], nil
			}
		}
	}
}

// askFrom sends a question out of the interface that has an address, and passes on what comes until ctx ends.
func askFrom(ctx context.Context, own netip.Addr, message []byte, answers chan<- []byte) error {
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.AddrPortFrom(own, 0))) // its address chooses the interface
	if err != nil {
		return err
	}
	deadline, _ := ctx.Deadline()
	if err = conn.SetReadDeadline(deadline); err == nil {
		_, err = conn.WriteToUDPAddrPort(message, netip.MustParseAddrPort(mdnsGroup4))
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	go func() {
		defer stop()
		defer func() { _ = conn.Close() }() // nothing is sent any more
		buffer := make([]byte, 9000)
		for {
			n, _, err := conn.ReadFromUDPAddrPort(buffer)
			if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue // such as that a port is closed there
			}
			select {
			case answers <- append([]byte(nil), buffer[:n]...):
			case <-ctx.Done():
				return
			}
		}
	}()
	return nil
}

// instances returns the addresses of a service that one answer tells all of.
func instances(answer []byte, service string) (found []netip.AddrPort) {
	var m dnsmessage.Message
	if m.Unpack(answer) != nil || !m.Response {
		return nil
	}
	records := append(m.Answers, m.Additionals...)
	each := func(name string, see func(dnsmessage.ResourceBody)) {
		for _, r := range records {
			if strings.EqualFold(r.Header.Name.String(), name) {
				see(r.Body)
			}
		}
	}
	each(service, func(body dnsmessage.ResourceBody) {
		pointer, ok := body.(*dnsmessage.PTRResource)
		if !ok || len(found) >= maxInstances {
			return
		}
		each(pointer.PTR.String(), func(body dnsmessage.ResourceBody) {
			server, ok := body.(*dnsmessage.SRVResource)
			if !ok || server.Port == 0 || len(found) >= maxInstances {
				return
			}
			each(server.Target.String(), func(body dnsmessage.ResourceBody) {
				if a, ok := body.(*dnsmessage.AResource); ok {
					found = append(found, netip.AddrPortFrom(netip.AddrFrom4(a.A), server.Port))
				}
			})
		})
	})
	return found[:min(len(found), maxInstances)]
}
