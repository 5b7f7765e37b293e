package appliance

import (
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"time"
)

// leastMemory is what the Go runtime may hold on any machine, in bytes.
const leastMemory = 24 << 20

// GarbagePercent is how much garbage may lie beside what is in use before the collector runs.
const GarbagePercent = 35

// startUp is how long a start may take memory as the runtime does by itself: one with much to read would take half as long again.
const startUp = 10 * time.Second

// HoldMemory keeps what garbage takes small, and smaller still where three quarters of what the container or the machine has
// are in use. Whoever sets GOMEMLIMIT or GOGC decides instead.
func HoldMemory(log *slog.Logger) {
	if os.Getenv("GOGC") == "" {
		time.AfterFunc(startUp, func() {
			debug.SetGCPercent(GarbagePercent)
			debug.FreeOSMemory() // what the start took
		})
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	total, err := memory()
	if err != nil {
		log.Warn("how much memory there is cannot be read", "err", err)
		return
	}
	debug.SetMemoryLimit(memoryLimit(total))
}

// memoryLimit returns what the Go runtime may hold where total bytes are there. A smaller limit, such as one that follows what is
// in use, would make the collector run all the time whenever much comes in at once.
func memoryLimit(total uint64) int64 {
	return int64(max(min(total, math.MaxInt64)/4*3, leastMemory))
}
