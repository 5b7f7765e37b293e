package remotecore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"sensegate/motion"
)

// request is a request of the Core interface as it comes.
type request struct {
	ID       string          `json:"id"`       // 1 to 64 characters of A-Z, a-z, 0-9, _ and -
	Method   string          `json:"method"`   // of HTTP
	Path     string          `json:"path"`     // below /core/, with its query
	Body     json.RawMessage `json:"body"`     // JSON; absent for none
	Key      string          `json:"key"`      // API key
	Deadline motion.Time     `json:"deadline"` // seconds since the epoch; it is not run after that
}

const (
	longest   = 5 * time.Minute // between now and a deadline
	runLimit  = 30 * time.Second
	mostBytes = 200 << 10 // of a request, and of the body of an answer
)

var idForm = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// parse reads a request. Its error is about one whose id cannot be trusted, so that there is nowhere to
// answer.
func parse(payload []byte) (r request, sum [32]byte, err error) {
	if len(payload) > mostBytes {
		return r, sum, fmt.Errorf("request is longer than %d bytes", mostBytes)
	}
	if err := json.Unmarshal(payload, &r); err != nil {
		return r, sum, errors.New("request is no JSON object with id, method, path, key and deadline")
	}
	if len(r.ID) > 64 || !idForm.MatchString(r.ID) {
		return r, sum, errors.New("id: want 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
	}
	return r, sha256.Sum256(payload), nil
}

// check returns the answer to a request that must not be run, nil for the others. now is 0 while the
// clock has not been set.
func (r request) check(now motion.Time) *answer {
	target, err := url.ParseRequestURI(r.Path)
	switch {
	case now == 0:
		return refuse(r.ID, http.StatusServiceUnavailable, "clock_unset", "the clock of this box is not set, so that it cannot judge the deadline: not run")
	case r.Deadline <= now:
		return refuse(r.ID, http.StatusRequestTimeout, "deadline_passed", fmt.Sprintf("the deadline %.0f has passed, it is %.0f here: not run", float64(r.Deadline), float64(now)))
	case r.Deadline > now.Add(longest.Seconds()):
		return refuse(r.ID, http.StatusBadRequest, "deadline_too_far", fmt.Sprintf("want a deadline at most %.0f s ahead, it is %.0f here: not run", longest.Seconds(), float64(now)))
	case err != nil || target.Host != "" || !strings.HasPrefix(target.EscapedPath(), "/core/") || strings.Contains(target.Path, "/../"):
		return refuse(r.ID, http.StatusNotFound, "not_found", "want a path below /core/")
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return nil
	}
	return refuse(r.ID, http.StatusMethodNotAllowed, "method_not_allowed", "want GET, HEAD, POST, PUT, PATCH or DELETE")
}

// changedNothing reports whether a request that was answered with a status can come again without harm: a
// read, or one that was refused. None that whoever has no key can make does otherwise.
func (r request) changedNothing(status int) bool {
	return status >= 400 && status < 500 || status == http.StatusServiceUnavailable || r.Method == http.MethodGet || r.Method == http.MethodHead
}

// answer is what is sent back.
type answer struct {
	ID     string          `json:"id"`
	Status int             `json:"status"`         // of HTTP
	Body   json.RawMessage `json:"body,omitempty"` // JSON; text as a string
}

// refuse returns an answer in the form of Core's problems.
func refuse(id string, status int, code, detail string) *answer {
	body, _ := json.Marshal(map[string]any{ // strings and a number
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail, "code": code,
	})
	return &answer{id, status, body}
}

// run has the interface answer a request, as it would over HTTP. source stands where the caller's
// address would.
func (r request) run(ctx context.Context, core http.Handler, source string) *answer {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	var body io.Reader = http.NoBody
	if len(r.Body) > 0 {
		body = bytes.NewReader(r.Body)
	}
	made, err := http.NewRequestWithContext(ctx, r.Method, "http://localhost"+r.Path, body)
	if err != nil {
		return refuse(r.ID, http.StatusBadRequest, "malformed", "path cannot be read")
	}
	made.RequestURI, made.RemoteAddr = r.Path, source
	if len(r.Body) > 0 {
		made.Header.Set("Content-Type", "application/json")
	}
	if r.Key != "" {
		made.Header.Set("Authorization", "Bearer "+r.Key)
	}
	w := &recorder{header: http.Header{}}
	whole := w.record(core, made)
	switch {
	case w.full:
		return refuse(r.ID, http.StatusInsufficientStorage, "answer_too_large", fmt.Sprintf("the answer is larger than %d bytes: ask for less, such as a shorter time", mostBytes))
	case !whole:
		return refuse(r.ID, http.StatusInternalServerError, "internal", "the answer broke off")
	case w.body.Len() == 0:
		return &answer{r.ID, w.status, nil}
	}
	said := bytes.TrimSpace(w.body.Bytes())
	if !json.Valid(said) {
		said, _ = json.Marshal(string(said)) // strings always can
	}
	return &answer{r.ID, w.status, said}
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	full   bool
}

// record has a handler answer, and reports whether it came to its end.
func (w *recorder) record(h http.Handler, r *http.Request) (whole bool) {
	defer func() { whole = recover() == nil }() // http.ErrAbortHandler breaks an answer off
	h.ServeHTTP(w, r)
	w.WriteHeader(http.StatusOK)
	return true
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// errFull ends an answer that is too large.
var errFull = errors.New("the answer is too large")

func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.full = w.full || w.body.Len()+len(b) > mostBytes; w.full {
		return 0, errFull
	}
	return w.body.Write(b)
}
