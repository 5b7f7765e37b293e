package core_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
	"sensegate/store/storetest"
)

const (
	guardianID = "a41f00c2d97b4e5580136c2e"
	masterID   = "csi-a-02aa00000110"
	kitchenID  = "GWA1000133.02bb00000031"
)

var kitchen = motion.MAC{2, 0xbb, 0, 0, 0, 0x31}

// silent stands for the broker: commands go nowhere.
type silent struct{}

func (silent) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (silent) Disconnect(motion.DeviceKey, string)               {}
func (silent) DisconnectUser(string, string)                     {}

// home is a served appliance with two networks.
type home struct {
	t       testing.TB
	engine  *engine.Engine
	db      *store.DB
	server  *api.Server
	address string
	doc     *openapi3.T

	network, other motion.NetworkID
	all            string // an API key with every scope
	extenders      atomic.Int32
}

func newHome(t testing.TB, change ...func(*engine.Options)) *home {
	t.Helper()
	h := &home{t: t, db: storetest.Open(t), doc: document(t)}
	options := engine.Options{FirstWindow: time.Hour, Relays: map[string]engine.Relay{"mqtt": &outside{}, "webhook": &outside{gone: true}}}
	for _, c := range change {
		c(&options)
	}
	var err error
	if h.engine, err = engine.New(t.Context(), h.db, options); err != nil {
		t.Fatal(err)
	}
	h.engine.Introduce(silent{})
	background(t, h.engine.Run)
	h.network = h.admit(guardianID, masterID, "GWA1000133", 0x10)
	h.other = h.admit("b52f00c2d97b4e5580136c2e", "csi-b-02aa00000210", "GWB1000201", 0x20)
	h.all = h.key("all", 0, auth.Scopes()...)

	config := api.Defaults()
	config.Listen, config.Rate, config.Burst = "127.0.0.1:0", 1e6, 1e6
	h.server = api.New(config, slog.New(slog.NewTextHandler(troubleLog{t}, &slog.HandlerOptions{Level: slog.LevelError})))
	keys := auth.NewKeys(h.db)
	h.server.Mount(core.New(h.engine, h.db, keys).Interface())
	h.server.Metrics(core.MetricsGuard(keys))
	if err := h.server.Listen(); err != nil {
		t.Fatal(err)
	}
	h.address = h.server.Addr().String()
	background(t, h.server.Run)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return h
}

// troubleLog fails a test in which the server has trouble of its own, and shows it.
type troubleLog struct{ testing.TB }

func (t troubleLog) Write(line []byte) (int, error) {
	t.Errorf("the server logs: %s", line)
	return len(line), nil
}

// background runs a part of the appliance until the test ends.
func background(t testing.TB, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// radarOf is what a master says of itself; low is the last octet of its first
// address.
func radarOf(guardian, device, name string, low byte) motion.Radar {
	return motion.Radar{
		DeviceID: device, NodeName: name, LocationID: guardian, RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 2}, APBSSID5GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 3},
		MeshBSSID: motion.MAC{2, 0xaa, 0, 0, 1, low + 4}, P2PBSSID: motion.MAC{2, 0xaa, 0, 0, 1, low + 5},
		HWVersion: "AP-900", Interfaces: []motion.Interface{{Name: "eth0", Type: "ETHERNET", MAC: motion.MAC{2, 0xaa, 0, 0, 1, low}, IP: "192.168.11.1"}},
	}
}

// admit lets a master in, which forms a network, and logs its guardian in.
func (h *home) admit(guardian, device, name string, low byte) motion.NetworkID {
	h.t.Helper()
	address := netip.MustParseAddr("127.0.0.1")
	post := motion.Bootstrap{Radar: radarOf(guardian, device, name, low), LocationID: guardian}
	admission, err := h.engine.Admit(h.t.Context(), post, motion.Credentials{Address: address})
	if err != nil || admission.Network == 0 {
		h.t.Fatalf("admit %s: %+v %v", device, admission, err)
	}
	key, err := h.engine.Login(h.t.Context(), guardian, admission.GuardianToken)
	if err != nil {
		h.t.Fatal(err)
	}
	h.engine.Connected(key, address)
	return admission.Network
}

// report sends a report as the first network's guardian.
func (h *home) report(r motion.Report) {
	h.t.Helper()
	if err := h.engine.Report(h.t.Context(), motion.DeviceKey{Kind: motion.Guardian, ID: guardianID}, r); err != nil {
		h.t.Fatal(err)
	}
}

// reportStatus sends a full report with one leaf.
func (h *home) reportStatus() {
	h.t.Helper()
	radar := radarOf(guardianID, masterID, "GWA1000133", 0x10)
	radar.Links = []motion.RadarLink{{MAC: kitchen, PeerType: motion.PeerClient, IfName: "home-ap-24", Hostname: "kitchen-speaker", RSSI: "-59"}}
	sounding := true
	h.report(motion.StatusReport{
		TS: h.engine.Now(), ShardID: "local", MotionEnabled: 1, MotionTripped: new(int), Version: motion.Document{"core": "0.7.2"},
		Leafblower: map[string]motion.Choice{kitchen.String(): {IsStatic: "STATIC", Sounding: &sounding}},
		Radars:     map[string]motion.Radar{"GWA1000133": radar},
	})
	if err := h.engine.PlaceLeaf(h.t.Context(), h.network, kitchen, "Kitchen", "Kitchen speaker"); err != nil {
		h.t.Fatal(err)
	}
}

// change rewrites the record of the first network and makes the engine see it.
func (h *home) change(change func(*motion.Network)) {
	h.t.Helper()
	err := h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		n, err := tx.Network(h.network)
		if err != nil {
			return err
		}
		change(&n)
		return tx.PutNetwork(n)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.engine.PlaceLeaf(h.t.Context(), h.network, kitchen, "Kitchen", "Kitchen speaker"); err != nil { // reloads
		h.t.Fatal(err)
	}
}

// key makes an API key and returns its secret.
func (h *home) key(name string, network motion.NetworkID, scopes ...string) (secret string) {
	h.t.Helper()
	err := h.db.Update(h.t.Context(), func(tx *store.Tx) (err error) {
		_, secret, err = tx.CreateAPIKey(store.APIKey{Name: name, Scopes: scopes, NetworkID: network})
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return secret
}

// answer is an answer of the appliance.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// as sends a request with a token; a body of "" is none. Every answer is checked
// against the document.
func (h *home) as(token, method, path, body string) answer {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, "http://"+h.address+"/core"+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	a := answer{response.StatusCode, response.Header, raw}
	h.conforms(method, request.URL.EscapedPath(), a)
	return a
}

// get reads with the key that opens everything.
func (h *home) get(path string) answer { h.t.Helper(); return h.as(h.all, http.MethodGet, path, "") }

// post acts with the key that opens everything.
func (h *home) post(path, body string) answer {
	h.t.Helper()
	return h.as(h.all, http.MethodPost, path, body)
}

// conforms checks an answer against the document.
func (h *home) conforms(method, path string, a answer) {
	h.t.Helper()
	operation := h.operation(method, strings.TrimPrefix(path, "/core"))
	if operation == nil {
		h.t.Fatalf("%s %s is not in the document", method, path)
	}
	if a.status == http.StatusNoContent {
		if operation.Responses.Value("204") == nil || len(a.body) > 0 {
			h.t.Errorf("%s %s: 204 is not documented, or has a body: %s", method, path, a.body)
		}
		return
	}
	media, response := "application/json", operation.Responses.Value("200")
	if a.status >= 400 {
		media, response = "application/problem+json", operation.Responses.Value("default")
	}
	if got := a.header.Get("Content-Type"); got != media {
		h.t.Errorf("%s %s: content type %q", method, path, got)
	}
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		h.t.Fatalf("%s %s: %v: %s", method, path, err, a.body)
	}
	if response == nil { // a websocket
		return
	}
	if err := response.Value.Content[media].Schema.Value.VisitJSON(value, openapi3.MultiErrors(), openapi3.VisitAsResponse()); err != nil {
		h.t.Errorf("%s %s: the answer is not as documented: %v\n%s", method, path, err, a.body)
	}
}

// operation returns the documented operation of a path: of several the one with
// the most fixed segments.
func (h *home) operation(method, path string) (found *openapi3.Operation) {
	segments, best := strings.Split(strings.TrimSuffix(path, "/"), "/"), -1
	for template, item := range h.doc.Paths.Map() {
		parts, fixed := strings.Split(template, "/"), 0
		fits := len(parts) == len(segments) && item.GetOperation(method) != nil
		for i := 0; fits && i < len(parts); i++ {
			isParameter := strings.HasPrefix(parts[i], "{")
			fits = isParameter || parts[i] == segments[i]
			if !isParameter {
				fixed++
			}
		}
		if fits && fixed > best {
			found, best = item.GetOperation(method), fixed
		}
	}
	return found
}

// want checks the status and decodes the answer.
func want[T any](t testing.TB, a answer, status int) (value T) {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if err := json.Unmarshal(a.body, &value); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return value
}

// wantJSON checks the whole answer.
func wantJSON(t testing.TB, a answer, exact string) {
	t.Helper()
	got := want[any](t, a, http.StatusOK)
	var expected any
	if err := json.Unmarshal([]byte(exact), &expected); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// wantProblem checks that an answer is a problem that says something.
func wantProblem(t testing.TB, a answer, status int, says string) {
	t.Helper()
	if a.status != status || !bytes.Contains(a.body, []byte(says)) {
		t.Errorf("status %d %s, want %d with %q", a.status, a.body, status, says)
	}
}
