package server

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/sampletest"
	"sensegate/motion/peer"
)

// roomFor gives a server room for so many connections.
func roomFor(s *Server, connections int) {
	s.connections.room = peer.NewRoom(peer.Limits{Connections: connections, PerAddress: connections, LimitLoopback: true})
}

// TestConnectionsAreLimitedInTotal fills a server with requests that are being answered
// and with a websocket: none of these gives way.
func TestConnectionsAreLimitedInTotal(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.LiveOf(sampletest.NewFeed()))
	roomFor(s, 2)
	begun, goOn := make(chan struct{}), make(chan struct{})
	s.Handle("/work", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-goOn
	}))
	addr, _ := run(t, s)
	working := connect(t, addr)
	if _, err := io.WriteString(working, "GET /work HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	ws := sampletest.Dial(t, addr, "/core/network/7/live", http.Header{"Authorization": {"secret-a"}})
	if n, err := connect(t, addr).Read(make([]byte, 1)); err == nil {
		t.Errorf("one too many reads %d bytes, want its end", n)
	}
	close(goOn)
	if answer, err := http.ReadResponse(bufio.NewReader(working), nil); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the running request: %v, %v", answer, err)
	}
	sampletest.WaitFor(t, "a place of somebody who is silent", func() bool {
		conn := connect(t, addr)
		_, err := io.WriteString(conn, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if err == nil {
			_, err = conn.Read(make([]byte, 1))
		}
		return err == nil
	})
	if n := s.connections.turnedAway.Load(); n == 0 {
		t.Error("nobody was turned away")
	}
	if err := ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Second)); err != nil {
		t.Errorf("the websocket: %v", err)
	}
}

// TestSilentConnectionsGiveWay fills a server with connections on which no whole
// request has come, and wants residents to get in all the same.
func TestSilentConnectionsGiveWay(t *testing.T) {
	t.Parallel()
	const head = " HTTP/1.1\r\nHost: localhost\r\n"
	for name, says := range map[string]string{
		"says nothing":          "",
		"says half a line":      "GET / HT",
		"says half a head":      "GET /core/alert/status" + head,
		"says half a body":      "PUT /core/device" + head + "Content-Length: 9\r\n\r\n{",
		"waits between answers": "GET /nothing" + head + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := testServer(t, sampletest.NoLive())
			roomFor(s, 4)
			addr, _ := run(t, s)
			var silent []net.Conn
			for range 4 {
				conn := connect(t, addr)
				if _, err := io.WriteString(conn, says); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(name, "waits") {
					if _, err := conn.Read(make([]byte, 1)); err != nil {
						t.Fatal(err)
					}
				}
				silent = append(silent, conn)
			}
			sampletest.WaitFor(t, "four connections", func() bool { return s.connections.number() == 4 })
			for range 3 {
				sampletest.WaitFor(t, "an answer", func() bool { // one that has just been answered is busy for a moment
					conn := connect(t, addr)
					_, err := io.WriteString(conn, "GET /nothing"+head+"\r\n")
					if err == nil {
						_, err = conn.Read(make([]byte, 1))
					}
					return err == nil
				})
			}
			if n := s.connections.room.GaveWay(); n < 3 || s.connections.number() > 4 {
				t.Errorf("%d gave way, %d are open", n, s.connections.number())
			}
			if _, err := io.Copy(io.Discard, silent[0]); err != nil && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("the first one ends with %v", err)
			}
		})
	}
}

func TestConnectionIsFoundBelowTLS(t *testing.T) {
	t.Parallel()
	c := &connection{}
	if got := connectionOf(layer{layer{c}}); got != c {
		t.Errorf("found %v", got)
	}
	if got := connectionOf(layer{&net.TCPConn{}}); got != nil {
		t.Errorf("found %v where there is none", got)
	}
}

// layer is a connection on another, as TLS is.
type layer struct{ net.Conn }

func (l layer) NetConn() net.Conn { return l.Conn }

// TestHalfARequestHoldsUpNoStop has strangers begin requests that they do not end.
func TestHalfARequestHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	s.Handle("/upload", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	addr, stop := run(t, s)
	for _, half := range []string{"", "GET / HT", "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"} {
		if _, err := io.WriteString(connect(t, addr), half); err != nil {
			t.Fatal(err)
		}
	}
	sampletest.WaitFor(t, "three connections", func() bool { return s.connections.number() == 3 })
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if n := s.connections.number(); n > 0 {
		t.Errorf("%d connections are open after the stop", n)
	}
}

// TestStopDoesNotCutOffARequestThatCameWhole has a handler at work when a stop no longer
// waits for those that send half of something.
func TestStopDoesNotCutOffARequestThatCameWhole(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	begun, goOn := make(chan struct{}), make(chan struct{})
	s.Handle("/work", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(begun)
		<-goOn
		if err := r.Context().Err(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	addr, _ := run(t, s)
	whole := connect(t, addr)
	if _, err := io.WriteString(whole, "POST /work HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	<-begun
	for range 3 {
		half := connect(t, addr)
		sampletest.WaitFor(t, "two connections", func() bool { return s.connections.number() == 2 })
		s.connections.drain(0)
		if _, err := io.Copy(io.Discard, half); err != nil { // until the server closes it
			t.Fatal(err)
		}
		sampletest.WaitFor(t, "one connection", func() bool { return s.connections.number() == 1 })
	}
	close(goOn)
	answer, err := http.ReadResponse(bufio.NewReader(whole), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("answered %s", answer.Status)
	}
}

// number returns how many connections are open.
func (s *connections) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// connect opens a connection until the test ends.
func connect(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
