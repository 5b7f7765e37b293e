package server

import (
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/sampletest"
)

func TestEverythingFailsBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	s, _ := testServer(t, sampletest.LiveOf(feed))
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
		status, body := sampletest.Refused(t, addr, c.path, c.header)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s, want %d %s", name, status, body, c.status, c.says)
		}
	}
	if n := feed.Viewers(); n != 0 {
		t.Errorf("%d subscriptions left", n)
	}
	for _, origin := range []string{"http://" + addr, "https://app.example:8443"} {
		sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}, "Origin": {origin}})
	}
}

func TestViewersAreToldThatTheServerStops(t *testing.T) {
	t.Parallel()
	feed := sampletest.NewFeed()
	s, _ := testServer(t, sampletest.LiveOf(feed))
	addr, stop := run(t, s)
	ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	sampletest.WantClose(t, ws, websocket.CloseGoingAway)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if s.live.Count() != 0 || feed.Viewers() != 0 {
		t.Error("a connection outlived the server")
	}
}

func TestViewerThatIgnoresTheCloseHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.LiveOf(sampletest.NewFeed()))
	addr, stop := run(t, s)
	ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
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
