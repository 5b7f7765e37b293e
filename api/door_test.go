package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
)

func TestConnectionsAreLimitedInTotal(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	s.doors.most, s.doors.reserve = 2, 0
	addr, _ := run(t, s)
	first, second := connect(t, addr), connect(t, addr)
	if got := ask(t, second); got != http.StatusNotFound {
		t.Errorf("a connection within the limit is answered %d", got)
	}
	if n, err := connect(t, addr).Read(make([]byte, 1)); err == nil {
		t.Errorf("one too many reads %d bytes, want its end", n)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "room for another", func() bool { return s.doors.number() < 2 })
	if got := ask(t, connect(t, addr)); got != http.StatusNotFound {
		t.Errorf("the next one is answered %d", got)
	}
	if n := s.doors.turnedAway.Load(); n != 1 {
		t.Errorf("%d were turned away, want 1", n)
	}
}

func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	t.Parallel()
	d := newDoors(100, 2)
	stranger, other, own := netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("192.0.2.8"), netip.MustParseAddr("127.0.0.1")
	for _, c := range []struct {
		from netip.Addr
		stay bool
	}{{stranger, true}, {stranger, true}, {stranger, false}, {other, true}, {own, true}, {own, true}, {own, true}} {
		if v := d.count(&visitor{doors: d, from: c.from}); (v != nil) != c.stay {
			t.Errorf("another one from %v may stay: %v", c.from, v != nil)
		}
	}
	for v := range d.open {
		d.leave(v)
		d.leave(v)
	}
	if len(d.open) != 0 || len(d.from) != 0 || len(d.network) != 0 {
		t.Errorf("afterwards %d are open, from %v, %v", len(d.open), d.from, d.network)
	}
}

// visits counts how many of n connections may stay, from one address after another.
func visits(d *doors, n int, from func(i int) string) (stay int) {
	for i := range n {
		if d.count(&visitor{doors: d, from: netip.MustParseAddr(from(i))}) != nil {
			stay++
		}
	}
	return stay
}

func TestStrangersDoNotFillTheDoorForLoopback(t *testing.T) {
	t.Parallel()
	d := newDoors(10, 1)
	d.reserve = 3
	if n := visits(d, 20, func(i int) string { return fmt.Sprintf("192.0.2.%d", i) }); n != 10 {
		t.Errorf("%d strangers stay, want 10", n)
	}
	if n := visits(d, 20, func(int) string { return "127.0.0.1" }); n != 3 {
		t.Errorf("%d of loopback stay, want the reserve of 3", n)
	}
}

func TestAHostsIPv6AddressesShareTheRoomOfItsNetwork(t *testing.T) {
	t.Parallel()
	d := newDoors(1000, 2)
	if n := visits(d, 100, func(i int) string { return fmt.Sprintf("2001:db8::%x", i+1) }); n != 2*networkShare {
		t.Errorf("%d of one /64 stay, want %d", n, 2*networkShare)
	}
	if n := visits(d, 5, func(int) string { return "2001:db8:0:1::1" }); n != 2 {
		t.Errorf("%d of another network's address stay, want 2", n)
	}
}

func TestVisitorIsFoundBelowTLS(t *testing.T) {
	t.Parallel()
	v := &visitor{}
	if got := visitorOf(layer{layer{v}}); got != v {
		t.Errorf("found %v", got)
	}
	if got := visitorOf(layer{&net.TCPConn{}}); got != nil {
		t.Errorf("found %v where there is none", got)
	}
}

// layer is a connection on another, as TLS is.
type layer struct{ net.Conn }

func (l layer) NetConn() net.Conn { return l.Conn }

// TestHalfARequestHoldsUpNoStop has strangers begin requests that they do not end.
func TestHalfARequestHoldsUpNoStop(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	s.Handle("/upload", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	addr, stop := run(t, s)
	for _, half := range []string{"", "GET / HT", "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"} {
		if _, err := io.WriteString(connect(t, addr), half); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "three connections", func() bool { return s.doors.number() == 3 })
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if n := s.doors.number(); n > 0 {
		t.Errorf("%d connections are open after the stop", n)
	}
}

// TestStopDoesNotCutOffARequestThatCameWhole has a handler at work when a stop no longer
// waits for those that send half of something.
func TestStopDoesNotCutOffARequestThatCameWhole(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
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
		waitFor(t, "two connections", func() bool { return s.doors.number() == 2 })
		s.doors.hurry(0)
		if _, err := io.Copy(io.Discard, half); err != nil { // until the server closes it
			t.Fatal(err)
		}
		waitFor(t, "one connection", func() bool { return s.doors.number() == 1 })
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
func (d *doors) number() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.open)
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

// ask makes a request on a connection and returns the status of the answer.
func ask(t *testing.T, conn net.Conn) int {
	t.Helper()
	if _, err := io.WriteString(conn, "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}
