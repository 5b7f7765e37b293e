package auth

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// admitRequest counts a request that makes a mail, or returns a Throttled fault.
func (a *Accounts) admitRequest(from netip.Addr) error {
	if _, wait := a.requests.take(from); wait > 0 {
		return tooManyMails(wait)
	}
	return nil
}

func tooManyMails(wait time.Duration) error { return throttled(wait, "too many mails were asked for") }

// mail queues a mail, unless the address has had too many. The caller does not learn that,
// because it would reveal whether the address has an account.
func (a *Accounts) mail(tx *store.Tx, m notify.Mail) error {
	if _, wait := a.mails.take(home.EmailKey(m.To)); wait > 0 {
		return nil
	}
	return a.mailer(tx, m)
}

// notice mails the address of an account about a change that was made. It has no limit:
// otherwise whoever makes the change could suppress the mail by asking for many others before.
func (a *Accounts) notice(tx *store.Tx, kind notify.Kind, u home.User) error {
	return a.mailer(tx, notify.Mail{Kind: kind, To: u.Email, User: u.ID})
}

// mailConfirmation mails the link that confirms an address for a user.
func (a *Accounts) mailConfirmation(tx *store.Tx, u home.User, email string) error {
	expires := tx.Now().Add(confirmLife.Seconds())
	token, err := a.mailToken(tx, u, forConfirm, email, expires)
	if err != nil {
		return err
	}
	return a.mail(tx, notify.Mail{Kind: notify.Confirm, To: email, User: u.ID, Token: token, Expires: expires.Stamp()})
}

// mailToken returns a token for a mail about the account as it is.
func (a *Accounts) mailToken(tx *store.Tx, u home.User, purpose, email string, expires motion.Time) (string, error) {
	state, err := accountState(tx, u, purpose)
	if err != nil {
		return "", err
	}
	c := claims{Email: email, State: state}
	return a.sessions.keys.sign(c.stamp(u, purpose, uuid.NewString(), tx.Now().Second(), expires))
}

// SendConfirmation sends another confirmation mail to an address whose account is not
// confirmed; otherwise it has no visible effect.
func (a *Accounts) SendConfirmation(ctx context.Context, email string, from netip.Addr) error {
	return a.request(ctx, email, from, func(tx *store.Tx, u home.User) error {
		if u.Confirmed() {
			return nil
		}
		return a.mailConfirmation(tx, u, u.Email)
	})
}

// SendReset mails a link that sets a new password to an address that has an account; otherwise
// it has no visible effect.
func (a *Accounts) SendReset(ctx context.Context, email string, from netip.Addr) error {
	return a.request(ctx, email, from, a.mailReset)
}

// mailReset mails the link that sets a new password; using it confirms the address too.
func (a *Accounts) mailReset(tx *store.Tx, u home.User) error {
	expires := tx.Now().Add(resetLife.Seconds())
	token, err := a.mailToken(tx, u, forReset, "", expires)
	if err != nil {
		return err
	}
	return a.mail(tx, notify.Mail{Kind: notify.Reset, To: u.Email, User: u.ID, Token: token, Expires: expires.Stamp()})
}

// How many mails that were asked for are stored at a time, and how long one may wait for the
// database.
const (
	mostStoring = 32
	storingTime = 30 * time.Second
)

// request runs write with the user of an address, if there is one. Neither the answer nor
// its time depends on that: it comes a Step after the request, and write may still run.
func (a *Accounts) request(ctx context.Context, email string, from netip.Addr, write func(*store.Tx, home.User) error) error {
	start := time.Now()
	if err := home.CheckEmail(email); err != nil {
		return err
	}
	if err := a.admitRequest(from); err != nil {
		return err
	}
	if err := a.db.Writable(); err != nil {
		return err
	}
	select {
	case a.storing <- struct{}{}:
	default:
		return fault.New(fault.Unavailable, "too many mails are being stored: try again in a moment")
	}
	a.pending.Go(func() {
		defer func() { <-a.storing }()
		a.storeMail(email, write)
	})
	if a.Step == 0 {
		a.Wait()
	}
	a.evenOut(ctx, start)
	return nil
}

// storeMail runs write with the user of an address, if there is one. It ends by itself, a panic
// in it too: nobody waits for it any more.
func (a *Accounts) storeMail(email string, write func(*store.Tx, home.User) error) {
	ctx, cancel := context.WithTimeout(context.Background(), storingTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			a.sessions.keys.log.Error("storing a mail panicked", "err", fmt.Sprintf("%.200v", p), "stack", string(debug.Stack()))
		}
	}()
	err := a.db.Update(ctx, func(tx *store.Tx) error {
		u, ok, err := tx.UserByEmail(email)
		if err != nil || !ok {
			return err
		}
		return write(tx, u)
	})
	if err != nil {
		a.sessions.keys.log.Error("a mail that was asked for is not stored", "err", err)
	}
}

// Wait waits until every mail that was asked for is stored. It must be called before the
// database is closed, when nobody can ask any more.
func (a *Accounts) Wait() { a.pending.Wait() }

// evenOut waits until a whole number of steps has passed since start, so that the time does
// not reveal whether a mail was written.
func (a *Accounts) evenOut(ctx context.Context, start time.Time) {
	if a.Step == 0 {
		return
	}
	rest := time.NewTimer(a.Step - time.Since(start)%a.Step)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
	}
}

// Confirm confirms the address in the token of a confirmation mail, of a new account or the
// new address of an existing one, and returns the user. The token works once. One that is not
// valid any more is an Unauthorized fault.
//
// It proves that somebody opened a link, as mail scanners do, and no more: a home takes
// the address for the user's only by an invitation's token then.
func (a *Accounts) Confirm(ctx context.Context, token string, from netip.Addr) (home.User, error) {
	return a.confirm(ctx, token, from, false)
}

// ConfirmWithPassword is Confirm by somebody who also knows the password of the account, ""
// when that has none. That proves as much as a log-in: their address is familiar from then on.
// A wrong password is a Forbidden fault with the code wrong_password; wrong and right ones
// count as those of log-ins.
func (a *Accounts) ConfirmWithPassword(ctx context.Context, token, password string, from netip.Addr) (home.User, error) {
	var holder home.User
	err := a.redeem(ctx, token, forConfirm, from, func(_ *store.Tx, u home.User, _ claims) error {
		holder = u
		return nil
	})
	if err != nil {
		return home.User{}, err
	}
	_, stored, familiar, err := a.lookUp(ctx, holder.Email, from)
	if err != nil {
		return home.User{}, err
	}
	if stored != "" {
		err = a.check(ctx, holder.ID, Credentials{Email: holder.Email, Password: password, From: from}, stored, familiar)
		a.refusals.note(holder.Email, from, err)
		if fault.KindOf(err) == fault.Unauthorized {
			err = &fault.Error{Kind: fault.Forbidden, Code: codeWrongPassword, Message: "password: is not that of the account which the mail is about"}
		}
		if err != nil {
			return home.User{}, err
		}
	}
	return a.confirm(ctx, token, from, stored != "")
}

// confirm confirms the address of a token. proven: the holder of the address did it, and not a
// mail scanner.
func (a *Accounts) confirm(ctx context.Context, token string, from netip.Addr, proven bool) (home.User, error) {
	var u home.User
	err := a.redeem(ctx, token, forConfirm, from, func(tx *store.Tx, holder home.User, c claims) error {
		if home.EmailKey(holder.Email) != home.EmailKey(c.Email) {
			if _, taken, err := tx.UserByEmail(c.Email); err != nil || taken {
				return cmp.Or(err, refusedMail())
			}
			if err := a.notice(tx, notify.AddressChanged, holder); err != nil {
				return err
			}
		}
		var proof store.AddressProof
		if proven {
			var err error
			if proof, err = tx.ProofOf(holder.ID, token); err != nil { // before the change
				return err
			}
			if err := tx.NoteFamiliar(holder.ID, from); err != nil {
				return err
			}
		}
		now := tx.Now().Stamp()
		holder.Email, holder.ConfirmedAt, holder.UpdatedAt = c.Email, &now, now
		u = holder
		if err := tx.PutUser(u); err != nil {
			return err
		}
		return tx.SetAddressProof(u.ID, proof)
	})
	return u, err
}

// Reset sets the password of the account in the token of a reset mail and returns the user. It
// confirms the address, which has received the mail, ends all sessions of the account, and
// unlinks its accounts at identity providers, which may be somebody else's. The caller's
// address is familiar from then on, as after a log-in, so that guesses by others do not keep
// the user out there. The token works once. One that is not valid any more is an Unauthorized
// fault.
func (a *Accounts) Reset(ctx context.Context, token, password string, from netip.Addr) (home.User, error) {
	if err := home.CheckPassword(password); err != nil {
		return home.User{}, err
	}
	err := a.redeem(ctx, token, forReset, from, func(_ *store.Tx, u home.User, _ claims) error {
		return checkAccount(nil, &password, u.Email)
	})
	if err != nil {
		return home.User{}, err
	}
	hash, err := a.passwords.Hash(ctx, password)
	if err != nil {
		return home.User{}, err
	}
	var u home.User
	err = a.redeem(ctx, token, forReset, from, func(tx *store.Tx, holder home.User, _ claims) error {
		proof, err := tx.ProofOf(holder.ID, token)
		if err != nil {
			return err
		}
		proof.By = nil // the links of other mails than confirmations are shown to others
		if err := tx.RemoveIdentities(holder.ID); err != nil {
			return err
		}
		if err := tx.NoteFamiliar(holder.ID, from); err != nil {
			return err
		}
		u, err = a.overwrite(tx, holder, hash, proof)
		return err
	})
	return u, err
}

// redeem runs use with the user and the claims of a mail's token, if it is valid.
func (a *Accounts) redeem(ctx context.Context, token, purpose string, from netip.Addr, use func(*store.Tx, home.User, claims) error) error {
	undo, wait := a.tokens.take(from)
	if wait > 0 {
		return throttled(wait, "token: too many were wrong")
	}
	c, valid, err := a.sessions.keys.readNow(ctx, a.db, token, purpose)
	if err == nil && valid {
		err = a.db.Update(ctx, func(tx *store.Tx) error {
			u, err := tx.User(c.User)
			if fault.KindOf(err) == fault.NotFound {
				return refusedMail()
			}
			if err != nil {
				return err
			}
			state, err := accountState(tx, u, purpose)
			if err != nil {
				return err
			}
			if u.Sub != c.Subject || state != c.State {
				return refusedMail()
			}
			return use(tx, u, c)
		})
	} else if err == nil {
		err = refusedMail()
	}
	if fault.KindOf(err) != fault.Unauthorized {
		undo()
	}
	return err
}

func refusedMail() error {
	return fault.New(fault.Unauthorized, "token: is not valid, has expired or was used; ask for another mail")
}

// setPassword stores the hash of a new password, ends every session of the user and mails
// them.
func (a *Accounts) setPassword(tx *store.Tx, id home.UserID, hash string) (home.User, error) {
	if err := tx.SetPassword(id, hash); err != nil {
		return home.User{}, err
	}
	if err := a.sessions.endAll(tx, id); err != nil {
		return home.User{}, err
	}
	u, err := tx.User(id)
	if err != nil {
		return u, err
	}
	return u, a.notice(tx, notify.PasswordChanged, u)
}
