package server

import (
	"container/list"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"

	"sensegate/motion/fault"
)

// The bytes of bodies that are in memory at once, from callers with credentials, from
// callers without, and of handlers that read a body themselves.
const (
	knownRoom     = 16 << 20
	anonymousRoom = 2 << 20
	handlerRoom   = 4 << 20
)

// slotTime is how long a whole body waits for a slot to be decoded in.
const slotTime = 2 * time.Second

// errCrowded refuses a body for which there is no room, or no slot.
var errCrowded = fault.New(fault.Unavailable, "too many requests are on their way")

// intake bounds what request bodies cost: the bytes that are held at once, and how many
// bodies are decoded at once. A body is read before it takes a slot to be decoded in, so
// that no slow sender holds a slot. When there is no room for another body, the one that
// has been read for longest gives way. All methods may be called concurrently.
type intake struct {
	room  int           // bytes
	slots chan struct{} // one for each body that is being decoded

	mu      sync.Mutex
	held    int        // bytes
	reading *list.List // of *upload: those that are not whole, the oldest first
}

// newIntake returns an intake with room for so many bytes, and a slot for each processor.
func newIntake(room int) *intake {
	return &intake{room: room, slots: make(chan struct{}, runtime.GOMAXPROCS(0)), reading: list.New()}
}

// upload is one body.
type upload struct {
	place *list.Element // nil when it is whole
	held  int           // bytes
	cut   bool          // it gave way
	stop  func()        // ends its reading
}

// read returns the body of a request, of at most limit bytes, when it may be decoded.
// decoded has to be called once after that, also when there is no body. The errors are
// faults: TooLarge, Malformed for a body that breaks off, and Unavailable.
func (in *intake) read(w http.ResponseWriter, r *http.Request, limit int) (body []byte, decoded func(), err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, func() {}, nil
	}
	if r.ContentLength > int64(limit) {
		return nil, nil, tooLarge(w, limit)
	}
	u := in.begin(func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
	body, err = in.readAll(w, r, limit, u)
	if err == nil {
		err = in.takeSlot(r, u)
	}
	if err != nil {
		in.end(u)
		return nil, nil, err
	}
	return body, func() {
		<-in.slots
		in.end(u)
	}, nil
}

// tooLarge refuses a body, and ends the connection instead of reading the rest.
func tooLarge(w http.ResponseWriter, limit int) error {
	w.Header().Set("Connection", "close")
	return fault.New(fault.TooLarge, "body is larger than %d bytes", limit)
}

// busy refuses a body for which there is no room.
func busy(w http.ResponseWriter) error {
	w.Header().Set("Connection", "close")
	return errCrowded
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
			connectionIn(r.Context()).busy()
			return body, nil
		case err != nil && in.gaveWay(u):
			return nil, busy(w)
		case err != nil:
			return nil, fault.New(fault.Malformed, "body broke off")
		}
	}
}

// takeSlot waits for a slot to decode a whole body in.
func (in *intake) takeSlot(r *http.Request, u *upload) error {
	if !in.whole(u) {
		return errCrowded
	}
	timer := time.NewTimer(slotTime)
	defer timer.Stop()
	select {
	case in.slots <- struct{}{}:
		return nil
	case <-timer.C:
	case <-r.Context().Done():
	}
	return errCrowded
}

// begin notes a body that is read from now on. stop ends the reading.
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
