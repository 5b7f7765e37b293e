package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion/fault"
)

// wantMessages reads exactly these messages.
func wantMessages(t *testing.T, ws *websocket.Conn, texts ...string) {
	t.Helper()
	_ = ws.SetReadDeadline(time.Now().Add(time.Minute))
	for _, want := range texts {
		if _, got, err := ws.ReadMessage(); err != nil || string(got) != want {
			t.Fatalf("got %s %v, want %s", got, err, want)
		}
	}
}

// wantEnd reads the close with code and nothing before it.
func wantEnd(t *testing.T, ws *websocket.Conn, code int) {
	t.Helper()
	_ = ws.SetReadDeadline(time.Now().Add(time.Minute))
	if _, got, err := ws.ReadMessage(); !websocket.IsCloseError(err, code) {
		t.Errorf("got %s %v, want close code %d", got, err, code)
	}
}

// snapshotOf streams f behind a snapshot that already holds "1", which is
// published between the subscription and the snapshot.
func snapshotOf(t *testing.T, f *testFeed) Operation {
	one := message(t, "1")
	return key(func(context.Context, caller, *idIn) (*Stream, error) {
		sub := f.subscribe(8)
		f.publish(one)
		return NewStream("k", sub, func(m *websocket.PreparedMessage) (*websocket.PreparedMessage, error) {
			if m == one {
				return nil, nil
			}
			return m, nil
		}, []byte("[1]"), []byte("{}")), nil
	})
}

func TestSnapshotComesBeforeTheUpdatesThatItLacks(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, snapshotOf(t, feed))
	addr, _ := run(t, s)
	ws := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	feed.publish(message(t, "2"))
	feed.publish(message(t, "3"))
	feed.end()
	wantMessages(t, ws, "[1]", "{}", "2", "3")
	wantEnd(t, ws, websocket.CloseNormalClosure)
	waitFor(t, "the connection is forgotten", func() bool { return s.env.live.count() == 0 })
}

func TestWhatHasEndedIsSentAndClosed(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, key(func(context.Context, caller, *idIn) (*Stream, error) {
		sub := feed.subscribe(8)
		feed.end()
		return NewStream("k", sub, asIs, []byte(`{"type":"snapshot"}`), []byte(`{"type":"done"}`)), nil
	}))
	addr, _ := run(t, s)
	ws := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	wantMessages(t, ws, `{"type":"snapshot"}`, `{"type":"done"}`)
	wantEnd(t, ws, websocket.CloseNormalClosure)
}

// checkedAgain serves live data to a caller whose second check, with the first
// ping, ends with err.
func checkedAgain(t *testing.T, err error) (addr string, checks *atomic.Int32) {
	t.Helper()
	checks = &atomic.Int32{}
	i := testInterface(liveOf(newTestFeed()))
	i.Base = "/again"
	i.Principals[0] = Authenticate("key", "API key", func(ctx context.Context, r *Request) (caller, error) {
		if r.Path("id") != "7" || r.Query("q") != "5" || !r.Live() || r.Method() != http.MethodGet || !r.Remote().IsLoopback() {
			return caller{}, fmt.Errorf("the request was not kept whole: %+v", r)
		}
		if checks.Add(1) > 1 && err != nil {
			return caller{}, err
		}
		return checkCaller(ctx, r)
	})
	s, _ := testServer(t, noLive())
	s.env.live.pace = pace{ping: 10 * time.Millisecond, pong: time.Minute, write: time.Minute, bye: time.Minute}
	s.Mount(i)
	addr, _ = run(t, s)
	return addr, checks
}

func TestViewerWhoMayNoLongerWatchIsTold(t *testing.T) {
	t.Parallel()
	for kind, code := range map[fault.Kind]int{fault.Unauthorized: 4401, fault.Forbidden: 4403, fault.NotFound: 4404} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			addr, _ := checkedAgain(t, fault.New(kind, "no longer"))
			wantEnd(t, dial(t, addr, "/again/network/7/live?q=5&token=secret-a", nil), code)
		})
	}
}

func TestOwnTroubleEndsNoConnection(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"valid": nil, "unavailable": fault.New(fault.Unavailable, "not now"), "broken": errors.New("disk broke")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, checks := checkedAgain(t, err)
			ws := dial(t, addr, "/again/network/7/live?q=5", http.Header{"Authorization": {"secret-a"}})
			waitFor(t, "it is checked again", func() bool { return checks.Load() > 3 })
			ws.Close()
		})
	}
}
