package live_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api"
	"sensegate/api/live"
	"sensegate/api/sampletest"
	"sensegate/motion/fault"
)

func TestMessagesReachEveryViewerInOrder(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set, i := newSet(), sampletest.Interface(sampletest.LiveOf(feed))
	addr := serve(t, set, i)
	a := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	b := sampletest.Dial(t, addr, "/core/network/7/live?token=secret-b", nil)
	for i := range 5 { // subscribed before the upgrade was answered: nothing can be missed
		feed.Publish(sampletest.Message(t, fmt.Sprintf(`{"n":%d}`, i)))
	}
	for _, ws := range []*websocket.Conn{a, b} {
		for i := range 5 {
			kind, got, err := ws.ReadMessage()
			if want := fmt.Sprintf(`{"n":%d}`, i); err != nil || kind != websocket.TextMessage || string(got) != want {
				t.Errorf("message %d: %s %v, want %s", i, got, err, want)
			}
		}
	}
}

func TestPlainRequestIsToldToUpgrade(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set, i := newSet(), sampletest.Interface(sampletest.LiveOf(feed))
	w := sampletest.Do(handler(set, i), "GET", "/core/network/7/live", "", "Authorization", "secret-a")
	sampletest.WantStatus(t, w, http.StatusUpgradeRequired)
	// A handshake that gorilla refuses, and one that cannot be taken over.
	w = sampletest.Do(handler(set, i), "GET", "/core/network/7/live", "", "Authorization", "secret-a", "Connection", "upgrade", "Upgrade", "websocket", "Sec-Websocket-Version", "12")
	sampletest.WantStatus(t, w, http.StatusBadRequest)
	if !strings.Contains(w.Body.String(), `"code":"handshake"`) {
		t.Errorf("answer %s", w.Body)
	}
	if feed.Viewers() != 0 || set.Count() != 0 {
		t.Error("a refused connection is still counted")
	}
}

func TestSlowReaderIsCutOff(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set, i := newSet(), sampletest.Interface(sampletest.LiveOf(feed))
	set.SetPace(time.Hour, time.Hour, time.Minute, time.Minute) // nothing else ends it
	addr := serve(t, set, i)
	slow := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	big := sampletest.Message(t, `"`+strings.Repeat("x", 32<<10)+`"`)
	for feed.Viewers() == 1 { // until the kernel and the queue are full: cut off
		feed.Publish(big)
	}
	sampletest.WantClose(t, slow, websocket.CloseTryAgainLater)
	sampletest.WaitFor(t, "the connection is forgotten", func() bool { return set.Count() == 0 })
}

func TestReaderThatNeverReadsIsGivenUp(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set, i := newSet(), sampletest.Interface(sampletest.LiveOf(feed))
	set.SetPace(time.Hour, time.Hour, 50*time.Millisecond, 50*time.Millisecond)
	addr := serve(t, set, i)
	sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	big := sampletest.Message(t, `"`+strings.Repeat("x", 1<<20)+`"`)
	sampletest.WaitFor(t, "the connection is closed", func() bool {
		feed.Publish(big)
		return set.Count() == 0
	})
}

func TestPingsKeepAViewerAndSilenceEndsIt(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set, i := newSet(), sampletest.Interface(sampletest.LiveOf(feed))
	set.SetPace(10*time.Millisecond, 3*time.Second, time.Minute, time.Second)
	addr := serve(t, set, i)
	good := http.Header{"Authorization": {"secret-a"}}
	answers := sampletest.Dial(t, addr, "/core/network/7/live", good)
	silent := sampletest.Dial(t, addr, "/core/network/8/live", good)
	pings := make(chan struct{}, 1000)
	answer := answers.PingHandler()
	answers.SetPingHandler(func(text string) error {
		pings <- struct{}{}
		return answer(text)
	})
	silent.SetPingHandler(func(string) error { return nil })
	ended := make(chan error, 2)
	for _, ws := range []*websocket.Conn{answers, silent} {
		go func() {
			_, _, err := ws.ReadMessage()
			ended <- fmt.Errorf("%s: %w", map[bool]string{true: "answers", false: "silent"}[ws == answers], err)
		}()
	}
	if err := <-ended; !strings.HasPrefix(err.Error(), "silent") {
		t.Errorf("ended first: %v", err)
	}
	for range 3 {
		<-pings
	}
	answers.Close()
	<-ended
}

func TestChattyViewerIsClosed(t *testing.T) {
	t.Parallel()
	set, i := newSet(), sampletest.Interface(sampletest.LiveOf(sampletest.NewFeed()))
	addr := serve(t, set, i)
	ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	if err := ws.WriteMessage(websocket.TextMessage, make([]byte, live.ReadLimit+1)); err != nil {
		t.Fatal(err)
	}
	sampletest.WantClose(t, ws, websocket.CloseMessageTooBig)
}

func TestConnectionsOfOneKeyAreLimited(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set, i := live.NewSet(2, 16, api.Refuse, slog.New(slog.DiscardHandler)), sampletest.Interface(sampletest.LiveOf(feed))
	addr := serve(t, set, i)
	good := http.Header{"Authorization": {"secret-a"}}
	first := sampletest.Dial(t, addr, "/core/network/7/live", good)
	sampletest.Dial(t, addr, "/core/network/7/live", good)
	status, body := sampletest.Refused(t, addr, "/core/network/7/live", good)
	if status != http.StatusTooManyRequests || !strings.Contains(body, "too_many_connections") {
		t.Errorf("third: %d %s", status, body)
	}
	if n := feed.Viewers(); n != 2 {
		t.Errorf("%d subscriptions, want 2", n)
	}
	sampletest.Dial(t, addr, "/core/network/8/live", good)
	first.Close()
	sampletest.WaitFor(t, "the place is free", func() bool { return set.Count() == 2 })
	sampletest.Dial(t, addr, "/core/network/7/live", good)
}

func TestOneUserCannotTakeAllConnectionsOfANetwork(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	set := live.NewSet(3, 2, api.Refuse, slog.New(slog.DiscardHandler))
	addr := serve(t, set, api.Interface{
		Base: "/named", Principals: []api.Principal{api.Authorize("key", "API key", sampletest.CheckCaller,
			func(_ context.Context, _ *api.Request, c sampletest.Caller) (sampletest.NamedCaller, error) {
				return sampletest.NamedCaller(c), nil
			})},
		Routes: []api.Route{api.Live("/network/{id}/live", api.Guarded("key", func(_ context.Context, _ sampletest.NamedCaller, in *sampletest.IDIn) (*live.Stream, error) {
			return live.NewStream(fmt.Sprint("network/", in.ID), feed.Subscribe(8), sampletest.AsIs), nil
		}), "Live data")},
	})
	a, b, c := http.Header{"Authorization": {"secret-a"}}, http.Header{"Authorization": {"secret-b"}}, http.Header{"Authorization": {"secret-c"}}
	first := sampletest.Dial(t, addr, "/named/network/7/live", a)
	sampletest.Dial(t, addr, "/named/network/7/live", a)
	if status, body := sampletest.Refused(t, addr, "/named/network/7/live", a); status != http.StatusTooManyRequests || !strings.Contains(body, `"too_many_own_connections"`) {
		t.Errorf("the third of one user: %d %s", status, body)
	}
	sampletest.Dial(t, addr, "/named/network/8/live", a)
	sampletest.Dial(t, addr, "/named/network/7/live", b)
	if status, body := sampletest.Refused(t, addr, "/named/network/7/live", c); status != http.StatusTooManyRequests || !strings.Contains(body, `"too_many_connections"`) {
		t.Errorf("the fourth of all: %d %s", status, body)
	}
	first.Close()
	sampletest.WaitFor(t, "the place is free", func() bool { return set.Count() == 3 })
	sampletest.Dial(t, addr, "/named/network/7/live", c)
	if n := set.Shares(); n != 4 {
		t.Errorf("%d shares are counted, want 4", n)
	}
}

func TestFailedFrameEndsTheConnection(t *testing.T) {
	t.Parallel()
	for name, frame := range map[string]func(*live.Frame) (*live.Frame, error){
		"error": func(*live.Frame) (*live.Frame, error) {
			return nil, errors.New("no frame")
		},
		"panic": func(*live.Frame) (*live.Frame, error) { panic("no frame") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			feed := sampletest.NewFeed()
			log := &sampletest.LogBuffer{}
			set := live.NewSet(64, 16, api.Refuse, slog.New(slog.NewTextHandler(log, nil)))
			addr := serve(t, set, sampletest.Interface(sampletest.Key(func(context.Context, sampletest.Caller, *sampletest.IDIn) (*live.Stream, error) {
				return live.NewStream("k", feed.Subscribe(1), frame), nil
			})))
			ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
			feed.Publish(sampletest.Message(t, "{}"))
			sampletest.WantClose(t, ws, websocket.CloseInternalServerErr)
			sampletest.WaitFor(t, "it is logged", func() bool { return strings.Contains(log.String(), "no frame") })
		})
	}
}

func TestNilFrameIsNotSent(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	wanted := sampletest.Message(t, "2")
	addr := serve(t, newSet(), sampletest.Interface(sampletest.Key(func(context.Context, sampletest.Caller, *sampletest.IDIn) (*live.Stream, error) {
		return live.NewStream("k", feed.Subscribe(8), func(m *live.Frame) (*live.Frame, error) {
			if m != wanted {
				return nil, nil
			}
			return m, nil
		}), nil
	})))
	ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	feed.Publish(sampletest.Message(t, "1"))
	feed.Publish(wanted)
	if _, got, err := ws.ReadMessage(); err != nil || string(got) != "2" {
		t.Errorf("got %s %v, want 2", got, err)
	}
}

func TestNobodyConnectsAfterTheStop(t *testing.T) {
	t.Parallel()
	set := newSet()
	if err := set.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := set.Join("x", ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("join after the stop: %v", err)
	}
}
