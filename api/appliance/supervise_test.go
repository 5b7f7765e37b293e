package appliance

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sensegate/api/appliance/box"
)

// hangable returns what makes the engine of this program hang, as a lock that is never freed would.
func (a *Appliance) hangable() http.Handler {
	var hung atomic.Bool
	wall := a.engine.State.Wall
	a.engine.State.Wall = func() time.Time {
		if hung.Load() {
			select {}
		}
		return wall()
	}
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hung.Store(true) })
}

// supervisor starts a program and is told by it how it is, as systemd would be.
type supervisor struct {
	t      testing.TB
	socket *net.UnixConn
	line   []string
	env    []string
	cmd    *exec.Cmd
	ended  chan struct{}
}

// patience is what the supervisor gives the program between two signs of life.
const patience = 4 * time.Second

func newSupervisor(t testing.TB, line, env []string) *supervisor {
	at := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"}
	socket, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{t: t, socket: socket, line: line}
	s.env = append(env, "NOTIFY_SOCKET="+at.Name, "WATCHDOG_USEC="+strconv.FormatInt(patience.Microseconds(), 10))
	t.Cleanup(func() { _ = socket.Close() })
	return s
}

// start starts the program.
func (s *supervisor) start() {
	s.cmd = exec.Command(s.line[0], s.line[1:]...)
	s.cmd.Env = s.env
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	cmd, ended := s.cmd, make(chan struct{})
	s.ended = ended
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed, or ends by itself
	}()
	s.t.Cleanup(s.kill)
}

func (s *supervisor) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.ended
}

// next returns what the program tells next, "" when it tells nothing for so long.
func (s *supervisor) next(within time.Duration) string {
	if err := s.socket.SetReadDeadline(time.Now().Add(within)); err != nil {
		s.t.Fatal(err)
	}
	told := make([]byte, 4096)
	n, err := s.socket.Read(told)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		s.t.Fatal(err)
	}
	return string(told[:n])
}

// await reads until the program tells what begins with prefix, and returns all that.
func (s *supervisor) await(prefix string) string {
	s.t.Helper()
	var heard []string
	for end := time.Now().Add(box.Patience); time.Now().Before(end); {
		told := s.next(time.Until(end))
		if strings.HasPrefix(told, prefix) {
			return told
		}
		heard = append(heard, told)
	}
	s.t.Fatalf("%q was never told, but %q", prefix, heard)
	return ""
}

// supervised starts this program as an appliance on free ports, or a fixed one for HTTP.
func supervised(t testing.TB, http string) *supervisor {
	s := newSupervisor(t, []string{os.Args[0]}, box.Environment(t.TempDir(), restorableVariable+"=1", "SENSEGATE_HTTP_LISTEN="+http))
	s.start()
	s.await("READY=1")
	return s
}

// TestSupervisorIsToldHowTheApplianceIs: ready, alive for as long as it works, and ending.
func TestSupervisorIsToldHowTheApplianceIs(t *testing.T) {
	t.Parallel()
	s := supervised(t, "127.0.0.1:0")
	s.await("WATCHDOG_USEC=" + strconv.FormatInt(patience.Microseconds(), 10))
	s.await("WATCHDOG=1")
	s.await("WATCHDOG=1")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await("STOPPING=1")
	<-s.ended
	if !s.cmd.ProcessState.Success() {
		t.Errorf("the program ended with %v", s.cmd.ProcessState)
	}
}

// TestHungEngineIsStartedAnew: a program whose engine hangs gives no sign of life, although it
// answers, and works again when the supervisor has killed it.
func TestHungEngineIsStartedAnew(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	s := supervised(t, address)
	s.await("WATCHDOG=1")
	if status := get(t, "http://"+address+"/test/hang"); status != http.StatusOK {
		t.Fatal("status", status)
	}
	for end := time.Now().Add(box.Patience); s.next(patience) != ""; {
		if time.Now().After(end) {
			t.Fatal("the program gives signs of life although its engine hangs")
		}
	}
	s.kill()
	s.start()
	s.await("READY=1")
	s.await("WATCHDOG=1")
}

// get asks for a page and returns its status.
func get(t testing.TB, url string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), box.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// BenchmarkReadyAfterKill measures how long after a kill -9 the released binary is ready again.
func BenchmarkReadyAfterKill(b *testing.B) {
	product, err := box.BuildIn(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	s := newSupervisor(b, []string{product, "serve"}, box.Environment(b.TempDir()))
	s.start()
	s.await("READY=1")
	var longest time.Duration
	for b.Loop() {
		s.kill()
		began := time.Now()
		s.start()
		s.await("READY=1")
		longest = max(longest, time.Since(began))
	}
	b.ReportMetric(longest.Seconds()*1000, "longest-ms")
	s.kill()
}
