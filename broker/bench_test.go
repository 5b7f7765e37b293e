package broker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"sensegate/broker/guard/guardtest"
)

// countingSink takes everything, and says when it has all that is expected.
type countingSink struct {
	*testSink
	left atomic.Int64
	done chan struct{}
}

func (s *countingSink) Ingest(context.Context, Identity, string, []byte, byte) error {
	if s.left.Add(-1) == 0 {
		close(s.done)
	}
	return nil
}

// BenchmarkIngest measures messages of 200 bytes from one connection, over
// loopback TCP, into a sink that does nothing.
func BenchmarkIngest(b *testing.B) {
	for _, qos := range []byte{0, 1} {
		b.Run(fmt.Sprint("QoS", qos), func(b *testing.B) {
			sink := &countingSink{testSink: newSink(), done: make(chan struct{})}
			sink.left.Store(int64(b.N))
			r := startWith(b, sink, func(c *Config) { c.Guard.MessagesPerSecond = 0 })
			c := guardtest.Dial(b, r.Addr().String())
			c.Login(login(4, guardian))
			packet := guardtest.Publish{Topic: guardianRoot + "evt/motion-matrix/fmt/json", QoS: qos, ID: 1,
				Payload: string(make([]byte, 200))}.Bytes()
			go func() { _, _ = io.Copy(io.Discard, c.Conn) }()
			b.ResetTimer()
			out := bufio.NewWriterSize(c.Conn, 16<<10)
			for range b.N {
				if _, err := out.Write(packet); err != nil {
					b.Fatal(err)
				}
			}
			if err := out.Flush(); err != nil {
				b.Fatal(err)
			}
			<-sink.done
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}

// BenchmarkIdleConnection reports the memory that an authenticated connection
// holds while it does nothing.
func BenchmarkIdleConnection(b *testing.B) {
	sink := newSink()
	r := start(b, sink, nil)
	clients := make([]net.Conn, 0, b.N)
	before := heap()
	b.ResetTimer()
	for i := range b.N {
		c := guardtest.Dial(b, r.addr)
		c.Login(guardtest.Connect{ClientID: fmt.Sprint(i), Username: "homeassistant", Password: "secret"})
		c.Send(guardtest.Subscribe(4, 1, "homeassistant/x"))
		c.Packet()
		next(b, sink.connected)
		clients = append(clients, c.Conn)
	}
	b.StopTimer()
	b.ReportMetric(float64(heap()-before)/float64(len(clients)), "B/conn")
}

// BenchmarkSilentConnection reports the memory that a connection without a
// CONNECT holds, of 500 at once: run it with -benchtime 1x, as its time means nothing and
// what earlier rounds leave is in the next one.
func BenchmarkSilentConnection(b *testing.B) {
	const connections = 500
	r := start(b, newSink(), nil)
	before := heap()
	for i := range int64(connections) {
		c, err := net.Dial("tcp", r.addr)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		for r.Counters().Open <= i {
			runtime.Gosched()
		}
	}
	b.ReportMetric(float64(heap()-before)/connections, "B/conn")
}

// heap returns the bytes of heap and stacks in use. The clients of a benchmark
// are in the same process, so it counts them too.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
