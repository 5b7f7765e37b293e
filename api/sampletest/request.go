package sampletest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/api"
)

// LogBuffer collects what is logged. It may be written concurrently.
type LogBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *LogBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *LogBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Do sends a request to a handler, without a network.
func Do(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8080"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// WantStatus fails the test unless the answer has a status.
func WantStatus(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
}

// WantJSON wants the answer to be this JSON.
func WantJSON(t *testing.T, w *httptest.ResponseRecorder, want string) {
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

// ReadAll returns all that a reader has.
func ReadAll(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// WaitFor waits until ok returns true, for a minute at most.
func WaitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("gave up waiting: %s", what)
		}
	}
}

// NoLimits are limits that bound nothing, for an [api.Environment].
type NoLimits struct{}

// Allow allows every request.
func (NoLimits) Allow(*api.Request, bool) error { return nil }

// AllowChange allows every change.
func (NoLimits) AllowChange(string, any) error { return nil }

// ReadBody reads a whole body.
func (NoLimits) ReadBody(_ http.ResponseWriter, r *http.Request, _ bool) (body []byte, decoded func(), err error) {
	body, err = io.ReadAll(r.Body)
	return body, func() {}, err
}
