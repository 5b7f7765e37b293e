package browser_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// dial opens live motion of the web app with a new ticket.
func (p *tab) dial(query string) (*websocket.Conn, *http.Response, error) {
	p.box.T.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"sensegate.v1", "ticket." + p.ticket()}}
	ws, answer, err := dialer.DialContext(p.box.T.Context(), "ws://"+p.box.Address+"/web/v1/motions"+query, http.Header{"Origin": {"http://" + p.box.Address}})
	if ws != nil {
		p.box.T.Cleanup(func() { ws.Close() })
		_ = ws.SetReadDeadline(time.Now().Add(time.Minute)) // it is open
	}
	return ws, answer, err
}

func TestMotionsOpenToThoseOfTheHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for name, c := range map[string]struct {
		who    *tab
		query  string
		status int
	}{
		"nobody's":    {b.nobody, "", 404},
		"a foreigner": {b.neighbour, "?network_id=1", 404},
		"unknown":     {b.member, "?network_id=99", 404},
		"malformed":   {b.member, "?network_id=%zz", 400},
		"invalid":     {b.member, "?network_id=-1", 422},
		"a member":    {b.member, "?network_id=1", 101},
		"the owner":   {b.owner, "", 101},
	} {
		if _, answer, err := c.who.dial(c.query); answer == nil || answer.StatusCode != c.status {
			t.Errorf("%s: %v, %v, want %d", name, answer, err, c.status)
		}
	}
}

// guardian connects the guardian of the home.
func (b *box) guardian() motion.DeviceKey {
	b.T.Helper()
	const location = "a41f00c2d97b4e5580136c2e"
	key, err := b.engine.Devices.Login(b.T.Context(), location, b.tokens[location])
	if err != nil {
		b.T.Fatal(err)
	}
	b.engine.State.Connected(key, netip.MustParseAddr("127.0.0.1"))
	return key
}

// TestMotionsTellHowNearLinksAreToTheirThresholds: the first link exceeds its own threshold by half,
// the second one tells none and has no data.
func TestMotionsTellHowNearLinksAreToTheirThresholds(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.kitchen("Kitchen")
	ws, _, err := b.member.dial("")
	if err != nil {
		t.Fatal(err)
	}
	report := &motion.Matrix{
		TS: b.engine.State.Now(), Interval: 500, Count: 1, Links: []string{"GWA0110.02bb00000031", "GWA0110.02bb00000032"}, MotionEnabled: 1,
		Values: motion.Figures{motion.MKAI: {{0.35}, {0}}, motion.LRaw: {{0.4}, {0}}, motion.Throughput: {{0.98}, {0}}, motion.MSAD: {{150}, {0}}, motion.MConf: {{100}, {0}}},
	}
	if err := b.engine.Report(t.Context(), b.guardian(), report); err != nil {
		t.Fatal(err)
	}
	_, raw, err := ws.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	var frame struct {
		Links, Rooms []string
		Data         map[string][]*float64
	}
	if err := json.Unmarshal(raw, &frame); err != nil {
		t.Fatal(err)
	}
	half, some, much := 1.5, 0.4, 0.35
	want := map[string][]*float64{"mkai": {&much, nil}, "lraw": {&some, nil}, "reach": {&half, nil}}
	if diff := cmp.Diff(want, frame.Data); diff != "" || !cmp.Equal(frame.Links, report.Links) || !cmp.Equal(frame.Rooms, []string{"Kitchen"}) {
		t.Errorf("%s (-want +got)\n%s", raw, diff)
	}
}

func TestMotionsEndWhenTheOwnerSwitchesThemOff(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	ws, _, err := b.member.dial("")
	if err != nil {
		t.Fatal(err)
	}
	apitest.Want[any](t, b.owner.askApp(http.MethodPut, "/networks/1", `{"live_enabled":false}`), 200)
	if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, 4403) {
		t.Errorf("a viewer: %v", err)
	}
	if _, answer, err := b.owner.dial(""); answer == nil || answer.StatusCode != 403 {
		t.Errorf("afterwards: %v %v", answer, err)
	}
}
