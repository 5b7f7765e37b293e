package nodes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
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
	var line []byte
	return n.serve(ctx, func(ctx context.Context) {
		play(ctx, source, func(f *Frame) {
			line = nodewire.AppendLine(line[:0], &f.Frame)
			n.write(line)
		})
	})
}

// RunFile writes the lines of a file as they are, so many a second, until ctx ends, or the file does; with loop it
// begins again.
func (n *Lines) RunFile(ctx context.Context, path string, rate float64, loop bool) error {
	file, err := os.Open(path)
	if err != nil {
		return errors.Join(fmt.Errorf("open lines: %w", err), n.listener.Close())
	}
	defer file.Close()
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	var failed error
	err = n.serve(ctx, func(ctx context.Context) {
		for again := true; again && failed == nil; again = loop {
			if _, failed = file.Seek(0, 0); failed != nil {
				return
			}
			lines := bufio.NewScanner(file)
			for lines.Scan() {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				n.write(append(lines.Bytes(), '\n'))
			}
			failed = lines.Err()
		}
	})
	return errors.Join(err, failed)
}

// serve lets readers in while write runs.
func (n *Lines) serve(ctx context.Context, write func(context.Context)) error {
	accepted := make(chan error, 1)
	go func() { accepted <- n.accept() }()
	write(ctx)
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
