package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/store"
)

// start runs a command line that ends in the product on the state in dir.
func start(t *testing.T, dir string, line ...string) *box.Process {
	t.Helper()
	return box.Start(t, box.Setup{Dir: dir, Line: line})
}

// shortDir is t.TempDir with a path that does not grow with the name of the test: below it
// the product opens a socket, whose path may have 107 bytes.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
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

// errRefusedStart says that the product does not start on what a crash has left. With
// errBroken it did not refuse in order: it panicked, or hung.
var (
	errRefusedStart = errors.New("the product does not start")
	errBroken       = errors.New("it panics or hangs")
)

// panicked is the exit code of a Go program that panics; the product refuses with 1.
const panicked = 2

// running is a product or a command of it that may refuse, end or be killed at any moment.
type running struct {
	dir   string // its state
	cmd   *exec.Cmd
	out   bytes.Buffer // read once it has ended
	ready chan string  // the address of its HTTP, once it serves
	ended chan struct{}
	log   []string // read once it has ended
	err   error    // how it has ended
}

// launch runs a command line on the state in dir.
func launch(dir string, environment []string, line ...string) (*running, error) {
	r := &running{dir: dir, cmd: exec.Command(line[0], line[1:]...), ready: make(chan string, 1), ended: make(chan struct{})}
	r.cmd.Env = box.Environment(dir, environment...)
	r.cmd.Stdout = &r.out
	stderr, err := r.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(r.ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			r.log = append(r.log, lines.Text())
			var fields struct{ Msg, HTTP string }
			if json.Unmarshal(lines.Bytes(), &fields) == nil && fields.Msg == "ready" {
				r.ready <- fields.HTTP
			}
		}
		r.err = r.cmd.Wait()
	}()
	return r, nil
}

// killAfter kills the process when a time has passed, unless it has ended.
func (r *running) killAfter(life time.Duration) {
	time.AfterFunc(life, func() { _ = r.cmd.Process.Kill() })
}

// killed waits until the process has ended and reports whether it was killed.
func (r *running) killed() bool {
	<-r.ended
	var exit *exec.ExitError
	return errors.As(r.err, &exit) && !exit.Exited()
}

// serving waits until the product serves and returns where.
func (r *running) serving() (address string, err error) {
	select {
	case address = <-r.ready:
		return address, nil
	case <-r.ended:
		err := fmt.Errorf("%w: %w\n%s%s", errRefusedStart, r.err, strings.Join(r.log, "\n"), &r.out)
		if r.cmd.ProcessState.ExitCode() == panicked {
			err = fmt.Errorf("%w: %w", errBroken, err)
		}
		return "", err
	case <-time.After(box.Patience):
		_ = r.cmd.Process.Kill()
		<-r.ended
		return "", fmt.Errorf("%w: %w\n%s", errBroken, errRefusedStart, strings.Join(r.log, "\n"))
	}
}

// stop ends a product that serves in order; it may be a tracer's child.
func (r *running) stop() error {
	raw, err := os.ReadFile(filepath.Join(r.dir, box.Database+".pid"))
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	<-r.ended
	if r.err != nil {
		return fmt.Errorf("the product did not end in order: %w\n%s", r.err, strings.Join(r.log, "\n"))
	}
	return nil
}

// reopen starts the product on the state in dir and ends it in order.
func reopen(product, dir string, environment ...string) error {
	r, err := launch(dir, environment, product)
	if err != nil {
		return err
	}
	if _, err := r.serving(); err != nil {
		return err
	}
	return r.stop()
}
