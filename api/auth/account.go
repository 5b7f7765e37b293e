// Package auth says who a caller is and what they may do: the API keys of the Core
// interface with their scopes, and the accounts, sessions and roles of the App Cloud
// interface.
//
// It knows tokens and the keys that sign them, passwords and their hashes, the identity
// providers, and how guessing is slowed down. It must not know HTTP: its callers read the
// token from the request. All methods may be called concurrently.
//
// # What lies on disk
//
// Users, sessions and the digest of the setup code are in the database; see store. In
// the state directory, readable by its owner only:
//
//	signing.json      {"keys": [{"kid", "secret": base64 of 32 bytes, "since": seconds}], newest last;
//	                  "names": base64 of 32 bytes, the key of account digests in the log}
//	jwks-<name>.json  the key set of an identity provider as it was fetched last
package auth

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"strings"
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
// that has not, an answer is the same in status, code and shape and costs as many password
// hashes. A registration commits once in both cases, and its time is rounded up; whoever
// asks for a mail is answered at a fixed time, without waiting for what is stored.
type Accounts struct {
	// Step is the time after which a request for a mail is answered, and to which that of
	// a registration is rounded up; NewAccounts sets it. 0: answers come when the work is done.
	Step time.Duration

	db        *store.DB
	sessions  *Sessions
	passwords *Passwords
	mailer    func(*store.Tx, notify.Mail) error

	guesses       *guesses
	requests      sources   // for mails, by address of the caller
	moves         *throttle // to another e-mail address, by user
	mails         *throttle // by e-mail address
	codes         sources   // wrong setup codes
	tokens        sources   // wrong tokens of mails
	accountLogins *throttle // right passwords, by user
	proven        sync.Map  // session id: when its password was shown while nothing could be stored
	checking      sync.Map  // home.UserID: users whose password check is verifying
	addressLogins sources   // log-ins, by address
	registrations *throttle // registrations without the setup code
	refusals      refusals
	pending       sync.WaitGroup // mails that are being stored
	storing       chan struct{}  // a slot of each
}

// NewAccounts returns the accounts that db holds. mail queues a mail as part of a
// transaction.
func NewAccounts(db *store.DB, sessions *Sessions, passwords *Passwords, mail func(*store.Tx, notify.Mail) error) *Accounts {
	return &Accounts{
		Step: 250 * time.Millisecond,
		db:   db, sessions: sessions, passwords: passwords, mailer: mail,
		guesses:       newGuesses(),
		requests:      newSources(rule{5, time.Minute}, rule{60, time.Hour}),
		moves:         newThrottle(rule{5, time.Minute}, rule{60, time.Hour}),
		mails:         newThrottle(rule{5, time.Minute}, rule{20, time.Hour}),
		codes:         newSources(rule{5, time.Minute}),
		tokens:        newSources(rule{10, time.Minute}),
		accountLogins: newThrottle(rule{10, time.Minute}),
		addressLogins: newSources(rule{60, time.Minute}),
		registrations: newThrottle(rule{30, time.Minute}, rule{300, time.Hour}),
		refusals:      newRefusals(sessions.keys),
		storing:       make(chan struct{}, mostStoring),
	}
}

// unconfirmedLife is how long an account waits for its address to be confirmed before
// it may be removed; after confirmLife another registration takes its place.
const unconfirmedLife = 7 * 24 * time.Hour

// Registration is the request of a new user.
type Registration struct {
	Email, Password     string
	FirstName, LastName string
	SetupCode           string // "": none; confirms the account at once
	From                netip.Addr
}

// check returns an Invalid fault with what is wrong with the address and password, else with the names.
func (r Registration) check() error {
	if err := checkAccount(&r.Email, &r.Password, r.Email); err != nil {
		return err
	}
	var wrong fault.Details
	home.CheckName(&wrong, "body.first_name", r.FirstName, "")
	home.CheckName(&wrong, "body.last_name", r.LastName, "")
	return home.NameFault(wrong)
}

// Register makes an account that its confirmation mail, or the setup code, confirms. For an
// address that has an account the answer looks the same, with an id that nobody has, and a
// mail tells the address; only with the setup code the answer is a Conflict. A wrong code is
// an Invalid fault. Too many are Throttled: 5 a minute from an address, and without the code
// 30 a minute and 300 an hour in all. These limits bound what a log-in with the password
// reveals afterwards: Forbidden for a new account, Unauthorized for a known one (payloads.md
// 5.1).
func (a *Accounts) Register(ctx context.Context, r Registration) (u home.User, err error) {
	if err := r.check(); err != nil {
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
		if _, wait := a.registrations.take(""); wait > 0 {
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
			u.ID, err = a.registerKnown(tx, r, known)
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

// holderOf returns the user whom an address belongs to. One who did not confirm it in time and
// belongs to no home does not count.
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

// registerKnown mails the holder of an address that somebody registered with it, and takes an
// id as a new user does. An account that is not confirmed yet may be a stranger's, who
// registered first: the link of the mail sets a new password, so that the holder of the
// address does not confirm an account whose password a stranger knows.
func (a *Accounts) registerKnown(tx *store.Tx, r Registration, known home.User) (home.UserID, error) {
	if r.SetupCode != "" {
		if err := tx.CheckSetupCode(r.SetupCode); err != nil {
			return 0, err
		}
		return 0, fault.New(fault.Conflict, "email: has an account already; log in, or set a new password")
	}
	id, err := tx.NextUserID()
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

// checkAccount returns an Invalid fault with every mistake of an address and a password, each
// of which may be nil. A password that is long enough is also checked by checkChoice.
func checkAccount(email, password *string, addresses ...string) error {
	var mistakes fault.Details
	note := func(at string, err error) {
		var f *fault.Error
		if errors.As(err, &f) {
			mistakes.Add(at, nil, "%s", f.Message)
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
	return mistakes.Err()
}

// accountState is the state that a mail's token for a purpose is bound to: the token works once,
// because using it changes the account, and stops working when the password or the address changes
// in another way. One that sets a password ends as well when the user joins or leaves a home, and
// when the home changes hands: the owner of a member's only home may have read it ([notify.Visible]),
// and it would open to them what they have no part in.
func accountState(tx *store.Tx, u home.User, purpose string) (string, error) {
	password, err := tx.Password(u.ID)
	if err != nil {
		return "", err
	}
	state := fmt.Appendf(nil, "%s\x00%s\x00%t\x00%s", u.Sub, u.Email, u.Confirmed(), password)
	if purpose == forReset {
		if state, err = appendHomes(tx, state, u.ID); err != nil {
			return "", err
		}
	}
	sum := sha256.Sum256(state)
	return base64.RawURLEncoding.EncodeToString(sum[:16]), nil
}

// appendHomes appends to a state which homes a user has joined, and who owns them.
func appendHomes(tx *store.Tx, state []byte, user home.UserID) ([]byte, error) {
	own, err := tx.MembershipsOfUser(user)
	for _, m := range own {
		if m.Unasked { // else whoever adds somebody would end their tokens
			continue
		}
		all, err := tx.MembershipsOfHome(m.Home)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.Role == home.OwnerRole {
				state = fmt.Appendf(state, "\x00%d %d", m.ID, other.ID)
			}
		}
	}
	return state, err
}

// Config is the auth part of the configuration.
type Config struct {
	Argon2    Argon            `yaml:"argon2" envPrefix:"ARGON2_"`
	Providers []ProviderConfig `yaml:"providers" envPrefix:"PROVIDERS_"`
}

// Defaults returns what holds without any configuration.
func Defaults() Config { return Config{Argon2: DefaultArgon(), Providers: []ProviderConfig{}} }

// Validate returns every rule that the configuration breaks.
func (c Config) Validate() error {
	var wrong []error
	under := func(key string, err error) {
		if err == nil {
			return
		}
		for line := range strings.Lines(err.Error()) {
			wrong = append(wrong, errors.New(key+strings.TrimSpace(line)))
		}
	}
	under("argon2.", c.Argon2.Validate())
	names := map[string]bool{}
	for i, p := range c.Providers {
		key := fmt.Sprintf("providers.%d.", i)
		under(key, p.Validate())
		if names[p.Name] {
			under(key, errors.New("name: is there twice"))
		}
		names[p.Name] = true
	}
	return errors.Join(wrong...)
}
