package auth

import (
	"net/netip"
	"time"

	"sensegate/motion/home"
)

// guesses holds down the guessing of passwords. Only wrong ones count: a try is counted
// before it is verified, and taken back when it was right.
//
// Nobody can be locked out of their account by somebody else's guesses:
//
//   - From an address that the person has logged in from before (familiar), or has set a
//     new password from by mail, or confirmed the account with its password, only the
//     wrong guesses from there at this account count: 5 a minute, 60 an hour.
//   - All other addresses together have 60 an hour at an account: 40 that are taken as
//     they come, at most 5 a minute, and 20 that are kept for newcomers, of which one
//     address gets no more than 2 in an hour. So a person on a new phone gets in while
//     a stranger guesses from another address, or from up to 10 others; the person's
//     familiar devices get in whatever strangers do, and whoever is kept out sets a new
//     password by mail.
//   - One address has 5 a minute, thus 300 an hour, over all accounts.
//
// An IPv6 address counts as its /64 (source), but is familiar by itself: else all in the
// house were. So a stranger in the house can keep newcomers out over IPv6, but neither
// those over IPv4 nor familiar devices.
//
// An address without an account is counted as one with, so that the counting tells
// nothing.
type guesses struct {
	address  *throttle // by address
	own      *throttle // by account and familiar address
	account  *throttle // by account
	newcomer *throttle // by account: kept for newcomers
	arrival  *throttle // by account and address: their share of that
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
// fault. right takes the count back.
func (g *guesses) take(email string, from netip.Addr, familiar bool) (right func(), err error) {
	account := home.EmailKey(email)
	if familiar {
		right, wait := g.own.take(account + "\x00" + from.String())
		return right, tooMany(wait)
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
