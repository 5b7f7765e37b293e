package nodes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/broker/nodewire"
)

// Lines is a node that writes a line for each frame to a serial port, and that port served by TCP as ser2net does.
// Make it with NewLines.
type Lines struct {
	listener net.Listener
	sent     atomic.Int64

	mu      sync.Mutex
	readers map[net.Conn]struct{}
}

// writeTimeout is how long a reader of lines may be behind before it is cut off.
const writeTimeout = time.Second

// NewLines listens at host:port; Run serves, and ends it.
func NewLines(listen string) (*Lines, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("serve lines: %w", err)
	}
	return &Lines{listener: listener, readers: map[net.Conn]struct{}{}}, nil
}

// At returns where the lines are served, host:port.
func (n *Lines) At() string { return n.listener.Addr().String() }

// Sent returns how many lines have been written, whether or not anybody has read them.
func (n *Lines) Sent() int64 { return n.sent.Load() }

// Run writes the frames of a source until ctx ends, or the source does.
func (n *Lines) Run(ctx context.Context, source Source) error {
	accepted := make(chan error, 1)
	go func() { accepted <- n.accept() }()
	const ht = 1 // sig_mode of a frame of 802.11n
	var line []byte
	play(ctx, source, func(f *Frame) {
		f.Format = ht
		line = nodewire.AppendLine(line[:0], &f.Frame)
		n.write(line)
	})
	err := n.listener.Close()
	if end := <-accepted; !errors.Is(end, net.ErrClosed) {
		err = errors.Join(err, end)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for reader := range n.readers {
		_ = reader.Close()
	}
	clear(n.readers)
	return err
}

// accept lets readers in until the listener is closed.
func (n *Lines) accept() error {
	for {
		reader, err := n.listener.Accept()
		if err != nil {
			return err
		}
		n.mu.Lock()
		n.readers[reader] = struct{}{}
		n.mu.Unlock()
	}
}

// write writes a line to all readers.
func (n *Lines) write(line []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent.Add(1)
	for reader := range n.readers {
		_ = reader.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := reader.Write(line); err != nil {
			_ = reader.Close()
			delete(n.readers, reader)
		}
	}
}
