package nodedoor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// lines is an intake of a node that writes a line for each frame: a serial device of this box, or one that another
// machine serves by TCP as ser2net does.
type lines struct {
	door *Door
	from string

	mu    sync.Mutex
	state string // what is the matter; "": it is read

	arrived, frames, other, wrong, limited atomic.Int64
}

// Times of reading lines.
const (
	dialTimeout = 5 * time.Second
	leastPause  = time.Second // before it is opened again, doubled each time
	mostPause   = 30 * time.Second
	patience    = 30 * time.Second // without a line: the other end may be gone
)

// listen opens nothing: a device may be plugged in later.
func (l *lines) listen() error {
	l.told(errors.New("not opened yet"))
	return nil
}

// run reads lines until ctx ends, and opens the device again when it goes.
func (l *lines) run(ctx context.Context) error {
	for pause := leastPause; ; pause = min(2*pause, mostPause) {
		begun := time.Now()
		err := l.read(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if l.told(err) {
			l.door.options.Log.Warn("lines of a node not read", "from", l.from, "err", err)
		}
		if time.Since(begun) > mostPause {
			pause = leastPause
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// told notes what is the matter, and reports whether that is something else than before.
func (l *lines) told(err error) bool {
	state := ""
	if err != nil {
		state = err.Error()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.state != state
	l.state = state
	return changed
}

// read opens the device and reads until it ends.
func (l *lines) read(ctx context.Context) error {
	device, at, err := l.open(ctx)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = device.Close() })
	defer stop()
	defer func() { _ = device.Close() }() // it was read only
	l.told(nil)
	var decoder nodewire.Lines
	var frame nodewire.Frame
	from := source{kind: motion.CSILines, address: at, where: plain(strings.TrimPrefix(strings.TrimPrefix(l.from, tcpScheme), "/dev/"))}
	in := bufio.NewReaderSize(device, nodewire.LinesLongest+1)
	for whole := true; ; {
		if err := device.SetReadDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, os.ErrNoDeadline) {
			return fmt.Errorf("%s: %w", l.from, err)
		}
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) { // longer than any line: noise
			whole = false
			l.arrived.Add(1)
			l.wrong.Add(1)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.from, err)
		}
		if whole {
			l.arrived.Add(1)
			l.take(&decoder, line, from, &frame)
		}
		whole = true
	}
}

// take takes in a line.
func (l *lines) take(decoder *nodewire.Lines, line []byte, from source, frame *nodewire.Frame) {
	if l.door.admits(from.kind, from.address) != admitted {
		l.limited.Add(1)
		return
	}
	switch decoder.Decode(line, frame) {
	case nil:
		l.frames.Add(1)
		l.door.take(from, frame)
	case nodewire.ErrOther:
		l.other.Add(1)
	default:
		l.wrong.Add(1)
	}
}

// device is what lines are read from.
type device interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error
}

// open opens the device and returns where it is: a serial one is on this box.
func (l *lines) open(ctx context.Context) (device, netip.Addr, error) {
	remote, ok := strings.CutPrefix(l.from, tcpScheme)
	if !ok {
		device, err := openSerial(l.from)
		return device, netip.AddrFrom4([4]byte{127, 0, 0, 1}), err
	}
	conn, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", remote)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	at := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	l.door.mu.Lock()
	near := l.door.near(at)
	l.door.mu.Unlock()
	if !near {
		return nil, at, errors.Join(fmt.Errorf("%s is not in a network that this box is connected to", at), conn.Close())
	}
	return conn, at, nil
}

func (l *lines) figures() motion.IntakeFigures {
	l.mu.Lock()
	defer l.mu.Unlock()
	return motion.IntakeFigures{
		Kind: motion.CSILines, At: l.from, State: l.state,
		Arrived: l.arrived.Load(), Frames: l.frames.Load(), Other: l.other.Load(), Wrong: l.wrong.Load(), Limited: l.limited.Load(),
	}
}
