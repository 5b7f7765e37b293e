package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sensegate/api/live"
	"sensegate/motion/fault"
)

// problemType is the media type of RFC 9457.
const problemType = "application/problem+json"

// The bounds of what a problem tells (payloads.md 1: at most 20 mistakes).
const (
	maxMistakes = 20
	maxValue    = 256 // bytes of a value that is echoed
	maxLocation = 256 // bytes of a place, which may hold a key that the caller has chosen
)

// Problem is the body of every error: RFC 9457 with a code for programs and all
// mistakes of the input.
type Problem struct {
	Type   string    `json:"type" example:"about:blank" doc:"Always about:blank: the status says what kind of problem it is"`
	Title  string    `json:"title" example:"Unprocessable Entity" doc:"The status in words"`
	Status int32     `json:"status" example:"422" doc:"HTTP status"`
	Detail string    `json:"detail" example:"request is not valid" doc:"What is wrong and what to do"`
	Code   string    `json:"code" example:"invalid" doc:"Stable word for programs"`
	Errors []Mistake `json:"errors,omitempty" doc:"The mistakes of the input, at most 20; detail says when there are more"`

	header http.Header
}

// Mistake is one mistake at one place of the input.
type Mistake struct {
	Location string `json:"location" example:"body[1].mac_address" doc:"path, query, header or body, and the place in it"`
	Message  string `json:"message" example:"not allowed for a node"`
	Value    any    `json:"value,omitempty" doc:"What stood there, when it is short"`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// NewProblem returns a problem with a status that no kind of [fault.Error] has.
func NewProblem(status int, code, detail string) *Problem {
	return &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: int32(status),
		Detail: detail, Code: code, header: http.Header{},
	}
}

// answers are the status of each kind of error, and the code of one that brings none of its
// own. This is the one place where a kind becomes a status.
var answers = map[fault.Kind]struct {
	status int
	code   string
}{
	fault.Malformed:    {http.StatusBadRequest, "malformed"},
	fault.Unauthorized: {http.StatusUnauthorized, "unauthorized"},
	fault.Forbidden:    {http.StatusForbidden, "forbidden"},
	fault.NotFound:     {http.StatusNotFound, "not_found"},
	fault.Conflict:     {http.StatusConflict, "conflict"},
	fault.TooLarge:     {http.StatusRequestEntityTooLarge, "too_large"},
	fault.Unsupported:  {http.StatusUnsupportedMediaType, "unsupported_media_type"},
	fault.Invalid:      {http.StatusUnprocessableEntity, "invalid"},
	fault.Throttled:    {http.StatusTooManyRequests, "throttled"},
	fault.Unavailable:  {http.StatusServiceUnavailable, "unavailable"},
}

// problemOf translates an error. internal is true when it is our own trouble,
// which is logged and not shown.
func problemOf(err error) (p *Problem, internal bool) {
	var f *fault.Error
	var handshake *live.HandshakeError
	switch {
	case errors.As(err, &p):
		return p, false
	case errors.As(err, &f):
		return problemOfFault(f), false
	case errors.As(err, &handshake):
		return NewProblem(handshake.Status, "handshake", handshake.Error()), false
	case errors.Is(err, context.DeadlineExceeded):
		p = NewProblem(http.StatusServiceUnavailable, "timeout", "the request took too long; ask for less or try again")
		p.retryAfter(0)
		return p, false
	case errors.Is(err, context.Canceled):
		return NewProblem(http.StatusServiceUnavailable, "cancelled", "the request was given up"), false
	}
	return NewProblem(http.StatusInternalServerError, "internal", "the appliance failed; its log has the cause under the X-Request-Id of this answer"), true
}

func problemOfFault(f *fault.Error) *Problem {
	answer, known := answers[f.Kind]
	if !known {
		answer.status, answer.code = http.StatusInternalServerError, "internal"
	}
	p := NewProblem(answer.status, cmp.Or(f.Code, answer.code), f.Message)
	told := f.Details[:min(len(f.Details), maxMistakes)]
	if len(f.Details) > len(told) {
		p.Detail = fmt.Sprintf("%s: %d mistakes, of which the first %d are told", f.Message, len(f.Details), len(told))
	}
	for _, d := range told {
		p.Errors = append(p.Errors, Mistake{Location: shortPlace(d.Location), Message: d.Message, Value: shown(d.Location, d.Value)})
	}
	switch f.Kind {
	case fault.Throttled, fault.Unavailable:
		p.retryAfter(f.RetryAfter)
	case fault.Unauthorized:
		p.header.Set("WWW-Authenticate", "Bearer")
	}
	return p
}

// retryAfter tells when to come back: at least a second.
func (p *Problem) retryAfter(d time.Duration) {
	seconds := max(1, int64(math.Ceil(d.Seconds())))
	p.header.Set("Retry-After", strconv.FormatInt(seconds, 10))
}

// private holds the names of fields whose values are never echoed: answers are kept
// in more places than requests, such as the consoles of browsers and bug reports.
var private = regexp.MustCompile(`(^|[._])(password|token|secret|setup_code|invitation|emails?)(\[[0-9]+\])*$`)

// shortPlace returns a place of the input in at most maxLocation bytes.
func shortPlace(location string) string {
	if len(location) <= maxLocation {
		return location
	}
	return strings.ToValidUTF8(location[:maxLocation], "") + "…"
}

// shown returns what of a value at a place of the input is echoed, nil for nothing.
func shown(location string, v any) any {
	if private.MatchString(location) {
		return nil
	}
	return shortValue(v)
}

// shortValue keeps what is useful to echo: short scalars.
func shortValue(v any) any {
	switch v := v.(type) {
	case string:
		if len(v) > maxValue {
			return nil
		}
	case map[string]any, []any:
		return nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	}
	return v
}

// write answers with the problem.
func (p *Problem) write(w http.ResponseWriter) {
	body := &bytes.Buffer{}
	enc := json.NewEncoder(body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		body.Reset() // an echoed value that JSON cannot say
		bare := *p
		bare.Errors = nil
		_ = enc.Encode(&bare)
	}
	h := w.Header()
	for k, v := range p.header {
		h[k] = v
	}
	h.Set("Content-Type", problemType)
	if rec, ok := w.(recorder); ok && rec.Leave(int(p.Status), body.Bytes()) {
		return
	}
	w.WriteHeader(int(p.Status))
	_, _ = w.Write(body.Bytes()) // the client may be gone
}

// recorder is what the response writer of a server can do for a problem.
type recorder interface {
	// Failed notes our own trouble for the log.
	Failed(cause error)
	// Leave answers a request whose body is left unread and ends the connection, when the
	// header Connection says close; otherwise it does nothing and returns false.
	Leave(status int, body []byte) bool
}

// Refuse answers a request with the problem that err is. Our own trouble is left for the
// log of the server.
func Refuse(w http.ResponseWriter, err error) {
	p, internal := problemOf(err)
	if rec, ok := w.(recorder); ok && internal {
		rec.Failed(err)
	}
	p.write(w)
}

// RefuseUnread is Refuse before the body of the request has been read.
func RefuseUnread(w http.ResponseWriter, r *http.Request, err error) {
	leaveUnread(w, r)
	Refuse(w, err)
}

// leaveUnread ends the connection with the answer when the body of the request may be larger
// than MaxAnonymousBody, which would be much to read for nothing.
func leaveUnread(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 || r.ContentLength > MaxAnonymousBody {
		w.Header().Set("Connection", "close")
	}
}

// RefuseMethod answers 405 to a request whose method is none of those allowed, such as
// "GET, HEAD".
func RefuseMethod(w http.ResponseWriter, allowed string) {
	p := NewProblem(http.StatusMethodNotAllowed, "method_not_allowed", "this address takes "+allowed)
	p.header.Set("Allow", allowed)
	p.write(w)
}

// ReadOnly answers 405 to anything but GET and HEAD.
func ReadOnly(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			RefuseMethod(w, "GET, HEAD")
			return
		}
		h(w, r)
	})
}
