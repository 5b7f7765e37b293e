package server

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/api"
	"sensegate/api/sampletest"
	"sensegate/api/web"
)

func TestForeignHostIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	s.HandleAnyHost("/gatekeeper", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "open") }))
	for host, want := range map[string]int{
		"127.0.0.1:8080": 200, "192.168.1.5": 200, "[fe80::1]:80": 200, "[::1]": 200, "localhost:1": 200, "LOCALHOST": 200,
		"home.example": 200, "home.example.:8080": 200, "Home.Example": 200, "": 200,
		"evil.example": 421, "home.example.evil": 421, "127.0.0.1.evil": 421, "localhost.evil:80": 421, ":80": 421, "[": 421, "127.0.0.1.": 200,
	} {
		w := sampletest.Do(s, "GET", "/core/alert/status", "", "Host", host)
		if w.Code != want {
			t.Errorf("Host %q: %d, want %d", host, w.Code, want)
		}
		if want == 421 && !strings.Contains(w.Body.String(), "http.hosts") {
			t.Errorf("Host %q: the answer does not name the setting: %s", host, w.Body)
		}
	}
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/gatekeeper", "", "Host", "evil.example"), http.StatusOK)
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/gatekeeper/", "", "Host", "evil.example"), http.StatusOK)
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/nothing", "", "Host", "evil.example"), http.StatusMisdirectedRequest)
}

func TestRateIsLimitedPerToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(t, sampletest.NoLive())
		for range 100 {
			sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "secret-a"), http.StatusOK)
		}
		w := sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "Bearer secret-a")
		sampletest.WantStatus(t, w, http.StatusTooManyRequests)
		if got := w.Header().Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After %q, want 1", got)
		}
		sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "secret-b"), http.StatusOK)
		time.Sleep(time.Second)
		for range 50 {
			sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "secret-a"), http.StatusOK)
		}
		sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "secret-a"), http.StatusTooManyRequests)
	})
}

func TestGuessingTokensLocksNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(t, sampletest.NoLive())
		for i := range 100 {
			sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", fmt.Sprint("guess-", i)), http.StatusUnauthorized)
		}
		sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "guess-x"), http.StatusTooManyRequests)
		sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "secret-a"), http.StatusOK)
	})
}

func TestRequestTimeIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(t, sampletest.NoLive())
		s.Mount(api.Interface{Base: "/slow", Principals: []api.Principal{sampletest.WithoutCredentials()}, Routes: []api.Route{
			api.Get("/wait", sampletest.Anyone(func(ctx context.Context, _ sampletest.Stranger, _ *sampletest.NoIn) (*sampletest.NoIn, error) {
				<-ctx.Done()
				return nil, fmt.Errorf("read history: %w", ctx.Err())
			}), "Wait"),
		}})
		start := time.Now()
		w := sampletest.Do(s, "GET", "/slow/wait", "")
		sampletest.WantStatus(t, w, http.StatusServiceUnavailable)
		if took := time.Since(start); took != api.RequestTime || w.Header().Get("Retry-After") == "" {
			t.Errorf("answered after %v with %v", took, w.Header())
		}
	})
}

func TestInventedTokensDoNotEvadeTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(t, sampletest.NoLive())
		for i := range 100 {
			sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/alert/status", "", "Authorization", fmt.Sprint("invented-", i)), http.StatusOK)
		}
		sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/alert/status", "", "Authorization", "invented-x"), http.StatusTooManyRequests)
	})
}

func TestAddressesOfAnIPv6NetworkShareARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(t, sampletest.NoLive())
		answered := 0
		for i := range 3000 {
			r := httptest.NewRequest("GET", "/core/alert/status", nil)
			r.Host, r.RemoteAddr = "localhost", fmt.Sprintf("[2001:db8::%x]:9", i+1)
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code == http.StatusOK {
				answered++
			}
		}
		if answered != 100 {
			t.Errorf("%d requests of one /64 are answered at once, want 100", answered)
		}
	})
}

func TestWhatAnyoneGetsIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := testServer(t, sampletest.NoLive())
		s.Handle("/docs/", web.Reference())
		s.Health(func() error { return nil })
		s.Handle("/page", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		paths := []string{"/core/openapi.json", "/docs/", "/docs/nothing", "/page"}
		for i := range 100 {
			if w := sampletest.Do(s, "GET", paths[i%len(paths)], ""); w.Code >= 500 || w.Code == http.StatusTooManyRequests {
				t.Fatalf("request %d: %d %s", i+1, w.Code, w.Body)
			}
		}
		for _, path := range paths {
			if w := sampletest.Do(s, "GET", path, ""); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %d %v, want 429", path, w.Code, w.Header())
			}
		}
		sampletest.WantStatus(t, sampletest.Do(s, "GET", "/healthz", ""), http.StatusOK) // a supervisor must not be told otherwise
		sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "secret-a"), http.StatusOK)
	})
}

func TestNoSecretIsLogged(t *testing.T) {
	t.Parallel()
	s, log := testServer(t, sampletest.NoLive())
	s.Handle("/plain", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	sampletest.Do(s, "GET", "/core/whoami?token=secret-query&x=secret-y", "", "Authorization", "secret-header")
	sampletest.Do(s, "GET", "/core/network/find/meta/secret-path", "")
	sampletest.Do(s, "GET", "/secret-unknown", "", "Host", "secret-host", "Referer", "secret-referer")
	sampletest.Do(s, "PUT", "/core/device", `{"name":"secret-body-that-is-far-too-long"}`, "Cookie", "secret-cookie")
	sampletest.Do(s, "GET", "/core/network/7/live?token=secret-live", "")
	sampletest.Do(s, "GET", "/plain?secret-q", "")
	if strings.Contains(log.String(), "secret") {
		t.Errorf("log holds a secret:\n%s", log)
	}
	for _, want := range []string{
		"msg=request method=GET route=/core/whoami status=200 took=", "route=/core/network/find/meta/{query} status=200", `route="" status=421`,
		"method=PUT route=/core/device status=422", "route=/plain status=200", "bytes=", "request=",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("log lacks %q:\n%s", want, log)
		}
	}
	var text strings.Builder
	s.metrics.WritePrometheus(&text)
	if strings.Contains(text.String(), "secret") || !strings.Contains(text.String(), `sensegate_http_requests_total{door="http",route="/core/whoami",method="GET",status="2xx"} 1`) {
		t.Errorf("metrics:\n%s", &text)
	}
}

func TestAnswersCarrySafeHeaders(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	w := sampletest.Do(s, "GET", "/core/alert/status", "", "Origin", "http://evil.example")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Content-Security-Policy": noPage,
		"Content-Type": "application/json", "Access-Control-Allow-Origin": "", "Link": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if id := w.Header().Get("X-Request-Id"); len(id) != 16 {
		t.Errorf("request id %q", id)
	}
}

func TestJSONIsCompressed(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	w := sampletest.Do(s, "GET", "/core/encoded", "", "Accept-Encoding", "gzip, zstd")
	if w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("headers %v, want gzip", w.Header())
	}
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := sampletest.ReadAll(t, z); got != `[{"name":"`+strings.Repeat("x", 3000)+`"}]` {
		t.Errorf("body %.100s", got)
	}
	if w := sampletest.Do(s, "GET", "/core/encoded", ""); w.Header().Get("Content-Encoding") != "" || w.Body.Len() != 3013 {
		t.Errorf("uncompressed answer: %v, %d bytes", w.Header(), w.Body.Len())
	}
}

func TestHealthSaysOnlyAStatus(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	var ready error
	s.Health(func() error { return ready })
	sampletest.WantJSON(t, sampletest.Do(s, "GET", "/healthz", ""), `{"status":"ok"}`)
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/readyz", ""), http.StatusOK)
	ready = errors.New("disk /dev/secret is full")
	w := sampletest.Do(s, "GET", "/readyz", "")
	sampletest.WantStatus(t, w, http.StatusServiceUnavailable)
	if strings.Contains(w.Body.String(), "disk") || w.Header().Get("Retry-After") == "" {
		t.Errorf("answer %s %v", w.Body, w.Header())
	}
	sampletest.WantStatus(t, sampletest.Do(s, "POST", "/healthz", ""), http.StatusMethodNotAllowed)
}

func TestMetricsNeedAKeyOrTheApplianceItself(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	s.Metrics(func(ctx context.Context, r *api.Request) error { _, err := sampletest.CheckCaller(ctx, r); return err },
		func(w io.Writer) { _, _ = io.WriteString(w, "sensegate_networks 3\n") })
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/metrics", ""), http.StatusUnauthorized) // httptest comes from 192.0.2.1
	w := sampletest.Do(s, "GET", "/metrics", "", "Authorization", "secret-a")
	sampletest.WantStatus(t, w, http.StatusOK)
	for _, want := range []string{"sensegate_networks 3\n", `sensegate_http_live_connections{door="http"} 0`, "process_resident_memory_bytes"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	r, _ := http.NewRequest(http.MethodGet, "/metrics", nil)
	r.RemoteAddr = "127.0.0.1:9"
	if !api.NewRequest(r).Local() {
		t.Error("a loopback request is not taken as one")
	}
	r.Header.Set("X-Forwarded-For", "192.0.2.7")
	if api.NewRequest(r).Local() {
		t.Error("a request passed on by a proxy is taken as one from the appliance")
	}
}

// run serves s on a free port until the test ends and returns its address.
func run(t testing.TB, s *Server) (addr string, stop func() error) {
	t.Helper()
	if err := s.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stopped := false
	stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-done
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return s.Addr().String(), stop
}

func TestServerStopsGracefully(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	begun, finish := make(chan struct{}), make(chan struct{})
	s.Handle("/slow", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(begun)
		<-finish
		_, _ = io.WriteString(w, "whole")
	}))
	addr, stop := run(t, s)
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + addr + "/slow")
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		answer <- string(b)
	}()
	<-begun
	stopping := make(chan error, 1)
	go func() { stopping <- stop() }()
	close(finish)
	if got := <-answer; got != "whole" {
		t.Errorf("answer of the running request: %q", got)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := <-stopping; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("the port is still open")
	}
}

func TestBrokenAnswerDoesNotLookWhole(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	s.Handle("/half", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 10000))
		panic("half way")
	}))
	addr, _ := run(t, s)
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /half HTTP/1.1\r\nHost: localhost\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err == nil {
		t.Error("half an answer ended like a whole one")
	}
}

func TestConfigNamesEveryMistake(t *testing.T) {
	t.Parallel()
	if err := Defaults().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
	err := Config{Listen: "8080", Hosts: []string{"http://x"}, Origins: []string{"*"}, Rate: 0, Burst: 0, LiveLimit: 0, LivePerUser: 0, MaxConnections: 0, MaxPerAddress: 0}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"listen:", "hosts:", "origins:", "rate:", "burst:", "live_limit:", "live_per_user:", "max_connections:", "max_per_address:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %s", err, want)
		}
	}
}

// TestChangesOfOneCallerArePaced has somebody change and read without end with two tokens.
func TestChangesOfOneCallerArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimiter(50, 100)
		changed := 0
		for range 1000 {
			if l.AllowChange("PUT", sampletest.NamedCaller{Name: "user/1"}) == nil {
				changed++
			}
		}
		if changed != 200 {
			t.Errorf("%d changes at once, want 200", changed)
		}
		for _, c := range []struct {
			method string
			who    any
		}{{"GET", sampletest.NamedCaller{Name: "user/1"}}, {"PUT", sampletest.NamedCaller{Name: "user/2"}}, {"POST", struct{}{}}} {
			if err := l.AllowChange(c.method, c.who); err != nil {
				t.Errorf("%s of %v: %v", c.method, c.who, err)
			}
		}
		time.Sleep(2 * time.Second)
		if l.AllowChange("PUT", sampletest.NamedCaller{Name: "user/1"}) != nil || l.AllowChange("PUT", sampletest.NamedCaller{Name: "user/1"}) == nil {
			t.Error("want one change in two seconds then")
		}
	})
}

func TestCallersWhoHaveToWaitDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := testServer(t, sampletest.NoLive())
		for range 5000 {
			sampletest.Do(s, "GET", "/core/alert/status", "")
		}
		if lines := strings.Count(log.String(), "status=429"); lines < 1 || lines > 60 {
			t.Errorf("%d lines about 4,900 refusals", lines)
		}
	})
}
