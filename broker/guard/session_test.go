package guard_test

import (
	"encoding/hex"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"sensegate/broker/guard"
	"sensegate/broker/guard/guardtest"
)

// The library's send quota deadlocks every publisher once a client with a
// Receive Maximum acknowledges under load.
func TestReceiveMaximumDoesNotStopPublishers(t *testing.T) {
	t.Parallel()
	cfg := guard.Defaults()
	cfg.MessagesPerSecond = 0
	s := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
	sub := guardtest.Dial(t, s.Addr)
	sub.Login(guardtest.Connect{Version: 5, ClientID: "sub", Properties: "210005"})
	sub.Send(guardtest.Subscribe(5, 1, "load"))
	sub.Packet()
	go func() { // acknowledges until the end; what it misses does not matter here
		for {
			p, err := sub.TryPacket()
			if err != nil || p[0]>>4 != 3 {
				return
			}
			if _, err := sub.Write(guardtest.Puback(guardtest.PublishID(p))); err != nil {
				return
			}
		}
	}()
	var wg sync.WaitGroup
	for n := range 4 {
		pub := guardtest.Dial(t, s.Addr)
		pub.Login(guardtest.Connect{ClientID: fmt.Sprint("pub", n)})
		wg.Go(func() {
			for i := range 2000 {
				if _, err := pub.Write(guardtest.Publish{Topic: "load", QoS: 1, ID: uint16(i + 1)}.Bytes()); err != nil {
					t.Errorf("publisher %d: %v", n, err)
					return
				}
				if _, err := pub.TryPacket(); err != nil {
					t.Errorf("publisher %d, message %d: %v", n, i, err)
					return
				}
			}
		})
	}
	wg.Wait()
	_ = sub.Close()
}

func TestOnlyOneConnectionPerClientIDSurvives(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	for round := range 100 {
		id := fmt.Sprint("same", round)
		clients := make([]*guardtest.Client, 8)
		for i := range clients {
			clients[i] = guardtest.Dial(t, s.Addr)
		}
		var wg sync.WaitGroup
		for _, c := range clients {
			wg.Go(func() { _, _ = c.Write(guardtest.Connect{Version: 5, ClientID: id}.Bytes()) })
		}
		wg.Wait()
		for _, c := range clients {
			c.Packet() // CONNACK
		}
		alive := 0
		for _, c := range clients {
			_, _ = c.Write([]byte{0xc0, 0})
			for {
				p, err := c.TryPacket()
				if err != nil || p[0] == 0xe0 {
					break
				}
				if p[0] == 0xd0 {
					alive++
					break
				}
			}
		}
		if alive != 1 {
			t.Fatalf("round %d: %d of 8 connections alive, want 1", round, alive)
		}
		if cl, ok := s.MQTT.Clients.Get(id); !ok || cl.Closed() {
			t.Fatalf("round %d: the server does not know the surviving client", round)
		}
		for _, c := range clients {
			_ = c.Close()
		}
	}
}

func TestTakenOverClientIsTold(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	for _, version := range []byte{4, 5} {
		first, second := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
		first.Login(guardtest.Connect{Version: version, ClientID: "twice"})
		second.Login(guardtest.Connect{Version: version, ClientID: "twice"})
		if version == 5 {
			first.Expect("e0 01 8e")
		}
		first.ExpectClosed()
		second.Alive()
	}
}

// A client that connects again while its first connection is being answered must not end that one before
// its CONNACK (MQTT 5, section 3.14).
func TestTakenOverClientHasItsConnack(t *testing.T) {
	t.Parallel()
	for _, version := range []byte{4, 5} {
		var addr string
		second := make(chan *guardtest.Client, 1)
		var once sync.Once
		s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), func(o *guardtest.Open) {
			o.Answering = func(cl *mqtt.Client) {
				once.Do(func() {
					c := guardtest.Dial(t, addr)
					c.Send(guardtest.Connect{Version: version, ClientID: "twice"}.Bytes())
					for range 20 { // it has to wait, so there is nothing to wait for
						if cl.Net.Conn.(*guard.Conn).Closing() {
							break
						}
						time.Sleep(5 * time.Millisecond)
					}
					second <- c
				})
			}
		})
		addr = s.Addr
		first := guardtest.Dial(t, s.Addr)
		first.Login(guardtest.Connect{Version: version, ClientID: "twice"})
		if version == 5 {
			first.Expect("e0 01 8e")
		}
		first.ExpectClosed()
		c := <-second
		if p := c.Packet(); p[0] != 0x20 || p[3] != 0 {
			t.Fatalf("connack % x, want success", p)
		}
		c.Alive()
	}
}

// A connection that is ended before its CONNACK ends without a word, as no DISCONNECT may come first.
func TestNothingComesBeforeConnack(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), func(o *guardtest.Open) {
		o.Answering = func(cl *mqtt.Client) {
			cl.Net.Conn.(*guard.Conn).Kick(packets.ErrAdministrativeAction.Code, packets.ErrAdministrativeAction)
		}
	})
	c := guardtest.Dial(t, s.Addr)
	c.Send(guardtest.Connect{Version: 5, ClientID: "c"}.Bytes())
	c.ExpectClosed()
}

// A connection that does not end in time for another one of its client leaves no subscription to the next.
func TestLateEndLeavesNothing(t *testing.T) {
	t.Parallel()
	storing, stored := make(chan struct{}), make(chan struct{})
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), func(o *guardtest.Open) {
		o.Published = func(string) { close(storing); <-stored }
	})
	s.MQTT.Options.Capabilities.MaximumSessionExpiryInterval = 0 // as the product has it
	late, next := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
	late.Login(guardtest.Connect{ClientID: "same"})
	late.Send(guardtest.Subscribe(4, 0, "left"))
	late.Expect("9003000100")
	late.Send(guardtest.Publish{Topic: "t"}.Bytes())
	<-storing
	next.Send(guardtest.Connect{ClientID: "same"}.Bytes())
	next.ExpectClosed()
	close(stored)
	late.ExpectClosed()
	eventually(t, "both are gone", func() bool { return s.Guard.Counters().Open == 0 })
	if n := len(s.MQTT.Topics.Subscribers("left").Subscriptions); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
}

func TestReaderThatDoesNotReadDisturbsNobody(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*guard.Config){
		"full queue":    func(c *guard.Config) { c.WriteTimeout = time.Hour },
		"write timeout": func(c *guard.Config) { c.WriteTimeout, c.MaxPending = 100*time.Millisecond, 1<<30 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := guard.Defaults()
			cfg.MessagesPerSecond = 0
			change(&cfg)
			s := guardtest.Serve(t, cfg, guardtest.Listen(t), nil)
			slow, pub := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
			slow.Login(guardtest.Connect{ClientID: "slow"})
			slow.Send(guardtest.Subscribe(4, 0, "big"))
			slow.Packet()
			pub.Login(guardtest.Connect{ClientID: "pub"})
			publishUntil(t, pub, func() bool { return s.Guard.Counters().SlowReaders > 0 })
			eventually(t, "the slow reader is gone", func() bool { return s.Guard.Counters().Open == 1 })
		})
	}
}

// publishUntil publishes large messages until done, each acknowledged at once.
func publishUntil(t *testing.T, pub *guardtest.Client, done func() bool) {
	t.Helper()
	payload := string(make([]byte, 64<<10))
	for i := 0; !done(); i++ {
		pub.Send(guardtest.Publish{Topic: "big", Payload: payload, QoS: 1, ID: 1}.Bytes())
		pub.Packet() // which does not wait for the slow reader
		if i > 10000 {
			t.Fatal("the slow reader was never closed")
		}
	}
}

func TestExpiredSessionLeavesNothing(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	c := guardtest.Dial(t, s.Addr)
	c.Login(guardtest.Connect{Version: 5, ClientID: "old", Properties: "1100000e10"}) // an hour
	c.Send(guardtest.Subscribe(5, 1, "left"))
	c.Packet()
	c.Send([]byte{0xe0, 0})
	c.ExpectClosed()
	cl, ok := s.MQTT.Clients.Get("old")
	if !ok || len(s.MQTT.Topics.Subscribers("left").Subscriptions) != 1 {
		t.Fatal("the session did not outlive its connection")
	}
	s.Hook.OnClientExpired(cl)
	if len(s.MQTT.Topics.Subscribers("left").Subscriptions) != 0 {
		t.Error("the expired session is still subscribed")
	}
}

func TestTopicAlias(t *testing.T) {
	t.Parallel()
	t.Run("is refused when none are announced", func(t *testing.T) {
		t.Parallel()
		s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
		c := guardtest.Dial(t, s.Addr)
		c.Login(guardtest.Connect{Version: 5, ClientID: "c"})
		c.Send(guardtest.Publish{Version: 5, Topic: "t", Properties: "230001"}.Bytes())
		c.Expect("e0 01 94")
		c.ExpectClosed()
	})
	t.Run("stands for its topic only once it has one", func(t *testing.T) {
		t.Parallel()
		cfg := guard.Defaults()
		cfg.TopicAliasMaximum = 2
		topics := make(chan string, 4)
		s := guardtest.Serve(t, cfg, guardtest.Listen(t), func(o *guardtest.Open) {
			o.Published = func(topic string) { topics <- topic }
		})
		c := guardtest.Dial(t, s.Addr)
		c.Login(guardtest.Connect{Version: 5, ClientID: "c"})
		c.Send(guardtest.Publish{Version: 5, Topic: "t", Properties: "230001"}.Bytes(),
			guardtest.Publish{Version: 5, Properties: "230001"}.Bytes())
		c.Alive()
		if a, b := <-topics, <-topics; a != "t" || b != "t" {
			t.Errorf("published to %q and %q, want t twice", a, b)
		}
		c.Send(guardtest.Publish{Version: 5, Properties: "230002"}.Bytes())
		c.Expect("e0 01 82")
		c.ExpectClosed()
	})
}

// What the deadlock needs is the send quota; without it a client gets more than
// it announced, which is the price.
func TestReceiveMaximumIsNotEnforced(t *testing.T) {
	t.Parallel()
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	sub, pub := guardtest.Dial(t, s.Addr), guardtest.Dial(t, s.Addr)
	sub.Login(guardtest.Connect{Version: 5, ClientID: "sub", Properties: "210001"})
	pub.Login(guardtest.Connect{ClientID: "pub"})
	sub.Send(guardtest.Subscribe(5, 1, "t"))
	sub.Packet()
	for id := range uint16(3) {
		pub.Send(guardtest.Publish{Topic: "t", QoS: 1, ID: id + 1}.Bytes())
		if p := sub.Packet(); p[0]>>4 != 3 {
			t.Fatalf("got % x, want message %d without an acknowledgement of the one before", p, id)
		}
	}
}

func frame(first, body string) string { return first + length(body) }

func length(body string) string { return hex.EncodeToString([]byte{byte(len(body) / 2)}) + body }

// An idle connection has two goroutines, one of the library that writes and one that waits for a
// packet: 8 and 4 KB of stack. Within the library the second one would keep 16.
func TestIdleConnectionKeepsLittleStack(t *testing.T) { // alone: it counts all stacks
	const connections = 100
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	stacks := func() uint64 {
		for range 8 { // each collection halves a stack at most
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.StackInuse
	}
	before := stacks()
	for i := range connections {
		c := guardtest.Dial(t, s.Addr)
		c.Login(guardtest.Connect{ClientID: fmt.Sprint("idle", i), KeepAlive: 60})
		c.Send(guardtest.Subscribe(1, 1, fmt.Sprint("to/", i)), guardtest.Publish{Topic: fmt.Sprint("to/", i), QoS: 1, ID: 2, Payload: "x"}.Bytes())
		for range 3 { // SUBACK, PUBACK and the message itself
			c.Packet()
		}
	}
	if each := (stacks() - before) / connections; each > 18<<10 {
		t.Errorf("an idle connection keeps %d bytes of stack", each)
	}
}

// The buffer of a large packet is not kept while its client says nothing more.
func TestIdleConnectionKeepsNoLargePacket(t *testing.T) { // alone: it counts the whole heap
	const connections, size = 20, 200 << 10
	s := guardtest.Serve(t, guard.Defaults(), guardtest.Listen(t), nil)
	var clients []*guardtest.Client
	for i := range connections {
		c := guardtest.Dial(t, s.Addr)
		c.Login(guardtest.Connect{ClientID: fmt.Sprint("large", i), KeepAlive: 60})
		clients = append(clients, c)
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	packet := guardtest.Publish{Topic: "t", QoS: 1, ID: 1, Payload: strings.Repeat("x", size)}.Bytes()
	for _, c := range clients {
		c.Send(packet)
		c.Expect("40020001")
	}
	eventually(t, "the buffers are given back", func() bool { return heap() < before+connections*size/2 })
	runtime.KeepAlive(packet)
}
