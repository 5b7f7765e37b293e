package nodedoor

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// receiveBuffer is how much of what arrives at once the system keeps, in bytes.
const receiveBuffer = 1 << 20

// udp is an intake of nodes that send a frame in a datagram.
type udp struct {
	door    *Door
	kind    motion.NodeKind
	at      string
	decode  func([]byte, *nodewire.Frame) error
	forward string // host:port that datagrams of adopted nodes are sent on to; "": none

	conn *net.UDPConn
	on   atomic.Pointer[net.UDPConn] // nil: not sent on, or not yet

	arrived, frames, other, wrong, foreign, limited atomic.Int64
}

func (u *udp) listen() error {
	address, err := net.ResolveUDPAddr("udp", u.at)
	if err != nil {
		return fmt.Errorf("listen for %s nodes: %w", u.kind, err)
	}
	if u.conn, err = net.ListenUDP("udp", address); err != nil {
		return fmt.Errorf("listen for %s nodes: %w", u.kind, err)
	}
	_ = u.conn.SetReadBuffer(receiveBuffer) // a smaller one works as well
	return nil
}

// again is how long it waits before it looks for the other end again.
const again = 30 * time.Second

// reach looks for where datagrams are sent on to until it is found, or ctx ends: its name may not be known yet.
func (u *udp) reach(ctx context.Context) {
	told := false
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "udp", u.forward)
		if err == nil {
			u.on.Store(conn.(*net.UDPConn))
			return
		}
		if !told && ctx.Err() == nil {
			u.door.options.Log.Warn("frames of nodes cannot be sent on yet", "kind", u.kind, "err", err)
			told = true
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(again):
		}
	}
}

// run takes in datagrams until ctx ends.
func (u *udp) run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = u.conn.Close() })
	defer stop()
	if u.forward != "" {
		ctx, end := context.WithCancel(ctx)
		var reaching sync.WaitGroup
		reaching.Go(func() { u.reach(ctx) })
		defer func() {
			end()
			reaching.Wait()
			if on := u.on.Load(); on != nil {
				_ = on.Close() // what is not sent yet is lost, as any datagram may be
			}
		}()
	}
	buffer := make([]byte, maxMessage+1)
	var frame nodewire.Frame
	for {
		n, from, err := u.conn.ReadFromUDPAddrPort(buffer)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listen for %s nodes: %w", u.kind, err)
		}
		u.arrived.Add(1)
		if on := u.on.Load(); u.take(buffer[:n], from.Addr().Unmap(), &frame) && on != nil {
			_, _ = on.Write(buffer[:n]) // nobody may be there
		}
	}
}

// take takes in a datagram, and reports whether it is a frame of an adopted node.
func (u *udp) take(datagram []byte, from netip.Addr, frame *nodewire.Frame) bool {
	switch u.door.admits(u.kind, from) {
	case foreign:
		u.foreign.Add(1)
		return false
	case limited:
		u.limited.Add(1)
		return false
	}
	err := nodewire.ErrForm
	if len(datagram) <= maxMessage {
		err = u.decode(datagram, frame)
	}
	switch err {
	case nil:
	case nodewire.ErrOther:
		u.other.Add(1)
		return false
	default:
		u.wrong.Add(1)
		return false
	}
	u.frames.Add(1)
	return u.door.take(source{kind: u.kind, address: from, number: frame.Node}, frame)
}

func (u *udp) figures() motion.IntakeFigures {
	return motion.IntakeFigures{
		Kind: u.kind, At: "udp " + u.conn.LocalAddr().String(),
		Arrived: u.arrived.Load(), Frames: u.frames.Load(), Other: u.other.Load(), Wrong: u.wrong.Load(),
		Foreign: u.foreign.Load(), Limited: u.limited.Load(),
	}
}
