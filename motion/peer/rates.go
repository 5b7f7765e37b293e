package peer

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Remembered is how many callers a set of buckets remembers at least.
const Remembered = 2048

// Buckets holds each of many callers to a rate. It remembers a bounded number of them:
// when the young generation is full it becomes the old one, and what the old one held
// is forgotten, which at worst forgives those callers a burst. All methods may be called
// concurrently.
type Buckets[K comparable] struct {
	rate  rate.Limit
	burst int

	mu         sync.Mutex
	young, old map[K]*rate.Limiter
}

// NewBuckets returns buckets that let each caller act so often a second, after a burst.
func NewBuckets[K comparable](perSecond float64, burst int) *Buckets[K] {
	return &Buckets[K]{rate: rate.Limit(perSecond), burst: burst, young: map[K]*rate.Limiter{}}
}

// Take returns 0 and counts when a caller may act, else how long it has to wait.
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

// Rates holds each network to a rate. All methods may be called concurrently.
type Rates struct{ buckets *Buckets[netip.Prefix] }

// NewRates returns rates that let each network act so often a second, after a burst.
func NewRates(perSecond float64, burst int) *Rates {
	return &Rates{NewBuckets[netip.Prefix](perSecond, burst)}
}

// Take returns 0 and counts when an address may act, else how long it has to wait.
func (r *Rates) Take(from netip.Addr, now time.Time) (wait time.Duration) {
	return r.buckets.Take(Network(from), now)
}
