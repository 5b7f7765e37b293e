package auth_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
	"sensegate/store"
)

// BenchmarkCheck is what every request of the App Cloud interface costs.
func BenchmarkCheck(b *testing.B) {
	o := newOffice(b)
	o.person(email)
	tokens := o.login(false)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := o.sessions.Check(b.Context(), tokens.Token, at(1)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkForgedToken is what a token costs that opens nothing.
func BenchmarkForgedToken(b *testing.B) {
	o := newOffice(b)
	o.person(email)
	token := o.login(false).Token
	for b.Loop() {
		if _, err := o.sessions.Check(b.Context(), token[:len(token)-2]+"AA", at(1)); err == nil {
			b.Fatal("accepted")
		}
	}
}

// BenchmarkLogin is a login with the cost that is configured by default, with its
// commit.
func BenchmarkLogin(b *testing.B) {
	o := newOffice(b)
	o.restart(auth.DefaultArgon())
	o.person(email)
	for n := 1; b.Loop(); n++ {
		if n%10 == 0 { // as many as there may be in a minute
			b.StopTimer()
			o.restart(auth.DefaultArgon())
			b.StartTimer()
		}
		o.pass(time.Second) // or else it is too many at once
		o.login(false)
	}
}

// BenchmarkRefresh is an exchange of tokens with its commit.
func BenchmarkRefresh(b *testing.B) {
	o := newOffice(b)
	o.person(email)
	tokens := o.login(false)
	for b.Loop() {
		var err error
		if tokens, err = o.sessions.Refresh(b.Context(), tokens.RefreshToken, true); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTimeTellsNothing asks in turn about an address that has an account and one
// that has none, and reports the medians: nobody may tell them apart by time.
func BenchmarkTimeTellsNothing(b *testing.B) {
	asks := map[string]func(*auth.Accounts, string, netip.Addr) error{
		"login": func(a *auth.Accounts, address string, from netip.Addr) error {
			_, err := a.Login(b.Context(), auth.Credentials{Email: address, Password: "wrong word", From: from})
			if fault.KindOf(err) != fault.Unauthorized {
				return fmt.Errorf("a wrong password: %w", err)
			}
			return nil
		},
		"register": func(a *auth.Accounts, address string, from netip.Addr) error {
			_, err := a.Register(b.Context(), auth.Registration{Email: address, Password: password, From: from})
			return err
		},
		"reset": func(a *auth.Accounts, address string, from netip.Addr) error {
			return a.SendReset(b.Context(), address, from)
		},
	}
	for name, ask := range asks {
		b.Run(name, func(b *testing.B) { compare(b, ask) })
	}
}

// compare measures what an ask about a known and about a new address takes.
func compare(b *testing.B, ask func(*auth.Accounts, string, netip.Addr) error) {
	o := newOffice(b)
	o.restart(auth.DefaultArgon())
	o.person(email)
	took := map[string][]time.Duration{}
	mail := func(tx *store.Tx, m notify.Mail) error {
		_, err := tx.AddMail(store.Mail{Kind: string(m.Kind), Address: m.To, UserID: m.User, Link: "http://home.example/?token=" + m.Token})
		return err
	}
	n := 0
	for b.Loop() {
		n++
		accounts := auth.NewAccounts(o.db, o.sessions, auth.NewPasswords(auth.DefaultArgon()), mail) // forgets the guesses
		for who, address := range map[string]string{"known": email, "unknown": fmt.Sprintf("u%d@example.com", n)} {
			start := time.Now()
			if err := ask(accounts, address, at(1)); err != nil {
				b.Fatal(err)
			}
			took[who] = append(took[who], time.Since(start))
		}
	}
	for who, list := range took {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Microseconds())/1000, "ms-"+who)
	}
}
