package nodes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// ESPectrePort is the TCP port of nodes of ESPectre version 3.
const ESPectrePort = 62587

// Limits of a node of ESPectre.
const (
	requestRate    = 20 // a second
	mostListeners  = 2  // of events
	recordsInChunk = 4
	recordQueue    = 64 // records that wait for a slow reader; further ones are dropped
	heartbeat      = 10 * time.Second
)

// espectreOrigins are the values of Origin that a node lets in.
var espectreOrigins = []string{"https://espectre.dev", "https://www.espectre.dev", "https://test.espectre.dev"}

// ESPectreConfig describes a node of ESPectre version 3.
type ESPectreConfig struct {
	Listen string     // host:port
	MAC    motion.MAC // of its station, which its identity follows from
	Router motion.MAC // the access point that it is associated with
	Name   string
}

// ESPectre is a node of ESPectre version 3: an HTTP server. Make it with NewESPectre.
type ESPectre struct {
	config   ESPectreConfig
	listener net.Listener
	requests *rate.Limiter
	began    time.Time
	sent     atomic.Int64

	joining sync.Mutex // over a change of broker

	mu        sync.Mutex
	listeners map[chan verdict]struct{}
	session   chan nodewire.Frame // of the reader of raw channel state; nil: none
	sessions  byte
	dropped   uint64 // records that the session's reader was too slow for
	rssi      int8
	moves     bool
	broker    *brokerLink // nil: it knows no broker
}

// NewESPectre listens; Run serves, and ends it.
func NewESPectre(c ESPectreConfig) (*ESPectre, error) {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("serve as an ESPectre node: %w", err)
	}
	return &ESPectre{
		config: c, listener: listener, requests: rate.NewLimiter(requestRate, requestRate), began: time.Now(),
		listeners: map[chan verdict]struct{}{},
	}, nil
}

// At returns where the node is reached, host:port.
func (n *ESPectre) At() string { return n.listener.Addr().String() }

// DeviceID returns the identity of the node, 16 hexadecimal digits.
func (n *ESPectre) DeviceID() string {
	return fmt.Sprintf("%016x", nodewire.ESPectreDeviceID(n.config.MAC))
}

// Sent returns how many raw records and motion events have been sent.
func (n *ESPectre) Sent() int64 { return n.sent.Load() }

// Run measures the frames of a source and serves until ctx ends, or the source does.
func (n *ESPectre) Run(ctx context.Context, source Source) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{Handler: n, ReadHeaderTimeout: 5 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan error, 1)
	go func() { served <- server.Serve(n.listener) }()
	decide := judge{found: n.tell}
	play(ctx, source, func(f *Frame) {
		decide.add(f)
		n.record(&f.Frame)
	})
	stop()
	err := errors.Join(server.Close(), n.leaveBroker())
	if end := <-served; !errors.Is(end, http.ErrServerClosed) {
		err = errors.Join(err, end)
	}
	return err
}

// tell gives a verdict to those who listen for events; nobody gets one while raw channel state is read.
func (n *ESPectre) tell(v verdict) {
	n.mu.Lock()
	n.moves = v.motion
	broker := n.broker
	if n.session != nil {
		n.mu.Unlock()
		return
	}
	defer func() {
		if broker != nil {
			broker.tell(v)
		}
	}()
	defer n.mu.Unlock()
	for listener := range n.listeners {
		select {
		case listener <- v:
		default: // it is behind
		}
	}
}

// record gives a frame to who reads raw channel state.
func (n *ESPectre) record(f *nodewire.Frame) {
	const ht, htField, narrow = 2 << 8, 2 << 4, 1 // of 20 MHz
	f.Format = ht | htField | narrow
	n.mu.Lock()
	defer n.mu.Unlock()
	n.rssi = f.RSSI
	if n.session == nil {
		return
	}
	kept := *f
	kept.Data = slices.Clone(f.Data)
	select {
	case n.session <- kept:
	default:
		n.dropped++
	}
}

// ServeHTTP implements http.Handler.
func (n *ESPectre) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	switch {
	case origin == "":
		n.refuse(w, http.StatusForbidden, "Origin required")
		return
	case !slices.Contains(espectreOrigins, origin):
		n.refuse(w, http.StatusForbidden, "Origin not allowed")
		return
	case !n.requests.Allow():
		n.refuse(w, http.StatusTooManyRequests, "Too many requests")
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	switch r.Method + " " + r.URL.Path {
	case "GET /espectre/v1/events":
		n.serveEvents(w, r)
	case "GET /espectre/v1/csi":
		n.serveRecords(w, r)
	case "PATCH /espectre/v1/mqtt":
		n.joinBroker(w, r)
	default:
		n.serveState(w, r)
	}
}

// serveEvents sends motion events until the reader goes.
func (n *ESPectre) serveEvents(w http.ResponseWriter, r *http.Request) {
	found := make(chan verdict, 16)
	n.mu.Lock()
	full := len(n.listeners) >= mostListeners
	if !full {
		n.listeners[found] = struct{}{}
	}
	n.mu.Unlock()
	if full {
		n.refuse(w, http.StatusServiceUnavailable, "Too many event clients")
		return
	}
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, found)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	message := []byte("retry: 3000\n\n: connected\n\n")
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		if _, err := w.Write(message); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			message = append(message[:0], ": heartbeat\n\n"...)
		case v := <-found:
			n.sent.Add(1)
			message = nodewire.AppendESPectreMotion(message[:0], nodewire.ESPectreMotion{
				Uptime: uint64(time.Since(n.began).Milliseconds()), Motion: v.motion, Score: v.score,
			})
		}
	}
}

// serveRecords sends raw channel state until the reader goes.
func (n *ESPectre) serveRecords(w http.ResponseWriter, r *http.Request) {
	frames := make(chan nodewire.Frame, recordQueue)
	n.mu.Lock()
	taken := n.session != nil
	if !taken {
		n.session, n.dropped = frames, 0
		n.sessions++
	}
	session := nodewire.ESPectreSession{ID: [16]byte{0: n.sessions}, DeviceID: nodewire.ESPectreDeviceID(n.config.MAC)}
	n.mu.Unlock()
	if taken {
		n.refuse(w, http.StatusConflict, "Raw CSI session active")
		return
	}
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.session = nil
	}()
	w.Header().Set("Content-Type", "application/octet-stream")
	out := http.NewResponseController(w)
	var chunk []byte
	dropped := uint64(0)
	for {
		if _, err := w.Write(chunk); err != nil || out.Flush() != nil {
			return
		}
		chunk = chunk[:0]
		select {
		case <-r.Context().Done():
			return
		case f := <-frames:
			chunk = session.Append(chunk, nodewire.ESP32C6, &f)
		}
		for range min(recordsInChunk-1, len(frames)) {
			f := <-frames
			chunk = session.Append(chunk, nodewire.ESP32C6, &f)
		}
		n.sent.Add(int64(len(chunk) / (60 + 64 + 128)))
		n.mu.Lock()
		session.Number, dropped = session.Number+n.dropped-dropped, n.dropped // what was dropped has its numbers too
		n.mu.Unlock()
	}
}
