package crashtest

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sensegate/store"
)

// databaseFile is the name of the database in a state directory.
const databaseFile = "sensegate.db"

// flushInterval is how often the product writes samples here, its least.
const flushInterval = time.Second

// patience is how long anything may take on a machine with other things to do.
const patience = time.Minute

// process is a running product.
type process struct {
	t          *testing.T
	dir        string
	http, mqtt string // its addresses
	traced     bool   // it is the child of cmd
	cmd        *exec.Cmd
	drained    chan struct{} // its log has ended
	log        []string      // until drained: its reader's
}

// environment returns the settings of a product with its state in dir.
func environment(dir string) []string {
	return append(os.Environ(), "SENSEGATE_STATE_DIR="+dir, "SENSEGATE_LOG_FORMAT=json",
		"SENSEGATE_HTTP_LISTEN=127.0.0.1:0", "SENSEGATE_MQTT_LISTEN=127.0.0.1:0",
		"SENSEGATE_HTTP_TLS_LISTEN=off", "SENSEGATE_MQTT_TLS_LISTEN=off",
		"SENSEGATE_HTTP_RATE=1000000", "SENSEGATE_HTTP_BURST=1000000",
		"SENSEGATE_STORE_FLUSH_INTERVAL="+flushInterval.String())
}

// start runs a command line that ends in the product, waits until the product is
// ready and kills it when the test ends before.
func start(t *testing.T, dir string, line ...string) *process {
	t.Helper()
	p := &process{t: t, dir: dir, traced: len(line) > 1, cmd: exec.Command(line[0], line[1:]...), drained: make(chan struct{})}
	p.cmd.Env = environment(dir)
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan [2]string, 1)
	go p.read(bufio.NewScanner(out), ready)
	select {
	case at := <-ready:
		p.http, p.mqtt = at[0], at[1]
	case <-p.drained:
		t.Fatalf("the product does not start:\n%s", strings.Join(p.log, "\n"))
	case <-time.After(patience):
		p.kill()
		t.Fatalf("the product is not ready:\n%s", strings.Join(p.log, "\n"))
	}
	t.Cleanup(p.kill)
	return p
}

// read follows the log and tells the addresses once they are bound.
func (p *process) read(lines *bufio.Scanner, ready chan<- [2]string) {
	defer close(p.drained)
	lines.Buffer(nil, longestString)
	for lines.Scan() {
		p.log = append(p.log, lines.Text())
		var line struct{ Msg, HTTP, MQTT string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
			ready <- [2]string{line.HTTP, line.MQTT}
		}
	}
}

// kill ends the product at once, as kill -9 does; it may be called again.
func (p *process) kill() {
	if p.cmd.ProcessState != nil {
		return
	}
	p.signal(syscall.SIGKILL)
	<-p.drained
	_ = p.cmd.Wait() // it was killed
}

// stop ends the product in order.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	<-p.drained
	if err := p.cmd.Wait(); err != nil {
		p.t.Fatalf("the product did not end in order: %v\n%s", err, strings.Join(p.log, "\n"))
	}
}

// signal sends a signal to the product itself, which may be a tracer's child.
func (p *process) signal(s syscall.Signal) {
	pid := p.cmd.Process.Pid
	if p.traced {
		raw, err := os.ReadFile(filepath.Join(p.dir, databaseFile+".pid"))
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

// administer runs a command of the administrator at the state in dir and returns
// what it prints.
func administer(t *testing.T, product, dir string, words ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), product, words...)
	cmd.Env = environment(dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	return string(out)
}

// inspect opens the database at path with the product's store, which must find it
// clean, and has check look at it.
func inspect(ctx context.Context, path string, check func(*store.DB) error) error {
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Check(ctx); err != nil {
		return err
	}
	return check(db)
}
