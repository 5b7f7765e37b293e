package mdns

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
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

// socket is one of IPv4 and one of IPv6, of which either may be nil.
type socket struct{ v4, v6 *net.UDPConn }

// open binds the sockets. Port and groups may be in use by others who let them be shared.
func open() (*socket, error) {
	v4, err4 := bind(unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: group4.As4()}, options4)
	v6, err6 := bind(unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: group6.As16()}, options6)
	if v4 == nil && v6 == nil {
		return nil, fmt.Errorf("udp port %d: %w", port, errors.Join(err4, err6))
	}
	return &socket{v4, v6}, nil
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
		{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1}, {unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1},
		{unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_LOOP, 1}, {unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, 255}, {unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, 255},
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
	if family == unix.AF_INET6 { // kernels before 4.20 lack it, and core looks at the interface
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_ALL, 0)
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

func (s *socket) close() {
	for _, c := range []*net.UDPConn{s.v4, s.v6} {
		if c != nil {
			_ = c.Close() // nothing waits in it
		}
	}
}

// join lets the sockets hear what is said on a link; it may do so already. It succeeds when
// one of them hears it.
func (s *socket) join(l lan.Link) error {
	var errs []error
	try := func(c *net.UDPConn, join func(fd int) error) {
		if c == nil {
			return
		}
		raw, err := c.SyscallConn()
		if err == nil {
			var joined error
			err = raw.Control(func(fd uintptr) { joined = join(int(fd)) })
			if !errors.Is(joined, unix.EADDRINUSE) { // that is: it has joined before
				err = errors.Join(err, joined)
			}
		}
		errs = append(errs, err)
	}
	try(s.v4, func(fd int) error {
		return unix.SetsockoptIPMreqn(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreqn{Multiaddr: group4.As4(), Ifindex: int32(l.Index)})
	})
	try(s.v6, func(fd int) error {
		return unix.SetsockoptIPv6Mreq(fd, unix.IPPROTO_IPV6, unix.IPV6_JOIN_GROUP, &unix.IPv6Mreq{Multiaddr: group6.As16(), Interface: uint32(l.Index)})
	})
	for _, err := range errs {
		if err == nil {
			return nil
		}
	}
	return errors.Join(errs...)
}

// send sends a message: by multicast over both protocols that the link has.
func (s *socket) send(d datagram) error {
	if d.to.IsValid() {
		if d.to.Addr().Unmap().Is4() {
			return s.send4(d, netip.AddrPortFrom(d.to.Addr().Unmap(), d.to.Port()))
		}
		return s.send6(d, d.to)
	}
	var errs []error
	has4, has6 := false, false
	for _, a := range d.link.Addresses {
		has4, has6 = has4 || a.Addr().Is4(), has6 || a.Addr().Is6()
	}
	if has4 {
		errs = append(errs, s.send4(d, netip.AddrPortFrom(group4, port)))
	}
	if has6 {
		errs = append(errs, s.send6(d, netip.AddrPortFrom(group6, port)))
	}
	return errors.Join(errs...)
}

func (s *socket) send4(d datagram, to netip.AddrPort) error {
	if s.v4 == nil {
		return nil
	}
	_, _, err := s.v4.WriteMsgUDPAddrPort(d.data, unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: int32(d.link.Index)}), to)
	return err
}

func (s *socket) send6(d datagram, to netip.AddrPort) error {
	if s.v6 == nil {
		return nil
	}
	_, _, err := s.v6.WriteMsgUDPAddrPort(d.data, unix.PktInfo6(&unix.Inet6Pktinfo{Ifindex: uint32(d.link.Index)}), to)
	return err
}

// read hands over what comes in, until the sockets are closed and stopped is too; then the
// group that it returns is done.
func (s *socket) read(to chan<- packet, stopped <-chan struct{}) *sync.WaitGroup {
	var readers sync.WaitGroup
	for _, c := range []*net.UDPConn{s.v4, s.v6} {
		if c == nil {
			continue
		}
		readers.Go(func() {
			buffer, control := make([]byte, maxPacket), make([]byte, 256)
			for {
				n, n2, _, from, err := c.ReadMsgUDPAddrPort(buffer, control)
				if errors.Is(err, net.ErrClosed) {
					return
				}
				if err != nil { // the kernel has no memory left
					select {
					case <-time.After(time.Second):
						continue
					case <-stopped:
						return
					}
				}
				index := indexOf(control[:n2])
				select {
				case to <- packet{index, from, append([]byte(nil), buffer[:n]...)}:
				case <-stopped:
					return
				}
			}
		})
	}
	return &readers
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
