package server

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sensegate/api"
	"sensegate/api/sampletest"
)

func benchServer(b *testing.B, live api.Operation) *Server {
	b.Helper()
	c := Defaults()
	c.Listen, c.Rate, c.Burst, c.LiveLimit = "127.0.0.1:0", 1e9, 1e9, 1e6
	s := New(c, slog.New(slog.NewTextHandler(io.Discard, nil)))
	s.Mount(sampletest.Interface(live))
	return s
}

// nothing is a response writer without a cost of its own.
type nothing struct{ header http.Header }

func (n *nothing) Header() http.Header         { return n.header }
func (n *nothing) Write(b []byte) (int, error) { return len(b), nil }
func (n *nothing) WriteHeader(int)             {}

// BenchmarkRoute is one authenticated JSON operation through the whole stack,
// the access log included, without the network.
func BenchmarkRoute(b *testing.B) {
	s := benchServer(b, sampletest.NoLive())
	r := httptest.NewRequest(http.MethodGet, "/core/whoami", nil)
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer secret-a")
	b.ReportAllocs()
	for b.Loop() {
		w := &nothing{header: http.Header{}}
		s.ServeHTTP(w, r)
	}
}

// rawViewer opens a websocket without a client library, so that the far end costs
// as little as possible.
func rawViewer(b *testing.B, addr string) net.Conn {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	fmt.Fprint(conn, "GET /core/network/7/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: secret-a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-Websocket-Version: 13\r\nSec-Websocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	var head []byte
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head, one...) {
		if _, err := conn.Read(one); err != nil {
			b.Fatal(err)
		}
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101")) {
		b.Fatalf("upgrade: %s", head)
	}
	return conn
}

// arrivals counts the bytes that all viewers got and tells when a round is whole.
type arrivals struct {
	got   atomic.Int64
	round int64 // bytes
	whole chan struct{}
}

func newArrivals(round int) *arrivals {
	return &arrivals{round: int64(round), whole: make(chan struct{}, 1)}
}

// drain reads conn until it is closed.
func (a *arrivals) drain(conn net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if a.got.Add(int64(n))%a.round == 0 && n > 0 {
			a.whole <- struct{}{}
		}
		if err != nil {
			return
		}
	}
}

// deliver runs publish b.N times, each time until all viewers have the message.
func (a *arrivals) deliver(b *testing.B, viewers int, publish func()) {
	b.Helper()
	before := cpuTime()
	b.ResetTimer()
	for range b.N {
		publish()
		<-a.whole
	}
	b.StopTimer()
	b.ReportMetric(float64(cpuTime()-before)/float64(b.N*viewers), "cpu-ns/delivery")
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFanOut is one message to 50 viewers over loopback, both ends in this
// process; cpu-ns/delivery is to be compared with BenchmarkRawFanOut, which
// writes the same prebuilt frame to as many connections.
func BenchmarkFanOut(b *testing.B) {
	const n = 50
	feed := sampletest.NewFeed()
	s := benchServer(b, sampletest.LiveOf(feed))
	addr, stop := run(b, s)
	text := frameText()
	all := newArrivals((len(text) + 4) * n)
	var reading sync.WaitGroup
	for range n {
		conn := rawViewer(b, addr)
		reading.Go(func() { all.drain(conn) })
	}
	waitViewers(b, feed, n)
	all.deliver(b, n, func() { feed.Publish(sampletest.Message(b, text)) })
	if err := stop(); err != nil {
		b.Fatal(err)
	}
	reading.Wait()
}

func waitViewers(b *testing.B, feed *sampletest.Feed, n int) {
	b.Helper()
	for feed.Viewers() < n {
		runtime.Gosched()
	}
}

// frameText is as long as a live frame of a small network.
func frameText() string {
	return fmt.Sprintf(`{"ts":1764000000.5,"interval":500,"links":[%200s]}`, `"x"`)
}

// BenchmarkRawFanOut is the peer of BenchmarkFanOut.
func BenchmarkRawFanOut(b *testing.B) {
	const n = 50
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	text := frameText()
	frame := append([]byte{0x81, 126, byte(len(text) >> 8), byte(len(text))}, text...)
	all := newArrivals(len(frame) * n)
	var queues []chan []byte
	var running sync.WaitGroup
	for range n {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		queue := make(chan []byte, 8)
		queues = append(queues, queue)
		running.Go(func() {
			defer server.Close()
			for m := range queue {
				_, _ = server.Write(m)
			}
		})
		running.Go(func() {
			defer client.Close()
			all.drain(client)
		})
	}
	all.deliver(b, n, func() {
		for _, q := range queues {
			q <- frame
		}
	})
	for _, q := range queues {
		close(q)
	}
	running.Wait()
}

// BenchmarkViewerMemory reports heap and stacks of one viewer that has received a
// frame, the far end's connection included.
func BenchmarkViewerMemory(b *testing.B) {
	const n = 500
	var perViewer float64
	for b.Loop() {
		feed := sampletest.NewFeed()
		s := benchServer(b, sampletest.LiveOf(feed))
		addr, stop := run(b, s)
		first := rawViewer(b, addr)
		before := inUse()
		conns := make([]net.Conn, n)
		for i := range conns {
			conns[i] = rawViewer(b, addr)
		}
		waitViewers(b, feed, n+1)
		text := frameText()
		frame := make([]byte, len(text)+4)
		feed.Publish(sampletest.Message(b, text))
		for _, c := range conns {
			if _, err := io.ReadFull(c, frame); err != nil {
				b.Fatal(err)
			}
		}
		perViewer = (inUse() - before) / n
		for _, c := range append(conns, first) {
			c.Close()
		}
		if err := stop(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(perViewer, "B/viewer")
}

func inUse() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}
