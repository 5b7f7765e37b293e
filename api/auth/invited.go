package auth

import (
	"cmp"
	"context"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// RegisterInvited makes an account for somebody whom a member of the household lets in, and begins
// a session for their browser. admit runs, in a transaction of its own, the function that makes
// the account: nothing is made when it fails. The account is confirmed, because a person has let
// its user in. No other home takes the address for theirs: nothing has proved that.
//
// Conflict: the address has an account. Throttled: as with Register.
func (a *Accounts) RegisterInvited(ctx context.Context, r Registration, browser string, admit func(make func(*store.Tx) (home.UserID, error)) error) (Halves, home.User, error) {
	if err := r.check(); err != nil {
		return Halves{}, home.User{}, err
	}
	if err := a.admitRequest(r.From); err != nil {
		return Halves{}, home.User{}, err
	}
	hash, err := a.passwords.Hash(ctx, r.Password)
	if err != nil {
		return Halves{}, home.User{}, err
	}
	var g grant
	err = admit(func(tx *store.Tx) (home.UserID, error) {
		if _, taken, err := a.holderOf(tx, r.Email); err != nil || taken {
			return 0, cmp.Or[error](err, &fault.Error{Kind: fault.Conflict, Code: "known_address", Message: "email: has an account already; sign in with it"})
		}
		u := newUser(tx, r)
		u.ConfirmedAt = &u.CreatedAt
		u, err := tx.CreateUser(u)
		if err != nil {
			return 0, err
		}
		if err := cmp.Or(tx.SetPassword(u.ID, hash), tx.NoteFamiliar(u.ID, r.From)); err != nil {
			return 0, err
		}
		g, err = a.sessions.begin(tx, u, true, orUnknown(browser))
		return u.ID, err
	})
	if err != nil {
		return Halves{}, home.User{}, err
	}
	return g.halves, g.user, nil
}
