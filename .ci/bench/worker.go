package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// worker is this program in another process with one role, so that CPU time, memory and
// writes can be measured. It answers questions as JSON lines on its standard streams.
type worker struct {
	dir    string // its first argument
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	answer *json.Decoder
}

// question asks a worker to do something N times, or for N seconds.
type question struct {
	Do string
	N  int
}

// reply is the result of a question.
type reply struct {
	Values map[string]float64
	Error  string
}

// role is the work of a worker.
type role interface {
	do(what string, n int) (map[string]float64, error)
	close() error
}

// roles returns the constructors of roles; args[0] is a directory.
func roles() map[string]func(args []string) (role, error) {
	return map[string]func([]string) (role, error){
		"store":    newStoreRole,
		"tsdb":     newTSDBRole,
		"sqlite":   newSQLiteRole,
		"viewers":  newViewersRole,
		"prebuilt": newPrebuiltRole,
		"gorilla":  newGorillaRole,
		"broker":   newBrokerRole,
		"mochi":    newMochiRole,
		"libs":     newLibrariesRole,
		"consumer": newConsumerRole,
		"relay":    newRelayRole,
		"past":     newPastRole,
	}
}

// workerFlag is the first argument of a worker's process.
const workerFlag = "-worker"

// workerOf reports whether a command line is a worker's.
func workerOf(line []string) (name string, args []string, ok bool) {
	if len(line) < 3 || line[1] != workerFlag {
		return "", nil, false
	}
	return line[2], line[3:], true
}

// serveWorker answers questions until the end of in.
func serveWorker(name string, args []string, in io.Reader, out io.Writer) error {
	make, ok := roles()[name]
	if !ok {
		return fmt.Errorf("no worker %q", name)
	}
	r, err := make(args)
	if err != nil {
		return err
	}
	questions, answers := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var q question
		err := questions.Decode(&q)
		if errors.Is(err, io.EOF) {
			return r.close()
		}
		if err != nil {
			return errors.Join(err, r.close())
		}
		var a reply
		if a.Values, err = r.do(q.Do, q.N); err != nil {
			a.Error = err.Error()
		}
		if err := answers.Encode(a); err != nil {
			return errors.Join(err, r.close())
		}
	}
}

// start starts a worker on the directory args[0]; under is a command line that runs it,
// such as a tracer's.
func (b *bench) start(ctx context.Context, under []string, name string, args ...string) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	line := append(append(append([]string(nil), under...), self, workerFlag, name), args...)
	w := &worker{dir: args[0], cmd: exec.CommandContext(ctx, line[0], line[1:]...)}
	w.cmd.Stderr = b.progress
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.answer = json.NewDecoder(out)
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return w, nil
}

// startInNew starts a worker on a new directory.
func (b *bench) startInNew(ctx context.Context, name string, more ...string) (*worker, error) {
	dir, err := b.temp(name)
	if err != nil {
		return nil, err
	}
	return b.start(ctx, nil, name, append([]string{dir}, more...)...)
}

// ask asks the worker a question and returns the values of its reply.
func (w *worker) ask(what string, n int) (map[string]float64, error) {
	if err := json.NewEncoder(w.stdin).Encode(question{what, n}); err != nil {
		return nil, fmt.Errorf("ask for %s: %w", what, err)
	}
	var a reply
	if err := w.answer.Decode(&a); err != nil {
		return nil, fmt.Errorf("ask for %s: %w", what, err)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%s: %s", what, a.Error)
	}
	return a.Values, nil
}

// stop ends the worker and waits for it.
func (w *worker) stop() error {
	return errors.Join(w.stdin.Close(), w.cmd.Wait())
}

// cpuTime returns the CPU time that this process has used.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage) // cannot fail with these arguments
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
