package notify

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of the tests.
const patience = time.Minute

const base = "http://box.lan:8080"

// box is a database with a claimed home, its owner and a member, a second home with an
// owner of its own, and a clock that a test moves.
type box struct {
	testing.TB
	db  *store.DB
	log *lines

	mu  sync.Mutex
	now time.Time

	network, abroad          motion.NetworkID
	home, other              home.ID
	owner, member, neighbour home.User
}

// lines are what was logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newBox(t testing.TB) *box {
	t.Helper()
	b := &box{TB: t, now: time.Unix(1764000000, 0), log: &lines{}}
	b.db = storetest.Open(t, func(o *store.Options) { o.Now = b.clock })
	b.update(func(tx *store.Tx) (err error) {
		var errs [12]error
		var n, far motion.Network
		n, errs[0] = tx.CreateNetwork(motion.Network{GuardianID: "a41f"})
		far, errs[1] = tx.CreateNetwork(motion.Network{GuardianID: "b52f"})
		var house, two home.Home
		house, errs[2] = tx.CreateHome(home.Home{ExternalID: n.ID, Name: "Lakeside", Scene: home.Away, ClaimedAt: tx.Now()})
		two, errs[3] = tx.CreateHome(home.Home{ExternalID: far.ID, Name: "Hill", Scene: home.Away, ClaimedAt: tx.Now()})
		b.network, b.abroad, b.home, b.other = n.ID, far.ID, house.ID, two.ID
		b.owner, errs[4] = tx.CreateUser(home.User{Email: "jdoe@example.com", Sub: "1"})
		b.member, errs[5] = tx.CreateUser(home.User{Email: "mum@example.com", Sub: "2"})
		b.neighbour, errs[6] = tx.CreateUser(home.User{Email: "next@example.org", Sub: "3"})
		_, errs[7] = tx.CreateMembership(home.Membership{User: b.owner.ID, Home: b.home, Role: home.OwnerRole})
		_, errs[8] = tx.CreateMembership(home.Membership{User: b.member.ID, Home: b.home, Role: home.MemberRole})
		_, errs[9] = tx.CreateMembership(home.Membership{User: b.neighbour.ID, Home: b.other, Role: home.OwnerRole})
		return errors.Join(errs[:]...)
	})
	return b
}

func (b *box) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *box) forward(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *box) stamp() motion.Stamp { return motion.StampOf(b.clock()) }

func (b *box) update(change func(*store.Tx) error) {
	b.Helper()
	if err := b.db.Update(b.Context(), change); err != nil {
		b.Fatal(err)
	}
}

// notifier makes a notifier that nothing runs yet.
func (b *box) notifier(change ...func(*Options)) *Notifier {
	b.Helper()
	o := Options{
		Mail: MailDefaults(), Push: PushDefaults(), Base: func() string { return base },
		Log: slog.New(slog.NewTextHandler(b.log, nil)),
	}
	for _, c := range change {
		c(&o)
	}
	n, err := New(b.db, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(n.Pusher.close)
	return n
}

// mails returns the outbox, the oldest first.
func (b *box) mails() (list []store.Mail) {
	b.Helper()
	b.update(func(tx *store.Tx) (err error) {
		list, err = tx.Mails()
		return err
	})
	return list
}

// mail puts a mail into the outbox.
func (b *box) mail(o *Outbox, m Mail) {
	b.Helper()
	b.update(func(tx *store.Tx) error { return o.Mail(tx, m) })
}

// wantQuiet checks that nothing secret was logged.
func (b *box) wantQuiet(secrets ...string) {
	b.Helper()
	for _, secret := range secrets {
		if strings.Contains(b.log.String(), secret) {
			b.Errorf("the log shows %q:\n%s", secret, b.log)
		}
	}
}

// eventually waits until something holds, which goroutines of others bring about.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("never: %s", what)
		}
	}
}

// status answers with a status and a body.
func status(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body))
}
