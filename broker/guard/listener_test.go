package guard_test

import (
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"sensegate/broker/guard"
	"sensegate/broker/guard/guardtest"
)

func TestSilentConnectionIsClosed(t *testing.T) {
	t.Parallel()
	cfg := guard.Defaults()
	cfg.ConnectTimeout = 50 * time.Millisecond
	s := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	silent, half := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
	half.Send([]byte{0x10, 200, 30, 0, 4})
	silent.ExpectClosed()
	half.ExpectClosed()
	if got := s.Guard.Counters().ConnectTimeout; got != 2 {
		t.Errorf("%d connect timeouts counted, want 2", got)
	}
}

func TestStopDoesNotWaitForSilentConnections(t *testing.T) {
	t.Parallel()
	cfg := guard.Defaults()
	cfg.ConnectTimeout = time.Hour
	s := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	var silent []*guardtest.Client
	for range 50 {
		silent = append(silent, guardtest.Dial(t, s.Addr))
	}
	v3, v5 := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
	v3.Login(guardtest.Connect{ClientID: "three"})
	v5.Login(guardtest.Connect{ClientID: "five", Version: 5})
	done := make(chan struct{})
	go func() { s.Stop(); close(done) }()
	select {
	case <-done:
	case <-time.After(guardtest.Patience):
		t.Fatal("the server does not stop")
	}
	v5.Expect("e0 01 8b")
	v5.ExpectClosed()
	v3.ExpectClosed() // MQTT 3 has no DISCONNECT from a server
	for _, c := range silent {
		c.ExpectClosed()
	}
}

func TestClaimedSizeIsNotAllocated(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var clients []*guardtest.Client
	for range 8 {
		c := guardtest.Dial(t, s.Addr)
		c.Send([]byte{0x10, 0xff, 0xff, 0xff, 0x7f})
		clients = append(clients, c)
	}
	for _, c := range clients {
		c.ExpectClosed()
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.TotalAlloc) - int64(before.TotalAlloc); grown > 64<<20 {
		t.Errorf("%d MiB allocated for 40 bytes", grown>>20)
	}
	if got := s.Guard.Counters().TooLarge; got != 8 {
		t.Errorf("%d too large counted, want 8", got)
	}
}

func TestRemainingLengthHasFourBytes(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	c := guardtest.Dial(t, s.Addr)
	c.Send([]byte{0x10, 0x80, 0x80, 0x80, 0x80, 0x01})
	c.ExpectClosed()
	if got := s.Guard.Counters().Malformed; got != 1 {
		t.Errorf("%d malformed counted, want 1", got)
	}
}

func TestPacketSizesAreLimited(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	big := guardtest.Dial(t, s.Addr)
	big.SendRefused(guardtest.Connect{ClientID: string(make([]byte, 4<<10))}.Bytes())
	big.ExpectClosed()

	c := guardtest.Dial(t, s.Addr)
	c.Login(guardtest.Connect{ClientID: "c", Version: 5})
	body := guardtest.Publish{Version: 5, Topic: "t", QoS: 1, ID: 7}
	body.Payload = string(make([]byte, 256<<10-6))
	c.Send(body.Bytes())
	c.Expect("40020007")
	body.Payload += "x"
	c.SendRefused(body.Bytes())
	c.Expect("e0 01 95")
	c.ExpectClosed()
}

// tired is a listener that fails a few accepts, as without file descriptors.
type tired struct {
	net.Listener
	mu    sync.Mutex
	fails int
}

func (l *tired) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fails > 0 {
		l.fails--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

func TestFailedAcceptIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), &tired{Listener: guardtest.Listen(t), fails: 3}, nil)
	c := guardtest.Dial(t, s.Addr)
	c.Login(guardtest.Connect{ClientID: "c"})
	if got := s.Guard.Counters().AcceptErrors; got != 3 {
		t.Errorf("%d accept errors counted, want 3", got)
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	cfg := guard.Defaults()
	cfg.MaxPerAddress, cfg.MaxConnections, cfg.LimitLoopback = 2, 3, true
	perAddress := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	cfg.LimitLoopback = false
	total := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	for name, tc := range map[string]struct {
		s       *guardtest.Server
		allowed int
		count   func(guard.Counters) uint64
	}{
		"per address":              {perAddress, 2, func(c guard.Counters) uint64 { return c.OverAddress }},
		"total, loopback exempted": {total, 3, func(c guard.Counters) uint64 { return c.OverTotal }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in []*guardtest.Client
			for range tc.allowed {
				c := guardtest.Dial(t, tc.s.Addr)
				c.Login(guardtest.Connect{})
				in = append(in, c)
			}
			guardtest.Dial(t, tc.s.Addr).ExpectClosed()
			if got := tc.count(tc.s.Guard.Counters()); got != 1 {
				t.Errorf("%d refusals counted, want 1", got)
			}
			in[0].Send([]byte{0xe0, 0})
			in[0].ExpectClosed()
			in[1].Alive()
			eventually(t, "a place is free again", func() bool {
				return tc.s.Guard.Counters().Open < int64(tc.allowed)
			})
			guardtest.Dial(t, tc.s.Addr).Login(guardtest.Connect{})
		})
	}
}

// TestSilentConnectionsGiveWay fills the server with connections whose clients are not
// let in yet, and wants others to get in all the same. Who is let in stays.
func TestSilentConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	const room = 5
	for name, says := range map[string][]byte{"says nothing": nil, "says half of a CONNECT": {0x10, 200, 30, 0, 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := guard.Defaults()
			cfg.MaxConnections, cfg.ConnectTimeout = room, time.Hour
			s := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
			first := guardtest.Dial(t, s.Addr)
			first.Login(guardtest.Connect{ClientID: "first"})
			var silent []*guardtest.Client
			for range 3 * room {
				c := guardtest.Dial(t, s.Addr)
				c.Send(says)
				silent = append(silent, c)
			}
			var in []*guardtest.Client
			for i := range room - 1 {
				c := guardtest.Dial(t, s.Addr)
				c.Login(guardtest.Connect{ClientID: string(rune('a' + i))})
				in = append(in, c)
			}
			for _, c := range append(in, first) {
				c.Alive()
			}
			for _, c := range silent {
				c.ExpectClosed()
			}
			guardtest.Dial(t, s.Addr).ExpectClosed() // all that are there have come to stay
			if c := s.Guard.Counters(); c.GaveWay != 3*room || c.OverTotal != 1 || c.ConnectTimeout != 0 {
				t.Errorf("%d gave way and %d were refused, %d timed out, want %d, 1 and none", c.GaveWay, c.OverTotal, c.ConnectTimeout, 3*room)
			}
		})
	}
}

func TestPanicEndsOneConnectionOnly(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), func(o *guardtest.Open) {
		o.Published = func(topic string) {
			if topic == "panic" {
				panic("a defect")
			}
		}
	})
	other, c := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
	other.Login(guardtest.Connect{ClientID: "other"})
	c.Login(guardtest.Connect{ClientID: "c"})
	c.Send(guardtest.Subscribe(4, 0, "a"))
	c.Expect("9003000100")
	c.Send(guardtest.Publish{Topic: "panic"}.Bytes())
	c.ExpectClosed()
	other.Alive()
	eventually(t, "one panic is counted", func() bool { // the library closes before that
		return s.Guard.Counters().Panics == 1
	})
	eventually(t, "the client is forgotten", func() bool {
		_, known := s.MQTT.Clients.Get("c")
		return !known && len(s.MQTT.Topics.Subscribers("a").Subscriptions) == 0
	})
}

func TestKeepAliveIsCapped(t *testing.T) {
	t.Parallel()
	cfg := guard.Defaults()
	s := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	for asked, want := range map[uint16]string{0: "130708", 1800: "", 1801: "130708", 65535: "130708", 60: ""} {
		c := guardtest.Dial(t, s.Addr)
		c.Send(guardtest.Connect{Version: 5, KeepAlive: asked, ClientID: "k"}.Bytes())
		// receive maximum 1024, MaxQoS 1, maximum packet size 256 KiB
		c.Expect(frame("20", "0000"+length(want+"210400"+"2401"+"2700040000")))
		c.Send([]byte{0xe0, 0})
		c.ExpectClosed()
	}
	cfg.KeepAlive = time.Second
	short := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	quiet := guardtest.Dial(t, short.Addr)
	quiet.Login(guardtest.Connect{}) // keep-alive 0: 1.5 s of silence
	quiet.ExpectClosed()
}

func TestFastSenderIsSlowedAndLosesNothing(t *testing.T) {
	t.Parallel()
	cfg := guard.Defaults()
	cfg.MessagesPerSecond = 100
	s := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	c := guardtest.Dial(t, s.Addr)
	c.Login(guardtest.Connect{ClientID: "fast"})
	start := time.Now()
	const sent = 150
	for i := range sent {
		c.Send(guardtest.Publish{Topic: "t", QoS: 1, ID: uint16(i + 1)}.Bytes())
	}
	for i := range sent {
		if p := c.Packet(); p[0] != 0x40 || int(p[3]) != (i+1)&0xff {
			t.Fatalf("got % x, want acknowledgement %d", p, i+1)
		}
	}
	if took := time.Since(start); took < 400*time.Millisecond {
		t.Errorf("%d messages at 100/s after a burst of 100 took %v", sent, took)
	}
	if s.Guard.Counters().Throttled == 0 {
		t.Error("no throttling counted")
	}
}

// eventually waits until ok, for what no packet announces.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(guardtest.Patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		runtime.Gosched()
	}
}
