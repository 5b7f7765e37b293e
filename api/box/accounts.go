package box

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// Account is an account as an administrator sees it: nothing of what its homes do.
type Account struct {
	home.User
	Administrator bool
	Homes         int // that they belong to
	Owns          int // of them
	Sessions      int // devices that are signed in
}

// Accounts returns all accounts.
func (b *Box) Accounts(ctx context.Context) (list []Account, err error) {
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		users, err := tx.Users()
		if err != nil {
			return err
		}
		for _, u := range users {
			a, err := account(tx, u)
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

func account(tx *store.Tx, u home.User) (a Account, err error) {
	a.User = u
	if a.Administrator, err = tx.IsAdministrator(u.ID); err != nil {
		return a, err
	}
	memberships, err := tx.MembershipsOfUser(u.ID)
	if err != nil {
		return a, err
	}
	for _, m := range memberships {
		a.Homes++
		if m.Role == home.OwnerRole {
			a.Owns++
		}
	}
	sessions, err := tx.SessionsOfUser(u.ID)
	a.Sessions = len(sessions)
	return a, err
}

// NewPassword returns a password of 96 random bits.
func NewPassword() string {
	random := make([]byte, 12)
	rand.Read(random) // never fails: it ends the program instead
	return base64.RawURLEncoding.EncodeToString(random)
}

// CreateAccount makes an account, which counts as having shown the setup code. Conflict: the address
// has one. Invalid: the address or the password is none.
func (b *Box) CreateAccount(ctx context.Context, by store.Actor, email, password string) (u home.User, err error) {
	err = b.change(ctx, by, "account_made", email, func(ctx context.Context, _ *store.AuditNote) (err error) {
		u, err = b.Parts.Accounts.Create(ctx, auth.Registration{Email: email, Password: password})
		return err
	})
	return u, err
}

// SetPassword sets the password of the account with an address, and ends its sessions. NotFound:
// there is none.
func (b *Box) SetPassword(ctx context.Context, by store.Actor, email, password string) (u home.User, err error) {
	err = b.change(ctx, by, "password_set", email, func(ctx context.Context, _ *store.AuditNote) (err error) {
		u, err = b.Parts.Accounts.SetPassword(ctx, email, password)
		return err
	})
	return u, err
}

// DeleteAccount deletes an account, which the audit log names by its number: nothing of a person stays.
// The errors are those of household.DeleteUser.
func (b *Box) DeleteAccount(ctx context.Context, by store.Actor, id home.UserID, how household.Leaving) error {
	if b.Household == nil {
		return fault.New(fault.Unavailable, "an account is deleted by the running appliance, which tells the household: start it first")
	}
	return b.change(ctx, by, "account_deleted", fmt.Sprint("account ", id), func(ctx context.Context, _ *store.AuditNote) error {
		return b.Household.DeleteUser(ctx, id, how)
	})
}

// SetAdministrator makes an account administrator, or takes that back. Conflict, code
// last_administrator: nobody else is one. NotFound: there is no such account.
func (b *Box) SetAdministrator(ctx context.Context, by store.Actor, id home.UserID, is bool) error {
	action := map[bool]string{true: "administrator_made", false: "administrator_ended"}[is]
	err := b.change(ctx, by, action, "", func(ctx context.Context, note *store.AuditNote) error {
		return b.DB.Update(ctx, func(tx *store.Tx) error {
			u, err := tx.User(id)
			if err != nil {
				return err
			}
			note.About(u.Email)
			if was, err := tx.IsAdministrator(id); err != nil || was == is {
				return cmp.Or(err, errNothing)
			}
			if is && !u.Confirmed() {
				return fault.New(fault.Conflict, "administrator: the account has not confirmed its address")
			}
			return tx.SetAdministrator(id, is)
		})
	})
	if err == nil && !is && b.Revoked != nil {
		b.Revoked()
	}
	return err
}

// UserOf returns the account with an address; field begins the message of the NotFound fault when
// there is none.
func (b *Box) UserOf(ctx context.Context, field, email string) (home.User, error) {
	return store.Read(ctx, b.DB, func(tx *store.Tx) (home.User, error) {
		u, ok, err := tx.UserByEmail(email)
		if err == nil && !ok {
			err = fault.New(fault.NotFound, "%s: no account has this address", field)
		}
		return u, err
	})
}
