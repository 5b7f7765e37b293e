package live_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api"
	"sensegate/api/live"
	"sensegate/api/sampletest"
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
func snapshotOf(t *testing.T, f *sampletest.Feed) api.Operation {
	one := sampletest.Message(t, "1")
	return sampletest.Key(func(context.Context, sampletest.Caller, *sampletest.IDIn) (*live.Stream, error) {
		sub := f.Subscribe(8)
		f.Publish(one)
		return live.NewStream("k", sub, func(m *live.Frame) (*live.Frame, error) {
			if m == one {
				return nil, nil
			}
			return m, nil
		}, []byte("[1]"), []byte("{}")), nil
	})
}

func TestSnapshotComesBeforeTheUpdatesThatItLacks(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set, i := newSet(), sampletest.Interface(snapshotOf(t, feed))
	addr := serve(t, set, i)
	ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	feed.Publish(sampletest.Message(t, "2"))
	feed.Publish(sampletest.Message(t, "3"))
	feed.End()
	wantMessages(t, ws, "[1]", "{}", "2", "3")
	wantEnd(t, ws, websocket.CloseNormalClosure)
	sampletest.WaitFor(t, "the connection is forgotten", func() bool { return set.Count() == 0 })
}

func TestWhatHasEndedIsSentAndClosed(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	addr := serve(t, newSet(), sampletest.Interface(sampletest.Key(func(context.Context, sampletest.Caller, *sampletest.IDIn) (*live.Stream, error) {
		sub := feed.Subscribe(8)
		feed.End()
		return live.NewStream("k", sub, sampletest.AsIs, []byte(`{"type":"snapshot"}`), []byte(`{"type":"done"}`)), nil
	})))
	ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	wantMessages(t, ws, `{"type":"snapshot"}`, `{"type":"done"}`)
	wantEnd(t, ws, websocket.CloseNormalClosure)
}

// checkedAgain serves live data to a caller whose second check, with the first
// ping, ends with err.
func checkedAgain(t *testing.T, err error) (addr string, checks *atomic.Int32) {
	t.Helper()
	checks = &atomic.Int32{}
	i := sampletest.Interface(sampletest.LiveOf(sampletest.NewFeed()))
	i.Base = "/again"
	i.Principals[0] = api.Authenticate("key", "API key", func(ctx context.Context, r *api.Request) (sampletest.Caller, error) {
		if r.Path("id") != "7" || r.Query("q") != "5" || !r.Live() || r.Method() != http.MethodGet || !r.Remote().IsLoopback() {
			return sampletest.Caller{}, fmt.Errorf("the request was not kept whole: %+v", r)
		}
		if checks.Add(1) > 1 && err != nil {
			return sampletest.Caller{}, err
		}
		return sampletest.CheckCaller(ctx, r)
	})
	set := newSet()
	set.SetPace(10*time.Millisecond, time.Minute, time.Minute, time.Minute)
	return serve(t, set, i), checks
}

func TestViewerWhoMayNoLongerWatchIsTold(t *testing.T) {
	t.Parallel()
	for kind, code := range map[fault.Kind]int{fault.Unauthorized: 4401, fault.Forbidden: 4403, fault.NotFound: 4404} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			addr, _ := checkedAgain(t, fault.New(kind, "no longer"))
			wantEnd(t, sampletest.Dial(t, addr, "/again/network/7/live?q=5&token=secret-a", nil), code)
		})
	}
}

func TestOwnTroubleEndsNoConnection(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"valid": nil, "unavailable": fault.New(fault.Unavailable, "not now"), "broken": errors.New("disk broke")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, checks := checkedAgain(t, err)
			ws := sampletest.Dial(t, addr, "/again/network/7/live?q=5", http.Header{"Authorization": {"secret-a"}})
			sampletest.WaitFor(t, "it is checked again", func() bool { return checks.Load() > 3 })
			ws.Close()
		})
	}
}
