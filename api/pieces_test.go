package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/server"
)

// servePieces serves the same answers whole and in pieces: below /whole/ and /pieces/, with as many
// bytes as the path says. /broken panics after its first piece.
func servePieces(t *testing.T) (address string) {
	t.Helper()
	type in struct {
		Size int `path:"size"`
	}
	text := func(size int) []byte { return []byte(strings.Repeat("0123456789 <é>\n", size/16+1)[:size]) }
	whole := func(_ context.Context, _ auth.Anyone, in *in) (*api.Answer[api.Encoded[string]], error) {
		return api.Answered[api.Encoded[string]](text(in.Size), nil)
	}
	pieces := func(_ context.Context, _ auth.Anyone, in *in) (*api.Answer[api.Pieces[string]], error) {
		return api.Answered[api.Pieces[string]](func(yield func([]byte) bool) {
			var piece []byte
			for left := text(in.Size); ; left = left[len(piece):] {
				piece = append(piece[:0], left[:min(len(left), 5000)]...) // over the one before
				if more := len(left) > len(piece); !yield(piece) || !more {
					return
				}
			}
		}, nil)
	}
	broken := func(context.Context, auth.Anyone, *struct{}) (*api.Answer[api.Pieces[string]], error) {
		return api.Answered[api.Pieces[string]](func(yield func([]byte) bool) {
			yield(text(100_000))
			panic("a network that cannot be written")
		}, nil)
	}
	c := server.Defaults()
	c.Burst = 1000 // of requests of one client
	s := server.New(c, slog.New(slog.DiscardHandler))
	s.Mount(api.Interface{
		Base: "/test", Title: "Test", Version: "1-0-0",
		Routes: []api.Route{
			api.Get("/whole/{size}", api.Guarded("anyone", whole), "Whole"), api.Get("/pieces/{size}", api.Guarded("anyone", pieces), "Pieces"),
			api.Get("/broken", api.Guarded("anyone", broken), "Broken"),
		},
		Principals: []api.Principal{api.Authenticate("", "", func(context.Context, *api.Request) (auth.Anyone, error) { return auth.Anyone{}, nil })},
	})
	served := httptest.NewServer(s)
	t.Cleanup(served.Close)
	return served.URL + "/test"
}

func TestPiecesAreAnsweredAsTheWholeIs(t *testing.T) {
	t.Parallel()
	address := servePieces(t)
	ask := func(method, path, coding string) (http.Header, int64, []byte) {
		r, err := http.NewRequestWithContext(t.Context(), method, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", coding) // also keeps the client from decoding
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %v", method, path, a.StatusCode, err)
		}
		a.Header.Del("Date")
		a.Header.Del("X-Request-Id")
		a.Header["Transfer-Encoding"] = a.TransferEncoding
		return a.Header, a.ContentLength, body
	}
	for _, size := range []int{0, 1, 1023, 1024, 1025, 2047, 2048, 2049, 4999, 5000, 5001, 10_000, 300_000} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, coding := range []string{"identity", "gzip"} {
				wantHeader, wantLength, want := ask(method, fmt.Sprintf("/whole/%d", size), coding)
				header, length, got := ask(method, fmt.Sprintf("/pieces/%d", size), coding)
				if !reflect.DeepEqual(header, wantHeader) || length != wantLength || !bytes.Equal(got, want) {
					t.Errorf("%s %d bytes, %s: %v, %d, %d bytes; want %v, %d, %d bytes", method, size, coding, header, length, len(got), wantHeader, wantLength, len(want))
				}
			}
		}
	}
}

func TestPiecesThatEndInAPanicDoNotLookWhole(t *testing.T) {
	t.Parallel()
	address := servePieces(t)
	for _, coding := range []string{"identity", "gzip"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/broken", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", coding)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			continue // not even the header was sent
		}
		got, err := io.ReadAll(a.Body)
		_ = a.Body.Close()
		if err == nil {
			t.Errorf("%s: %d bytes look whole", coding, len(got))
		}
	}
}
