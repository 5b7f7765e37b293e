package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
)

// NodeReplay is a recording of a node of another maker, which is replayed as that node would send it.
type NodeReplay struct {
	Messages []capture.Message
	Speed    float64 // seconds of the recording per second, 1..1000
	Loop     bool    // begin again at the end, until ctx ends
}

// Validate returns an error if r cannot be replayed.
func (r *NodeReplay) Validate() error {
	if !(r.Speed >= 1 && r.Speed <= maxSpeed) {
		return fmt.Errorf("speed %v: want 1 to %d", r.Speed, maxSpeed)
	}
	if len(r.Messages) == 0 {
		return errors.New("nothing to replay")
	}
	return nil
}

// play calls send for each message at its time, until the end, an error of send, or that of ctx.
func (r *NodeReplay) play(ctx context.Context, send func([]byte) error) error {
	began := time.Now()
	at := clock{start: motion.TimeOf(began), began: began, speed: 1, now: time.Now}
	for next := at.start; ; next = next.Add(takeGap / r.Speed) {
		start := next
		for _, m := range r.Messages {
			next = max(next, start.Add(m.Time/r.Speed))
			if err := at.wait(ctx, next); err != nil {
				return err
			}
			if err := send(m.Payload); err != nil {
				return err
			}
		}
		if !r.Loop {
			return nil
		}
	}
}

// SendTo sends the messages as datagrams to the UDP address to, HOST:PORT, and returns how many it has sent and
// how many of those came back because nothing listens there. It returns when all are sent or ctx ends.
func (r *NodeReplay) SendTo(ctx context.Context, to string) (sent, refused int, err error) {
	var d net.Dialer
	connection, err := d.DialContext(ctx, "udp", to)
	if err != nil {
		return 0, 0, fmt.Errorf("send to %s: %w", to, err)
	}
	defer connection.Close()
	err = r.play(ctx, func(datagram []byte) error {
		sent++
		_, err := connection.Write(datagram)
		if errors.Is(err, syscall.ECONNREFUSED) { // about the datagram before
			refused++
			_, err = connection.Write(datagram)
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		return sent, refused, fmt.Errorf("send to %s: %w", to, err)
	}
	return sent, refused, nil
}

// Serve plays the messages to whoever connects to listener, one connection after the other, as a program that
// leads a serial port to TCP does. It closes listener and returns when a connection has had all of them, or ctx
// ends; sent is what all connections were sent.
func (r *NodeReplay) Serve(ctx context.Context, listener net.Listener) (sent int, err error) {
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	defer listener.Close()
	for {
		connection, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return sent, nil
			}
			return sent, fmt.Errorf("serve lines: %w", err)
		}
		n, err := r.serve(ctx, connection)
		sent += n
		if err == nil || ctx.Err() != nil {
			return sent, nil
		}
	}
}

// serve plays the messages to connection and closes it.
func (r *NodeReplay) serve(ctx context.Context, connection net.Conn) (sent int, err error) {
	defer context.AfterFunc(ctx, func() { connection.Close() })()
	defer connection.Close()
	err = r.play(ctx, func(line []byte) error {
		_, err := connection.Write(line)
		if err == nil {
			sent++
		}
		return err
	})
	return sent, err
}
