package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestFixedSegmentWins(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	for path, want := range map[string]string{
		"GET /core/network/7/meta":                  "meta",
		"GET /core/network/7/meta/":                 "meta",
		"GET /core/network/find/id/7":               "find-id",
		"GET /core/network/find/meta/home.sens=3":   "find-meta",
		"POST /core/network/7/motion/refresh":       "refresh",
		"POST /core/network/7/motion/refresh/":      "refresh",
		"POST /core/network/7/motion/mqtt":          "provider",
		"GET /core/alert/status":                    "status",
		"GET /core/alert/0d5c":                      "alert",
		"HEAD /core/alert/status":                   "status",
		"GET /core/network/find/meta/%2e%2e?x=%2F&": "find-meta",
	} {
		method, target, _ := strings.Cut(path, " ")
		w := do(s, method, target, "")
		var got struct{ Route string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Route != want || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s, want row %s", path, w.Code, w.Body, want)
		}
	}
}

func TestEscapedSlashStaysInItsSegment(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	w := do(s, "GET", `/core/network/find/meta/a%2Fb%25%20%22c%22%3E%C3%A9%3F`, "")
	wantJSON(t, w, `{"route":"find-meta","value":"a/b% \"c\">é?"}`)
}

func TestControlCharactersAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	for _, target := range []string{
		"/core/network/find/meta/a%00b", "/core/network/find/meta/a%0Ab", "/core/network/find/meta/a%7f", "/core/network/find/meta/%ff",
		"/core/whoami?x=%00", "/core/whoami?x=%zz", "/core/whoami?x=%ff",
	} {
		w := do(s, "GET", target, "")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"code":"malformed"`) {
			t.Errorf("%s: %d %s, want 400 malformed", target, w.Code, w.Body)
		}
	}
}

func TestUnknownAddressIsNotFound(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	for _, target := range []string{"/", "/core", "/core/", "/core//", "/core/network", "/core/network//meta", "/core/alert/status/x",
		"/core/../core/whoami", "/corex/alert/status", "/core/network/find/id/7//"} {
		w := do(s, "GET", target, "")
		if w.Code != http.StatusNotFound || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d, want 404 without a redirect", target, w.Code)
		}
		if ct := w.Header().Get("Content-Type"); ct != problemType {
			t.Errorf("%s: content type %q", target, ct)
		}
	}
}

func TestMethodNotAllowedListsBothTrees(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	w := do(s, "POST", "/core/alert/status", "")
	wantStatus(t, w, http.StatusMethodNotAllowed)
	if got, want := w.Header().Get("Allow"), "DELETE, GET, HEAD, OPTIONS"; got != want {
		t.Errorf("Allow %q, want %q", got, want)
	}
	w = do(s, "OPTIONS", "/core/alert/status", "")
	wantStatus(t, w, http.StatusNoContent)
	if got, want := w.Header().Get("Allow"), "DELETE, GET, HEAD, OPTIONS"; got != want {
		t.Errorf("Allow %q, want %q", got, want)
	}
	wantStatus(t, do(s, "OPTIONS", "/core/nothing", ""), http.StatusNotFound)
	wantStatus(t, do(s, "GET", "/core/device", ""), http.StatusMethodNotAllowed)
}

type xIn struct {
	X string `path:"x"`
}

type yIn struct {
	Y string `path:"y"`
}

func TestWrongTablesPanic(t *testing.T) {
	t.Parallel()
	newTable(Interface{Base: "/a", Principals: []Principal{Anyone(stranger{})}, Routes: []Route{
		Get("/a/{x}", echo[xIn]("1"), "s"), Post("/a/{y}", echo[yIn]("2"), "s"), Get("/a/c/{y}", echo[yIn]("3"), "s"),
	}}, nil)
	for name, rows := range map[string][]Route{
		"no field for a parameter": {Get("/a/{x}", echo[noIn]("1"), "s")},
		"same path, other names":   {Get("/a/{x}", echo[xIn]("1"), "s"), Get("/a/{y}", echo[yIn]("2"), "s")},
		"neither more exact":       {Get("/a/{x}/b", echo[xIn]("1"), "s"), Get("/a/c/{y}", echo[yIn]("2"), "s")},
		"no summary":               {Get("/a", echo[noIn]("1"), "")},
		"live row without stream":  {Live("/a", echo[noIn]("1"), "s")},
		"stream in a plain row":    {Get("/a", noLive(), "s")},
		"no principal":             {Get("/a", Guarded("x", func(_ context.Context, _ int, _ *noIn) (*noIn, error) { return nil, nil }), "s")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("table was accepted")
				}
			}()
			i := testInterface(noLive())
			i.Routes = rows
			newTable(i, nil)
		})
	}
}

// FuzzRouter: no path breaks the router, and none is redirected.
func FuzzRouter(f *testing.F) {
	i := testInterface(noLive())
	endpoints := make([]endpoint, len(i.Routes))
	for n := range endpoints {
		endpoints[n] = reached{}
	}
	r := newRouter(i.Routes, endpoints)
	for _, seed := range []string{"/network/1/meta", "/network/find/meta/%2F", "//", "/network/find", "/alert/", ""} {
		f.Add("GET", seed)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		if path != "" && path[0] != '/' {
			return
		}
		r.find(method, path)
		r.allowed(path)
	})
}

type reached struct{}

func (reached) serve(http.ResponseWriter, *http.Request, []param) {}
