package auth

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Changes are a user's changes to their account; nil leaves a field as it is.
type Changes struct {
	Email, Password     *string
	Current             string // the present password, "": not shown; see StepUp
	FirstName, LastName *string
}

// Change changes an account and returns it. A new address replaces the old one when the link
// that is mailed to it is opened. An address of another account gets the same mail, since the
// caller may see it in the outbox; its link is refused like an expired one. A new password
// ends every session of the user. Both need the proof of StepUp; the present address and the
// present password are no change (payloads.md 6 no. 18).
func (a *Accounts) Change(ctx context.Context, who User, c Changes) (home.User, error) {
	if err := checkAccount(c.Email, c.Password); err != nil {
		return home.User{}, err
	}
	if err := a.provenChange(ctx, who, &c); err != nil {
		return home.User{}, err
	}
	if c.Email != nil {
		if _, wait := a.moves.take(strconv.FormatInt(int64(who.ID), 10)); wait > 0 {
			return home.User{}, tooManyMails(wait)
		}
	}
	hash := ""
	if c.Password != nil {
		var err error
		if hash, err = a.passwords.Hash(ctx, *c.Password); err != nil {
			return home.User{}, err
		}
	}
	var u home.User
	err := a.db.Update(ctx, func(tx *store.Tx) (err error) {
		if u, err = tx.User(who.ID); err != nil {
			return err
		}
		if err := c.apply(&u); err != nil {
			return err
		}
		u.UpdatedAt = tx.Now().Stamp()
		if err := tx.PutUser(u); err != nil {
			return err
		}
		if hash != "" {
			if u, err = a.setPassword(tx, u.ID, hash); err != nil {
				return err
			}
		}
		return a.moveAddress(tx, u, c.Email)
	})
	return u, err
}

// provenChange returns nil when neither address nor password changes, or the caller may change
// them. It removes the present password from c: it counts as shown. A new one has to pass
// checkChoice.
func (a *Accounts) provenChange(ctx context.Context, who User, c *Changes) error {
	u, err := a.User(ctx, who.ID)
	if err != nil {
		return err
	}
	moves := c.Email != nil && home.EmailKey(*c.Email) != home.EmailKey(u.Email)
	if !moves && c.Password == nil {
		return nil
	}
	proven := a.StepUp(ctx, who, c.Current)
	if c.Password == nil || proven != nil && c.Current != "" {
		return proven
	}
	addresses := []string{u.Email}
	if moves {
		addresses = append(addresses, *c.Email)
	}
	same := c.Current == *c.Password // which is right
	if c.Current == "" {
		err = a.checkOwn(ctx, who, u, *c.Password) // another one counts as a guess
		if proven != nil {
			a.refusals.note(u.Email, who.Address, err)
		}
		if same = err == nil; fault.KindOf(err) == fault.Unauthorized {
			err = proven
		}
	}
	if same {
		c.Password = nil
	}
	if err != nil {
		return err
	}
	return checkAccount(nil, c.Password, addresses...)
}

// apply sets the names, and the address where only its spelling changes. Invalid: a name.
func (c Changes) apply(u *home.User) error {
	var wrong fault.Details
	if c.FirstName != nil {
		home.CheckName(&wrong, "body.first_name", *c.FirstName, u.FirstName)
		u.FirstName = *c.FirstName
	}
	if c.LastName != nil {
		home.CheckName(&wrong, "body.last_name", *c.LastName, u.LastName)
		u.LastName = *c.LastName
	}
	if c.Email != nil && home.EmailKey(*c.Email) == home.EmailKey(u.Email) {
		u.Email = *c.Email
	}
	return home.NameFault(wrong)
}

// moveAddress sends the mail that changes the address of an account; nil and the present one
// need none.
func (a *Accounts) moveAddress(tx *store.Tx, u home.User, email *string) error {
	if email == nil || *email == u.Email {
		return nil
	}
	return a.mailConfirmation(tx, u, *email)
}

// User returns the account of a user.
func (a *Accounts) User(ctx context.Context, id home.UserID) (home.User, error) {
	return store.Read(ctx, a.db, func(tx *store.Tx) (home.User, error) { return tx.User(id) })
}

// What follows is for the administrator.

// Create makes a confirmed account, as with the setup code. An address that has one is a
// Conflict.
func (a *Accounts) Create(ctx context.Context, r Registration) (u home.User, err error) {
	if err := checkAccount(&r.Email, &r.Password, r.Email); err != nil {
		return u, err
	}
	hash, err := a.Hash(ctx, r.Password)
	if err != nil {
		return u, err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) (err error) {
		u, err = CreateIn(tx, r, hash)
		return err
	})
	return u, err
}

// CreateIn is Create in a transaction, with the hash of a password that Check has let pass.
func CreateIn(tx *store.Tx, r Registration, hash string) (u home.User, err error) {
	if _, taken, err := tx.UserByEmail(r.Email); err != nil || taken {
		return u, cmp.Or[error](err, fault.New(fault.Conflict, "email: has an account already"))
	}
	u = newUser(tx, r)
	u.ConfirmedAt = &u.CreatedAt
	if u, err = tx.CreateUser(u); err != nil {
		return u, err
	}
	return u, cmp.Or(tx.SetAddressProof(u.ID, vouched()), tx.TrustUser(u.ID), tx.SetPassword(u.ID, hash))
}

// Check returns every mistake of an address and a new password, joined, each beginning with email or
// password. hash is that of the password, in PHC form, where that is known instead of it.
func Check(email, password, hash string) error {
	var wrong []error
	chosen := &password
	if hash != "" && password != "" {
		wrong = append(wrong, errors.New("password: want it or its hash, not both"))
	}
	if hash != "" {
		chosen = nil
		if _, _, _, err := decode(hash); err != nil {
			wrong = append(wrong, errors.New("password_hash: want argon2id in PHC form, $argon2id$v=19$m=19456,t=2,p=1$SALT$HASH"))
		}
	}
	var f *fault.Error
	if errors.As(checkAccount(&email, chosen, email), &f) {
		for _, d := range f.Details {
			wrong = append(wrong, errors.New(d.Message))
		}
	}
	return errors.Join(wrong...)
}

// Hash returns the hash of a password in PHC form; see Passwords.Hash.
func (a *Accounts) Hash(ctx context.Context, password string) (string, error) {
	return a.passwords.Hash(ctx, password)
}

// vouched is the proof of an address for which the administrator vouches.
func vouched() store.AddressProof { return store.AddressProof{Vouched: true} }

// SetPassword sets the password of the account with an address, confirms it, and ends
// its sessions. An address without an account is a NotFound fault.
func (a *Accounts) SetPassword(ctx context.Context, email, password string) (u home.User, err error) {
	if err := checkAccount(nil, &password, email); err != nil {
		return u, err
	}
	hash, err := a.passwords.Hash(ctx, password)
	if err != nil {
		return u, err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		holder, ok, err := tx.UserByEmail(email)
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.NotFound, "no account has this address")
		}
		u, err = a.overwrite(tx, holder, hash, vouched())
		return err
	})
	return u, err
}

// overwrite sets a user's password whatever the state of the account, and confirms the account
// by proof.
func (a *Accounts) overwrite(tx *store.Tx, u home.User, hash string, proof store.AddressProof) (home.User, error) {
	now := tx.Now().Stamp()
	u.UpdatedAt = now
	if !u.Confirmed() {
		u.ConfirmedAt = &now
		if err := tx.SetAddressProof(u.ID, proof); err != nil {
			return u, err
		}
	}
	if err := tx.PutUser(u); err != nil {
		return u, err
	}
	return a.setPassword(tx, u.ID, hash)
}
