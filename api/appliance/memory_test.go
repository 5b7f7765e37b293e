package appliance

import "testing"

func TestMemoryFollowsWhatIsInUse(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for name, c := range map[string]struct{ total, live, want uint64 }{
		"a box of 64 MiB":            {64 * mib, 6 * mib, 24 * mib},
		"a box of 64 MiB, busy":      {64 * mib, 40 * mib, 48 * mib},
		"a box of 256 MiB":           {256 * mib, 10 * mib, 64 * mib},
		"a box of 512 MiB, busy":     {512 * mib, 50 * mib, 75 * mib},
		"a large machine":            {64 << 30, 10 * mib, 64 * mib},
		"a large machine, very busy": {64 << 30, 1 << 30, 3 << 29},
		"a container of 20 MiB":      {20 * mib, 10 * mib, 24 * mib},
	} {
		if got := memoryLimit(c.total, c.live); got != int64(c.want) {
			t.Errorf("%s: %d MiB, want %d", name, got/mib, c.want/mib)
		}
	}
	if now := memoryInUse(); now < mib/2 || now > 1<<30 {
		t.Errorf("this program holds %d bytes", now)
	}
}
