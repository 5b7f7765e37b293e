package auth_test

import (
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
	"sensegate/store/storetest"
)

// cheap is a hash that costs tests little.
var cheap = auth.Argon{Memory: 7168, Passes: 1, Threads: 1}

// office is accounts with a database whose clock the test sets, and the mails that
// were queued.
type office struct {
	*auth.Accounts
	t        testing.TB
	db       *store.DB
	path     string // of the signing keys
	keys     *auth.Keyring
	sessions *auth.Sessions
	ended    atomic.Int32

	addresses atomic.Int32 // that mails' tokens were sent from

	mu    sync.Mutex
	now   time.Time
	mails []notify.Mail
}

func newOffice(t testing.TB) *office {
	o := &office{t: t, now: time.Unix(1764000000, 0), path: filepath.Join(t.TempDir(), "signing.json")}
	o.db = storetest.Open(t, func(s *store.Options) { s.Now = o.clock })
	o.restart(cheap)
	return o
}

// restart makes the parts anew over the same database and keys.
func (o *office) restart(cost auth.Argon) {
	o.t.Helper()
	var err error
	if o.keys, err = auth.OpenKeyring(o.path, motion.TimeOf(o.clock()), slog.New(slog.DiscardHandler)); err != nil {
		o.t.Fatal(err)
	}
	o.sessions = auth.NewSessions(o.db, o.keys, func() { o.ended.Add(1) })
	o.Accounts = auth.NewAccounts(o.db, o.sessions, auth.NewPasswords(cost), o.mail)
	o.Step = 0 // most tests are about what is answered, and not when
}

func (o *office) clock() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

// pass moves the clock.
func (o *office) pass(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = o.now.Add(d)
}

func (o *office) mail(_ *store.Tx, m notify.Mail) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mails = append(o.mails, m)
	return nil
}

// mailed returns the mails queued since the last call.
func (o *office) mailed() []notify.Mail {
	o.mu.Lock()
	defer o.mu.Unlock()
	mails := o.mails
	o.mails = nil
	return mails
}

// tokenMailed returns the token of the only mail queued since.
func (o *office) tokenMailed(kind notify.Kind, to string) string {
	o.t.Helper()
	mails := o.mailed()
	if len(mails) != 1 || mails[0].Kind != kind || mails[0].To != to || mails[0].Token == "" {
		o.t.Fatalf("mails %+v, want one %s to %s", mails, kind, to)
	}
	return mails[0].Token
}

// at is an address of the house's network.
func at(n int) netip.Addr { return netip.MustParseAddr(fmt.Sprintf("192.168.1.%d", n)) }

const (
	email    = "jdoe@example.com"
	password = "correct horse"
)

// person makes a confirmed account.
func (o *office) person(address string) home.User {
	o.t.Helper()
	u, err := o.Create(o.t.Context(), auth.Registration{Email: address, Password: password, FirstName: "J"})
	if err != nil {
		o.t.Fatal(err)
	}
	return u
}

// login logs the account in with its password.
func (o *office) login(multi bool) auth.Tokens {
	o.t.Helper()
	tokens, err := o.Login(o.t.Context(), auth.Credentials{Email: email, Password: password, Multi: multi, From: at(1)})
	if err != nil {
		o.t.Fatal(err)
	}
	return tokens
}

// valid reports whether a session token opens something.
func (o *office) valid(token string) bool {
	o.t.Helper()
	who, err := o.sessions.Check(o.t.Context(), token, at(1))
	if err != nil {
		o.wantKind(err, fault.Unauthorized)
		if who != (auth.User{}) {
			o.t.Errorf("refused, and yet %+v", who)
		}
	}
	return err == nil
}

func (o *office) wantKind(err error, kind fault.Kind) {
	o.t.Helper()
	if fault.KindOf(err) != kind {
		o.t.Errorf("error %v, want kind %d", err, kind)
	}
}
