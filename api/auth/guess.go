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

// guesses limits the guessing of passwords. Only wrong ones count: a guess is counted before
// it is verified, and the count is undone when it was right.
//
// Nobody can be locked out of their account by somebody else's guesses:
//
//   - From an address that the person has logged in from before (familiar), or has set a
//     new password from by mail, or confirmed the account with its password, only the
//     wrong guesses from there at this account count: 5 a minute, 60 an hour.
//   - All other addresses together have 60 an hour at an account: 40 for any of them, at
//     most 5 a minute, and 20 that are kept for newcomers, of which one address gets at
//     most 2 in an hour. So a person on a new phone gets in while
//     a stranger guesses from another address, or from up to 10 others; the person's
//     familiar devices get in whatever strangers do, and whoever is kept out sets a new
//     password by mail.
//   - One address has 5 a minute, thus 300 an hour, over all accounts.
//
// An IPv6 address counts as its /64 (source), but is familiar by itself: otherwise every
// device of the house would be. So a stranger in the house can keep newcomers out over IPv6,
// but not those over IPv4, and not familiar devices.
//
// Guesses at an address without an account count in the same way, so that the limits do not
// reveal which addresses have one.
type guesses struct {
	address  *throttle // by address
	own      *throttle // by account and familiar address
	account  *throttle // by account
	newcomer *throttle // by account: kept for newcomers
	arrival  *throttle // by account and address: its share of newcomer
}

func newGuesses() *guesses {
	return &guesses{
		address:  newThrottle(rule{5, time.Minute}),
		own:      newThrottle(rule{5, time.Minute}, rule{60, time.Hour}),
		account:  newThrottle(rule{5, time.Minute}, rule{40, time.Hour}),
		newcomer: newThrottle(rule{20, time.Hour}),
		arrival:  newThrottle(rule{2, time.Hour}),
	}
}

// take counts a guess at the account of an e-mail address, or returns a Throttled
// fault. undo takes the count back.
func (g *guesses) take(email string, from netip.Addr, familiar bool) (undo func(), err error) {
	account := home.EmailKey(email)
	if familiar {
		undo, wait := g.own.take(account + "\x00" + from.String())
		return undo, tooMany(wait)
	}
	address, wait := g.address.take(source(from))
	if wait > 0 {
		return nil, tooMany(wait)
	}
	common, wait := g.account.take(account)
	if wait == 0 {
		return both(address, common), nil
	}
	arrival, none := g.arrival.take(account + "\x00" + source(from))
	if none > 0 {
		address()
		return nil, tooMany(wait)
	}
	kept, none := g.newcomer.take(account)
	if none > 0 {
		address()
		arrival()
		return nil, tooMany(wait)
	}
	return both(address, both(arrival, kept)), nil
}

func both(a, b func()) func() { return func() { a(); b() } }

func tooMany(wait time.Duration) error {
	if wait > 0 {
		return throttled(wait, "too many wrong passwords")
	}
	return nil
}

// refusals logs refused log-ins, so that the administrator sees that somebody guesses, from
// where, and whether at one account or many. The log names an account, whether or not it
// exists, by a digest with a key of this installation.
type refusals struct {
	keys *Keyring
	each sources   // lines about an address
	all  *throttle // lines
}

func newRefusals(keys *Keyring) refusals {
	return refusals{keys: keys, each: newSources(rule{6, time.Minute}), all: newThrottle(rule{60, time.Minute})}
}

// note logs a log-in if err refused it: at most 6 lines a minute about an address, and 60 in
// all.
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

// digest returns the name of an account in the log: 16 hexadecimal digits.
func (k *Keyring) digest(email string) string {
	mac := hmac.New(sha256.New, k.names)
	mac.Write([]byte(home.EmailKey(email)))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}
