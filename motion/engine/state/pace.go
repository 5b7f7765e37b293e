package state

import (
	"time"

	"golang.org/x/time/rate"
)

// How many events a network may have stored: each is a commit, which costs the flash some
// 40 KB, and a long one nine times as much. A device that was away for days sends a few
// thousand at once.
const (
	PaceBurst  = 8192            // at once, of which half is for the guardian alone
	PaceEvery  = 2 * time.Second // and then one in
	paceLength = 2 << 10         // bytes of JSON that count as one more
	PaceHold   = 10 * time.Second
)

// pace counts the events that a network has had stored lately, whoever raised them. Its
// methods may be called concurrently.
type pace struct{ Tokens *rate.Limiter }

func NewPace() pace { return pace{rate.NewLimiter(rate.Every(PaceEvery), PaceBurst)} }

// Note counts an event of so many bytes that was stored at now, while there is more of the
// burst than it leaves to others. It may go into debt.
func (p pace) Note(size, leaves int, now time.Time) {
	if p.Wait(leaves, now) <= 0 {
		p.Tokens.ReserveN(now, min(1+size/paceLength, PaceBurst))
	}
}

// Wait returns how long to wait at now until the next event may be stored that leaves so many
// of the burst to others, 0 or less when it may be at once.
func (p pace) Wait(leaves int, now time.Time) time.Duration {
	return time.Duration((float64(leaves) + 1 - p.Tokens.TokensAt(now)) * float64(PaceEvery))
}

// Leaves is how many of the burst events leave to the guardian, which speaks for the network.
func Leaves(ofGuardian bool) int {
	if ofGuardian {
		return 0
	}
	return PaceBurst / 2
}
