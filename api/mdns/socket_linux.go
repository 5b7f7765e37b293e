package mdns

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sensegate/api/lan"
)

// The multicast groups (RFC 6762 section 3).
var (
	group4 = netip.AddrFrom4([4]byte{224, 0, 0, 251})
	group6 = netip.MustParseAddr("ff02::fb")
)

// maxPacket is the largest message (RFC 6762 section 17).
const maxPacket = 9000

// socket is one of IPv4 for all links, and one of IPv6 for each: Linux binds to a group of
// IPv6 on an interface only. It belongs to one goroutine; its readers are others.
type socket struct {
	v4      *net.UDPConn
	v6      map[int]*net.UDPConn // by the index of the interface
	to      chan<- packet
	stopped chan struct{}
	readers sync.WaitGroup
}

// open binds the sockets, which hand over what comes in. Port and groups may be in use by
// others who let them be shared.
func open(to chan<- packet) (*socket, error) {
	v4, err := bind(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: group4.As4()}, options4)
	if err != nil {
		return nil, fmt.Errorf("udp port %d: %w", port, err)
	}
	s := &socket{v4: v4, v6: map[int]*net.UDPConn{}, to: to, stopped: make(chan struct{})}
	s.readers.Go(func() { s.read(v4) })
	return s, nil
}

type option struct{ level, name, value int }

// Our own messages come back to us, because other programs of this machine have to get them.
// Only what comes on the joined interfaces is heard.
var (
	options4 = []option{
		{unix.IPPROTO_IP, unix.IP_PKTINFO, 1}, {unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0}, {unix.IPPROTO_IP, unix.IP_MULTICAST_LOOP, 1},
		{unix.IPPROTO_IP, unix.IP_MULTICAST_TTL, 255}, {unix.IPPROTO_IP, unix.IP_TTL, 255},
	}
	options6 = []option{
		{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1}, {unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1}, {unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, 255}, {unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, 255},
	}
)

// bind returns a socket bound to a group itself: package net would bind it to all addresses.
func bind(family int, group unix.Sockaddr, options []option) (*net.UDPConn, error) {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	file := os.NewFile(uintptr(fd), "multicast DNS")
	defer func() { _ = file.Close() }() // what is returned is a copy
	shared := []option{{unix.SOL_SOCKET, unix.SO_REUSEADDR, 1}, {unix.SOL_SOCKET, unix.SO_REUSEPORT, 1}}
	for _, o := range append(shared, options...) {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return nil, os.NewSyscallError("setsockopt", err)
		}
	}
	if err := unix.Bind(fd, group); err != nil {
		return nil, os.NewSyscallError("bind", err)
	}
	connection, err := net.FilePacketConn(file)
	if err != nil {
		return nil, err
	}
	return connection.(*net.UDPConn), nil
}

// close ends the readers too.
func (s *socket) close() {
	close(s.stopped)
	s.keep(nil)
	_ = s.v4.Close() // nothing waits in it
	s.readers.Wait()
}

// keep closes what belongs to other links than these.
func (s *socket) keep(links []lan.Link) {
	for index, c := range s.v6 {
		if !slices.ContainsFunc(links, func(l lan.Link) bool { return l.Index == index }) {
			_ = c.Close() // the same
			delete(s.v6, index)
		}
	}
}

// join has the sockets hear what is said on a link; they may do so already. An error is that
// of one protocol: the other may work.
func (s *socket) join(l lan.Link) error {
	err := control(s.v4, func(fd int) error {
		err := unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: group4.As4(), Ifindex: int32(l.Index)})
		if errors.Is(err, unix.EADDRINUSE) {
			return nil // it has joined
		}
		return os.NewSyscallError("join group of IPv4", err)
	})
	if s.v6[l.Index] != nil || !slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr().Is6() }) {
		return err
	}
	v6, err6 := bind(unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: group6.As16(), ZoneId: uint32(l.Index)}, options6)
	if err6 != nil {
		return errors.Join(err, err6)
	}
	err6 = control(v6, func(fd int) error {
		return unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, &unix.IPv6Mreq{Multiaddr: group6.As16(), Interface: uint32(l.Index)})
	})
	if err6 != nil {
		return errors.Join(err, os.NewSyscallError("join group of IPv6", err6), v6.Close())
	}
	s.v6[l.Index] = v6
	s.readers.Go(func() { s.read(v6) })
	return err
}

// control calls f with the file descriptor of a socket.
func control(c *net.UDPConn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = f(int(fd)) })
	return errors.Join(err, failed)
}

// send sends a message: by multicast over both protocols that the link has.
func (s *socket) send(d datagram) error {
	if d.to.IsValid() {
		to := netip.AddrPortFrom(d.to.Addr().Unmap(), d.to.Port())
		if to.Addr().Is4() {
			return s.send4(d, to)
		}
		return s.send6(d, to)
	}
	var errs []error
	if slices.ContainsFunc(d.link.Addresses, func(p netip.Prefix) bool { return p.Addr().Is4() }) {
		errs = append(errs, s.send4(d, netip.AddrPortFrom(group4, port)))
	}
	return errors.Join(append(errs, s.send6(d, netip.AddrPortFrom(group6, port)))...)
}

func (s *socket) send4(d datagram, to netip.AddrPort) error {
	_, _, err := s.v4.WriteMsgUDPAddrPort(d.data, unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: int32(d.link.Index)}), to)
	return err
}

// send6 does nothing on a link without IPv6.
func (s *socket) send6(d datagram, to netip.AddrPort) error {
	c := s.v6[d.link.Index]
	if c == nil {
		return nil
	}
	_, err := c.WriteToUDPAddrPort(d.data, to)
	return err
}

// read hands over what comes in, until the socket is closed.
func (s *socket) read(c *net.UDPConn) {
	buffer, control := make([]byte, maxPacket), make([]byte, 256)
	for {
		n, n2, _, from, err := c.ReadMsgUDPAddrPort(buffer, control)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the kernel has no memory left, or the link has gone
			select {
			case <-time.After(time.Second):
				continue
			case <-s.stopped:
				return
			}
		}
		select {
		case s.to <- packet{indexOf(control[:n2]), from, append([]byte(nil), buffer[:n]...)}:
		case <-s.stopped:
			return
		}
	}
}

// indexOf returns the interface that a message came on, 0 when it is not told.
func indexOf(control []byte) int {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= unix.SizeofInet4Pktinfo:
			return int((*unix.Inet4Pktinfo)(unsafe.Pointer(&m.Data[0])).Ifindex)
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= unix.SizeofInet6Pktinfo:
			return int((*unix.Inet6Pktinfo)(unsafe.Pointer(&m.Data[0])).Ifindex)
		}
	}
	return 0
}
