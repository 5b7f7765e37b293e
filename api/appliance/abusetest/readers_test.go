package abusetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"
	"github.com/gorilla/websocket"

	"sensegate/api/appliance/box"
)

// chatter is what an integration user publishes for the MQTT readers, per second and
// in bytes; events of devices that carry as much text are for those of websockets.
const (
	chatterRate  = 50
	chatterBytes = 4 << 10
)

// small gives a socket a small buffer, before it connects: what the kernel takes for
// a reader hides that nobody reads.
func small(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
	})
	if err != nil {
		return err
	}
	return failed
}

// unread has clients subscribe to what happens and then not read it.
func unread(t *testing.T, product string) {
	h := furnish(t, product, "SENSEGATE_HTTP_LIVE_PER_USER=64") // all are of one key
	devices := h.connect(t.Context())
	var user struct{ Secret string }
	made := box.Administer(t, product, h.dir, "mqttuser", "create", "reader", "-json")
	if err := json.Unmarshal([]byte(made), &user); err != nil {
		t.Fatalf("%v: %s", err, made)
	}
	deaf, end := context.WithCancel(t.Context())
	defer end()
	sessions := h.metric("sensegate_mqtt_sessions")
	for i := range *readers {
		conn := h.listen(deaf, fmt.Sprint("reader-", i), user.Secret)
		defer conn.Close()
		ws := h.watch(deaf)
		defer ws.Close()
	}
	if mqtt, ws := h.metric("sensegate_mqtt_sessions"), h.metric(`sensegate_http_live_connections{door="http"}`); mqtt != sessions+*readers || ws != *readers {
		t.Fatalf("%d sessions and %d live connections, want %d and %d", mqtt-sessions, ws, *readers, *readers)
	}
	working, stop := context.WithCancel(t.Context())
	defer stop()
	events := &load{name: "Unread", text: strings.Repeat("text ", chatterBytes/5)}
	var wg sync.WaitGroup
	wg.Go(func() { events.run(working, devices) })
	wg.Go(func() { h.chat(working, user.Secret) })
	began, cut := time.Now(), map[string]time.Duration{}
	h.until(func() bool {
		left := map[string]bool{
			"MQTT":      h.metric("sensegate_mqtt_sessions") <= sessions+1, // the one that chats
			"websocket": h.metric(`sensegate_http_live_connections{door="http"}`) == 0,
		}
		for name := range left {
			if left[name] && cut[name] == 0 {
				cut[name] = time.Since(began)
			}
		}
		return len(cut) == len(left)
	})
	stop()
	wg.Wait()
	for name, took := range cut {
		t.Logf("%d %s clients that do not read are cut after %v", *readers, name, took.Round(10*time.Millisecond))
		if took > cutWithin {
			missed(t, "%s clients that do not read are cut after %v, want %v", name, took, cutWithin)
		}
	}
	events.want(t)
	for _, d := range devices {
		d.Close()
	}
	h.process.Stop()
	h.wantStored(events.acknowledged)
}

// listen subscribes an integration user to its topics and leaves it at that.
func (h *house) listen(ctx context.Context, id, secret string) net.Conn {
	h.t.Helper()
	conn, err := box.Dial(ctx, &net.Dialer{Control: small}, h.process.MQTT, box.Login{ClientID: id, Username: "reader", Password: secret})
	if err != nil {
		h.t.Fatal(err)
	}
	wish := &packets.Subscribe{PacketID: 1, Properties: &packets.Properties{}, Subscriptions: []packets.SubOptions{{Topic: "reader/#", QoS: 1}}}
	if _, err := wish.WriteTo(conn); err != nil {
		h.t.Fatal(err)
	}
	if answer, err := packets.ReadPacket(conn); err != nil || answer.Type != packets.SUBACK {
		h.t.Fatalf("%v, %v, want SUBACK", answer, err)
	}
	return conn
}

// watch opens the websocket of the first home's events and leaves it at that.
func (h *house) watch(ctx context.Context) *websocket.Conn {
	h.t.Helper()
	dialer := websocket.Dialer{NetDialContext: (&net.Dialer{Control: small}).DialContext}
	address := fmt.Sprintf("ws://%s/core/network/%d/events/live", h.process.HTTP, h.tokens[0].Guardian.NetworkID)
	ws, answer, err := dialer.DialContext(ctx, address, http.Header{"Authorization": {h.key}})
	if err != nil {
		h.t.Fatalf("%v: %v", err, answer)
	}
	_ = answer.Body.Close()
	return ws
}

// chat publishes to all readers until ctx ends.
func (h *house) chat(ctx context.Context, secret string) {
	conn, err := box.Dial(ctx, &net.Dialer{}, h.process.MQTT, box.Login{ClientID: "chatter", Username: "reader", Password: secret})
	if err != nil {
		h.t.Error(err)
		return
	}
	defer conn.Close()
	message := &packets.Publish{Topic: "reader/chatter", Payload: make([]byte, chatterBytes), Properties: &packets.Properties{}}
	ticks := time.NewTicker(time.Second / chatterRate)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			if _, err := message.WriteTo(conn); err != nil {
				h.t.Errorf("who writes is cut: %v", err)
				return
			}
		}
	}
}
