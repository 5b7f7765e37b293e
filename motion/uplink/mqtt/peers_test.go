package mqtt_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"sensegate/motion/fault"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
	"sensegate/motion/uplink/uplinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of the tests.
const patience = time.Minute

// impatient is how long the brokers of these tests have for each answer.
const impatient = 300 * time.Millisecond

func target(text string) uplink.Target {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return uplink.Target{URL: u, TLS: &tls.Config{}, ClientID: "box", Answer: impatient, Status: "a/availability"}
}

// dial connects, says that it is online, and closes the connection with the test.
func dial(t *testing.T, to uplink.Target) (*mqtt.Connection, error) {
	t.Helper()
	c, err := mqtt.Dial(t.Context(), to, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	t.Cleanup(c.Close)
	return c, c.Online(t.Context())
}

// peer listens as somebody who speaks as serve says; it returns its address.
func peer(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			done := make(chan struct{})
			stop := context.AfterFunc(t.Context(), func() { conn.Close() })
			go func() {
				defer close(done)
				serve(conn)
			}()
			<-done
			stop()
			conn.Close()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-ended })
	return listener.Addr().String()
}

// accepted is a CONNACK.
var accepted = []byte{0x20, 2, 0, 0}

// silent takes everything in and says nothing.
func silent(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// saying says something and is silent then.
func saying(what ...[]byte) func(net.Conn) {
	return func(conn net.Conn) {
		head := make([]byte, 2)
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		for _, one := range what {
			_, _ = conn.Write(one)
		}
		silent(conn)
	}
}

// wantFailure expects a failure with this text.
func wantFailure(t *testing.T, err error, step uplink.Step, slow bool, text string) {
	t.Helper()
	var f *uplink.Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v is no failure in words", err)
	}
	if f.Text != text || f.Step != step || f.Slow != slow {
		t.Errorf("%s (%s, slow %v), want %s (%s, slow %v); it was %v", f.Text, f.Step, f.Slow, text, step, slow, f.Err)
	}
}

func TestBadPeersAreToldInWords(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(nil)
	t.Cleanup(web.Close)
	secure := httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	host := func(address string) string { _, rest, _ := strings.Cut(address, "://"); return rest }
	closed := peer(t, func(net.Conn) {})
	mute := peer(t, silent)
	code := func(n byte) string { return peer(t, saying([]byte{0x20, 2, 0, n})) }
	refuses, unavailable, rejects, old, unauthorised := code(4), code(3), code(2), code(1), code(5)
	deaf := peer(t, saying(accepted))
	huge := peer(t, saying([]byte{0x20, 0xff, 0xff, 0xff, 0x7f}))
	nonsense := peer(t, saying([]byte{0x20, 1, 0}))
	nothing := freePort(t)
	page := peer(t, saying([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")))
	alert := peer(t, saying([]byte{0x15, 3, 1, 0, 2, 2, 40}))
	for name, c := range map[string]struct {
		url  string
		user string
		step uplink.Step
		slow bool
		want string
	}{
		"nothing listens":       {"mqtt://" + nothing, "", uplink.Reach, false, "nothing listens at " + nothing + ": check host and port, and that the broker runs"},
		"no such host":          {"mqtt://nowhere.invalid:1883", "", uplink.Reach, false, "no host nowhere.invalid is known: check its name"},
		"wrong password":        {"mqtt://" + refuses, "u", uplink.Login, true, "the broker at " + refuses + " refuses this user name and password: check both"},
		"not authorised":        {"mqtt://" + unauthorised, "u", uplink.Login, true, "the broker at " + unauthorised + " refuses this user name and password: check both"},
		"no password":           {"mqtt://" + unauthorised, "", uplink.Login, true, "the broker at " + unauthorised + " lets nobody in without a user name: set username and password"},
		"unavailable":           {"mqtt://" + unavailable, "", uplink.Login, false, "the broker at " + unavailable + " says that it is not available now"},
		"client id refused":     {"mqtt://" + rejects, "", uplink.Login, true, "the broker at " + rejects + " does not take the client id box: set another client_id"},
		"another version":       {"mqtt://" + old, "", uplink.Login, true, "the broker at " + old + " does not speak MQTT 3.1.1: use one that does"},
		"a web server":          {"mqtt://" + page, "", uplink.Login, false, "what answers at " + page + " is not an MQTT broker: check host and port"},
		"a port for TLS":        {"mqtt://" + alert, "", uplink.Login, false, alert + " wants TLS on this port: use mqtts:// (or wss://), or its port without TLS (often 1883)"},
		"a port without TLS":    {"mqtts://" + host(web.URL), "", uplink.Reach, false, host(web.URL) + " does not speak TLS: use the port for TLS (often 8883), or mqtt:// if the connection needs no protection"},
		"it closes":             {"mqtt://" + closed, "", uplink.Login, false, closed + " closed the connection without a word: check that this is the broker's port, whether it wants TLS, and that it allows the client id box"},
		"it closes before TLS":  {"mqtts://" + closed, "", uplink.Reach, false, closed + " closed the connection while TLS was set up: check that this port is the one for TLS (often 8883)"},
		"it never answers":      {"mqtt://" + mute, "", uplink.Login, false, mute + " takes connections but did not answer for 300ms: check that an MQTT broker listens there"},
		"it never acknowledges": {"mqtt://" + deaf, "", uplink.Publish, false, "the broker at " + deaf + " did not acknowledge a message for 300ms: it is overloaded, or this user may not publish there"},
		"a huge answer":         {"mqtt://" + huge, "", uplink.Login, false, "what answers at " + huge + " is not an MQTT broker: check host and port"},
		"a damaged answer":      {"mqtt://" + nonsense, "", uplink.Login, false, "what answers at " + nonsense + " is not an MQTT broker: check host and port"},
		"no websocket":          {"ws://" + host(web.URL), "", uplink.Reach, false, host(web.URL) + " opens no websocket (404 Not Found): check the path in the url, often /mqtt"},
		"unknown authority":     {"mqtts://" + host(secure.URL), "", uplink.Reach, false, "the certificate of " + host(secure.URL) + " is from an authority that this box does not know: set ca to that authority's certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := target(c.url)
			to.Username, to.Password = c.user, "secret"
			_, err := dial(t, to)
			wantFailure(t, err, c.step, c.slow, c.want)
			if strings.Contains(fmt.Sprint(err), "secret") {
				t.Error("the password is shown")
			}
		})
	}
}

// freePort returns an address that nothing listens at.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	return listener.Addr().String()
}

func TestCertificatesAreToldInWords(t *testing.T) {
	t.Parallel()
	authority, other := uplinktest.NewAuthority(t), uplinktest.NewAuthority(t)
	start := func(name string, valid time.Duration, clients string) *uplinktest.Broker {
		certificate, key := authority.Issue(name, valid)
		return uplinktest.Start(t, uplinktest.Options{Certificate: certificate, Key: key, Clients: clients})
	}
	right, expired, misnamed := start("127.0.0.1", time.Hour, ""), start("127.0.0.1", -time.Hour, ""), start("broker.lan", time.Hour, "")
	strict := start("127.0.0.1", time.Hour, authority.PEM)
	pair := func(a *uplinktest.Authority, valid time.Duration) *tls.Certificate {
		certificate, key := a.Issue("box", valid)
		made, err := tls.X509KeyPair([]byte(certificate), []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return &made
	}
	for name, c := range map[string]struct {
		broker *uplinktest.Broker
		own    *tls.Certificate
		step   uplink.Step
		slow   bool
		want   string // without the host; "": it connects
	}{
		"all is right":         {right, nil, "", false, ""},
		"expired":              {expired, nil, uplink.Reach, false, "the certificate of HOST has expired: renew it at the broker"},
		"another name":         {misnamed, nil, uplink.Reach, false, "the certificate of HOST is for another name: use a name in the url that the certificate has"},
		"no own certificate":   {strict, nil, uplink.Login, true, "HOST wants a client certificate: set client_certificate and client_key"},
		"own certificate":      {strict, pair(authority, time.Hour), "", false, ""},
		"of somebody else":     {strict, pair(other, time.Hour), uplink.Login, true, "HOST does not accept the client certificate: use one of an authority that the broker knows, and check that it has not expired"},
		"own that has expired": {strict, pair(authority, -time.Hour), uplink.Login, true, "client_certificate, which HOST asks for, has expired: renew it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := target(c.broker.URL())
			to.Answer = patience
			to.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
			to.TLS.RootCAs.AppendCertsFromPEM([]byte(authority.PEM))
			if c.own != nil {
				to.TLS.Certificates = []tls.Certificate{*c.own}
			}
			_, err := dial(t, to)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantFailure(t, err, c.step, c.slow, strings.ReplaceAll(c.want, "HOST", c.broker.Address()))
		})
	}
}

// publish is a PUBLISH at QoS 0.
func publish(topic, payload string) []byte {
	body := append([]byte{byte(len(topic) >> 8), byte(len(topic))}, topic+payload...)
	return append(packet(0x30, len(body)), body...)
}

// packet is the head of a packet.
func packet(kind byte, length int) []byte {
	head := []byte{kind}
	for {
		digit := byte(length % 128)
		if length /= 128; length > 0 {
			digit |= 0x80
		}
		if head = append(head, digit); length == 0 {
			return head
		}
	}
}

// TestRubbishDisturbsNothing has a broker send what it must not: a message that is too long, one to
// another topic, acknowledgements of nothing, and a SUBACK with too many codes, which made another
// client panic.
func TestRubbishDisturbsNothing(t *testing.T) {
	t.Parallel()
	address := peer(t, func(conn net.Conn) {
		write := func(parts ...[]byte) {
			for _, part := range parts {
				_, _ = conn.Write(part)
			}
		}
		buffer := make([]byte, 4096)
		_, _ = conn.Read(buffer)
		write(accepted)
		n, _ := conn.Read(buffer) // SUBSCRIBE a/b, packet id in bytes 2 and 3
		if n < 4 {
			return
		}
		write([]byte{0x40, 2, 0, 99}, []byte{0x90, 6, 0, 77, 1, 1, 1, 1}, publish("a/c", "of somebody else"))
		write(packet(0x30, 300<<10), make([]byte, 300<<10))
		write([]byte{0x90, 3, buffer[2], buffer[3], 0}, publish("a/b", "right"))
		write([]byte{0x90, 6, buffer[2], buffer[3], 0, 0, 0, 0}, publish("a/b", "after it"))
		silent(conn)
	})
	to := target("mqtt://" + address)
	to.Status, to.Answer = "", patience
	c, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 10)
	if err := c.Subscribe(t.Context(), "a/b", func(m uplink.Message) { heard <- string(m.Payload) }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"right", "after it"} {
		select {
		case got := <-heard:
			if got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
		case <-time.After(patience):
			t.Fatal("nothing was heard")
		}
	}
	if got := c.Traffic(); got.Refused != 1 {
		t.Errorf("%+v", got)
	}
}

func TestPanicOfAReaderEndsTheConnectionAlone(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	to := target(broker.URL())
	to.Answer = patience
	c, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Subscribe(t.Context(), "#", func(uplink.Message) { panic("a mistake") }); err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(t.Context(), uplink.Message{Topic: "x"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Ended():
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
}

func TestUnacknowledgedMessageEndsTheConnection(t *testing.T) {
	t.Parallel()
	to := target("mqtt://" + peer(t, saying(accepted)))
	to.Status = ""
	c, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Publish(t.Context(), uplink.Message{Topic: "x", QoS: 1}); err == nil {
		t.Error("acknowledged")
	}
	<-c.Ended()
	wantFailure(t, c.Err(), uplink.Publish, false, "the broker at "+to.URL.Host+" did not acknowledge a message for 300ms: it is overloaded, or this user may not publish there")
	if err := c.Publish(t.Context(), uplink.Message{Topic: "x"}); err == nil {
		t.Error("sent after the end")
	}
}

func TestWrongMessagesAreRefused(t *testing.T) {
	t.Parallel()
	to := target("mqtt://" + peer(t, saying(accepted)))
	to.Status, to.Answer = "", patience
	c, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []uplink.Message{
		{Topic: ""}, {Topic: "a/#"}, {Topic: "a/+/b"}, {Topic: "a\x00"}, {Topic: strings.Repeat("a", 2000)}, {Topic: "\xff"},
		{Topic: "a", QoS: 2}, {Topic: "a", Payload: make([]byte, 300<<10)},
	} {
		if err := c.Publish(t.Context(), m); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%.40q: %v", m.Topic, err)
		}
	}
	if c.Err() != nil {
		t.Error(c.Err())
	}
}

// TestBrokerThatDoesNotReadHoldsNobodyUp offers more than the sockets hold.
func TestBrokerThatDoesNotReadHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	to := target("mqtt://" + peer(t, func(conn net.Conn) {
		_, _ = conn.Write(accepted)
		<-t.Context().Done()
	}))
	to.Status, to.Answer = "", patience
	c, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 200<<10)
	for range 600 {
		c.Offer(uplink.Message{Topic: "x", Payload: large})
	}
	if got := c.Traffic(); got.Dropped == 0 || got.Queue == 0 {
		t.Errorf("%+v", got)
	}
}

func TestWillTellsThatTheApplianceHasGone(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader := broker.Listen("a/#")
	to := target(broker.URL())
	to.Answer = patience
	first, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	want := func(status string) {
		t.Helper()
		if m := reader.Next(); m.Topic != "a/availability" || string(m.Payload) != status {
			t.Fatalf("%s %s, want %s", m.Topic, m.Payload, status)
		}
	}
	want("online")
	second, err := dial(t, to) // with the same client id: the broker ends the first, and publishes its will
	if err != nil {
		t.Fatal(err)
	}
	<-first.Ended()
	var f *uplink.Failure
	if err := first.Err(); !errors.As(err, &f) || !f.Closed {
		t.Errorf("%v", err)
	}
	want("offline")
	want("online")
	second.Close()
	want("offline")
	if second.Err() != nil {
		t.Error(second.Err())
	}
}

// tunnel serves websockets that lead to a broker.
func tunnel(t *testing.T, address string) http.Handler {
	upgrader := websocket.Upgrader{Subprotocols: []string{"mqtt"}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := upgrader.Upgrade(w, r, nil)
		if err != nil || ws.Subprotocol() != "mqtt" || r.URL.Path != "/mqtt" {
			t.Errorf("%v, %s", err, r.URL)
			return
		}
		defer ws.Close()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		go func() {
			defer conn.Close()
			for {
				_, message, err := ws.ReadMessage()
				if err != nil {
					return
				}
				_, _ = conn.Write(message)
			}
		}()
		buffer := make([]byte, 1000) // cuts packets anywhere
		for {
			n, err := conn.Read(buffer)
			if err != nil || ws.WriteMessage(websocket.BinaryMessage, buffer[:n]) != nil {
				return
			}
		}
	})
}

func TestWebsocketCarriesMQTT(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	server := httptest.NewTLSServer(tunnel(t, broker.Address()))
	t.Cleanup(server.Close)
	to := target(strings.Replace(server.URL, "https://", "wss://", 1))
	to.Answer = patience
	to.TLS = &tls.Config{RootCAs: x509.NewCertPool()}
	to.TLS.RootCAs.AddCert(server.Certificate())
	c, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan uplink.Message, 1)
	if err := c.Subscribe(t.Context(), "x/+", func(m uplink.Message) { heard <- m }); err != nil {
		t.Fatal(err)
	}
	payload := strings.Repeat("long", 20_000)
	if err := c.Publish(t.Context(), uplink.Message{Topic: "x/y", Payload: []byte(payload), QoS: 1}); err != nil {
		t.Fatal(err)
	}
	select {
	case m := <-heard:
		if string(m.Payload) != payload {
			t.Errorf("%d bytes", len(m.Payload))
		}
	case <-time.After(patience):
		t.Error("not heard")
	}
}

func TestSubscriptionThatIsRefusedIsTold(t *testing.T) {
	t.Parallel()
	address := peer(t, func(conn net.Conn) {
		buffer := make([]byte, 4096)
		_, _ = conn.Read(buffer)
		_, _ = conn.Write(accepted)
		_, _ = conn.Read(buffer)
		_, _ = conn.Write([]byte{0x90, 3, buffer[2], buffer[3], 0x80})
		silent(conn)
	})
	to := target("mqtt://" + address)
	to.Status, to.Answer = "", patience
	c, err := dial(t, to)
	if err != nil {
		t.Fatal(err)
	}
	err = c.Subscribe(t.Context(), "secret/#", func(uplink.Message) {})
	if err == nil || err.Error() != "the broker at "+address+" does not let this user read secret/#: give them the right to" {
		t.Error(err)
	}
}
