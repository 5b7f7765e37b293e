package appliance

import (
	"math"
	"testing"
)

func TestMemoryLimitLeavesAQuarterOfTheMachine(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, c := range map[string]struct{ total, want uint64 }{
		"a container of 20 MiB": {20 * mib, 24 * mib},
		"a box of 64 MiB":       {64 * mib, 48 * mib},
		"a box of 512 MiB":      {512 * mib, 384 * mib},
		"no limit":              {math.MaxUint64, math.MaxInt64 / 4 * 3},
	} {
		if got := memoryLimit(c.total); got != int64(c.want) {
			t.Errorf("%s: %d MiB, want %d", name, got/mib, c.want/mib)
		}
	}
}
