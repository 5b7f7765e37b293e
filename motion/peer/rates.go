package peer

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Remembered is the least number of callers that Buckets remembers.
const Remembered = 2048

// Buckets limits the rate of each caller by a token bucket. It remembers a bounded number of
// callers: a full young generation replaces the old one, and the callers dropped with the old
// one start with a full burst. All methods may be called concurrently.
type Buckets[K comparable] struct {
	rate  rate.Limit
	burst int

	mu         sync.Mutex
	young, old map[K]*rate.Limiter
}

// NewBuckets returns buckets that allow each caller perSecond actions after a burst.
func NewBuckets[K comparable](perSecond float64, burst int) *Buckets[K] {
	return &Buckets[K]{rate: rate.Limit(perSecond), burst: burst, young: map[K]*rate.Limiter{}}
}

// Take counts an action of a caller and returns 0 if it is allowed, or else the time to wait.
func (b *Buckets[K]) Take(key K, now time.Time) (wait time.Duration) {
	reservation := b.bucket(key).ReserveN(now, 1)
	wait = reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (b *Buckets[K]) bucket(key K) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.young[key]; known != nil {
		return known
	}
	bucket := b.old[key]
	if bucket == nil {
		bucket = rate.NewLimiter(b.rate, b.burst)
	}
	if len(b.young) >= Remembered {
		b.young, b.old = map[K]*rate.Limiter{}, b.young
	}
	b.young[key] = bucket
	return bucket
}

// Rates limits the rate of each network. All methods may be called concurrently.
type Rates struct{ buckets *Buckets[netip.Prefix] }

// NewRates returns rates that allow each network perSecond actions after a burst.
func NewRates(perSecond float64, burst int) *Rates {
	return &Rates{NewBuckets[netip.Prefix](perSecond, burst)}
}

// Take counts an action of an address and returns 0 if it is allowed, or else the time to wait.
func (r *Rates) Take(from netip.Addr, now time.Time) (wait time.Duration) {
	return r.buckets.Take(Network(from), now)
}
