// Package server serves the interfaces and other handlers: it accepts connections, checks
// where a request comes from, bounds what callers may take, logs and counts.
//
// The package knows HTTP, connections and addresses. It must not know an operation, or any
// rule of the product.
//
// A [Server] is assembled by one goroutine and then only read.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/time/rate"

	"sensegate/api"
	"sensegate/api/live"
)

// Server serves interfaces and plain handlers on one listener, and on another over TLS.
type Server struct {
	log         *slog.Logger
	config      Config
	hosts       hostList
	origins     originList
	limits      *limits
	live        *live.Set
	env         *api.Environment
	metrics     *metrics.Set
	meter       *meter
	slowed      *rate.Limiter // lines about callers who have to wait
	mounts      []mount       // longest path first
	connections *connections
	bound       []net.Listener // plain first, then TLS
}

// mount is a handler at a path: one path, or everything below it when it ends
// with a slash.
type mount struct {
	path    string
	handler http.Handler
	anyHost bool // answers whatever Host says
	quiet   bool // logged for debugging only
	routed  bool // the handler sets the Pattern of the request
}

// New returns a server without anything to serve.
func New(c Config, log *slog.Logger) *Server {
	s := &Server{
		log: log, config: c, hosts: newHostList(c), origins: newOriginList(c), limits: newLimits(c),
		live: live.NewSet(c.LiveLimit, c.LivePerUser, api.Refuse, log), metrics: metrics.NewSet(), slowed: rate.NewLimiter(1, 60),
		connections: newConnections(c.MaxConnections, c.MaxPerAddress),
	}
	s.env = &api.Environment{Limits: s.limits, Live: s.live, OwnOrigin: s.origins.own}
	s.meter = newMeter(s.metrics, c.Part, s.live.Count, s.connections.turnedAway.Load, s.connections.room.GaveWay)
	return s
}

// Mount serves an interface below its base, and its document at
// <base>/openapi.json, which is made when it is first asked for. It panics when the
// table is wrong.
func (s *Server) Mount(i api.Interface) {
	s.add(mount{path: i.Base + "/", handler: s.env.Handler(i), routed: true})
}

// Handle serves h at path, or at everything below it when path ends with a
// slash. The longest path wins. h gets the escaped path as it came; nothing is
// redirected.
func (s *Server) Handle(path string, h http.Handler) { s.add(mount{path: path, handler: h}) }

// HandleAnyHost is Handle for clients that reach the appliance by a name it does
// not know of, such as devices at the gatekeeper. No browser may have a use for
// it: such an address is open to DNS rebinding.
func (s *Server) HandleAnyHost(path string, h http.Handler) {
	s.add(mount{path: path, handler: h, anyHost: true})
}

func (s *Server) add(m mount) {
	at := len(s.mounts)
	for i, other := range s.mounts {
		if other.path == m.path {
			panic("server: two handlers at " + m.path)
		}
		if at == len(s.mounts) && len(m.path) > len(other.path) {
			at = i
		}
	}
	s.mounts = append(s.mounts[:at], append([]mount{m}, s.mounts[at:]...)...)
}

// find returns what is mounted for an escaped path. A trailing slash is the same
// address.
func (s *Server) find(path string) (mount, bool) {
	for _, m := range s.mounts {
		below := strings.HasSuffix(m.path, "/")
		if below && (strings.HasPrefix(path, m.path) || path+"/" == m.path) || path == m.path || !below && path == m.path+"/" {
			return m, true
		}
	}
	return mount{}, false
}

// ReadBody returns the body of a request to a handler that knows the size of its own
// bodies, of at most limit bytes (up to 1 MiB), when it may be decoded. decoded has to
// be called once after that. What such bodies cost together is bounded. The errors are
// [fault.Error]s: TooLarge, Malformed for a body that breaks off, and Unavailable.
func (s *Server) ReadBody(w http.ResponseWriter, r *http.Request, limit int) (body []byte, decoded func(), err error) {
	return s.limits.handled.read(w, r, limit)
}

// Recheck checks the credentials of every live connection again, at once: to be called after
// something that a caller could show has ended. It does not wait.
func (s *Server) Recheck() { s.live.Recheck() }

// Listen binds the configured addresses.
func (s *Server) Listen() error {
	plain, err := s.open(s.config.Listen)
	if err != nil {
		return fmt.Errorf("%s.listen: %w: set another port", s.config.Part, err)
	}
	s.bound = []net.Listener{plain}
	if !s.config.withTLS() {
		return nil
	}
	inner, err := s.open(s.config.TLSListen)
	if err != nil {
		err = fmt.Errorf("%s.tls_listen: %w: set another port, or off", s.config.Part, err)
		return errors.Join(err, plain.Close())
	}
	s.bound = append(s.bound, s.config.TLS(inner))
	return nil
}

// open binds an address.
func (s *Server) open(address string) (net.Listener, error) {
	bound, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return listener{bound.(*net.TCPListener), s.connections}, nil
}

// Addr returns the address of plain HTTP, after Listen.
func (s *Server) Addr() net.Addr { return s.bound[0].Addr() }

// TLSAddr returns the address of HTTP over TLS, after Listen; nil without it.
func (s *Server) TLSAddr() net.Addr {
	if len(s.bound) < 2 {
		return nil
	}
	return s.bound[1].Addr()
}

// Run serves the listeners until ctx ends: then no new request is taken, viewers
// are told (1001), and running requests get a moment to finish; what has not then is
// cut off. It returns nil after a stop that was asked for.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, connectionOf(c))
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateIdle {
				connectionOf(c).silent()
			}
		},
	}
	served := make(chan error, len(s.bound))
	for _, l := range s.bound {
		go func() { served <- server.Serve(l) }()
	}
	ended := 0
	var err error
	select {
	case err = <-served:
		ended, err = 1, fmt.Errorf("serve http: %w", err)
		s.stop(server)
	case <-ctx.Done():
		s.stop(server)
	}
	for ; ended < len(s.bound); ended++ {
		<-served
	}
	return err
}

// stop ends everything within stopTime. A client that keeps it waiting, such as one with half
// a request, is no failure of ours.
func (s *Server) stop(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	viewers := make(chan error, 1)
	go func() { viewers <- s.live.Shutdown(ctx) }()
	s.connections.drain(drainTime)
	err := server.Shutdown(ctx)
	if err = errors.Join(err, <-viewers); err != nil {
		_ = server.Close() // what is left after stopTime
		s.log.Warn("requests were cut off by the stop", "err", err)
	}
}
