package admin

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/api/box"
)

// TestACommandThatHoldsTheDatabaseIsNotUpdated: it answers at the socket, but is no appliance.
func TestACommandThatHoldsTheDatabaseIsNotUpdated(t *testing.T) {
	t.Parallel()
	s := NewServer(box.New(box.Parts{}))
	answer := httptest.NewRecorder()
	s.mux.ServeHTTP(answer, httptest.NewRequest("POST", "/program/try", nil))
	if !strings.Contains(answer.Body.String(), "the appliance does not run") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// pretending returns a client of a socket at which something else than an appliance answers.
func pretending(t *testing.T, answer http.HandlerFunc) *Client {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: answer}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	return newClient(socket, func() error { return nil })
}

// TestAnswersHaveAnEnd: the user of the state directory may be another one than who asks.
func TestAnswersHaveAnEnd(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusOK, http.StatusUnprocessableEntity} {
		c := pretending(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			for begin := `{"path":"`; ; begin = strings.Repeat("A", 1<<16) {
				if _, err := w.Write([]byte(begin)); err != nil {
					return
				}
			}
		})
		if err := c.do(t.Context(), http.MethodGet, "/program", nil, &program{}); err == nil {
			t.Errorf("%d: it has read to no end", status)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAnswersSpeakToNoTerminal, neither results nor errors.
func TestAnswersSpeakToNoTerminal(t *testing.T) {
	t.Parallel()
	const said, want = `a\u001b[2J\u009b1m\u009B` + "\u0085\x7f" + `\u001B\r\b\u0007\u0000\\u001b\\\u001bz\n\t\u00e9ä"`, "a[2J1m\\u001b\\z\n\té\u00e4"
	status := http.StatusOK
	c := pretending(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"path":"` + said + `,"error":"` + said + `}`)) // the client notices
	})
	var served program
	if err := c.do(t.Context(), http.MethodGet, "/program", nil, &served); err != nil || served.Path != want {
		t.Errorf("%q %v, want %q", served.Path, err, want)
	}
	status = http.StatusUnprocessableEntity
	if err := c.do(t.Context(), http.MethodGet, "/program", nil, &served); err == nil || err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
