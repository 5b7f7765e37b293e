package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion/fault"
)

// testFeed is a bounded fan-out like motion/feed: a reader whose queue is full is
// cut off by closing its channel.
type testFeed struct {
	mu   sync.Mutex
	subs map[*testSub]bool
}

type testSub struct {
	feed   *testFeed
	ch     chan *websocket.PreparedMessage
	behind bool
}

func newTestFeed() *testFeed { return &testFeed{subs: map[*testSub]bool{}} }

func (f *testFeed) subscribe(queue int) *testSub {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &testSub{feed: f, ch: make(chan *websocket.PreparedMessage, queue)}
	f.subs[s] = true
	return s
}

func (f *testFeed) publish(m *websocket.PreparedMessage) {
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

func (f *testFeed) viewers() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subs)
}

// end ends all subscriptions: there is nothing more to say.
func (f *testFeed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		delete(f.subs, s)
		close(s.ch)
	}
}

func (s *testSub) C() <-chan *websocket.PreparedMessage { return s.ch }

func (s *testSub) Behind() bool {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	return s.behind
}

func (s *testSub) Stopped() bool { return false }

func (s *testSub) Close() {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subs, s)
}

func asIs(m *websocket.PreparedMessage) (*websocket.PreparedMessage, error) { return m, nil }

// liveOf streams f to every network but 404.
func liveOf(f *testFeed) Operation {
	return key(func(_ context.Context, _ caller, in *idIn) (*Stream, error) {
		if in.ID == 404 {
			return nil, fault.New(fault.NotFound, "network_id: no such network")
		}
		return NewStream(fmt.Sprint("network/", in.ID), f.subscribe(8), asIs), nil
	})
}

func message(t testing.TB, text string) *websocket.PreparedMessage {
	t.Helper()
	m, err := TextFrame([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// dial opens a websocket; it is closed when the test ends.
func dial(t testing.TB, addr, path string, header http.Header) *websocket.Conn {
	t.Helper()
	ws, resp, err := websocket.DefaultDialer.Dial("ws://"+addr+path, header)
	if err != nil {
		t.Fatalf("dial %s: %v (%v)", path, err, resp)
	}
	t.Cleanup(func() { ws.Close() })
	return ws
}

// refused opens a websocket that must fail, and returns the problem.
func refused(t *testing.T, addr, path string, header http.Header) (status int, body string) {
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
	if ct := resp.Header.Get("Content-Type"); ct != problemType {
		t.Errorf("dial %s: content type %q", path, ct)
	}
	return resp.StatusCode, readAll(t, resp.Body)
}

// wantClose reads until the connection is closed with code.
func wantClose(t *testing.T, ws *websocket.Conn, code int) {
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

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("gave up waiting: %s", what)
		}
	}
}

func TestMessagesReachEveryViewerInOrder(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	addr, _ := run(t, s)
	a := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	b := dial(t, addr, "/core/network/7/live?token=secret-b", nil)
	for i := range 5 { // subscribed before the upgrade was answered: nothing can be missed
		feed.publish(message(t, fmt.Sprintf(`{"n":%d}`, i)))
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

func TestEverythingFailsBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	s.origins.listed["https://app.example:8443"] = true
	addr, _ := run(t, s)
	good := http.Header{"Authorization": {"secret-a"}}
	for name, c := range map[string]struct {
		path   string
		header http.Header
		status int
		says   string
	}{
		"no key":          {"/core/network/7/live", nil, 401, "no valid key"},
		"unknown network": {"/core/network/404/live", good, 404, "no such network"},
		"invalid id":      {"/core/network/x/live", good, 422, "path.id"},
		"foreign page":    {"/core/network/7/live?token=secret-a", http.Header{"Origin": {"http://evil.example"}}, 403, "http.origins"},
		"with a token":    {"/core/network/7/live", http.Header{"Origin": {"http://evil.example"}, "Authorization": {"secret-a"}}, 403, "origin"},
		"another port":    {"/core/network/7/live?token=secret-a", http.Header{"Origin": {"http://localhost:9999"}}, 403, "origin"},
		"another scheme":  {"/core/network/7/live?token=secret-a", http.Header{"Origin": {"https://" + addr}}, 403, "origin"},
		"null origin":     {"/core/network/7/live?token=secret-a", http.Header{"Origin": {"null"}}, 403, "origin"},
	} {
		status, body := refused(t, addr, c.path, c.header)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, status, body, c.status, c.says)
		}
	}
	if n := feed.viewers(); n != 0 {
		t.Errorf("%d subscriptions left", n)
	}
	for _, origin := range []string{"http://" + addr, "https://app.example:8443"} {
		dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}, "Origin": {origin}})
	}
}

func TestPlainRequestIsToldToUpgrade(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	w := do(s, "GET", "/core/network/7/live", "", "Authorization", "secret-a")
	wantStatus(t, w, http.StatusUpgradeRequired)
	// A handshake that gorilla refuses, and one that cannot be taken over.
	w = do(s, "GET", "/core/network/7/live", "", "Authorization", "secret-a", "Connection", "upgrade", "Upgrade", "websocket", "Sec-Websocket-Version", "12")
	wantStatus(t, w, http.StatusBadRequest)
	if !strings.Contains(w.Body.String(), `"code":"handshake"`) {
		t.Errorf("answer %s", w.Body)
	}
	if feed.viewers() != 0 || s.env.live.count() != 0 {
		t.Error("a refused connection is still counted")
	}
}

func TestSlowReaderIsCutOff(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	s.env.live.pace = pace{ping: time.Hour, pong: time.Hour, write: time.Minute, bye: time.Minute} // nothing else ends it
	addr, _ := run(t, s)
	slow := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	big := message(t, `"`+strings.Repeat("x", 32<<10)+`"`)
	for feed.viewers() == 1 { // until the kernel and the queue are full: cut off
		feed.publish(big)
	}
	wantClose(t, slow, websocket.CloseTryAgainLater)
	waitFor(t, "the connection is forgotten", func() bool { return s.env.live.count() == 0 })
}

func TestReaderThatNeverReadsIsGivenUp(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	s.env.live.pace = pace{ping: time.Hour, pong: time.Hour, write: 50 * time.Millisecond, bye: 50 * time.Millisecond}
	addr, _ := run(t, s)
	dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	big := message(t, `"`+strings.Repeat("x", 1<<20)+`"`)
	waitFor(t, "the connection is closed", func() bool {
		feed.publish(big)
		return s.env.live.count() == 0
	})
}

func TestViewersAreToldThatTheServerStops(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	addr, stop := run(t, s)
	ws := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	wantClose(t, ws, websocket.CloseGoingAway)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if s.env.live.count() != 0 || feed.viewers() != 0 {
		t.Error("a connection outlived the server")
	}
	if _, err := s.env.live.join("x", ""); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("join after the stop: %v", err)
	}
}

func TestViewerThatIgnoresTheCloseHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, liveOf(newTestFeed()))
	addr, stop := run(t, s)
	ws := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	var chatting sync.WaitGroup
	chatting.Go(func() { // never reads, always alive
		for ws.WriteControl(websocket.PongMessage, nil, time.Now().Add(time.Minute)) == nil {
			runtime.Gosched()
		}
	})
	if err := stop(); err != nil {
		t.Errorf("the stop was held up: %v", err)
	}
	ws.Close()
	chatting.Wait()
}

func TestPingsKeepAViewerAndSilenceEndsIt(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	s.env.live.pace = pace{ping: 10 * time.Millisecond, pong: 3 * time.Second, write: time.Minute, bye: time.Second}
	addr, _ := run(t, s)
	good := http.Header{"Authorization": {"secret-a"}}
	answers := dial(t, addr, "/core/network/7/live", good)
	silent := dial(t, addr, "/core/network/8/live", good)
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
	s, _ := testServer(t, liveOf(newTestFeed()))
	addr, _ := run(t, s)
	ws := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	if err := ws.WriteMessage(websocket.TextMessage, make([]byte, readLimit+1)); err != nil {
		t.Fatal(err)
	}
	wantClose(t, ws, websocket.CloseMessageTooBig)
}

func TestConnectionsOfOneKeyAreLimited(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, liveOf(feed))
	s.env.live.limit = 2
	addr, _ := run(t, s)
	good := http.Header{"Authorization": {"secret-a"}}
	first := dial(t, addr, "/core/network/7/live", good)
	dial(t, addr, "/core/network/7/live", good)
	status, body := refused(t, addr, "/core/network/7/live", good)
	if status != http.StatusTooManyRequests || !strings.Contains(body, "too_many_connections") {
		t.Errorf("third: %d %s", status, body)
	}
	if n := feed.viewers(); n != 2 {
		t.Errorf("%d subscriptions, want 2", n)
	}
	dial(t, addr, "/core/network/8/live", good)
	first.Close()
	waitFor(t, "the place is free", func() bool { return s.env.live.count() == 2 })
	dial(t, addr, "/core/network/7/live", good)
}

// namedCaller is a caller whose connections are counted.
type namedCaller struct{ caller }

func (c namedCaller) Caller() string { return c.name }

func TestOneUserCannotTakeAllConnectionsOfANetwork(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	s, _ := testServer(t, noLive())
	s.env.live.limit, s.env.live.share = 3, 2
	s.Mount(Interface{
		Base: "/named", Principals: []Principal{Authorize("key", "API key", checkCaller,
			func(_ context.Context, _ *Request, c caller) (namedCaller, error) { return namedCaller{c}, nil })},
		Routes: []Route{Live("/network/{id}/live", Guarded("key", func(_ context.Context, _ namedCaller, in *idIn) (*Stream, error) {
			return NewStream(fmt.Sprint("network/", in.ID), feed.subscribe(8), asIs), nil
		}), "Live data")},
	})
	addr, _ := run(t, s)
	a, b, c := http.Header{"Authorization": {"secret-a"}}, http.Header{"Authorization": {"secret-b"}}, http.Header{"Authorization": {"secret-c"}}
	first := dial(t, addr, "/named/network/7/live", a)
	dial(t, addr, "/named/network/7/live", a)
	if status, body := refused(t, addr, "/named/network/7/live", a); status != http.StatusTooManyRequests || !strings.Contains(body, `"too_many_own_connections"`) {
		t.Errorf("the third of one user: %d %s", status, body)
	}
	dial(t, addr, "/named/network/8/live", a)
	dial(t, addr, "/named/network/7/live", b)
	if status, body := refused(t, addr, "/named/network/7/live", c); status != http.StatusTooManyRequests || !strings.Contains(body, `"too_many_connections"`) {
		t.Errorf("the fourth of all: %d %s", status, body)
	}
	first.Close()
	waitFor(t, "the place is free", func() bool { return s.env.live.count() == 3 })
	dial(t, addr, "/named/network/7/live", c)
	s.env.live.mu.Lock()
	defer s.env.live.mu.Unlock()
	if n := len(s.env.live.shares); n != 4 {
		t.Errorf("%d shares are counted, want 4", n)
	}
}

func TestFailedFrameEndsTheConnection(t *testing.T) {
	t.Parallel()
	for name, frame := range map[string]func(*websocket.PreparedMessage) (*websocket.PreparedMessage, error){
		"error": func(*websocket.PreparedMessage) (*websocket.PreparedMessage, error) {
			return nil, errors.New("no frame")
		},
		"panic": func(*websocket.PreparedMessage) (*websocket.PreparedMessage, error) { panic("no frame") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			feed := newTestFeed()
			s, log := testServer(t, key(func(context.Context, caller, *idIn) (*Stream, error) {
				return NewStream("k", feed.subscribe(1), frame), nil
			}))
			addr, _ := run(t, s)
			ws := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
			feed.publish(message(t, "{}"))
			wantClose(t, ws, websocket.CloseInternalServerErr)
			waitFor(t, "it is logged", func() bool { return strings.Contains(log.String(), "no frame") })
		})
	}
}

func TestNilFrameIsNotSent(t *testing.T) {
	t.Parallel()
	feed := newTestFeed()
	wanted := message(t, "2")
	s, _ := testServer(t, key(func(context.Context, caller, *idIn) (*Stream, error) {
		return NewStream("k", feed.subscribe(8), func(m *websocket.PreparedMessage) (*websocket.PreparedMessage, error) {
			if m != wanted {
				return nil, nil
			}
			return m, nil
		}), nil
	}))
	addr, _ := run(t, s)
	ws := dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	feed.publish(message(t, "1"))
	feed.publish(wanted)
	if _, got, err := ws.ReadMessage(); err != nil || string(got) != "2" {
		t.Errorf("got %s %v, want 2", got, err)
	}
}
