package api

import (
	"crypto/sha256"
	"net/http"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/peer"
)

// limiter holds each token, and each address without a valid one, to a rate. All
// methods may be called concurrently.
type limiter struct {
	tokens    *peer.Buckets[[16]byte] // by digest
	addresses *peer.Rates
}

func newLimiter(perSecond float64, burst int) *limiter {
	return &limiter{tokens: peer.NewBuckets[[16]byte](perSecond, burst), addresses: peer.NewRates(perSecond, burst)}
}

// allow counts a request. A request with valid credentials counts for its
// token, any other for its address: so nobody can use up another's share, and
// guessing tokens is slow.
func (l *limiter) allow(r *Request, authenticated bool) error {
	token := r.Token()
	if !authenticated || token == "" {
		return slowDown(l.addresses.Take(r.Remote(), time.Now()))
	}
	sum := sha256.Sum256([]byte(token))
	return slowDown(l.tokens.Take([16]byte(sum[:16]), time.Now()))
}

// allowAnyone counts a request that is answered whoever asks.
func (l *limiter) allowAnyone(r *http.Request) error {
	return slowDown(l.addresses.Take(remoteAddr(r), time.Now()))
}

// slowDown is the answer to a caller who has to wait, nil to one who has not.
func slowDown(wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Throttled, Message: "too many requests from this caller: wait as long as Retry-After says", RetryAfter: wait}
}
