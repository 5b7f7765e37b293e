package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// Accounts are the people's accounts: making and confirming them, logging in, changing
// and deleting them. Its methods may be called concurrently.
//
// Nothing tells a stranger whether an address has an account: for one that has and one
// that has not, an answer is the same in status, code and shape, costs as many password
// hashes, commits as often, and where a mail makes a difference its time is rounded up.
type Accounts struct {
	// Step is that to which the time of an answer is rounded up where a mail makes a
	// difference; NewAccounts sets it.
	Step time.Duration

	db        *store.DB
	sessions  *Sessions
	passwords *Passwords
	mailer    func(*store.Tx, notify.Mail) error

	guesses  *guesses
	requests sources   // for mails, by who asks
	moves    *throttle // to another e-mail address, by user
	mails    *throttle // by whom they go to
	codes    sources   // wrong setup codes
	tokens   sources   // wrong tokens of mails
	entries  *throttle // right passwords, by user
	checking sync.Map  // home.UserID: users whose password check looks at
	arrivals sources   // log-ins, by address
	births   *throttle // registrations without the setup code
	refusals refusals
}

// NewAccounts returns the accounts that db holds. mail queues a mail as part of a
// transaction.
func NewAccounts(db *store.DB, sessions *Sessions, passwords *Passwords, mail func(*store.Tx, notify.Mail) error) *Accounts {
	return &Accounts{
		Step: 250 * time.Millisecond,
		db:   db, sessions: sessions, passwords: passwords, mailer: mail,
		guesses:  newGuesses(),
		requests: newSources(rule{5, time.Minute}, rule{60, time.Hour}),
		moves:    newThrottle(rule{5, time.Minute}, rule{60, time.Hour}),
		mails:    newThrottle(rule{5, time.Minute}, rule{20, time.Hour}),
		codes:    newSources(rule{5, time.Minute}),
		tokens:   newSources(rule{10, time.Minute}),
		entries:  newThrottle(rule{10, time.Minute}),
		arrivals: newSources(rule{60, time.Minute}),
		births:   newThrottle(rule{30, time.Minute}, rule{300, time.Hour}),
		refusals: newRefusals(sessions.keys),
	}
}

// unconfirmedLife is how long an account waits for its address to be confirmed before
// it may be removed; after confirmLife another registration takes its place.
const unconfirmedLife = 7 * 24 * time.Hour

// Registration is what a new user says.
type Registration struct {
	Email, Password     string
	FirstName, LastName string
	SetupCode           string // "": none; confirms the account at once
	From                netip.Addr
}

// Register makes an account that its confirmation mail, or the setup code, confirms.
// For an address that has an account the answer looks the same, with an id that nobody
// has, and the address is told by mail; only whoever shows the setup code hears of it,
// as a Conflict. A wrong code is an Invalid fault. Too many are Throttled: 5 a minute from an
// address, and without the code 30 a minute and 300 an hour in all. So few bound what a log-in
// with the password tells afterwards: Forbidden for a new account, Unauthorized for a known
// one (payloads.md 5.1).
func (a *Accounts) Register(ctx context.Context, r Registration) (u home.User, err error) {
	if err := checkAccount(&r.Email, &r.Password, r.Email); err != nil {
		return u, err
	}
	if err := a.admitRequest(r.From); err != nil {
		return u, err
	}
	if r.SetupCode != "" {
		judge, refused := a.TryCode(r.From)
		if refused != nil {
			return u, refused
		}
		defer func() { judge(err) }()
	}
	if r.SetupCode == "" {
		if _, wait := a.births.take(""); wait > 0 {
			return u, throttled(wait, "too many registrations")
		}
	}
	defer a.evenOut(ctx, time.Now())
	hash, err := a.passwords.Hash(ctx, r.Password)
	if err != nil {
		return u, err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) (err error) {
		if err := tx.SweepUnconfirmed(tx.Now().Stamp().Add(-unconfirmedLife), sweepLimit); err != nil {
			return err
		}
		u = newUser(tx, r)
		known, ok, err := a.holderOf(tx, r.Email)
		if err != nil {
			return err
		}
		if ok {
			u.ID, err = a.registerKnown(tx, r, known, u, hash)
			return err
		}
		u, err = a.registerNew(tx, r, u, hash)
		return err
	})
	return u, err
}

// newUser is the record of a new user, without an id.
func newUser(tx *store.Tx, r Registration) home.User {
	now := tx.Now().Stamp()
	return home.User{
		Username: home.LocalPart(r.Email), Email: r.Email, FirstName: r.FirstName, LastName: r.LastName,
		Sub: uuid.NewString(), CreatedAt: now, UpdatedAt: now, ValidFrom: tx.Now().Second(),
	}
}

// holderOf returns the user whom an address belongs to. One who has let the time for
// the confirmation pass and is nobody's member gives way.
func (a *Accounts) holderOf(tx *store.Tx, email string) (home.User, bool, error) {
	u, ok, err := tx.UserByEmail(email)
	if err != nil || !ok || u.Confirmed() || tx.Now().Stamp().Since(u.CreatedAt) < confirmLife {
		return u, ok, err
	}
	memberships, err := tx.MembershipsOfUser(u.ID)
	if err != nil || len(memberships) > 0 {
		return u, true, err
	}
	return home.User{}, false, tx.DeleteUser(u.ID)
}

// registerKnown tells the holder of an address that somebody registered with it, and
// does as if it stored a user. An account that is not confirmed yet may be somebody
// else's, who was quicker: the link sets a new password, so that whoever holds the address
// and follows it does not confirm an account that a stranger knows the password of.
func (a *Accounts) registerKnown(tx *store.Tx, r Registration, known, u home.User, hash string) (home.UserID, error) {
	if r.SetupCode != "" {
		if err := tx.CheckSetupCode(r.SetupCode); err != nil {
			return 0, err
		}
		return 0, fault.New(fault.Conflict, "email: has an account already; log in, or set a new password")
	}
	id, err := tx.RehearseUser(u, hash)
	if err != nil {
		return 0, err
	}
	if !known.Confirmed() {
		return id, a.mailReset(tx, known)
	}
	return id, a.mail(tx, notify.Mail{Kind: notify.KnownAddress, To: known.Email, User: known.ID})
}

// registerNew stores a new user.
func (a *Accounts) registerNew(tx *store.Tx, r Registration, u home.User, hash string) (home.User, error) {
	u, err := tx.CreateUser(u)
	if err != nil {
		return u, err
	}
	if err := tx.SetPassword(u.ID, hash); err != nil {
		return u, err
	}
	if r.SetupCode == "" {
		return u, a.mailConfirmation(tx, u, u.Email)
	}
	if err := tx.RedeemSetupCode(r.SetupCode, u.ID); err != nil {
		return u, err
	}
	now := tx.Now().Stamp()
	u.ConfirmedAt = &now
	if err := tx.PutUser(u); err != nil {
		return u, err
	}
	return u, tx.SetAddressProof(u.ID, vouched())
}

// checkAccount returns an Invalid fault with every mistake of an address and a
// password; nil is neither. A password that is long enough is also to be a choice for an
// account with addresses, when these are known.
func checkAccount(email, password *string, addresses ...string) error {
	var mistakes []fault.Detail
	note := func(at string, err error) {
		var f *fault.Error
		if errors.As(err, &f) {
			mistakes = append(mistakes, fault.Detail{Location: at, Message: f.Message})
		}
	}
	if email != nil {
		note("body.email", home.CheckEmail(*email))
	}
	if password != nil {
		err := home.CheckPassword(*password)
		if err == nil && len(addresses) > 0 {
			err = checkChoice(*password, addresses...)
		}
		note("body.password", err)
	}
	return fault.Also(nil, mistakes)
}

// accountState is what a token of a mail is bound to: it works once, because using it
// changes the account, and not after the password or the address was changed in
// another way.
func accountState(tx *store.Tx, u home.User) (string, error) {
	password, err := tx.Password(u.ID)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%t\x00%s", u.Sub, u.Email, u.Confirmed(), password))
	return base64.RawURLEncoding.EncodeToString(sum[:16]), nil
}
