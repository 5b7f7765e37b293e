package sampletest

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api"
	"sensegate/api/live"
	"sensegate/motion/fault"
	"sensegate/motion/feed"
)

// Feed is a hub with one key.
type Feed struct {
	hub feed.Hub[struct{}, *live.Frame]
}

// NewFeed returns a feed without readers.
func NewFeed() *Feed { return &Feed{} }

// Subscribe returns a reader that may fall behind by so many frames.
func (f *Feed) Subscribe(queue int) live.Subscription[*live.Frame] {
	return f.hub.Subscribe(struct{}{}, queue)
}

// Publish sends a frame to every reader.
func (f *Feed) Publish(m *live.Frame) { f.hub.Publish(struct{}{}, m) }

// Viewers returns how many readers there are.
func (f *Feed) Viewers() int { return f.hub.Readers(struct{}{}) }

// End ends all subscriptions: there is nothing more to say.
func (f *Feed) End() { f.hub.End(struct{}{}) }

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
