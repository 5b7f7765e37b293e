package auth_test

import (
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
	"sensegate/store"
)

// commits returns how often the database was written to, and how many bytes.
func (o *office) commits() (commits, bytes int64) {
	o.t.Helper()
	stats, err := o.db.Stats(o.t.Context())
	if err != nil {
		o.t.Fatal(err)
	}
	return stats.Commits, stats.Bytes
}

// ask asks for both mails about an address, as one that asks for the nth time.
func (o *office) ask(address string, n int) {
	o.t.Helper()
	for _, err := range []error{o.SendReset(o.t.Context(), address, at(n)), o.SendConfirmation(o.t.Context(), address, at(n))} {
		if err != nil {
			o.t.Errorf("%s: %v", address, err)
		}
	}
}

func TestMailToUnknownAddressWritesNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	commits, bytes := o.commits()
	for n := range 5 {
		o.ask("nobody@example.com", n)
	}
	if c, b := o.commits(); c != commits || b != bytes {
		t.Errorf("%d commits, %d bytes were written for an unknown address", c-commits, b-bytes)
	}
}

func TestRegistrationOfKnownAddressCommitsAsOften(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	for _, address := range []string{email, "new@example.com", "JDOE@example.com"} {
		commits, _ := o.commits()
		o.mustRegister(address, 1)
		if c, _ := o.commits(); c != commits+1 {
			t.Errorf("%s: %d commits, want 1", address, c-commits)
		}
	}
}

// TestAnswerWaitsForNoMail holds the lock that storing a mail needs.
func TestAnswerWaitsForNoMail(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.Step = time.Millisecond
	release := o.holdWriter()
	o.ask(email, 1)
	o.ask("nobody@example.com", 2)
	if mails := o.mailed(); len(mails) > 0 {
		t.Errorf("mails %+v were stored before the answer", mails)
	}
	release()
	o.Wait()
	o.tokenMailed(notify.Reset, email)
}

// holdWriter keeps others from writing to the database until release is called.
func (o *office) holdWriter() (release func()) {
	holding, free, released := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		released <- o.db.Update(o.t.Context(), func(*store.Tx) error {
			close(holding)
			<-free
			return nil
		})
	}()
	<-holding
	return func() {
		o.t.Helper()
		close(free)
		if err := <-released; err != nil {
			o.t.Fatal(err)
		}
	}
}

// TestMailsThatWaitForTheDatabaseAreBounded asks from ever other addresses while nothing can
// be written.
func TestMailsThatWaitForTheDatabaseAreBounded(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Step = time.Millisecond
	release := o.holdWriter()
	refused := 0
	for n := range 40 {
		if err := o.SendReset(t.Context(), "nobody@example.com", at(n)); fault.KindOf(err) == fault.Unavailable {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	release()
	o.Wait()
	if refused != 8 {
		t.Errorf("%d of 40 were refused, want 8", refused)
	}
	if err := o.SendReset(t.Context(), "nobody@example.com", at(41)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	o.Wait()
}

func TestPanicWhileAMailIsStoredEndsNothing(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.Accounts = auth.NewAccounts(o.db, o.sessions, auth.NewPasswords(cheap), func(*store.Tx, notify.Mail) error { panic("a defect") })
	o.Step = 0
	if err := o.SendReset(t.Context(), email, at(1)); err != nil {
		t.Error(err)
	}
	if err := o.db.Update(t.Context(), func(tx *store.Tx) error { _, err := tx.NextUserID(); return err }); err != nil {
		t.Errorf("the database afterwards: %v", err)
	}
}
