package core_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/motion"
)

// call is one request of the ladder.
type call struct{ path, body string }

// ladder is how each operation is climbed; %[1]d is the first network, EVENT
// an event of it. An empty path skips the step.
type ladder struct {
	right, malformed, invalid call
}

func ladders() map[string]ladder {
	malformedQuery := func(path string) call { return call{path: path + "?x=%zz"} }
	event := `{"ts":1764000000.5,"network_id":%[1]d,"category":"Network","event":"LinkCreatedEvent"}`
	return map[string]ladder{
		"GET /network/{network_id}/meta": {
			call{path: "/network/%[1]d/meta"}, malformedQuery("/network/%[1]d/meta"), call{path: "/network/x/meta"}},
		"POST /network/{network_id}/meta": {
			call{"/network/%[1]d/meta", `{"guardian_env":"local","note":"x"}`}, call{"/network/%[1]d/meta", `{"note":`},
			call{"/network/%[1]d/meta", `{"motion_paused":2}`}},
		"PATCH /network/{network_id}/meta": {
			call{"/network/%[1]d/meta?key=home&update=true", `{"cooldown":90}`}, call{"/network/%[1]d/meta", `{]`},
			call{"/network/%[1]d/meta", `{"motion_paused":2}`}},
		"GET /network/{network_id}/sounding/settings": {
			call{path: "/network/%[1]d/sounding/settings/"}, malformedQuery("/network/%[1]d/sounding/settings"), call{path: "/network/x/sounding/settings"}},
		"PATCH /network/{network_id}/sounding/settings": {
			call{"/network/%[1]d/sounding/settings", `{"sensitivity":2}`}, call{"/network/%[1]d/sounding/settings", `"`},
			call{"/network/%[1]d/sounding/settings", `{"mesh_sounding_disabled":[]}`}},
		"GET /network/{network_id}/sounding/clients": {
			call{path: "/network/%[1]d/sounding/clients"}, malformedQuery("/network/%[1]d/sounding/clients"), call{path: "/network/0.5/sounding/clients"}},
		"PATCH /network/{network_id}/sounding/clients": {
			call{"/network/%[1]d/sounding/clients", `{"devices":[{"mac":"02:bb:00:00:00:31","location":"Küche"}]}`}, call{"/network/%[1]d/sounding/clients", `{`},
			call{"/network/%[1]d/sounding/clients", `{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity":2}]}`}},
		"POST /network/{network_id}/deviceinfo": {
			call{"/network/%[1]d/deviceinfo", `{"mac":"02:bb:00:00:00:31","model":"S1"}`}, call{"/network/%[1]d/deviceinfo", `{"mac"}`},
			call{"/network/%[1]d/deviceinfo", `{"mac":"nothing"}`}},
		"POST /network/{network_id}/config/update": {
			call{path: "/network/%[1]d/config/update"}, malformedQuery("/network/%[1]d/config/update"), call{path: "/network/x/config/update"}},
		"POST /network/{network_id}/config/reset": {
			call{path: "/network/%[1]d/config/reset?keepStatus=true"}, call{path: "/network/%[1]d/config/reset?keepRadar=perhaps"},
			call{}},
		"GET /network/{network_id}/config/guardian": {
			call{path: "/network/%[1]d/config/guardian"}, malformedQuery("/network/%[1]d/config/guardian"), call{path: "/network/x/config/guardian"}},
		"POST /network/{network_id}/config/guardian": {
			call{"/network/%[1]d/config/guardian", `{"motion_events":{"cooldown":60}}`}, call{"/network/%[1]d/config/guardian", `{,}`}, call{"/network/%[1]d/config/guardian", `{"motion_events":{"sens":5}}`}},
		"PATCH /network/{network_id}/config/guardian": {
			call{"/network/%[1]d/config/guardian", `{"motion_events":{"cooldown":60}}`}, call{"/network/%[1]d/config/guardian", `{,}`}, call{"/network/%[1]d/config/guardian", `{"motion_events":{"sens":5}}`}},
		"GET /network/{network_id}/config/radar": {
			call{path: "/network/%[1]d/config/radar"}, malformedQuery("/network/%[1]d/config/radar"), call{path: "/network/x/config/radar"}},
		"POST /network/{network_id}/config/radar": {
			call{"/network/%[1]d/config/radar", `{"log_level":"debug"}`}, call{"/network/%[1]d/config/radar", `{,}`}, call{"/network/%[1]d/config/radar", `{"log_level":"loud"}`}},
		"PATCH /network/{network_id}/config/radar": {
			call{"/network/%[1]d/config/radar", `{"log_level":"debug"}`}, call{"/network/%[1]d/config/radar", `{,}`}, call{"/network/%[1]d/config/radar", `{"log_level":"loud"}`}},
		"GET /network/{network_id}/motion/history/state": {
			call{path: "/network/%[1]d/motion/history/state"}, malformedQuery("/network/%[1]d/motion/history/state"),
			call{path: "/network/%[1]d/motion/history/state?bucket=0"}},
		"GET /network/{network_id}/motion/history/intensity": {
			call{path: "/network/%[1]d/motion/history/intensity/"}, malformedQuery("/network/%[1]d/motion/history/intensity"),
			call{path: "/network/%[1]d/motion/history/intensity?from=2&to=1"}},
		"GET /network/{network_id}/motion/history/density": {
			call{path: "/network/%[1]d/motion/history/density?bucket=60"}, malformedQuery("/network/%[1]d/motion/history/density"),
			call{path: "/network/%[1]d/motion/history/density?from=NaN"}},
		"GET /network/{network_id}/motion/history/state_blocks": {
			call{path: "/network/%[1]d/motion/history/state_blocks"}, malformedQuery("/network/%[1]d/motion/history/state_blocks"),
			call{path: "/network/%[1]d/motion/history/state_blocks?density_bucket=4"}},
		"GET /network/{network_id}/motion/live": {
			call{}, malformedQuery("/network/%[1]d/motion/live"), call{}},
		"POST /network/{network_id}/motion/{realtime_provider}": {
			call{path: "/network/%[1]d/motion/mqtt"}, malformedQuery("/network/%[1]d/motion/mqtt"), call{path: "/network/x/motion/mqtt"}},
		"POST /network/{network_id}/motion/refresh": {
			call{path: "/network/%[1]d/motion/refresh"}, malformedQuery("/network/%[1]d/motion/refresh"), call{path: "/network/x/motion/refresh"}},
		"GET /network/{network_id}/events/history": {
			call{path: "/network/%[1]d/events/history"}, malformedQuery("/network/%[1]d/events/history"),
			call{path: "/network/%[1]d/events/history?last=1001"}},
		"GET /network/{network_id}/events/live": {
			call{}, malformedQuery("/network/%[1]d/events/live"), call{}},
		"POST /network/{network_id}/events/tag": {
			call{path: "/network/%[1]d/events/tag?eventid=EVENT&tag=Human"}, malformedQuery("/network/%[1]d/events/tag"),
			call{path: "/network/%[1]d/events/tag?tag=Human"}},
		"POST /network/{network_id}/events/create": {
			call{"/network/%[1]d/events/create", event}, call{"/network/%[1]d/events/create", `{"ts":`},
			call{"/network/%[1]d/events/create", `{"ts":1764000000,"network_id":%[1]d,"category":"Weather","event":"Rain"}`}},
		"GET /network/{network_id}/events/pairs": {
			call{path: "/network/%[1]d/events/pairs"}, malformedQuery("/network/%[1]d/events/pairs"),
			call{path: "/network/%[1]d/events/pairs?last=0"}},
		"GET /network/{network_id}/topology": {
			call{path: "/network/%[1]d/topology"}, call{path: "/network/%[1]d/topology?offline=perhaps"}, call{}},
		"GET /network/{network_id}/status": {
			call{path: "/network/%[1]d/status"}, malformedQuery("/network/%[1]d/status"), call{path: "/network/%[1]d/status?key=nonsense"}},
		"GET /insights/version": {
			call{path: "/insights/version"}, malformedQuery("/insights/version"), call{}},
		"GET /insights/v2/{network_id}/activity": {
			call{path: "/insights/v2/%[1]d/activity"}, call{path: "/insights/v2/%[1]d/activity?flattened=perhaps"},
			call{}},
		"GET /insights/v2/{network_id}/sleep": {
			call{path: "/insights/v2/%[1]d/sleep?start_date=2025-11-23&end_date=2025-11-24"}, malformedQuery("/insights/v2/%[1]d/sleep"),
			call{path: "/insights/v2/%[1]d/sleep?start_date=2025-11-23"}},
		"GET /insights/v2/{network_id}/activity/daily": {
			call{path: "/insights/v2/%[1]d/activity/daily?start_date=2025-11-23&end_date=2025-11-24&timezone=America/Toronto"}, malformedQuery("/insights/v2/%[1]d/activity/daily"),
			call{path: "/insights/v2/%[1]d/activity/daily?start_date=2025-11-31&end_date=2025-12-01"}},
		"GET /network/{network_id}/location/histogram": {
			call{path: "/network/%[1]d/location/histogram"}, malformedQuery("/network/%[1]d/location/histogram"),
			call{path: "/network/%[1]d/location/histogram?bucket=0"}},
		"GET /network/{network_id}/location/history": {
			call{path: "/network/%[1]d/location/history"}, malformedQuery("/network/%[1]d/location/history"),
			call{path: "/network/%[1]d/location/history?from=2&to=1"}},
		"GET /network/{network_id}/application/settings": {
			call{path: "/network/%[1]d/application/settings"}, malformedQuery("/network/%[1]d/application/settings"), call{path: "/network/x/application/settings"}},
		"POST /network/{network_id}/application/settings": {
			call{"/network/%[1]d/application/settings", `{"timezone":"America/Toronto"}`}, call{"/network/%[1]d/application/settings", `{"timezone":`},
			call{"/network/%[1]d/application/settings", `{}`}},
		"PATCH /network/{network_id}/application/settings": {
			call{"/network/%[1]d/application/settings", `{"sleep_hour":22}`}, call{"/network/%[1]d/application/settings", `{`},
			call{"/network/%[1]d/application/settings", `{"sleep_hour":24}`}},
		"DELETE /network/{network_id}/application/settings": {
			call{path: "/network/%[1]d/application/settings"}, malformedQuery("/network/%[1]d/application/settings"), call{path: "/network/x/application/settings"}},
		"GET /api/v1/universal-alert": {
			call{path: alertPath}, malformedQuery("/api/v1/universal-alert"), call{path: "/api/v1/universal-alert"}},
		"POST /api/v1/universal-alert": {
			call{alertPath, riseAndShine}, call{alertPath, `{"enabled":`}, call{alertPath, `{"enabled":true}`}},
		"GET /api/v1/universal-alert/status": {
			call{path: "/api/v1/universal-alert/status?network_id=%[1]d"}, call{path: "/api/v1/universal-alert/status?network_id=x"},
			call{}},
		"GET /api/v1/universal-alert/{uuid}": {
			call{path: "/api/v1/universal-alert/ALERT?network_id=%[1]d"}, malformedQuery("/api/v1/universal-alert/ALERT"),
			call{path: "/api/v1/universal-alert/ALERT"}},
		"DELETE /api/v1/universal-alert/{uuid}": {
			call{path: "/api/v1/universal-alert/ALERT?network_id=%[1]d"}, malformedQuery("/api/v1/universal-alert/ALERT"),
			call{path: "/api/v1/universal-alert/2255?network_id=%[1]d"}},
		"PATCH /api/v1/universal-alert/{uuid}": {
			call{"/api/v1/universal-alert/ALERT?network_id=%[1]d", `{"enabled":false}`}, call{"/api/v1/universal-alert/ALERT?network_id=%[1]d", `[`},
			call{"/api/v1/universal-alert/ALERT?network_id=%[1]d", `{"alert_name":"x"}`}},
		"PATCH /api/v1/universal-alert-bulk": {
			call{"/api/v1/universal-alert-bulk?network_id=%[1]d", `{"enabled":false,"uuids":["ALERT"]}`},
			call{"/api/v1/universal-alert-bulk?network_id=%[1]d", `{`}, call{"/api/v1/universal-alert-bulk?network_id=%[1]d", `{"enabled":true}`}},
		"GET /networks": {call{path: "/networks"}, malformedQuery("/networks"), call{}},
		"GET /network/find/masterid/{master_id}": {
			call{path: "/network/find/masterid/1"}, malformedQuery("/network/find/masterid/1"), call{path: "/network/find/masterid/x"}},
		"GET /network/find/id/{network_id}": {
			call{path: "/network/find/id/%[1]d"}, malformedQuery("/network/find/id/%[1]d"), call{path: "/network/find/id/4294967297"}},
		"GET /network/find/mac/{bssid}": {
			call{path: "/network/find/mac/02:AA:00:00:01:12"}, malformedQuery("/network/find/mac/02:aa:00:00:01:12"), call{path: "/network/find/mac/02:aa"}},
		"GET /network/find/device/{guardian_deviceid}": {
			call{path: "/network/find/device/" + guardianID}, call{path: "/network/find/device/" + guardianID + "?array=perhaps"},
			call{}},
		"GET /network/find/meta/{query}": {
			call{path: "/network/find/meta/meta%%20%%3F%%20'guardian_env'"}, call{path: "/network/find/meta/meta"},
			call{}},
		"GET /node/find/id/{nodeid}": {
			call{path: "/node/find/id/1"}, malformedQuery("/node/find/id/1"), call{path: "/node/find/id/-1"}},
		"GET /node/find/device/{deviceid}": {
			call{path: "/node/find/device/" + masterID}, call{path: "/node/find/device/" + masterID + "?array=perhaps"},
			call{}},
		"GET /node/find/mac/{bssid}": {
			call{path: "/node/find/mac/02aa00000115"}, malformedQuery("/node/find/mac/02aa00000115"), call{path: "/node/find/mac/zz"}},
		"GET /node/find/networkid/{network_id}": {
			call{path: "/node/find/networkid/%[1]d"}, malformedQuery("/node/find/networkid/%[1]d"), call{path: "/node/find/networkid/1.5"}},
		"DELETE /node/{nodeid}/edit": {
			call{path: "/node/NODE/edit"}, malformedQuery("/node/NODE/edit"), call{path: "/node/4294967297/edit"}},
		"POST /manage/execute": {
			call{"/manage/execute", `{"id":COMMAND}`}, call{"/manage/execute", `{"id":COMMAND`},
			call{"/manage/execute", `{"id":COMMAND,"batch_id":1}`}},
		"POST /manage/cancel": {
			call{"/manage/cancel", `{"id":COMMAND}`}, call{"/manage/cancel", `{"id":COMMAND`},
			call{"/manage/cancel", `{"id":COMMAND,"batch_id":1}`}},
		"GET /manage/list": {
			call{path: "/manage/list?network_id=%[1]d"}, malformedQuery("/manage/list"), call{path: "/manage/list?state=009"}},
		"POST /manage/batch": {
			call{"/manage/batch", `{"name":"fw","network_id":%[1]d,"actions":[{"node_id":1,"payload":{"command":"ping"}}]}`},
			call{"/manage/batch", `[`}, call{"/manage/batch", `{"network_id":%[1]d,"actions":[]}`}},
		"POST /manage/create": {
			call{"/manage/create?createBatch=true", `{"network_id":%[1]d,"node_id":1,"payload":{"command":"ping"}}`},
			call{"/manage/create?createBatch=perhaps&x=%zz", `{}`}, call{"/manage/create", `{"network_id":%[1]d,"node_id":1,"payload":{}}`}},
		"GET /manage/monitor": {
			call{}, malformedQuery("/manage/monitor"), call{}},
	}
}

func TestEveryOperationIsOnTheLadder(t *testing.T) {
	t.Parallel()
	known := ladders()
	for _, route := range core.New(nil, nil, nil).Interface().Routes {
		row := route.Method + " " + route.Path
		if _, ok := known[row]; !ok {
			t.Errorf("%s has no ladder", row)
		}
		delete(known, row)
	}
	for row := range known {
		t.Errorf("%s is no row", row)
	}
}

// rightStatus is the status of the right answers of a row.
func rightStatus(row string) int {
	switch row {
	case "DELETE /network/{network_id}/application/settings":
		return 204
	}
	return 200
}

// prepare makes the first network ready for the next call of a row.
func (h *home) prepare(row string) {
	h.T.Helper()
	if strings.HasSuffix(row, "/application/settings") {
		h.setSettings(!strings.HasPrefix(row, "POST"))
	}
}

func TestLadder(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	h.change(func(n *motion.Network) { n.Meta = map[string]any{"guardian_env": "local"} })
	event := h.createEvent(`"category":"Network","event":"LinkCreatedEvent"`)
	reader, writer := h.key("reader", 0, auth.ScopeRead), h.key("writer", 0, auth.ScopeWrite)
	own, foreign := h.key("own", h.network, auth.Scopes()...), h.key("foreign", h.other, auth.Scopes()...)
	for row, l := range ladders() {
		method, _, _ := strings.Cut(row, " ")
		wrong := writer
		if method != http.MethodGet {
			wrong = reader
		}
		fill := func(c call) call {
			if strings.Contains(c.path, "%[") || strings.Contains(c.path, "%%") {
				c.path = fmt.Sprintf(strings.ReplaceAll(c.path, "%zz", "%%zz")+"%[2]s", h.network, "")
			}
			c.path = strings.ReplaceAll(c.path, "EVENT", event.ID)
			if strings.Contains(c.path, "NODE") {
				c.path = strings.ReplaceAll(c.path, "NODE", fmt.Sprint(h.extender()))
			}
			if strings.Contains(c.path+c.body, "ALERT") {
				alert := h.createAlert(riseAndShine)
				c.path, c.body = strings.ReplaceAll(c.path, "ALERT", alert.UUID), strings.ReplaceAll(c.body, "ALERT", alert.UUID)
			}
			if strings.Contains(c.body, "COMMAND") {
				c.body = strings.ReplaceAll(c.body, "COMMAND", fmt.Sprint(h.pending()))
			}
			if strings.Contains(c.body, "%[") {
				c.body = fmt.Sprintf(c.body, h.network)
			}
			return c
		}
		step := func(name, token string, c call, status int) {
			if c.path == "" {
				return
			}
			h.prepare(row)
			c = fill(c)
			if a := h.As(token, method, c.path, c.body); a.Status != status {
				t.Errorf("%s: %s: %s: status %d, want %d: %s", row, name, c.path, a.Status, status, a.Body)
			}
		}
		step("no key", "", l.right, 401)
		step("made-up key", "sg_nothing", l.right, 401)
		step("wrong scope", wrong, l.right, 403)
		step("wrong scope, before the input", wrong, l.invalid, 403)
		if strings.Contains(row, "{") || strings.Contains(row, "/manage/") || strings.Contains(row, "/universal-alert") {
			step("foreign network", foreign, l.right, 404)
		}
		step("malformed", h.all, l.malformed, 400)
		step("invalid", h.all, l.invalid, 422)
		step("right", h.all, l.right, rightStatus(row))
		step("right, with a key of this network", own, l.right, rightStatus(row))
		step("right, bare and with Bearer", "Bearer "+h.all, l.right, rightStatus(row))
	}
}

var number = regexp.MustCompile(`\d+`)

func TestForeignNetworkAnswersAsAnUnknownOne(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	bound := h.key("bound", h.network, auth.Scopes()...)
	for _, path := range []string{
		"/network/%d/topology", "/network/%d/status", "/network/%d/events/history", "/network/%d/events/pairs",
		"/network/%d/motion/history/density", "/network/%d/motion/history/state_blocks", "/network/find/id/%d",
		"/insights/v2/%d/activity", "/insights/v2/%d/sleep?start_date=2025-11-23&end_date=2025-11-23",
		"/insights/v2/%d/activity/daily?start_date=2025-11-23&end_date=2025-11-23",
		"/network/%d/location/histogram", "/network/%d/location/history", "/network/%d/application/settings",
		"/node/find/networkid/%d", "/network/find/masterid/%d", "/node/find/id/%d",
	} {
		// The other network, and the node that is its master, both have id 2.
		foreign := h.As(bound, "GET", fmt.Sprintf(path, h.other), "")
		unknown := h.As(bound, "GET", fmt.Sprintf(path, 99), "")
		unbound := h.As(h.all, "GET", fmt.Sprintf(path, 99), "")
		for _, a := range []apitest.Answer{foreign, unknown, unbound} {
			if a.Status != 404 || number.ReplaceAllString(string(a.Body), "N") != number.ReplaceAllString(string(foreign.Body), "N") {
				t.Errorf("%s: %d %s, and %s", path, a.Status, a.Body, foreign.Body)
			}
		}
	}
	for _, path := range []string{"/network/find/mac/02:aa:00:00:01:22", "/node/find/mac/02:aa:00:00:01:22", "/node/find/device/csi-b-02aa00000210", "/network/find/device/b52f00c2d97b4e5580136c2e"} {
		if a := h.As(bound, "GET", path, ""); a.Status != 404 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		if a := h.get(path); a.Status != 200 {
			t.Errorf("%s unbound: %d %s", path, a.Status, a.Body)
		}
	}
}

// refused opens a websocket that must fail, and returns the status.
func (h *home) refused(path string, header http.Header) int {
	h.T.Helper()
	ws, response, err := websocket.DefaultDialer.Dial("ws://"+h.Address+"/core"+path, header)
	if err == nil {
		ws.Close()
		return http.StatusSwitchingProtocols
	}
	if response == nil {
		h.T.Fatal(err)
	}
	response.Body.Close()
	response.Body.Close()
	return response.StatusCode
}

func TestLadderOfWebsockets(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	with := func(token string) http.Header { return http.Header{"Authorization": {token}} }
	writer, foreign := h.key("writer", 0, auth.ScopeWrite), h.key("foreign", h.other, auth.ScopeRead)
	for _, live := range []string{"motion/live", "events/live"} {
		path := fmt.Sprintf("/network/%d/%s", h.network, live)
		for name, c := range map[string]struct {
			path   string
			header http.Header
			status int
		}{
			"no key": {path, nil, 401}, "made-up key": {path + "?token=sg_nothing", nil, 401}, "wrong scope": {path, with(writer), 403},
			"foreign network": {path, with(foreign), 404}, "unknown network": {"/network/99/" + live, with(h.all), 404},
			"malformed": {path + "?x=%zz", with(h.all), 400}, "invalid": {"/network/x/" + live, with(h.all), 422},
			"right": {path, with(h.all), 101}, "right, by query": {path + "?token=" + h.all, nil, 101},
		} {
			if got := h.refused(c.path, c.header); got != c.status {
				t.Errorf("%s: %s: status %d, want %d", live, name, got, c.status)
			}
		}
	}
	if got := h.refused(fmt.Sprintf("/network/%d/events/live?filter=Weather", h.network), with(h.all)); got != 422 {
		t.Errorf("unknown category: status %d", got)
	}
}

func TestHeadIsARead(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	url := fmt.Sprintf("http://%s/core/network/find/id/%d", h.Address, h.network)
	for token, status := range map[string]int{h.key("reader", 0, auth.ScopeRead): 200, h.key("writer", 0, auth.ScopeWrite): 403} {
		if got := head(t, url, token); got != status {
			t.Errorf("status %d, want %d", got, status)
		}
	}
}

func TestMetricsNeedAKeyForAllNetworks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, c := range map[string]struct {
		token  string
		status int
	}{
		"no key":      {"", 401},
		"wrong scope": {h.key("writer", 0, auth.ScopeWrite), 403},
		"bound":       {h.key("bound", h.network, auth.Scopes()...), 403},
		"right":       {h.key("reader", 0, auth.ScopeRead), 200},
	} {
		if got := head(t, "http://"+h.Address+"/metrics", c.token); got != c.status {
			t.Errorf("%s: status %d, want %d", name, got, c.status)
		}
	}
}

// head asks for the status of an address, as if through a proxy.
func head(t *testing.T, url, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", token)
	request.Header.Set("X-Forwarded-For", "192.0.2.1")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}
