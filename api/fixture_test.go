package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sensegate/motion/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// caller is the principal of the tests: whoever shows the token "secret-…".
type caller struct{ name string }

func key[In, Out any](fn func(context.Context, caller, *In) (*Out, error)) Operation {
	return Guarded("core key", fn)
}

type stranger struct{}

func anyone[In, Out any](fn func(context.Context, stranger, *In) (*Out, error)) Operation {
	return Guarded("anyone", fn)
}

func checkCaller(_ context.Context, r *Request) (caller, error) {
	name, ok := strings.CutPrefix(r.Token(), "secret-")
	if !ok {
		return caller{}, fault.New(fault.Unauthorized, "authorization: no valid key")
	}
	return caller{name}, nil
}

type echoOut struct {
	Body struct {
		Route string `json:"route"`
		Value string `json:"value"`
	}
}

type idIn struct {
	ID int32 `path:"id" minimum:"1"`
}

type textIn struct {
	Query string `path:"query"`
}

type uuidIn struct {
	UUID string `path:"uuid"`
}

type providerIn struct {
	ID       int32  `path:"id"`
	Provider string `path:"provider"`
}

type noIn struct{}

// echo answers which row was met.
func echo[In any](route string) Operation {
	return anyone(func(_ context.Context, _ stranger, in *In) (*echoOut, error) {
		out := &echoOut{}
		out.Body.Route = route
		if t, ok := any(in).(*textIn); ok {
			out.Body.Value = t.Query
		}
		return out, nil
	})
}

type device struct {
	Name string  `json:"name" minLength:"1" maxLength:"20"`
	Rank int32   `json:"rank,omitempty" maximum:"9"`
	On   bool    `json:"on,omitempty"`
	Gain float64 `json:"gain,omitempty"`
}

type devicesIn struct {
	Network uint32       `path:"id"`
	From    Opt[float64] `query:"from"`
	Last    int32        `query:"last" minimum:"1" maximum:"1000" default:"10"`
	Body    []device
}

type deviceIn struct{ Body device }

type deviceOut struct{ Body device }

type failIn struct {
	Kind string `query:"kind"`
}

// failures are what the handler of /fail returns.
var failures = map[string]error{
	"malformed": fault.New(fault.Malformed, "m"), "unauthorized": fault.New(fault.Unauthorized, "m"),
	"forbidden": fault.New(fault.Forbidden, "m"), "notfound": fault.New(fault.NotFound, "m"),
	"conflict": fault.New(fault.Conflict, "m"), "toolarge": fault.New(fault.TooLarge, "m"),
	"unsupported": fault.New(fault.Unsupported, "m"), "invalid": fault.New(fault.Invalid, "m"),
	"throttled": fault.New(fault.Throttled, "m"), "unavailable": fault.New(fault.Unavailable, "m"),
	"internal": errors.New("disk /dev/secret broke"), "deadline": context.DeadlineExceeded,
}

func testRoutes(live Operation) []Route {
	return slices.Concat(
		Group("Network",
			Get("/network/{id}/meta", echo[idIn]("meta"), "Meta"),
			Get("/network/find/id/{id}", echo[idIn]("find-id"), "Find by id"),
			Get("/network/find/meta/{query}", echo[textIn]("find-meta"), "Find by meta"),
			Post("/network/{id}/motion/{provider}", echo[providerIn]("provider"), "Start a provider"),
			Post("/network/{id}/motion/refresh", echo[idIn]("refresh"), "Refresh"),
			Get("/alert/{uuid}", echo[uuidIn]("alert"), "One alert"),
			Get("/alert/status", echo[noIn]("status"), "Status"),
			Delete("/alert/{uuid}", key(func(context.Context, caller, *uuidIn) (*struct{}, error) { return nil, nil }), "Delete an alert"),
		),
		Group("Devices",
			Patch("/network/{id}/devices", key(func(_ context.Context, _ caller, in *devicesIn) (*deviceOut, error) {
				return &deviceOut{Body: device{Name: "ok", Rank: in.Last, Gain: in.From.Or(-1)}}, nil
			}), "Change devices"),
			Put("/device", anyone(func(_ context.Context, _ stranger, in *deviceIn) (*deviceOut, error) {
				return &deviceOut{Body: in.Body}, nil
			}), "Replace a device"),
			Get("/whoami", key(func(_ context.Context, who caller, _ *noIn) (*echoOut, error) {
				out := &echoOut{}
				out.Body.Value = who.name
				return out, nil
			}), "Who calls"),
		),
		Group("Trouble",
			Get("/fail", anyone(func(_ context.Context, _ stranger, in *failIn) (*noIn, error) { return nil, failures[in.Kind] }), "Fail"),
			Get("/panic", anyone(func(context.Context, stranger, *noIn) (*noIn, error) { panic("secret-panic") }), "Panic"),
			Get("/nan", anyone(func(context.Context, stranger, *noIn) (*deviceOut, error) {
				return &deviceOut{Body: device{Gain: math.NaN()}}, nil
			}), "What JSON cannot say"),
			Get("/encoded", anyone(func(context.Context, stranger, *noIn) (*struct{ Body Encoded[[]device] }, error) {
				return &struct{ Body Encoded[[]device] }{Body: Encoded[[]device](`[{"name":"` + strings.Repeat("x", 3000) + `"}]`)}, nil
			}), "Ready JSON"),
			Live("/network/{id}/live", live, "Live data"),
		),
	)
}

// noLive is a live operation for tests that open none.
func noLive() Operation {
	return key(func(context.Context, caller, *idIn) (*Stream, error) {
		return nil, fault.New(fault.NotFound, "no such network")
	})
}

func testInterface(live Operation) Interface {
	return Interface{
		Base: "/core", Title: "Test", Version: "1", Routes: testRoutes(live), Forms: true, DataWrapper: true,
		Principals: []Principal{Authenticate("key", "API key", checkCaller), Anyone(stranger{})},
	}
}

// logBuffer collects what is logged. It may be written concurrently.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func testServer(t testing.TB, live Operation) (*Server, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	c := Defaults()
	c.Listen = "127.0.0.1:0"
	c.Hosts = []string{"home.example"}
	s := New(c, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	s.Mount(testInterface(live))
	return s, log
}

// do sends a request through the whole stack, without a network.
func do(s *Server, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8080"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func wantStatus(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
}

func wantJSON(t *testing.T, w *httptest.ResponseRecorder, want string) {
	t.Helper()
	var got, exact any
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("not JSON: %s", w.Body)
	}
	if err := json.Unmarshal([]byte(want), &exact); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exact, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func readAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var _ http.Handler = (*Server)(nil)
