package state

import (
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"
)

// containment keeps a panic in one step of one thing, such as a network, from ending
// all others. Its methods may be called concurrently.
type containment struct {
	log   *slog.Logger
	count atomic.Int64
	known sync.Map // what panicked before: its stack is in the log already
}

// Run runs step and returns its error. A panic is counted and logged, the first of
// each what with its stack; the step counts as done then, and comes again in its turn.
func (c *containment) Run(what string, step func() error) (err error) {
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
func (st *State) Metrics(w io.Writer) {
	metrics.WriteCounterUint64(w, "sensegate_engine_panics_total", uint64(st.Contained.count.Load()))
}
