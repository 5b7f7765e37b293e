package server

import (
	"cmp"
	"crypto/sha256"
	"net/http"
	"time"

	"sensegate/api"
	"sensegate/motion/fault"
	"sensegate/motion/peer"
)

// limits bound what the callers of a server may take, as its interfaces see them
// ([api.Limits]).
type limits struct {
	*limiter
	known   *intake // of bodies from callers with credentials
	others  *intake // of bodies from callers without
	handled *intake // of bodies that handlers read themselves
}

func newLimits(c Config) *limits {
	return &limits{
		limiter: newLimiter(c.Rate, c.Burst),
		known:   newIntake(knownRoom), others: newIntake(anonymousRoom), handled: newIntake(handlerRoom),
	}
}

// ReadBody returns the body of a request when it may be decoded: see [api.Limits].
func (l *limits) ReadBody(w http.ResponseWriter, r *http.Request, authenticated bool) (body []byte, decoded func(), err error) {
	if authenticated {
		return l.known.read(w, r, api.MaxBody)
	}
	return l.others.read(w, r, api.MaxAnonymousBody)
}

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

// Allow counts a request. A request with valid credentials counts for its
// token, or the proof of its browser; any other for its address: so nobody can use up another's share, and
// guessing tokens is slow.
func (l *limiter) Allow(r *api.Request, authenticated bool) error {
	token := cmp.Or(r.Token(), r.Proof())
	if r.Ticket() != "" { // what else it shows is not looked at
		token = ""
	}
	if !authenticated || token == "" {
		return slowDown("requests", l.addresses.Take(r.Remote(), time.Now()))
	}
	sum := sha256.Sum256([]byte(token))
	return slowDown("requests", l.tokens.Take([16]byte(sum[:16]), time.Now()))
}

// AllowChange counts a request that changes something, by the name of its caller: all tokens
// of a user count together.
func (l *limiter) AllowChange(method string, who any) error {
	caller, named := who.(api.Named)
	if !named || method == http.MethodGet || method == http.MethodHead {
		return nil
	}
	return slowDown("changes", l.changes.Take(caller.Caller(), time.Now()))
}

// slowDown returns the answer to a caller who has to wait, nil for one who need not.
func slowDown(what string, wait time.Duration) error {
	if wait == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Throttled, Message: "too many " + what + " from this caller: wait as long as Retry-After says", RetryAfter: wait}
}
