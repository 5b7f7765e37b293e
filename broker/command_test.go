package broker

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"sensegate/broker/guard/guardtest"
	"sensegate/motion"
	"sensegate/motion/fault"

	"github.com/eclipse/paho.golang/autopaho"
	"github.com/eclipse/paho.golang/paho"
	mqtt3 "github.com/eclipse/paho.mqtt.golang"
)

const configTopic = guardianRoot + "cmd/config/fmt/json"

func TestRetainedCommandWaitsForItsDevice(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	for _, payload := range []string{`{"rev":1}`, `{"rev":2}`} {
		if err := r.Send(guardian, "config", []byte(payload), true); err != nil {
			t.Fatal(err)
		}
	}
	c := r.device(t, 4, guardian)
	c.Send(guardtest.Subscribe(4, 1, guardianRoot+"cmd/#"))
	c.Expect("9003000101")
	if p := c.Packet(); p[0] != 0x33 || !strings.HasSuffix(string(p), `{"rev":2}`) {
		t.Errorf("got %s, want the retained rev 2 at QoS 1", hex.EncodeToString(p))
	}
	if err := r.Send(guardian, "config", nil, true); err != nil {
		t.Fatal(err)
	}
	if _, kept := r.mqtt.Topics.Retained.Get(configTopic); kept {
		t.Error("an empty retained command did not remove it")
	}
}

func TestCommandNeedsAListeningDevice(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	if err := r.Send(guardian, "live", []byte("{}"), false); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("absent device: %v", err)
	}
	r.device(t, 4, guardian)
	if err := r.Send(guardian, "live", []byte("{}"), false); fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "subscribed") {
		t.Errorf("device without a subscription: %v", err)
	}
	if err := r.Send(guardian, "live", make([]byte, 200<<10), true); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("large command: %v", err)
	}
}

// The library uses one space of packet ids for both directions: a device's own
// publish with id 1 makes it forget command 1, but the command itself arrives.
func TestCommandArrivesBesideAPublishWithItsPacketID(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.device(t, 4, guardian)
	c.Send(guardtest.Subscribe(4, 1, guardianRoot+"cmd/#"))
	c.Expect("9003000101")
	if err := r.Send(guardian, "manage", []byte(`{"id":1}`), false); err != nil {
		t.Fatal(err)
	}
	if p := c.Packet(); guardtest.PublishID(p) != 1 {
		t.Fatalf("got % x, want packet id 1", p)
	}
	c.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1}.Bytes())
	c.Expect("40020001")
	c.Send(guardtest.Puback(1))
	if err := r.Send(guardian, "manage", []byte(`{"id":2}`), false); err != nil {
		t.Fatal(err)
	}
	if p := c.Packet(); !strings.HasSuffix(string(p), `{"id":2}`) {
		t.Errorf("got % x, want the second command", p)
	}
}

func TestDisconnectedDeviceIsToldAndReported(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.device(t, 5, guardian)
	if next(t, r.sink.connected); !r.Online(guardian) {
		t.Fatal("not online")
	}
	r.Disconnect(guardian, "token revoked")
	c.Expect("e00198")
	c.ExpectClosed()
	if got := next(t, r.sink.disconnected); got != "token revoked" {
		t.Errorf("disconnected for %q", got)
	}
	if r.Online(guardian) {
		t.Error("still online")
	}
}

func TestSecondConnectionEndsTheFirst(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	first := r.device(t, 4, guardian)
	next(t, r.sink.connected)
	second := r.device(t, 4, guardian)
	select {
	case got := <-r.sink.disconnected:
		if got != "the same client connected again" {
			t.Errorf("disconnected for %q", got)
		}
	default:
		t.Error("the second session began before the first ended")
	}
	next(t, r.sink.connected)
	first.ExpectClosed()
	second.Alive()
}

func TestEndIsReportedBeforeTheNextConnection(t *testing.T) {
	t.Parallel()
	sink := newSink()
	sink.disconnected = make(chan string) // the report waits until the test takes it
	r := start(t, sink, nil)
	first := r.device(t, 4, guardian)
	next(t, sink.connected)
	_ = first.Close()
	for r.Online(guardian) {
		runtime.Gosched()
	}
	second := guardtest.Dial(t, r.addr)
	second.Send(login(4, guardian).Bytes())
	select {
	case <-sink.connected:
		t.Error("connected before the end of the earlier connection was reported")
	case <-time.After(100 * time.Millisecond): // it has to wait, so there is nothing to wait for
	}
	next(t, sink.disconnected)
	second.Expect("20020000")
	_ = second.Close()
	next(t, sink.disconnected)
}

func TestSessionEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	for version, properties := range map[byte]string{4: "", 5: "1100000e10"} {
		con := login(version, guardian)
		con.Keep, con.Properties = true, properties
		for range 2 {
			c := guardtest.Dial(t, r.addr)
			c.Send(con.Bytes())
			p := c.Packet()
			if p[2] != 0 || p[3] != 0 {
				t.Fatalf("connack % x, want no session and success", p)
			}
			if version == 5 && !strings.Contains(string(p), "\x11\x00\x00\x00\x00") {
				t.Errorf("connack % x does not announce session expiry 0", p)
			}
			c.Send(guardtest.Subscribe(version, 1, guardianRoot+"cmd/#"))
			c.Packet()
			_ = c.Close()
			next(t, r.sink.disconnected)
			if err := r.Send(guardian, "live", []byte("{}"), false); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("a subscription outlived its connection: %v", err)
			}
		}
	}
}

func TestManyRetainedMessagesAllArrive(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), func(c *Config) { c.Guard.MessagesPerSecond = 0 })
	r.sink.ingested = make(chan message, 3000)
	pub := r.user(t, "homeassistant", "pub")
	const count = 2000
	payload := string(make([]byte, 2<<10))
	for i := range count {
		pub.Send(guardtest.Publish{Topic: fmt.Sprintf("homeassistant/r/%04d", i), Payload: payload, Retain: true}.Bytes())
	}
	pub.Alive()
	sub := r.user(t, "homeassistant", "sub")
	sub.Send(guardtest.Subscribe(4, 1, "homeassistant/#"))
	sub.Expect("9003000101")
	seen := make(map[string]bool)
	for len(seen) < count {
		seen[string(sub.Packet()[5:25])] = true
	}
	sub.Alive()
}

func TestPahoV3SpeaksWithTheBroker(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	commands := make(chan string, 10)
	c := mqtt3.NewClient(mqtt3.NewClientOptions().AddBroker("tcp://"+r.addr).SetClientID(guardian.ID).
		SetUsername("device").SetPassword("secret").SetKeepAlive(time.Minute).SetProtocolVersion(4).
		SetWill(guardianRoot+"evt/guardian-status/fmt/json", "{}", 1, false))
	wait := func(token mqtt3.Token) {
		t.Helper()
		if !token.WaitTimeout(guardtest.Patience) || token.Error() != nil {
			t.Fatalf("token: %v", token.Error())
		}
	}
	wait(c.Connect())
	wait(c.Subscribe(guardianRoot+"cmd/#", 1, func(_ mqtt3.Client, m mqtt3.Message) { commands <- string(m.Payload()) }))
	for i := range 100 {
		payload := fmt.Sprintf(`{"ts":%d}`, i)
		wait(c.Publish(eventTopic, 1, false, payload))
		if m := next(t, r.sink.ingested); m.payload != payload {
			t.Fatalf("ingested %+v", m)
		}
	}
	checkCommands(t, r, commands)
	c.Disconnect(100)
	if got := next(t, r.sink.disconnected); got != "disconnected" {
		t.Errorf("disconnected for %q", got)
	}
}

func TestPahoV5SpeaksWithTheBroker(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	commands := make(chan string, 10)
	server, err := url.Parse("mqtt://" + r.addr)
	if err != nil {
		t.Fatal(err)
	}
	receiveMaximum := uint16(3)
	cm, err := autopaho.NewConnection(t.Context(), autopaho.ClientConfig{
		ServerUrls:      []*url.URL{server},
		KeepAlive:       60,
		ConnectUsername: "device",
		ConnectPassword: []byte("secret"),
		ConnectPacketBuilder: func(c *paho.Connect, _ *url.URL) (*paho.Connect, error) {
			c.Properties = &paho.ConnectProperties{ReceiveMaximum: &receiveMaximum, RequestProblemInfo: true}
			return c, nil
		},
		ClientConfig: paho.ClientConfig{
			ClientID: guardian.ID,
			OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
				commands <- string(p.Packet.Payload)
				return true, nil
			}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), guardtest.Patience)
	defer cancel()
	if err := cm.AwaitConnection(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := cm.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: guardianRoot + "cmd/#", QoS: 1}}}); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		payload := fmt.Sprintf(`{"ts":%d}`, i)
		if _, err := cm.Publish(ctx, &paho.Publish{Topic: eventTopic, QoS: 1, Payload: []byte(payload)}); err != nil {
			t.Fatal(err)
		}
		if m := next(t, r.sink.ingested); m.payload != payload {
			t.Fatalf("ingested %+v", m)
		}
	}
	checkCommands(t, r, commands)
	if err := cm.Disconnect(ctx); err != nil {
		t.Fatal(err)
	}
	<-cm.Done()
}

// checkCommands sends commands and expects them in order.
func checkCommands(t *testing.T, r *running, got <-chan string) {
	t.Helper()
	for i := range 10 {
		payload := fmt.Sprintf(`{"id":%d}`, i)
		if err := r.Send(guardian, "manage", []byte(payload), false); err != nil {
			t.Fatal(err)
		}
		if p := next(t, got); p != payload {
			t.Fatalf("command %s, want %s", p, payload)
		}
	}
}

func TestDeviceOfTheOtherKindHearsNothing(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.device(t, 4, guardian)
	c.Send(guardtest.Subscribe(4, 1, guardianRoot+"cmd/#"))
	c.Packet()
	if err := r.Send(motion.DeviceKey{Kind: motion.RadarKind, ID: guardian.ID}, "config", []byte("{}"), true); err != nil {
		t.Fatal(err)
	}
	c.Alive()
}

func TestSecondConnectionWaitsForWhatTheFirstIsStoring(t *testing.T) {
	t.Parallel()
	sink, storing, commit := newSink(), make(chan struct{}), make(chan struct{})
	sink.ingest = func(context.Context, message) error { close(storing); <-commit; return nil }
	r := start(t, sink, nil)
	first, second := r.device(t, 4, guardian), guardtest.Dial(t, r.addr)
	first.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1}.Bytes())
	<-storing
	second.Send(login(4, guardian).Bytes())
	_ = second.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := second.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v, while the first was storing", n, err)
	}
	close(commit)
	second.Expect("20020000")
	next(t, sink.ingested)
	next(t, sink.disconnected)
	second.Alive()
}

// TestRetainedCommandsMeetSubscriptions lets the race detector look at what the
// library does without a lock: it scans the retained messages for a wildcard while
// one is replaced.
func TestRetainedCommandsMeetSubscriptions(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.device(t, 4, guardian)
	turns, sent := make(chan byte), make(chan struct{})
	go func() {
		defer close(sent)
		for turn := range turns {
			if err := r.Send(guardian, "config", []byte{'0' + turn%10}, true); err != nil {
				t.Errorf("send: %v", err)
			}
		}
	}()
	for i := range 400 {
		turns <- byte(i)
		c.Send(guardtest.Subscribe(4, 0, guardianRoot+"cmd/#"))
		for c.Packet()[0] != 0x90 {
			continue
		}
	}
	close(turns)
	<-sent
}

// TestUserWhoIsRemovedWhileTheLoginIsUnderWayIsRefused: what ends the sessions of a user finds none yet
// of one whose password was right a moment ago.
func TestUserWhoIsRemovedWhileTheLoginIsUnderWayIsRefused(t *testing.T) {
	t.Parallel()
	sink := newSink()
	var r *running
	removed := false
	sink.checked = func(Credentials) error { // on the one connection's goroutine
		if removed {
			return fault.New(fault.Unauthorized, "name or secret: not valid")
		}
		removed = true
		r.DisconnectUser("homeassistant", "user removed")
		return nil
	}
	r = start(t, sink, nil)
	c := guardtest.Dial(t, r.addr)
	c.Send(guardtest.Connect{ClientID: "late", Username: "homeassistant", Password: "secret"}.Bytes())
	if p := c.Packet(); p[0] != 0x20 || p[3] != 5 {
		t.Errorf("connack % x, want a refusal", p)
	}
	c.ExpectClosed()
	if got := next(t, sink.refused); got.Act != ActLogin {
		t.Errorf("told %+v", got)
	}
	if r.Counters().Sessions != 0 || len(sink.connected) != 0 {
		t.Error("they are in")
	}
}
