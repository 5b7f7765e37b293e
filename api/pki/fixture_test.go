package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// box is the surroundings of certificates: a directory, a clock, names and a log.
type box struct {
	t   testing.TB
	dir string
	log bytes.Buffer

	mu    sync.Mutex
	clock time.Time
	names Names
}

func newBox(t testing.TB) *box {
	return &box{t: t, dir: t.TempDir(), clock: time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC), names: Names{
		DNS:       []string{"gw.local", "gw"},
		Addresses: []netip.Addr{netip.MustParseAddr("192.168.10.2"), netip.MustParseAddr("::1")},
	}}
}

// set changes the clock or the names while others read them.
func (b *box) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

func (b *box) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

// open opens the certificates of the box.
func (b *box) open(supplied Config) *Certificates {
	b.t.Helper()
	c, err := Open(Options{Dir: b.dir, Supplied: supplied, Now: b.now, Log: slog.New(slog.NewTextHandler(&b.log, nil)), Names: func() Names {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.names
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// client is a client that trusts an authority and comes by name when its clock shows at.
func client(authority []byte, name string, at time.Time) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	return &tls.Config{RootCAs: roots, ServerName: name, Time: func() time.Time { return at }}
}

// meet has a client connect, and returns what it has seen of the connection.
func meet(t *testing.T, c *Certificates, config *tls.Config) (tls.ConnectionState, error) {
	t.Helper()
	bound, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer bound.Close()
	served := make(chan error, 1)
	go func() {
		conn, err := c.Listener(bound).Accept()
		if err == nil {
			_, err = conn.Write([]byte("!"))
			err = errors.Join(err, conn.Close())
		}
		served <- err
	}()
	there, err := net.Dial("tcp", bound.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn := tls.Client(there, config)
	_, err = io.ReadFull(conn, make([]byte, 1))
	state := conn.ConnectionState()
	there.Close()
	if other := <-served; err == nil && other != nil {
		t.Errorf("the server says %v", other)
	}
	if held := len(c.slots); held > 0 {
		t.Errorf("%d turns are held after the connection", held)
	}
	return state, err
}

// wantMeeting wants a client to be content.
func wantMeeting(t *testing.T, c *Certificates, config *tls.Config) tls.ConnectionState {
	t.Helper()
	state, err := meet(t, c, config)
	if err != nil {
		t.Fatalf("%s at %s: %v", config.ServerName, config.Time(), err)
	}
	return state
}
