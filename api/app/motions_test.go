package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"sensegate/motion"
	"sensegate/store"
)

// watch opens a websocket as a person; it is closed when the test ends.
func (h *household) watch(p person, path string) *websocket.Conn {
	h.T.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+h.Address+"/api/v1"+path, http.Header{"Authorization": {p.token}})
	if err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() { ws.Close() })
	if err := ws.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		h.T.Fatal(err)
	}
	return ws
}

// matrix sends a live report of motion in the kitchen.
func (h *household) matrix() (at motion.Time) {
	h.T.Helper()
	at = h.engine.State.Now()
	h.report(&motion.Matrix{
		TS: at, Interval: 500, Count: 1, Links: []string{kitchenLink}, MotionEnabled: 1,
		Values: motion.Figures{motion.MKAI: {{0.35}}, motion.LRaw: {{0.4}}, motion.Throughput: {{0.98}}, motion.MSAD: {{132.7}}, motion.MConf: {{84.85}}},
		Loc:    []motion.MatrixLoc{{MAC: kitchen, Confidence: 0.82}},
	})
	return at
}

func TestMotionsLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := fmt.Sprintf("/motions?network_id=%d", h.home)
	for _, c := range []struct {
		name   string
		who    person
		path   string
		status int
	}{
		{"no token", person{}, path, 401},
		{"no network", h.nobody, "/motions", 404},
		{"foreign network", h.neighbour, path, 404},
		{"unknown network", h.member, "/motions?network_id=99", 404},
		{"malformed", h.member, "/motions?network_id=%zz", 400},
		{"invalid", h.member, "/motions?network_id=-1", 422},
		{"right", h.member, path, 101},
		{"right, the only network", h.owner, "/motions", 101},
		{"right, as a browser does", person{}, path + "&token=" + h.member.token, 101},
	} {
		header := http.Header{}
		if c.who.token != "" {
			header.Set("Authorization", "Bearer "+c.who.token)
		}
		ws, response, err := websocket.DefaultDialer.Dial("ws://"+h.Address+"/api/v1"+c.path, header)
		if response == nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if response.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.name, response.StatusCode, c.status)
		}
		if ws != nil {
			ws.Close()
		}
	}
	h.climb(http.MethodGet, step{"no websocket", h.member, "/motions", "", 426, "websocket"})
}

func TestMotionsAreFramesOfTheApps(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.reportStatus()
	viewers := []*websocket.Conn{h.watch(h.owner, "/motions"), h.watch(h.member, "/motions/")}
	quiet := h.watch(h.neighbour, "/motions")
	at := h.matrix()
	figures := `"mkai":[0.35],"mkai_original":[0.35],"mkai_scaled":[0.35],"lraw":[0.4],"throughput":[0.98]`
	for _, ws := range viewers {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		exact := fmt.Sprintf(`{"ts":%[1]f,"interval":500,"count":1,"links":[%[2]q],"loc":["02:bb:00:00:00:31",0.82],"loc_name":"Kitchen",
			"last_motion":%[1]f,"motion_tripped":0,"motion_enabled":1,"data":{%[3]s}}`, float64(at), kitchenLink, figures)
		decode(t, frame, &got)
		decode(t, []byte(exact), &want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("frame (-want +got):\n%s", diff)
		}
	}
	if err := quiet.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, frame, err := quiet.ReadMessage(); err == nil {
		t.Errorf("another home's viewer got %s", frame)
	}
}

func TestMotionsEndWithTheMembership(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	gone, stays := h.watch(h.member, "/motions"), h.watch(h.owner, "/motions")
	h.update(func(tx *store.Tx) error {
		m, _, err := tx.MembershipOf(h.home, h.member.ID)
		if err != nil {
			return err
		}
		return tx.DeleteMembership(m.ID)
	})
	h.server.Recheck()
	if _, _, err := gone.ReadMessage(); !websocket.IsCloseError(err, 4404) {
		t.Errorf("the former member: %v, want 4404", err)
	}
	h.matrix()
	if _, frame, err := stays.ReadMessage(); err != nil || !strings.Contains(string(frame), `"mkai":[0.35]`) {
		t.Errorf("the owner: %v %s", err, frame)
	}
}

func TestOneMemberHasAShareOfTheViewers(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for range 16 {
		h.watch(h.member, "/motions")
	}
	_, response, err := websocket.DefaultDialer.Dial("ws://"+h.Address+"/api/v1/motions", http.Header{"Authorization": {h.member.token}})
	if err == nil || response == nil || response.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("the 17th: %v %+v, want 429", err, response)
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), `"too_many_own_connections"`) {
		t.Errorf("the 17th: %v %s", err, body)
	}
	h.watch(h.owner, "/motions")
	h.watch(h.neighbour, "/motions")
}

func TestLiveMotionThatIsSwitchedOffEnds(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := fmt.Sprintf("/networks/%d", h.home)
	watching := h.watch(h.member, "/motions")
	h.climb(http.MethodPut, step{"off", h.owner, path, `{"live_enabled":false}`, 200, `"live_enabled":false`})
	if _, _, err := watching.ReadMessage(); !websocket.IsCloseError(err, 4403) {
		t.Errorf("a viewer: %v", err)
	}
	for _, p := range []person{h.owner, h.member} {
		ws, response, err := websocket.DefaultDialer.Dial("ws://"+h.Address+"/api/v1/motions", http.Header{"Authorization": {p.token}})
		if err == nil {
			ws.Close()
			t.Fatal("a viewer was let in")
		}
		if body, err := io.ReadAll(response.Body); response.StatusCode != 403 || err != nil || !strings.Contains(string(body), `"live_disabled"`) {
			t.Errorf("%d %s %v", response.StatusCode, body, err)
		}
		response.Body.Close()
	}
	h.climb(http.MethodPut, step{"on again", h.owner, path, `{"live_enabled":true}`, 200, `"live_enabled":true`})
	again := h.watch(h.member, "/motions")
	h.matrix()
	if _, _, err := again.ReadMessage(); err != nil {
		t.Errorf("when it is on again: %v", err)
	}
	h.watch(h.neighbour, "/motions") // another home is not concerned
}

// TestMotionBeforeTheClaimIsNotShownLive: to who claims a home while motion is still taken to go on, it has not been.
func TestMotionBeforeTheClaimIsNotShownLive(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.reportStatus()
	now := h.engine.State.Now()
	send := func(at motion.Time, mkai float64) {
		h.report(&motion.Matrix{
			TS: at, Interval: 500, Count: 1, Links: []string{kitchenLink}, MotionEnabled: 1,
			Values: motion.Figures{motion.MKAI: {{mkai}}, motion.LRaw: {{0.4}}, motion.MSAD: {{132.7}}, motion.MConf: {{84.85}}},
		})
	}
	for step := range 20 {
		send(now.Add(-30+0.5*float64(step)), 0.35)
	}
	if got := string(h.as(h.owner, http.MethodGet, "/network_statuses", "").Body); !strings.Contains(got, `"motion_tripped":1`) {
		t.Fatalf("status %s: want motion", got)
	}
	h.claimedAfter(-5)
	ws := h.watch(h.owner, "/motions")
	send(h.engine.State.Now(), 0)
	_, frame, err := ws.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(frame); !strings.Contains(got, `"last_motion":null`) || !strings.Contains(got, `"motion_tripped":0`) {
		t.Errorf("%s shows the motion of those who lived there before", got)
	}
}
