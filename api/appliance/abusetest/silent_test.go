package abusetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sensegate/api/appliance/box"
)

// silenced fills each of the four listeners with connections that say nothing or half
// of something, each from an address of its own, and wants a resident and a device to
// get in, and those who are in to stay.
func silenced(t *testing.T, product string) {
	room := fmt.Sprint(*mutes / 2)
	h := furnish(t, product, "SENSEGATE_HTTP_MAX_CONNECTIONS="+room, "SENSEGATE_MQTT_MAX_CONNECTIONS="+room,
		"SENSEGATE_HTTP_TLS_LISTEN=127.0.0.1:0", "SENSEGATE_MQTT_TLS_LISTEN=127.0.0.1:0")
	devices := h.connect(t.Context())
	ws := h.watch(t.Context())
	defer ws.Close()
	https, mqtts := h.overTLS()
	trust := x509.NewCertPool()
	if _, pem := h.request(http.MethodGet, "/ca.pem", "", ""); !trust.AppendCertsFromPEM(pem) {
		t.Fatalf("the authority's certificate: %s", pem)
	}
	secure := &tls.Dialer{Config: &tls.Config{RootCAs: trust}}
	hello := string([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}) // the first bytes of a TLS handshake
	working, stop := context.WithCancel(t.Context())
	events := &load{name: "Silence"}
	ended := make(chan struct{})
	go func() { defer close(ended); events.run(working, devices) }()
	for _, l := range []struct {
		name, address string
		mqtt          bool
		dialer        box.Dialer
		says          []string
	}{
		{"HTTP", h.process.HTTP, false, &net.Dialer{}, []string{"", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", "POST /api/v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{"}},
		{"HTTPS", https, false, secure, []string{"", hello}},
		{"MQTT", h.process.MQTT, true, &net.Dialer{}, []string{"", "\x10\x7f\x00\x04MQTT"}},
		{"MQTT over TLS", mqtts, true, secure, []string{"", hello}},
	} {
		mute := crowdOut(t, l.address, l.says)
		began := time.Now()
		var err error
		if l.mqtt {
			err = h.logIn(t.Context(), l.dialer, l.address)
		} else {
			err = h.visitor(t.Context(), l.dialer, l.address)
		}
		took := time.Since(began)
		if err != nil {
			t.Errorf("%s: %d connections keep a resident out: %v", l.name, len(mute), err)
		}
		t.Logf("%s: %d silent connections at room for %s, one more is answered after %v", l.name, len(mute), room, took.Round(10*time.Microsecond))
		if took > inWithin {
			missed(t, "%s: answered after %v, want %v", l.name, took, inWithin)
		}
		for _, conn := range mute {
			_ = conn.Close()
		}
	}
	stop()
	<-ended
	events.want(t)
	t.Logf("gave way: %d over HTTP, %d over MQTT; turned away: %d and %d", h.metric(`sensegate_http_gave_way_total{door="http"}`),
		h.metric("sensegate_mqtt_gave_way_total"), h.metric(`sensegate_http_turned_away_total{door="http"}`), h.metric("sensegate_mqtt_turned_away_total"))
	if n := h.metric(`sensegate_http_live_connections{door="http"}`); n != 1 {
		t.Errorf("%d viewers are left, want the one that came first", n)
	}
	for _, d := range devices {
		d.Close()
	}
	h.process.Stop()
	h.wantStored(events.acknowledged)
}

// crowdOut opens connections to a listener, each from another address of loopback, and says
// too little on each for an answer.
func crowdOut(t *testing.T, address string, says []string) (open []net.Conn) {
	t.Helper()
	for i := range *mutes {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(i/250), byte(1+i%250))}}
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatalf("connection %d: %v", i+1, err)
		}
		_, _ = io.WriteString(conn, says[i%len(says)]) // it may have given way by now
		open = append(open, conn)
	}
	return open
}

// visitor makes a request on a connection of its own.
func (h *house) visitor(ctx context.Context, dialer box.Dialer, address string) error {
	scheme := "http"
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	if _, ok := dialer.(*tls.Dialer); ok {
		scheme, transport.DialTLSContext = "https", dialer.DialContext
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+"/core/network/find/id/1", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", h.key)
	client := http.Client{Transport: transport, Timeout: box.Patience}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", answer.Status)
	}
	return nil
}

// logIn opens a session of the last home's other device, which has none.
func (h *house) logIn(ctx context.Context, dialer box.Dialer, address string) error {
	radar := h.tokens[len(h.tokens)-1].Radar
	conn, err := box.Dial(ctx, dialer, address, box.Login{ClientID: radar.DeviceID, Username: "device", Password: radar.MQToken})
	if err != nil {
		return err
	}
	return conn.Close()
}

// overTLS returns the addresses of HTTP and MQTT over TLS, which the log tells.
func (h *house) overTLS() (https, mqtts string) {
	h.t.Helper()
	h.until(func() bool {
		for line := range strings.Lines(h.process.Log()) {
			var said struct {
				Msg          string
				HTTPS, MQTTS net.TCPAddr
			}
			if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "tls" {
				https, mqtts = said.HTTPS.String(), said.MQTTS.String()
			}
		}
		return https != ""
	})
	return https, mqtts
}
