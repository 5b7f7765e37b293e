package appliance

import (
	"context"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// What the Go runtime may hold, in bytes, while it needs less: a quarter of the machine's memory,
// within these bounds.
const (
	leastMemory = 24 << 20
	mostMemory  = 64 << 20
)

// garbagePercent is how much garbage may lie beside what is in use before the collector runs.
const garbagePercent = 35

// memoryLooks is how often the limit follows what is in use.
const memoryLooks = 10 * time.Second

// HoldMemory keeps what garbage takes small until ctx ends: the limit of the Go runtime follows what
// is in use, below three quarters of what the container or the machine has. Whoever sets GOMEMLIMIT
// or GOGC decides instead.
func HoldMemory(ctx context.Context, log *slog.Logger) {
	total, err := memory()
	if err != nil {
		log.Warn("how much memory there is cannot be read", "err", err)
		total = math.MaxInt64
	}
	if os.Getenv("GOGC") == "" {
		time.AfterFunc(memoryLooks, func() { debug.SetGCPercent(garbagePercent) }) // a start with much to read would take half as long again
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	go func() {
		ticker := time.NewTicker(memoryLooks)
		defer ticker.Stop()
		for ctx.Err() == nil {
			debug.SetMemoryLimit(memoryLimit(total, memoryInUse()))
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
}

// memoryLimit returns the limit of the runtime where total bytes are there and live ones in use. It
// leaves half as much room for garbage as is in use, as GOGC=50 does, so that the collector never has to
// run all the time.
func memoryLimit(total, live uint64) int64 {
	calm := min(max(total/4, leastMemory), mostMemory)
	return int64(min(max(calm, live+live/2), max(total/4*3, leastMemory)))
}

// memoryInUse returns what the last collection left, and what is no heap, in bytes.
func memoryInUse() (bytes uint64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/memory/classes/metadata/mspan/inuse:bytes"},
		{Name: "/memory/classes/metadata/other:bytes"}, {Name: "/memory/classes/other:bytes"}, {Name: "/memory/classes/os-stacks:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		bytes += s.Value.Uint64()
	}
	return bytes
}
