package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sensegate/api"
	"sensegate/api/sampletest"
)

func TestFixedSegmentWins(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
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
		w := sampletest.Do(s, method, target, "")
		var got struct{ Route string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Route != want || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s, want row %s", path, w.Code, w.Body, want)
		}
	}
}

func TestEscapedSlashStaysInItsSegment(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	w := sampletest.Do(s, "GET", `/core/network/find/meta/a%2Fb%25%20%22c%22%3E%C3%A9%3F`, "")
	sampletest.WantJSON(t, w, `{"route":"find-meta","value":"a/b% \"c\">é?"}`)
}

func TestControlCharactersAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	for _, target := range []string{
		"/core/network/find/meta/a%00b", "/core/network/find/meta/a%0Ab", "/core/network/find/meta/a%7f", "/core/network/find/meta/%ff",
		"/core/whoami?x=%00", "/core/whoami?x=%zz", "/core/whoami?x=%ff",
	} {
		w := sampletest.Do(s, "GET", target, "")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"code":"malformed"`) {
			t.Errorf("%s: %d %s, want 400 malformed", target, w.Code, w.Body)
		}
	}
}

func TestUnknownAddressIsNotFound(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	for _, target := range []string{"/", "/core", "/core/", "/core//", "/core/network", "/core/network//meta", "/core/alert/status/x",
		"/core/../core/whoami", "/corex/alert/status", "/core/network/find/id/7//"} {
		w := sampletest.Do(s, "GET", target, "")
		if w.Code != http.StatusNotFound || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d, want 404 without a redirect", target, w.Code)
		}
		if ct := w.Header().Get("Content-Type"); ct != api.ProblemType {
			t.Errorf("%s: content type %q", target, ct)
		}
	}
}

func TestMethodNotAllowedListsBothTrees(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	w := sampletest.Do(s, "POST", "/core/alert/status", "")
	sampletest.WantStatus(t, w, http.StatusMethodNotAllowed)
	if got, want := w.Header().Get("Allow"), "DELETE, GET, HEAD, OPTIONS"; got != want {
		t.Errorf("Allow %q, want %q", got, want)
	}
	w = sampletest.Do(s, "OPTIONS", "/core/alert/status", "")
	sampletest.WantStatus(t, w, http.StatusNoContent)
	if got, want := w.Header().Get("Allow"), "DELETE, GET, HEAD, OPTIONS"; got != want {
		t.Errorf("Allow %q, want %q", got, want)
	}
	sampletest.WantStatus(t, sampletest.Do(s, "OPTIONS", "/core/nothing", ""), http.StatusNotFound)
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/device", ""), http.StatusMethodNotAllowed)
}

type xIn struct {
	X string `path:"x"`
}

type yIn struct {
	Y string `path:"y"`
}

func TestWrongTablesPanic(t *testing.T) {
	t.Parallel()
	new(api.Environment).Handler(api.Interface{Base: "/a", Principals: []api.Principal{sampletest.WithoutCredentials()}, Routes: []api.Route{
		api.Get("/a/{x}", sampletest.Echo[xIn]("1"), "s"), api.Post("/a/{y}", sampletest.Echo[yIn]("2"), "s"), api.Get("/a/c/{y}", sampletest.Echo[yIn]("3"), "s"),
	}})
	for name, rows := range map[string][]api.Route{
		"no field for a parameter": {api.Get("/a/{x}", sampletest.Echo[sampletest.NoIn]("1"), "s")},
		"same path, other names":   {api.Get("/a/{x}", sampletest.Echo[xIn]("1"), "s"), api.Get("/a/{y}", sampletest.Echo[yIn]("2"), "s")},
		"neither more exact":       {api.Get("/a/{x}/b", sampletest.Echo[xIn]("1"), "s"), api.Get("/a/c/{y}", sampletest.Echo[yIn]("2"), "s")},
		"no summary":               {api.Get("/a", sampletest.Echo[sampletest.NoIn]("1"), "")},
		"live row without stream":  {api.Live("/a", sampletest.Echo[sampletest.NoIn]("1"), "s")},
		"stream in a plain row":    {api.Get("/a", sampletest.NoLive(), "s")},
		"no principal":             {api.Get("/a", api.Guarded("x", func(_ context.Context, _ int, _ *sampletest.NoIn) (*sampletest.NoIn, error) { return nil, nil }), "s")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("table was accepted")
				}
			}()
			i := sampletest.Interface(sampletest.NoLive())
			i.Routes = rows
			new(api.Environment).Handler(i)
			_, _ = i.Document() // what an input wants is looked at here, or with the first request
		})
	}
}

// Only pointers share the code of Guarded, which the binary has no room for twice.
func TestOperationsTakeAndReturnPointers(t *testing.T) {
	t.Parallel()
	for name, guard := range map[string]func(){
		"takes a struct":   func() { api.Guarded("x", func(context.Context, int, xIn) (*xIn, error) { return nil, nil }) },
		"returns a struct": func() { api.Guarded("x", func(context.Context, int, *xIn) (xIn, error) { return xIn{}, nil }) },
		"points to a word": func() { api.Guarded("x", func(context.Context, int, *xIn) (*string, error) { return nil, nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("the operation was accepted")
				}
			}()
			guard()
		})
	}
}

// FuzzRouter: no path breaks the router, and none is redirected.
func FuzzRouter(f *testing.F) {
	lookup := api.Lookup(sampletest.Interface(sampletest.NoLive()).Routes)
	for _, seed := range []string{"/network/1/meta", "/network/find/meta/%2F", "//", "/network/find", "/alert/", ""} {
		f.Add("GET", seed)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		if path != "" && path[0] != '/' {
			return
		}
		lookup(method, path)
	})
}
