package api

import (
	"container/list"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"

	"sensegate/motion/fault"
)

// The largest request bodies, in bytes (payloads.md 1).
const (
	maxBody          = 1 << 20
	maxAnonymousBody = 16 << 10
)

// The bytes of bodies that are in memory at once, from callers with credentials, from
// callers without, and of handlers that read a body themselves.
const (
	knownRoom     = 16 << 20
	anonymousRoom = 2 << 20
	handlerRoom   = 4 << 20
)

// turnTime is how long a body that is whole waits until it is decoded.
const turnTime = 2 * time.Second

// intake bounds what request bodies cost: the bytes that are held at once, and how many
// bodies are decoded at once. A body is read before it takes a turn to be decoded, so
// that nobody holds a turn by sending slowly. When there is no room for another body,
// the one that has been on its way for longest gives way. All methods may be called
// concurrently.
type intake struct {
	room  int // bytes
	turns chan struct{}

	mu      sync.Mutex
	held    int        // bytes
	reading *list.List // of *upload: those that are not whole, the oldest first
}

// newIntake returns an intake with room for so many bytes. As many bodies are decoded
// at once as the processors can do.
func newIntake(room int) *intake {
	return &intake{room: room, turns: make(chan struct{}, runtime.GOMAXPROCS(0)), reading: list.New()}
}

// upload is one body.
type upload struct {
	place *list.Element // nil when it is whole
	held  int           // bytes
	cut   bool          // it gave way
	stop  func()        // ends its reading
}

// read returns the body of a request, of at most limit bytes, when it is its turn to be
// decoded. done has to be called once after that, also when there is no body. The
// errors are faults: TooLarge, Malformed for a body that breaks off, and Unavailable.
func (in *intake) read(w http.ResponseWriter, r *http.Request, limit int) (body []byte, done func(), err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, func() {}, nil
	}
	if r.ContentLength > int64(limit) {
		return nil, nil, tooLarge(w, limit)
	}
	u := in.begin(func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
	body, err = in.readAll(w, r, limit, u)
	if err == nil {
		err = in.turn(r, u)
	}
	if err != nil {
		in.end(u)
		return nil, nil, err
	}
	return body, func() {
		<-in.turns
		in.end(u)
	}, nil
}

// leaveUnread says that the connection ends with the answer when what the request's
// body announces is much to read for nothing.
func leaveUnread(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength < 0 || r.ContentLength > maxAnonymousBody {
		w.Header().Set("Connection", "close")
	}
}

// tooLarge refuses a body. What is left of it is not read: the connection ends.
func tooLarge(w http.ResponseWriter, limit int) error {
	w.Header().Set("Connection", "close")
	return fault.New(fault.TooLarge, "body is larger than %d bytes", limit)
}

// busy refuses a body for lack of room.
func busy(w http.ResponseWriter) error {
	w.Header().Set("Connection", "close")
	return &fault.Error{Kind: fault.Unavailable, Message: "too many requests are on their way", RetryAfter: time.Second}
}

// readAll reads a body. Its buffer grows with what has come, not with what is announced.
func (in *intake) readAll(w http.ResponseWriter, r *http.Request, limit int, u *upload) ([]byte, error) {
	least := 2 << 10
	if announced := r.ContentLength; announced >= 0 {
		least = min(least, int(announced)+1)
	}
	var body []byte
	for {
		if len(body) == cap(body) {
			grown := make([]byte, len(body), min(max(least, 2*cap(body)), limit+1))
			if !in.grow(u, cap(grown)-cap(body)) {
				return nil, busy(w)
			}
			copy(grown, body)
			body = grown
		}
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > limit:
			return nil, tooLarge(w, limit)
		case err == io.EOF:
			visitorIn(r.Context()).busy()
			return body, nil
		case err != nil && in.gaveWay(u):
			return nil, busy(w)
		case err != nil:
			return nil, fault.New(fault.Malformed, "body broke off")
		}
	}
}

// turn waits until a whole body may be decoded.
func (in *intake) turn(r *http.Request, u *upload) error {
	if !in.whole(u) {
		return fault.New(fault.Unavailable, "too many requests are on their way")
	}
	timer := time.NewTimer(turnTime)
	defer timer.Stop()
	select {
	case in.turns <- struct{}{}:
		return nil
	case <-timer.C:
	case <-r.Context().Done():
	}
	return fault.New(fault.Unavailable, "too many requests are on their way")
}

func (in *intake) begin(stop func()) *upload {
	in.mu.Lock()
	defer in.mu.Unlock()
	u := &upload{stop: stop}
	u.place = in.reading.PushBack(u)
	return u
}

// grow makes room for n more bytes of a body, and reports whether there is any.
func (in *intake) grow(u *upload, n int) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.held+n > in.room && !u.cut {
		oldest := in.reading.Front().Value.(*upload) // u is in the list
		in.leave(oldest)
		oldest.cut = true
		oldest.stop()
	}
	if u.cut {
		return false
	}
	u.held += n
	in.held += n
	return true
}

// whole says that a body has come, and reports false when it had to give way before.
func (in *intake) whole(u *upload) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if u.cut {
		return false
	}
	in.reading.Remove(u.place)
	u.place = nil
	return true
}

func (in *intake) gaveWay(u *upload) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return u.cut
}

// end gives back what a body holds; it may be called again.
func (in *intake) end(u *upload) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.leave(u)
}

// leave is end; mu is held.
func (in *intake) leave(u *upload) {
	if u.place != nil {
		in.reading.Remove(u.place)
		u.place = nil
	}
	in.held -= u.held
	u.held = 0
}
