package engine

import (
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// containment keeps a panic in one step of one thing, such as a network, from ending
// all others. Its methods may be called concurrently.
type containment struct {
	log   *slog.Logger
	count atomic.Int64
	known sync.Map // what panicked before: its stack is in the log already
}

// run runs step and returns its error. A panic is counted and logged, the first of
// each what with its stack; the step counts as done then, and comes again in its turn.
func (c *containment) run(what string, step func() error) (err error) {
	defer func() {
		met := recover()
		if met == nil {
			return
		}
		c.count.Add(1)
		attrs := []any{"step", what, "err", fmt.Sprintf("%.200v", met)}
		if _, again := c.known.LoadOrStore(what, true); !again {
			attrs = append(attrs, "stack", string(debug.Stack()))
		}
		c.log.Error("step panicked", attrs...)
	}()
	return step()
}

// Metrics writes what the engine counts in the Prometheus text format.
func (e *Engine) Metrics(w io.Writer) {
	fmt.Fprintf(w, "sensegate_engine_panics_total %d\n", e.contained.count.Load())
}
