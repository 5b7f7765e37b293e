package auth

import (
	"context"
	"net/netip"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Credentials are what somebody logs in with.
type Credentials struct {
	Email, Password     string
	FirstName, LastName string // for an account that has none
	Multi               bool   // keep earlier sessions
	Browser             string // how the browser names itself that the session is for; "": a session of tokens
	From                netip.Addr
}

// codeUnconfirmed is the code of the answer to an account whose address is not
// confirmed.
const codeUnconfirmed = "unconfirmed"

// Login begins a session. A wrong password and an address without an account are the same
// Unauthorized fault; an account that is not confirmed is Forbidden, if the password was
// right. Too many wrong passwords are Throttled, and so are too many right ones: 10 a minute
// of an account, 60 from an address. After those 10 no password of the account is hashed,
// because hashing is what costs.
func (a *Accounts) Login(ctx context.Context, c Credentials) (Tokens, error) {
	g, err := a.logIn(ctx, c)
	if err != nil {
		return Tokens{}, err
	}
	return a.sessions.tokens(g)
}

// logIn is Login, before the tokens are signed.
func (a *Accounts) logIn(ctx context.Context, c Credentials) (g grant, err error) {
	u, stored, familiar, err := a.lookUp(ctx, c.Email, c.From)
	if err != nil {
		return g, err
	}
	undo, err := a.admitAccount(u.ID)
	if err != nil {
		return g, err
	}
	undo() // startSession counts it when the password was right
	fresh, err := a.verify(ctx, c, stored, familiar)
	a.refusals.note(c.Email, c.From, err)
	if err != nil {
		return g, err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		hash, err := tx.Password(u.ID)
		if fault.KindOf(err) == fault.NotFound || err == nil && hash != stored {
			return refusedLogin() // changed since it was verified
		}
		if err != nil {
			return err
		}
		if fresh != "" {
			if err := tx.SetPassword(u.ID, fresh); err != nil {
				return err
			}
		}
		g, err = a.startSession(tx, u.ID, c)
		return err
	})
	return g, err
}

func refusedLogin() error {
	return fault.New(fault.Unauthorized, "email or password: not right")
}

// lookUp returns the user with an address and the hash of their password; the zero
// user and "" when there is none.
func (a *Accounts) lookUp(ctx context.Context, email string, from netip.Addr) (u home.User, hash string, familiar bool, err error) {
	err = a.db.View(ctx, func(tx *store.Tx) error {
		var ok bool
		if u, ok, err = tx.UserByEmail(email); err != nil || !ok {
			return err
		}
		if hash, err = tx.Password(u.ID); err != nil {
			return err
		}
		familiar, err = tx.Familiar(u.ID, from)
		return err
	})
	return u, hash, familiar, err
}

// verify returns nil when the password is the one of a stored hash, and the hash to store
// instead, if any. It checks the limits of guesses at once and counts the guess after it has
// waited for a slot, so that right passwords that come together do not count against each
// other.
func (a *Accounts) verify(ctx context.Context, c Credentials, stored string, familiar bool) (fresh string, err error) {
	undo, err := a.guesses.take(c.Email, c.From, familiar)
	if err != nil {
		return "", err
	}
	undo()
	release, err := a.passwords.acquire(ctx, familiar)
	if err != nil {
		return "", err
	}
	defer release()
	if undo, err = a.guesses.take(c.Email, c.From, familiar); err != nil {
		return "", err
	}
	ok, stale, err := a.passwords.verify(c.Password, stored)
	if err != nil {
		undo()
		return "", err
	}
	if !ok {
		return "", refusedLogin()
	}
	undo()
	if stale {
		fresh = a.passwords.hash(c.Password)
	}
	return fresh, nil
}

// check returns nil when the password is the one of a stored hash, for a caller who has proven
// in another way that the account is theirs: by a session, or by the token of a mail.
// Otherwise the error is that of verify. A right password counts as a log-in of the account.
// It verifies one password of a user at a time, so that no user fills the queue.
func (a *Accounts) check(ctx context.Context, id home.UserID, c Credentials, stored string, familiar bool) error {
	if _, busy := a.checking.LoadOrStore(id, true); busy {
		return throttled(queueRetry, "another request of this account shows a password")
	}
	defer a.checking.Delete(id)
	undo, err := a.admitAccount(id)
	if err != nil {
		return err
	}
	if _, err = a.verify(ctx, c, stored, familiar); err != nil {
		undo()
	}
	return err
}

// startSession begins a session for somebody who has proven who they are.
func (a *Accounts) startSession(tx *store.Tx, id home.UserID, c Credentials) (grant, error) {
	u, err := tx.User(id)
	if err != nil {
		return grant{}, err
	}
	if !u.Confirmed() {
		return grant{}, refusedUnconfirmed()
	}
	if err := a.admitLogin(id, c.From); err != nil {
		return grant{}, err
	}
	if fillNames(&u, c) {
		u.UpdatedAt = tx.Now().Stamp()
	}
	if err := tx.NoteFamiliar(u.ID, c.From); err != nil {
		return grant{}, err
	}
	return a.sessions.begin(tx, u, c.Multi, c.Browser)
}

// admitLogin counts a successful log-in, or returns a Throttled fault: each costs a commit,
// and ends earlier sessions. Only log-ins of the account itself count against it, so that
// nobody else can lock its user out.
func (a *Accounts) admitLogin(id home.UserID, from netip.Addr) error {
	undo, err := a.admitAccount(id)
	if err != nil {
		return err
	}
	if _, wait := a.addressLogins.take(from); wait > 0 {
		undo()
		return throttled(wait, "too many log-ins from this address")
	}
	return nil
}

// admitAccount counts a right password of an account, or returns a Throttled fault. undo
// undoes the count.
func (a *Accounts) admitAccount(id home.UserID) (undo func(), err error) {
	undo, wait := a.accountLogins.take(strconv.FormatInt(int64(id), 10))
	if wait > 0 {
		return nil, throttled(wait, "too many log-ins of this account")
	}
	return undo, nil
}

func refusedUnconfirmed() error {
	return &fault.Error{
		Kind: fault.Forbidden, Code: codeUnconfirmed,
		Message: "the account is not confirmed: open the link of the confirmation mail, or ask for another with POST /confirmation_mails",
	}
}

// fillNames gives a user the names that the account leaves empty (payloads.md 5.1), but none that nobody
// can read: a log-in is not refused for that.
func fillNames(u *home.User, c Credentials) (changed bool) {
	if u.FirstName == "" && c.FirstName != "" && motion.NameMistake(c.FirstName) == "" {
		u.FirstName, changed = c.FirstName, true
	}
	if u.LastName == "" && c.LastName != "" && motion.NameMistake(c.LastName) == "" {
		u.LastName, changed = c.LastName, true
	}
	return changed
}
