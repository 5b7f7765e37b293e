package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api"
	gateway "sensegate/api/appliance"
	stream "sensegate/api/live"
	product "sensegate/api/server"
	"sensegate/motion/feed"
)

// framePace is the time between two frames, enough for delivery to all viewers.
const framePace = 2 * time.Millisecond

// server delivers frames to viewers.
type server struct {
	addr    net.Addr
	publish func(text []byte) error
	count   func() int // viewers
	stop    func() error
}

// frameText is as long as a live frame of a network with 6 links.
func frameText() []byte {
	return []byte(`{"ts":1764000000.5,"interval":500,"data":"` + strings.Repeat("x", 560) + `"}`)
}

// frame returns frameText as a websocket frame.
func frame() []byte {
	text := frameText()
	return append([]byte{0x81, 126, byte(len(text) >> 8), byte(len(text))}, text...)
}

func (s *server) do(what string, n int) (map[string]float64, error) {
	switch what {
	case "port":
		return map[string]float64{"port": float64(s.addr.(*net.TCPAddr).Port)}, nil
	case "await":
		for s.count() < n {
			time.Sleep(time.Millisecond)
		}
		return nil, nil
	case "deliver":
		before := cpuTime()
		pace := time.NewTicker(framePace)
		defer pace.Stop()
		for range n {
			if err := s.publish(frameText()); err != nil {
				return nil, err
			}
			<-pace.C
		}
		time.Sleep(10 * framePace)
		return map[string]float64{"cpu": float64(cpuTime() - before)}, nil
	case "memory":
		runtime.GC()
		runtime.GC() // the second collection empties pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return map[string]float64{"bytes": float64(m.HeapInuse + m.StackInuse)}, nil
	}
	return nil, fmt.Errorf("no such question: %s", what)
}

func (s *server) close() error { return s.stop() }

// nobody is the principal of a public websocket.
type nobody struct{}

// newViewersRole serves a live route with the product's server and feed, and collects garbage as often as the product.
func newViewersRole([]string) (role, error) {
	debug.SetGCPercent(gateway.GarbagePercent)
	var hub feed.Hub[int, *stream.Frame]
	same := func(m *stream.Frame) (*stream.Frame, error) { return m, nil }
	watch := api.Guarded("anyone", func(context.Context, nobody, *struct{}) (*stream.Stream, error) {
		return stream.NewStream("bench", hub.Subscribe(0, 64), same), nil
	})
	caller := api.Authenticate("", "", func(context.Context, *api.Request) (nobody, error) { return nobody{}, nil })
	config := product.Defaults()
	config.Listen, config.Rate, config.Burst, config.LiveLimit = "127.0.0.1:0", 1e9, 1e9, 1e6
	s := product.New(config, slog.New(slog.DiscardHandler))
	s.Mount(api.Interface{
		Base: "/bench", Title: "Bench", Version: "1", Principals: []api.Principal{caller},
		Routes: api.Group("Bench", api.Live("/live", watch, "Frames")),
	})
	if err := s.Listen(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	return &server{
		addr: s.Addr(),
		publish: func(text []byte) error {
			prepared := stream.Prepare(text)
			hub.Publish(0, prepared.Frame)
			return prepared.Err
		},
		count: func() int { return hub.Readers(0) },
		stop:  func() error { cancel(); return <-ended },
	}, nil
}

// queues holds a queue per viewer.
type queues[M any] struct {
	mu  sync.Mutex
	all []chan M
}

func (q *queues[M]) add() <-chan M {
	q.mu.Lock()
	defer q.mu.Unlock()
	queue := make(chan M, 64)
	q.all = append(q.all, queue)
	return queue
}

func (q *queues[M]) publish(m M) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, queue := range q.all {
		queue <- m
	}
}

func (q *queues[M]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.all)
}

// listen serves a handler on a free port until stop.
func (s *server) listen(handler http.HandlerFunc) (role, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.addr = l.Addr()
	serving := &http.Server{Handler: handler, ReadHeaderTimeout: patience}
	ended := make(chan error, 1)
	go func() { ended <- serving.Serve(l) }()
	s.stop = func() error {
		err := serving.Close()
		if ended := <-ended; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		return err
	}
	return s, nil
}

// newGorillaRole serves websockets as gorilla's examples do: the handler's goroutine
// writes, and each message is prepared once.
func newGorillaRole([]string) (role, error) {
	var viewers queues[*websocket.PreparedMessage]
	s := &server{count: viewers.len, publish: func(text []byte) error {
		m, err := websocket.NewPreparedMessage(websocket.TextMessage, text)
		viewers.publish(m)
		return err
	}}
	var upgrader websocket.Upgrader
	return s.listen(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return // answered
		}
		defer conn.Close()
		go func() {
			for {
				if _, _, err := conn.NextReader(); err != nil {
					return
				}
			}
		}()
		for m := range viewers.add() {
			if conn.WritePreparedMessage(m) != nil {
				return
			}
		}
	})
}

// newPrebuiltRole writes the bytes of a frame to each connection, the least work for a
// server.
func newPrebuiltRole([]string) (role, error) {
	var viewers queues[[]byte]
	whole := frame()
	s := &server{count: viewers.len, publish: func([]byte) error { viewers.publish(whole); return nil }}
	return s.listen(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\n\r\n")); err != nil {
			return
		}
		for m := range viewers.add() {
			if _, err := conn.Write(m); err != nil {
				return
			}
		}
	})
}
