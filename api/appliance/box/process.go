package box

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Database is the name of the database in a state directory.
const Database = "sensegate.db"

// FlushInterval is how often the product writes samples here, its least.
const FlushInterval = time.Second

// Patience is how long anything may take on a machine with other things to do.
const Patience = time.Minute

// longestLine is the most that the product writes as one line of its log, bytes.
const longestLine = 1 << 20

// Build makes the binary as it is released and returns its path.
func Build(t *testing.T) string {
	t.Helper()
	path, err := BuildIn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// BuildIn is Build into a folder, for the tests of a whole package.
func BuildIn(dir string) (path string, err error) {
	path = filepath.Join(dir, "sensegate")
	cmd := exec.Command("go", "build", "-o", path, "sensegate")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the product: %w\n%s", err, out)
	}
	return path, nil
}

// Environment returns the settings of a product with its state in dir, on free ports
// of loopback, without TLS and without a limit of requests; more overrides them.
func Environment(dir string, more ...string) []string {
	own := append(os.Environ(), "SENSEGATE_STATE_DIR="+dir, "SENSEGATE_LOG_FORMAT=json",
		"SENSEGATE_HTTP_LISTEN=127.0.0.1:0", "SENSEGATE_MQTT_LISTEN=127.0.0.1:0",
		"SENSEGATE_HTTP_TLS_LISTEN=off", "SENSEGATE_MQTT_TLS_LISTEN=off",
		"SENSEGATE_HTTP_RATE=1000000", "SENSEGATE_HTTP_BURST=1000000",
		"SENSEGATE_STORE_FLUSH_INTERVAL="+FlushInterval.String())
	return append(own, more...)
}

// Setup says how a product is started.
type Setup struct {
	Dir         string   // its state
	Line        []string // a command line that ends in the product
	Environment []string // over that of Environment
}

// Process is a running product. Its methods may be called concurrently, except for
// Kill and Stop.
type Process struct {
	HTTP, MQTT string // its addresses

	t       *testing.T
	dir     string
	traced  bool // it is the child of cmd
	cmd     *exec.Cmd
	drained chan struct{}  // its log has ended
	ready   chan [2]string // its addresses, each time that it says so

	mu  sync.Mutex
	log []string
}

// Start runs a command line, waits until the product is ready and kills it when the
// test ends before.
func Start(t *testing.T, s Setup) *Process {
	t.Helper()
	p, ready := Try(t, s)
	if !ready {
		t.Fatalf("the product does not start:\n%s", p.Log())
	}
	return p
}

// Try is Start of a product that may end instead of being ready; it is false then.
func Try(t *testing.T, s Setup) (*Process, bool) {
	t.Helper()
	p := &Process{t: t, dir: s.Dir, traced: len(s.Line) > 1, cmd: exec.Command(s.Line[0], s.Line[1:]...), drained: make(chan struct{}), ready: make(chan [2]string, 8)}
	p.cmd.Env = Environment(s.Dir, s.Environment...)
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	go p.read(out)
	return p, p.Again()
}

// Again waits until the product is ready, for the first time or once more when it has started
// itself anew, and takes over its addresses. It is false when the product has ended instead.
func (p *Process) Again() bool {
	p.t.Helper()
	select {
	case at := <-p.ready:
		p.HTTP, p.MQTT = at[0], at[1]
		return true
	case <-p.drained:
		_ = p.cmd.Wait() // its log tells why
	case <-time.After(Patience):
		p.t.Fatalf("the product is not ready:\n%s", p.Log())
	}
	return false
}

// read follows the log, as JSON or text, and tells the addresses once they are bound.
func (p *Process) read(out io.Reader) {
	defer close(p.drained)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		p.mu.Lock()
		p.log = append(p.log, lines.Text())
		p.mu.Unlock()
		if at, ok := addresses(lines.Text()); ok {
			p.ready <- at
		}
	}
}

// addresses returns what a line says of where the product is reached, if it does.
func addresses(line string) (at [2]string, ok bool) {
	var fields struct{ Msg, HTTP, MQTT string }
	if json.Unmarshal([]byte(line), &fields) == nil {
		return [2]string{fields.HTTP, fields.MQTT}, fields.Msg == "ready"
	}
	for word := range strings.FieldsSeq(line) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "msg":
			ok = value == "ready"
		case "http":
			at[0] = value
		case "mqtt":
			at[1] = value
		}
	}
	return at, ok
}

// Log returns the log so far.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, "\n")
}

// PID returns the process id of the command line's first word.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill ends the product at once, as kill -9 does; it may be called again.
func (p *Process) Kill() {
	if p.cmd.ProcessState != nil {
		return
	}
	p.Signal(syscall.SIGKILL)
	<-p.drained
	_ = p.cmd.Wait() // it was killed
}

// Stop ends the product in order and returns how long that took.
func (p *Process) Stop() time.Duration {
	p.t.Helper()
	began := time.Now()
	p.Signal(syscall.SIGTERM)
	<-p.drained
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("the product did not end in order: %v\n%s", err, p.Log())
	}
	return time.Since(began)
}

// Ended waits until the product has ended by itself and returns how.
func (p *Process) Ended() error {
	p.t.Helper()
	select {
	case <-p.drained:
		return p.cmd.Wait()
	case <-time.After(Patience):
		p.t.Fatalf("the product goes on:\n%s", p.Log())
		return nil
	}
}

// Signal sends a signal to the product itself, which may be a tracer's child.
func (p *Process) Signal(s syscall.Signal) {
	pid := p.PID()
	if p.traced {
		raw, err := os.ReadFile(filepath.Join(p.dir, Database+".pid"))
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
		}
		if err != nil {
			p.t.Errorf("find the traced product: %v", err)
		}
	}
	if err := syscall.Kill(pid, s); err != nil {
		p.t.Errorf("signal the product: %v", err)
		_ = p.cmd.Process.Kill()
	}
}

// Administer runs a command of the administrator at the state in dir and returns
// what it prints.
func Administer(t *testing.T, product, dir string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), product, words...)
	cmd.Env = Environment(dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return string(out)
}
