package server

import (
	"bufio"
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
	"sensegate/motion/fault"
)

// sized returns the body of a device, or of a list with one, in so many bytes.
func sized(format string, n int) string {
	return fmt.Sprintf(format, strings.Repeat("a", n-len(format)+len("%s")))
}

func TestBodiesOfStrangersAreSmaller(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	const one, list = `{"name":"%s"}`, `[{"name":"%s"}]`
	for name, c := range map[string]struct {
		method, path, body, key string
		status                  int
	}{
		"16 KiB of a sampletest.Stranger": {"PUT", "/core/device", sized(one, api.MaxAnonymousBody), "", 422},
		"more of a sampletest.Stranger":   {"PUT", "/core/device", sized(one, api.MaxAnonymousBody+1), "", 413},
		"more, with a key that":           {"PUT", "/core/device", sized(one, api.MaxAnonymousBody+1), "secret-a", 413}, // this operation asks nobody for
		"1 MiB of a caller":               {"PATCH", "/core/network/7/devices", sized(list, api.MaxBody), "secret-a", 422},
		"more of a caller":                {"PATCH", "/core/network/7/devices", sized(list, api.MaxBody+1), "secret-a", 413},
		"far more of a caller":            {"PATCH", "/core/network/7/devices", sized(list, 3*api.MaxBody), "secret-a", 413},
		"without credentials":             {"PATCH", "/core/network/7/devices", sized(list, 3*api.MaxBody), "", 401},
		"with credentials of nobody":      {"PATCH", "/core/network/7/devices", sized(list, 3*api.MaxBody), "guess", 401},
	} {
		for _, known := range []bool{true, false} { // whether its length is announced
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			r.Host = "localhost"
			if !known {
				r.ContentLength = -1
			}
			if c.key != "" {
				r.Header.Set("Authorization", c.key)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != c.status {
				t.Errorf("%s: %d %.200s, want %d", name, w.Code, w.Body, c.status)
			}
			if ends := w.Header().Get("Connection") == "close"; ends != (c.status != 422) {
				t.Errorf("%s: the connection ends: %v", name, ends)
			}
		}
	}
	wantIdle(t, s.limits.known)
	wantIdle(t, s.limits.others)
}

// wantIdle wants an intake to hold nothing.
func wantIdle(t *testing.T, in *intake) {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.held != 0 || in.reading.Len() != 0 || len(in.slots) != 0 {
		t.Errorf("%d bytes are held, %d bodies are on their way, %d are decoded", in.held, in.reading.Len(), len(in.slots))
	}
}

// begin sends the head of a request and some of its body.
func begin(t *testing.T, addr, line, header, some string) net.Conn {
	t.Helper()
	conn := connect(t, addr)
	if _, err := io.WriteString(conn, line+" HTTP/1.1\r\nHost: localhost\r\n"+header+"\r\n"+some); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answerOf reads the answer on a connection.
func answerOf(t *testing.T, conn net.Conn) (status int, body string) {
	t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, sampletest.ReadAll(t, answer.Body)
}

// TestRefusedWithoutItsBody sends heads alone: whoever is not let in is told so before
// a body is read.
func TestRefusedWithoutItsBody(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	addr, _ := run(t, s)
	const announced, chunked = "Content-Length: 900000\r\n", "Transfer-Encoding: chunked\r\n"
	for name, c := range map[string]struct {
		line, header, some string
		status             int
	}{
		"large":            {"PUT /core/device", announced, "", 413},
		"large, by itself": {"PUT /core/device", chunked, "4e20\r\n" + strings.Repeat("a", 20_000), 413},
		"large, with some": {"PUT /core/device", announced, strings.Repeat("a", 10_000), 413},
		"without a key":    {"PATCH /core/network/7/devices", announced, "", 401},
		"with a wrong key": {"PATCH /core/network/7/devices", announced + "Authorization: guess\r\n", "", 401},
	} {
		if status, body := answerOf(t, begin(t, addr, c.line, c.header, c.some)); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, body, c.status)
		}
	}
	s.limits.limiter = newLimiter(1e-9, 1)
	for i, want := range []int{413, 429} {
		if status, body := answerOf(t, begin(t, addr, "PUT /core/device", announced, "")); status != want {
			t.Errorf("request %d: %d %s, want %d", i+1, status, body, want)
		}
	}
}

// TestSlowBodiesGiveWay has strangers fill the room for bodies and send no more.
func TestSlowBodiesGiveWay(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	s.limits.others.room = 64 << 10
	addr, _ := run(t, s)
	var slow []net.Conn
	for i := range 12 {
		slow = append(slow, begin(t, addr, "PUT /core/device", "Content-Length: 15000\r\n", strings.Repeat("a", 14_000)))
		sampletest.WaitFor(t, "it is being read", func() bool { return s.limits.others.announced() >= min(i+1, 4) })
	}
	for range 3 {
		whole := `{"name":"a"}`
		conn := begin(t, addr, "PUT /core/device", fmt.Sprintf("Content-Length: %d\r\n", len(whole)), whole)
		if status, body := answerOf(t, conn); status != http.StatusOK {
			t.Errorf("a resident is answered %d %s", status, body)
		}
	}
	status, body := answerOf(t, slow[0])
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "on their way") {
		t.Errorf("the first slow one is answered %d %s", status, body)
	}
	if in := s.limits.others; in.announced() == 0 {
		t.Error("all gave way, want the last ones to stay")
	}
	for _, conn := range slow {
		_ = conn.Close()
	}
	sampletest.WaitFor(t, "all have ended", func() bool { return s.limits.others.announced() == 0 })
	wantIdle(t, s.limits.others)
}

// announced returns how many bodies are on their way.
func (in *intake) announced() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.reading.Len()
}

func TestWholeBodiesAreDecodedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newIntake(1 << 10)
		in.slots = make(chan struct{}, 1)
		request := func() *http.Request { return httptest.NewRequest("PUT", "/", strings.NewReader("{}")) }
		_, first, err := in.read(httptest.NewRecorder(), request(), 100)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, _, err = in.read(httptest.NewRecorder(), request(), 100); fault.KindOf(err) != fault.Unavailable || time.Since(start) != slotTime {
			t.Errorf("the second one is told %v after %v", err, time.Since(start))
		}
		time.AfterFunc(slotTime/2, first)
		body, second, err := in.read(httptest.NewRecorder(), request(), 100)
		if err != nil || string(body) != "{}" {
			t.Fatalf("the third one gets %q, %v", body, err)
		}
		second()
		wantIdle(t, in)
	})
}

func TestRoomForBodiesIsBounded(t *testing.T) {
	t.Parallel()
	in := newIntake(8 << 10)
	_, done, err := in.read(httptest.NewRecorder(), httptest.NewRequest("PUT", "/", strings.NewReader(strings.Repeat("a", 4000))), api.MaxBody)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder() // only the body itself could give way
	if _, _, err := in.read(w, httptest.NewRequest("PUT", "/", strings.NewReader(strings.Repeat("a", 4<<10))), api.MaxBody); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a body for which there is no room: %v", err)
	}
	done()
	wantIdle(t, in)
}
