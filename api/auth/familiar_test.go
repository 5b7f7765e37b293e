package auth_test

import (
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/notify"
)

// besiege guesses at the account of an address from so many others that nobody gets in from
// one that is not familiar.
func (o *office) besiege(address string) {
	o.t.Helper()
	for n := range 40 {
		if err := o.try(address, "wrong word", 100+n); err == nil {
			o.t.Fatal("a wrong password was right")
		}
	}
	o.wantKind(o.try(address, password, 9), fault.Throttled)
}

func TestWhoResetsThePasswordGetsInFromThereWhileStrangersGuess(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.person(email)
	o.besiege(email)
	if err := o.SendReset(t.Context(), email, at(2)); err != nil {
		t.Fatal(err)
	}
	token, word := o.tokenMailed(notify.Reset, email), "battery staple"
	_, err := o.Reset(t.Context(), token+"x", word, at(3))
	o.wantKind(err, fault.Unauthorized)
	if _, err := o.Reset(t.Context(), token, word, at(2)); err != nil {
		t.Fatal(err)
	}
	if err := o.try(email, word, 2); err != nil {
		t.Errorf("after the reset: %v", err)
	}
	for n := 3; n < 6; n++ { // who asked with another token, or not at all, is no more known than before
		o.wantKind(o.try(email, word, n), fault.Throttled)
	}
}

func TestWhoConfirmsWithThePasswordGetsInFromThereWhileStrangersGuess(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		word string // "": the link alone is opened, as a mail scanner does
		kind fault.Kind
	}{"with the password": {password, 0}, "by the link alone": {"", fault.Throttled}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			o.mustRegister("new@example.com", 1)
			token := o.tokenMailed(notify.Confirm, "new@example.com")
			var err error
			if row.word == "" {
				_, err = o.Confirm(t.Context(), token, at(2))
			} else {
				_, err = o.ConfirmWithPassword(t.Context(), token, "wrong word", at(3))
				o.wantCode(err, fault.Forbidden, "wrong_password")
				_, err = o.ConfirmWithPassword(t.Context(), token, row.word, at(2))
			}
			if err != nil {
				t.Fatal(err)
			}
			o.besiege("new@example.com")
			if err := o.try("new@example.com", password, 2); fault.KindOf(err) != row.kind {
				t.Errorf("from there: %v, want kind %d", err, row.kind)
			}
			o.wantKind(o.try("new@example.com", password, 3), fault.Throttled)
		})
	}
}
