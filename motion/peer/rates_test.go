package peer

import (
	"testing"
	"time"
)

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	b := NewBuckets[int](50, 100)
	now := time.Now()
	for i := range 10 * Remembered {
		b.Take(i, now)
	}
	if n := len(b.young) + len(b.old); n > 2*Remembered {
		t.Errorf("%d callers remembered, want at most %d", n, 2*Remembered)
	}
}
