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
	changes   *peer.Buckets[string] // of what is stored, by name of the caller
}

// Of a caller's requests, those that change something: each costs the flash some tens of KB.
const (
	changeRate  = 1. / 100 // of the rate of all requests
	changeBurst = 2        // times the burst of all
)

func newLimiter(perSecond float64, burst int) *limiter {
	return &limiter{
		tokens: peer.NewBuckets[[16]byte](perSecond, burst), addresses: peer.NewRates(perSecond, burst),
		changes: peer.NewBuckets[string](perSecond*changeRate, burst*changeBurst),
	}
}

// allow counts a request. A request with valid credentials counts for its
// token, any other for its address: so nobody can use up another's share, and
// guessing tokens is slow.
func (l *limiter) allow(r *Request, authenticated bool) error {
	token := r.Token()
	if !authenticated || token == "" {
		return slowDown("requests", l.addresses.Take(r.Remote(), time.Now()))
	}
	sum := sha256.Sum256([]byte(token))
	return slowDown("requests", l.tokens.Take([16]byte(sum[:16]), time.Now()))
}

// allowChange counts a request that changes something, for whoever makes it with whatever
// token.
func (l *limiter) allowChange(method string, who any) error {
	caller, named := who.(Named)
	if !named || method == http.MethodGet || method == http.MethodHead {
		return nil
	}
	return slowDown("changes", l.changes.Take(caller.Caller(), time.Now()))
}

// allowAnyone counts a request that is answered whoever asks.
func (l *limiter) allowAnyone(r *http.Request) error {
	return slowDown("requests", l.addresses.Take(remoteAddr(r), time.Now()))
}

// slowDown is the answer to a caller who has to wait with more of something, nil to one who has
// not.
func slowDown(what string, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Throttled, Message: "too many " + what + " from this caller: wait as long as Retry-After says", RetryAfter: wait}
}
