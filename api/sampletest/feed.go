package sampletest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api"
	"sensegate/api/live"
	"sensegate/motion/fault"
)

// Feed is a bounded fan-out like motion/feed: a reader whose queue is full is
// cut off by closing its channel.
type Feed struct {
	mu   sync.Mutex
	subs map[*subscription]bool
}

type subscription struct {
	feed   *Feed
	ch     chan *live.Frame
	behind bool
}

// NewFeed returns a feed without readers.
func NewFeed() *Feed { return &Feed{subs: map[*subscription]bool{}} }

// Subscribe returns a reader with a queue of so many frames.
func (f *Feed) Subscribe(queue int) live.Subscription[*live.Frame] {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &subscription{feed: f, ch: make(chan *live.Frame, queue)}
	f.subs[s] = true
	return s
}

// Publish sends a frame to every reader.
func (f *Feed) Publish(m *live.Frame) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		select {
		case s.ch <- m:
		default:
			delete(f.subs, s)
			s.behind = true
			close(s.ch)
		}
	}
}

// Viewers returns how many readers there are.
func (f *Feed) Viewers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subs)
}

// End ends all subscriptions: there is nothing more to say.
func (f *Feed) End() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		delete(f.subs, s)
		close(s.ch)
	}
}

func (s *subscription) C() <-chan *live.Frame { return s.ch }

func (s *subscription) Behind() bool {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	return s.behind
}

func (s *subscription) Stopped() bool { return false }

func (s *subscription) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subs, s)
}

// AsIs sends every frame.
func AsIs(m *live.Frame) (*live.Frame, error) { return m, nil }

// LiveOf streams f to every network but 404.
func LiveOf(f *Feed) api.Operation {
	return Key(func(_ context.Context, _ Caller, in *IDIn) (*live.Stream, error) {
		if in.ID == 404 {
			return nil, fault.New(fault.NotFound, "network_id: no such network")
		}
		return live.NewStream(fmt.Sprint("network/", in.ID), f.Subscribe(8), AsIs), nil
	})
}

// Message is a text frame.
func Message(t testing.TB, text string) *live.Frame {
	t.Helper()
	m := live.Prepare([]byte(text))
	if m.Err != nil {
		t.Fatal(m.Err)
	}
	return m.Frame
}

// Dial opens a websocket; it is closed when the test ends.
func Dial(t testing.TB, addr, path string, header http.Header) *websocket.Conn {
	t.Helper()
	ws, resp, err := websocket.DefaultDialer.Dial("ws://"+addr+path, header)
	if err != nil {
		t.Fatalf("dial %s: %v (%v)", path, err, resp)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// Refused opens a websocket that must fail, and returns the problem.
func Refused(t *testing.T, addr, path string, header http.Header) (status int, body string) {
	t.Helper()
	ws, resp, err := websocket.DefaultDialer.Dial("ws://"+addr+path, header)
	if err == nil {
		ws.Close()
		t.Fatalf("dial %s: accepted", path)
	}
	if resp == nil {
		t.Fatalf("dial %s: %v", path, err)
	}
	defer resp.Body.Close()
	if ct := resp.Header.Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("dial %s: content type %q", path, ct)
	}
	return resp.StatusCode, ReadAll(t, resp.Body)
}

// WantClose reads until the connection is closed with code.
func WantClose(t *testing.T, ws *websocket.Conn, code int) {
	t.Helper()
	_ = ws.SetReadDeadline(time.Now().Add(time.Minute))
	for {
		if _, _, err := ws.ReadMessage(); err != nil {
			if !websocket.IsCloseError(err, code) {
				t.Errorf("closed with %v, want %d", err, code)
			}
			return
		}
	}
}
