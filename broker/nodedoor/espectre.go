package nodedoor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// espectre is the intake of nodes with ESPectre version 3, which are asked by HTTP: each tells of motion as a
// stream of events, or of its channel state where that is wanted.
type espectre struct {
	door   *Door
	config ESPectreConfig
	client *http.Client

	mu     sync.Mutex
	states map[string]string       // by address, what is the matter with each node; "": nothing
	met    map[source]espectreNode // as they were reached last

	arrived, frames, other, wrong atomic.Int64
}

// Limits of what a node may answer, and times.
const (
	espectrePort    = "62587"
	espectreService = "_espectre._tcp.local."
	espectrePath    = "/espectre/v1/"
	maxAnswer       = 64 << 10
	answerWithin    = 5 * time.Second
	silentStream    = 30 * time.Second // three signs of life
	browseFirst     = 5 * time.Second  // between two looks for nodes, doubled up to browseEvery
	browseEvery     = time.Minute
	askAgainEvery   = time.Minute // of its access point and its threshold
	maxESPectre     = 64          // nodes
)

func newESPectre(d *Door, c ESPectreConfig) *espectre {
	e := &espectre{door: d, config: c, states: map[string]string{}, met: map[source]espectreNode{}}
	dialer := &net.Dialer{Timeout: answerWithin, Control: e.mayDial}
	e.client = &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ResponseHeaderTimeout: answerWithin, DisableCompression: true,
			MaxResponseHeaderBytes: maxAnswer, IdleConnTimeout: answerWithin,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return e
}

// mayDial refuses addresses outside the networks that this box is connected to.
func (e *espectre) mayDial(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	e.door.mu.Lock()
	defer e.door.mu.Unlock()
	if !e.door.near(at.Addr().Unmap()) {
		return fmt.Errorf("%s is not in a network that this box is connected to", at.Addr())
	}
	return nil
}

func (e *espectre) listen() error { return nil }

// run follows every node that the configuration names or that is found, until ctx ends.
func (e *espectre) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	follow := func(address string) {
		e.mu.Lock()
		_, known := e.states[address]
		if room := len(e.states) < maxESPectre; !known && room {
			e.states[address] = "not asked yet"
			group.Go(func() error {
				e.follow(ctx, address)
				return nil
			})
		}
		e.mu.Unlock()
	}
	for _, address := range e.config.Addresses {
		follow(withPort(address, espectrePort))
	}
	group.Go(func() error {
		for wait := browseFirst; e.config.Discover && ctx.Err() == nil; wait = min(2*wait, browseEvery) {
			found, err := e.door.options.Browse(ctx, espectreService)
			if err != nil {
				e.door.options.Log.Warn("nodes of ESPectre not looked for", "err", err)
			}
			for _, at := range found {
				follow(at.String())
			}
			pause(ctx, wait)
		}
		return nil
	})
	return group.Wait()
}

// withPort returns host:port of an address that may have no port.
func withPort(address, port string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}

// follow asks a node again and again.
func (e *espectre) follow(ctx context.Context, address string) {
	for wait := leastPause; ctx.Err() == nil; wait = min(2*wait, mostPause) {
		begun := time.Now()
		err := e.session(ctx, address)
		if ctx.Err() != nil {
			return
		}
		e.mu.Lock()
		before := e.states[address]
		if e.states[address] = ""; err != nil {
			e.states[address] = err.Error()
		}
		changed := e.states[address] != before
		e.mu.Unlock()
		if err == nil { // it waits to be let in
			wait = askEvery
		} else if changed {
			e.door.options.Log.Warn("node of ESPectre not followed", "address", address, "err", err)
		}
		if err != nil && time.Since(begun) > mostPause {
			wait = leastPause
		}
		pause(ctx, wait)
	}
}

// espectreNode is what a node says of itself.
type espectreNode struct {
	base  string // of its URLs
	id    string // sixteen hexadecimal digits
	from  source
	bssid motion.MAC // of its access point; zero: unknown
}

// session asks a node who it is and, once it is adopted, follows it until it ends; nil: it waits to be let in.
func (e *espectre) session(ctx context.Context, address string) error {
	n, err := e.meet(ctx, address)
	if err != nil {
		return err
	}
	said, err := e.ask(ctx, n)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.met[n.from] = *n
	e.mu.Unlock()
	e.door.says(n.from, said, user{}, "", n.bssid)
	if !e.door.isIn(n.from) {
		return nil
	}
	e.mu.Lock()
	e.states[address] = ""
	e.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	again := make(chan struct{})
	go func() {
		defer close(again)
		e.askAgain(ctx, cancel, *n)
	}()
	defer func() { cancel(nil); <-again }()
	if e.raw(n.id) {
		return e.followFrames(ctx, n)
	}
	return e.followMotion(ctx, n)
}

// meet asks a node who it is. One whose identity does not follow from the MAC of its address is refused.
func (e *espectre) meet(ctx context.Context, address string) (*espectreNode, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		found, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
		if err != nil {
			return nil, err
		}
		ip = found[0]
	}
	n := &espectreNode{base: "http://" + net.JoinHostPort(ip.String(), port) + espectrePath}
	var device struct {
		ID string `json:"device_id"`
	}
	if err := e.get(ctx, n.base+"device", &device); err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(device.ID, 16, 64)
	if err != nil || len(device.ID) != 16 {
		return nil, fmt.Errorf("it says that its device_id is %.40q: want 16 hexadecimal digits", device.ID)
	}
	n.id, n.from = device.ID, source{kind: motion.ESPectre, address: ip.Unmap()}
	switch mac := e.door.options.Neighbour(n.from.address); {
	case mac.IsZero():
		n.from.where = device.ID
	case nodewire.ESPectreDeviceID(mac) != number:
		return nil, fmt.Errorf("it says that its device_id is %s, and the MAC address %s makes it %016x: something else answers there", device.ID, mac, nodewire.ESPectreDeviceID(mac))
	}
	return n, nil
}

// ask asks a node for its access point and its threshold.
func (e *espectre) ask(ctx context.Context, n *espectreNode) (m nodewire.Motion, err error) {
	var wifi struct {
		BSSID motion.MAC `json:"bssid"`
	}
	var sensing struct {
		Threshold *float64 `json:"threshold"`
	}
	if err := errors.Join(e.get(ctx, n.base+"wifi", &wifi), e.get(ctx, n.base+"sensing", &sensing)); err != nil {
		return m, err
	}
	n.bssid, m.Threshold = wifi.BSSID, sensing.Threshold
	return m, nil
}

// errMoved ends a session whose node has another access point now.
var errMoved = errors.New("it has another access point now")

// askAgain asks now and then whether the access point or the threshold has changed, until ctx ends.
func (e *espectre) askAgain(ctx context.Context, end context.CancelCauseFunc, n espectreNode) {
	before := n.bssid
	for {
		if pause(ctx, askAgainEvery); ctx.Err() != nil {
			return
		}
		said, err := e.ask(ctx, &n)
		if err != nil {
			continue // the stream tells whether it is there
		}
		if n.bssid != before {
			end(errMoved)
			return
		}
		if said.Threshold != nil {
			e.door.says(n.from, said, user{}, "", n.bssid)
		}
	}
}

// raw reports whether the channel state of a node is wanted.
func (e *espectre) raw(id string) bool {
	for _, wanted := range e.config.Raw {
		if strings.EqualFold(wanted, id) {
			return true
		}
	}
	return false
}

// followMotion takes in what a node decides.
func (e *espectre) followMotion(ctx context.Context, n *espectreNode) error {
	return e.stream(ctx, n.base+"events", func(body io.Reader, alive func()) error {
		events := nodewire.NewESPectreEvents(body)
		for {
			var m nodewire.ESPectreMotion
			err := events.Next(&m)
			alive()
			e.arrived.Add(1)
			switch err {
			case nil:
				e.frames.Add(1)
				e.door.says(n.from, nodewire.Motion{Moves: &m.Motion, Score: &m.Score}, user{}, "", n.bssid)
			case nodewire.ErrOther:
				e.other.Add(1)
			case nodewire.ErrForm:
				e.wrong.Add(1)
			default:
				return err
			}
		}
	})
}

// followFrames takes in the channel state of a node.
func (e *espectre) followFrames(ctx context.Context, n *espectreNode) error {
	return e.stream(ctx, n.base+"csi", func(body io.Reader, alive func()) error {
		records := nodewire.NewESPectreStream(body)
		var f nodewire.Frame
		for {
			err := records.Next(&f)
			alive()
			e.arrived.Add(1)
			switch err {
			case nil:
				e.frames.Add(1)
				if f.Src = n.bssid; e.door.admits(n.from.kind, n.from.address) == admitted {
					e.door.take(n.from, &f)
				}
			case nodewire.ErrOther:
				e.other.Add(1)
			default:
				return err
			}
		}
	})
}

// figures sums up all nodes.
func (e *espectre) figures() motion.IntakeFigures {
	e.mu.Lock()
	defer e.mu.Unlock()
	var wrong []string
	for address, state := range e.states {
		if state != "" {
			wrong = append(wrong, address+": "+state)
		}
	}
	return motion.IntakeFigures{
		Kind: motion.ESPectre, At: fmt.Sprintf("HTTP, %d nodes", len(e.states)), State: strings.Join(wrong, "\n  "),
		Arrived: e.arrived.Load(), Frames: e.frames.Load(), Other: e.other.Load(), Wrong: e.wrong.Load(),
	}
}
