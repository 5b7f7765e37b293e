package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// refusals writes refused log-ins into the log: who looks after the appliance sees that
// somebody guesses, from where, and whether at one account or many. It names an account by
// a digest that is keyed for this installation, whether or not there is one.
type refusals struct {
	keys *Keyring
	each sources   // lines about an address
	all  *throttle // lines
}

func newRefusals(keys *Keyring) refusals {
	return refusals{keys: keys, each: newSources(rule{6, time.Minute}), all: newThrottle(rule{60, time.Minute})}
}

// note writes a line about a log-in that was refused with an error, if it was: at most 6 a
// minute about an address, and 60 in all.
func (r refusals) note(email string, from netip.Addr, err error) {
	var reason string
	switch fault.KindOf(err) {
	case fault.Unauthorized:
		reason = "password"
	case fault.Throttled:
		reason = "too many"
	default:
		return
	}
	undo, wait := r.each.take(from)
	if wait > 0 {
		return
	}
	if _, wait := r.all.take(""); wait > 0 {
		undo()
		return
	}
	r.keys.log.Warn("log-in refused", "account", r.keys.digest(email), "address", from.Unmap().String(), "reason", reason)
}

// digest names an account in the log: 16 hexadecimal digits.
func (k *Keyring) digest(email string) string {
	mac := hmac.New(sha256.New, k.names)
	mac.Write([]byte(home.EmailKey(email)))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}
