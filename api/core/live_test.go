package core_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/store"
)

// dial opens a websocket; it is closed when the test ends.
func (h *home) dial(path string) *websocket.Conn {
	h.T.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+h.Address+"/core"+path, http.Header{"Authorization": {h.all}})
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() { ws.Close() })
	if err := ws.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		h.T.Fatal(err)
	}
	return ws
}

// next reads a text frame.
func next[T any](t testing.TB, ws *websocket.Conn) (value T) {
	t.Helper()
	kind, raw, err := ws.ReadMessage()
	if err != nil || kind != websocket.TextMessage {
		t.Fatalf("frame of kind %d: %v", kind, err)
	}
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return value
}

func TestLiveMotionReachesEveryReader(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	path := fmt.Sprintf("/network/%d/motion/live", h.network)
	readers := []*websocket.Conn{h.dial(path), h.dial(path + "/")}
	quiet := h.dial(fmt.Sprintf("/network/%d/motion/live", h.other))
	h.report(&motion.Matrix{
		TS: h.engine.State.Now(), Interval: 500, Count: 1, Links: []string{kitchenID}, MotionEnabled: 1,
		Values: motion.Figures{motion.MKAI: {{0.35}}, motion.LRaw: {{0.4}}, motion.Throughput: {{0.98}}, motion.MSAD: {{132.7}}, motion.MConf: {{84.85}}},
		Loc:    []motion.MatrixLoc{{MAC: kitchen, Confidence: 0.82}},
	})
	for _, ws := range readers {
		frame := next[motion.LiveFrame](t, ws)
		if frame.Interval != 500 || frame.Count != 1 || len(frame.Links) != 1 || frame.Links[0] != kitchenID ||
			frame.Data.MKAI[0] == nil || *frame.Data.MKAI[0] != 0.35 || frame.LocName != "Kitchen" {
			t.Errorf("%+v", frame)
		}
	}
	if err := quiet.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, frame, err := quiet.ReadMessage(); err == nil {
		t.Errorf("another network's reader got %s", frame)
	}
}

func TestRefreshTellsUntilWhen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	type refreshed struct {
		NetworkID motion.NetworkID `json:"network_id"`
		Live      bool             `json:"live"`
		ExpiresAt motion.Time      `json:"expires_at"`
	}
	got := apitest.Want[refreshed](t, h.post(fmt.Sprintf("/network/%d/motion/refresh", h.network), ""), 200)
	if ahead := got.ExpiresAt.Since(h.engine.State.Now()); got.NetworkID != h.network || !got.Live || ahead < 50 || ahead > 60 {
		t.Errorf("%+v", got)
	}
	apitest.WantProblem(t, h.post("/network/99/motion/refresh", ""), 404, "network 99")
}

func TestLiveEventsAreTheStoredOnes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := fmt.Sprintf("/network/%d/events/live", h.network)
	all, links, stops := h.dial(path), h.dial(path+"?filter=Link,System"), h.dial(path+"?event_types=MotionStoppedEvent")
	detected, stopped := h.motionPair(1764000000.5, 1764000121)
	link := h.createEvent(`"category":"Link","event":"LinkConnectedEvent"`)
	for _, event := range []motion.Event{detected, stopped, link} {
		if got := next[motion.Event](t, all); got.ID != event.ID || got.TS != event.TS {
			t.Errorf("%+v, want %+v", got, event)
		}
	}
	if got := next[motion.Event](t, links); got.ID != link.ID {
		t.Errorf("filter: %+v", got)
	}
	if got := next[motion.Event](t, stops); got.ID != stopped.ID {
		t.Errorf("event_types: %+v", got)
	}
}

func TestUnarmedEventIsNotPushed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.change(func(n *motion.Network) {
		n.GuardianConfig = motion.Document{"motion_events": map[string]any{"armed": 0}}
	})
	ws := h.dial(fmt.Sprintf("/network/%d/events/live", h.network))
	h.createEvent(`"category":"Motion","event":"MotionDetectedEvent"`)
	link := h.createEvent(`"category":"Link","event":"LinkConnectedEvent"`)
	if got := next[motion.Event](t, ws); got.ID != link.ID {
		t.Errorf("pushed %+v", got)
	}
}

// TestLiveStreamsEndWithTheEngineAsWithTheAppliance has the engine end before the server,
// as it does when it does not know what is on the disk: the network is still there.
func TestLiveStreamsEndWithTheEngineAsWithTheAppliance(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	streams := map[string]*websocket.Conn{}
	for _, of := range []string{"motion", "events"} {
		streams[of] = h.dial(fmt.Sprintf("/network/%d/%s/live", h.network, of))
	}
	h.stopEngine()
	for of, ws := range streams {
		wantEnd(t, of, ws, websocket.CloseGoingAway)
	}
	wantEnd(t, "one that comes late", h.dial(fmt.Sprintf("/network/%d/motion/live", h.network)), websocket.CloseGoingAway)
}

// wantEnd reads a stream to its end.
func wantEnd(t *testing.T, what string, ws *websocket.Conn, code int) {
	t.Helper()
	var err error
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	if !websocket.IsCloseError(err, code) {
		t.Errorf("%s: %v, want %d", what, err, code)
	}
}

func TestLiveStreamsOfADeletedNetworkEndAs404(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	streams := map[string]*websocket.Conn{}
	for _, of := range []string{"motion", "events"} {
		streams[of] = h.dial(fmt.Sprintf("/network/%d/%s/live", h.network, of))
	}
	if err := h.engine.Devices.DeleteNetwork(t.Context(), h.network, func(*store.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for of, ws := range streams {
		wantEnd(t, of, ws, 4404)
	}
}
