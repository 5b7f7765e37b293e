package relay

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	mqtt3 "github.com/eclipse/paho.mqtt.golang"
	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// users lets two users in, and lets them do everything.
type users struct{ mochi.HookBase }

func (users) ID() string { return "users" }

func (users) Provides(hook byte) bool {
	return hook == mochi.OnConnectAuthenticate || hook == mochi.OnACLCheck
}

func (users) OnConnectAuthenticate(_ *mochi.Client, pk packets.Packet) bool {
	known := map[string]string{"sensegate": "a secret", "reader": "too"}
	return known[string(pk.Connect.Username)] == string(pk.Connect.Password)
}

func (users) OnACLCheck(*mochi.Client, string, bool) bool { return true }

// outside runs somebody's broker until the test ends or stop
// is called. An address of "" is a free one.
func outside(t *testing.T, address string, secure *tls.Config) (addr string, stop func()) {
	t.Helper()
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", address)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for limit := time.After(patience); errors.Is(err, syscall.EADDRINUSE); { // by a connection that was given the free port
		select {
		case <-again.C:
			listener, err = net.Listen("tcp", address)
		case <-limit:
			t.Fatal(err)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	addr = listener.Addr().String()
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	server := mochi.New(&mochi.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := server.AddHook(new(users), nil); err != nil {
		t.Fatal(err)
	}
	if err := server.Serve(); err != nil {
		t.Fatal(err)
	}
	stop = serveFrom(server, listener)
	t.Cleanup(stop)
	return addr, stop
}

// serveFrom serves the connections of a listener until stop. The library's own listeners may
// still take one in while its Close waits for the others.
func serveFrom(server *mochi.Server, listener net.Listener) (stop func()) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var taken []net.Conn
	ended := false
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			taken = append(taken, conn)
			if ended {
				conn.Close()
			}
			mu.Unlock()
			all.Go(func() { _ = server.EstablishConnection("mqtt", conn) })
		}
	})
	return sync.OnceFunc(func() {
		listener.Close()
		mu.Lock()
		ended = true
		for _, conn := range taken {
			conn.Close()
		}
		mu.Unlock()
		all.Wait()
		server.Close()
	})
}

// subscriber is a client of the outside broker that sees everything below a topic,
// as "topic payload".
func subscriber(t *testing.T, addr, filter string, secure *tls.Config) <-chan string {
	t.Helper()
	seen := make(chan string, 1000)
	scheme := "tcp"
	if secure != nil {
		scheme = "ssl"
	}
	options := mqtt3.NewClientOptions().AddBroker(scheme + "://" + addr).SetClientID("reader").
		SetUsername("reader").SetPassword("too").SetAutoReconnect(false).SetTLSConfig(secure)
	client := mqtt3.NewClient(options)
	done := func(what string, token mqtt3.Token) {
		if !token.WaitTimeout(patience) || token.Error() != nil {
			t.Fatalf("%s: %v", what, token.Error())
		}
	}
	done("connect", client.Connect())
	t.Cleanup(func() { client.Disconnect(100) })
	done("subscribe", client.Subscribe(filter, 1, func(_ mqtt3.Client, m mqtt3.Message) {
		seen <- fmt.Sprintf("%s %s", m.Topic(), m.Payload())
	}))
	// The broker looks for retained messages after it has acknowledged, and must not
	// be given one meanwhile: that is a data race of its own.
	done("be through with the subscription", client.Publish("elsewhere", 1, false, "done"))
	return seen
}

// client returns a provider for a broker.
func client(t *testing.T, url, password, ca string) *mqtt {
	t.Helper()
	m, err := newMQTT(MQTTConfig{
		URL: url, Username: "sensegate", Password: password, Prefix: "home/sensegate", ClientID: "box", CA: ca,
	}, discard())
	if err != nil {
		t.Fatal(err)
	}
	m.wait = quick
	return m
}

// want expects the messages in this order.
func want(t *testing.T, seen <-chan string, messages ...string) {
	t.Helper()
	for _, message := range messages {
		if got := next(t, seen); got != message {
			t.Fatalf("got %q, want %q", got, message)
		}
	}
}

const (
	online  = "home/sensegate/status online"
	offline = "home/sensegate/status offline"
)

func TestFramesReachTheOutsideBroker(t *testing.T) {
	t.Parallel()
	addr, _ := outside(t, "", nil)
	seen := subscriber(t, addr, "home/#", nil)
	m := client(t, "mqtt://"+addr, "a secret", "")
	stop := running(t, m)
	want(t, seen, online)
	m.Deliver(1042, numbered(1))
	m.Deliver(7, numbered(2))
	want(t, seen, `home/sensegate/motion/1042 {"n":1}`, `home/sensegate/motion/7 {"n":2}`)
	stop()
	want(t, seen, offline)
	if got := m.Counters(); got != (Counters{Delivered: 2}) || m.Ready() != nil {
		t.Errorf("%+v, %v", got, m.Ready())
	}
}

func TestDeliveryGoesOnAfterTheBrokerWasAway(t *testing.T) {
	t.Parallel()
	addr, stop := outside(t, "", nil)
	seen := subscriber(t, addr, "home/#", nil)
	m := client(t, "mqtt://"+addr, "a secret", "")
	running(t, m)
	want(t, seen, online)
	stop()
	eventually(t, "away", func() bool { return m.Counters().Failures > 1 })
	for n := 1; n <= queueFrames+10; n++ {
		m.Deliver(1042, numbered(n))
	}
	outside(t, addr, nil)
	eventually(t, "all delivered", func() bool { return m.Counters().Delivered == queueFrames })
	if got := m.Counters(); got.Dropped != 10 {
		t.Errorf("%+v", got)
	}
	seen = subscriber(t, addr, "home/#", nil)
	m.Deliver(1042, numbered(5000))
	for next(t, seen) != `home/sensegate/motion/1042 {"n":5000}` {
		// the broker may still be busy with what was delivered before
	}
}

func TestWillTellsThatTheApplianceHasGone(t *testing.T) {
	t.Parallel()
	addr, _ := outside(t, "", nil)
	seen := subscriber(t, addr, "home/#", nil)
	m := client(t, "mqtt://"+addr, "a secret", "")
	m.wait = defaultBackoff() // the broker has to see the end before it comes back
	running(t, m)
	want(t, seen, online)
	m.mu.Lock()
	m.conn.Close() // as a power cut does
	m.mu.Unlock()
	want(t, seen, offline, online)
	late := subscriber(t, addr, "home/sensegate/status", nil)
	want(t, late, online)
}

func TestCertificateIsCheckedAgainstTheGivenCA(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	defer server.Close()
	addr, _ := outside(t, "", &tls.Config{Certificates: server.TLS.Certificates})
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	trusting, err := MQTTConfig{CA: ca}.tls()
	if err != nil {
		t.Fatal(err)
	}
	seen := subscriber(t, addr, "home/#", trusting)
	stranger := client(t, "mqtts://"+addr, "a secret", "")
	running(t, stranger)
	eventually(t, "refused for its certificate", func() bool { return stranger.Counters().Failures > 1 })
	running(t, client(t, "mqtts://"+addr, "a secret", ca))
	want(t, seen, online)
}

func TestWrongPasswordIsTriedAgainAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	addr, _ := outside(t, "", nil)
	m := client(t, "mqtt://"+addr, "wrong", "")
	stop := running(t, m)
	eventually(t, "tried again", func() bool { return m.Counters().Failures > 2 })
	for n := range queueFrames + 1 {
		m.Deliver(1042, numbered(n))
	}
	stop()
	if got := m.Counters(); got.Delivered != 0 || got.Dropped != 1 {
		t.Errorf("%+v", got)
	}
}

// TestBrokerThatDoesNotReadHoldsNobodyUp has a broker that accepts the connection and
// then reads nothing: frames beyond what the sockets hold push the oldest out.
func TestBrokerThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte{0x20, 3, 0, 0, 0}) // CONNACK
			accepted <- conn
		}
	}()
	m := client(t, "mqtt://"+listener.Addr().String(), "a secret", "")
	stop := running(t, m)
	conn := next(t, accepted)
	t.Cleanup(func() { conn.Close() })
	eventually(t, "connected", m.connected.Load)
	large := make([]byte, 256<<10)
	for range 2 * queueFrames {
		m.Deliver(1042, large)
	}
	if got := m.Counters(); got.Dropped == 0 {
		t.Errorf("%+v", got)
	}
	stop()
}
