package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/server"
)

// TestFileThatCannotBeWrittenToItsEndDoesNotLookWhole reads two files, of which one breaks off.
func TestFileThatCannotBeWrittenToItsEndDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	file := func(err error) func(context.Context, auth.Anyone, *struct{}) (*api.Answer[api.ZIP], error) {
		return func(context.Context, auth.Anyone, *struct{}) (*api.Answer[api.ZIP], error) {
			return api.Answered[api.ZIP](func(_ context.Context, w io.Writer) error {
				_, written := io.WriteString(w, long)
				return errors.Join(written, err)
			}, nil)
		}
	}
	s := server.New(server.Defaults(), slog.New(slog.DiscardHandler))
	s.Mount(api.Interface{
		Base: "/test", Title: "Test", Version: "1-0-0",
		Routes:     []api.Route{api.Get("/whole", api.Guarded("anyone", file(nil)), "Whole"), api.Get("/half", api.Guarded("anyone", file(errors.New("damaged"))), "Half")},
		Principals: []api.Principal{api.Authenticate("", "", func(context.Context, *api.Request) (auth.Anyone, error) { return auth.Anyone{}, nil })},
	})
	served := httptest.NewServer(s)
	defer served.Close()
	for path, whole := range map[string]bool{"/whole": true, "/half": false} {
		r, err := http.Get(served.URL + "/test" + path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != 200 || (err == nil) != whole || whole && string(got) != long {
			t.Errorf("%s: %d, %d bytes, %v", path, r.StatusCode, len(got), err)
		}
	}
}
