package api

import (
	"crypto/sha256"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"sensegate/motion/fault"
)

// limiterSize is how many callers are remembered at least.
const limiterSize = 2048

// limiter holds each token, and each address without a valid one, to a rate. It
// remembers a bounded number of callers: when the young generation is full it
// becomes the old one, and what the old one held is forgotten. All methods may
// be called concurrently.
type limiter struct {
	rate  rate.Limit
	burst int

	mu         sync.Mutex
	young, old map[[16]byte]*rate.Limiter
}

func newLimiter(perSecond float64, burst int) *limiter {
	return &limiter{rate: rate.Limit(perSecond), burst: burst, young: map[[16]byte]*rate.Limiter{}}
}

// allow counts a request. A request with valid credentials counts for its
// token, any other for its address: so nobody can use up another's share, and
// guessing tokens is slow.
func (l *limiter) allow(r *Request, authenticated bool) error {
	var key [16]byte
	if token := r.Token(); authenticated && token != "" {
		sum := sha256.Sum256([]byte(token))
		key = [16]byte(sum[:16])
	} else {
		key = r.Remote().As16()
	}
	if wait := l.take(key, time.Now()); wait > 0 {
		return &fault.Error{Kind: fault.Throttled, Message: "too many requests", RetryAfter: wait}
	}
	return nil
}

// take returns 0 when the caller may go on, else how long it has to wait.
func (l *limiter) take(key [16]byte, now time.Time) time.Duration {
	r := l.bucket(key).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *limiter) bucket(key [16]byte) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.young[key]; b != nil {
		return b
	}
	b := l.old[key]
	if b == nil {
		b = rate.NewLimiter(l.rate, l.burst)
	}
	if len(l.young) >= limiterSize {
		l.young, l.old = map[[16]byte]*rate.Limiter{}, l.young
	}
	l.young[key] = b
	return b
}
