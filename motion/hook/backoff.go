package hook

import (
	"math/rand/v2"
	"time"
)

// Backoff is the time between tries: twice as long after every failure, with jitter,
// so that many appliances do not come back to a service at once.
type Backoff struct{ First, Most time.Duration }

// After returns the wait after so many failures in a row (0: as after one): between
// half of the time and all of it.
func (b Backoff) After(failures int) time.Duration {
	full := min(b.Most, b.First<<min(max(failures-1, 0), 10))
	return full/2 + rand.N(full/2+1)
}
