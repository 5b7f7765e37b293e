package store_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// newPerson stores a user who has confirmed their address or not.
func newPerson(t *testing.T, db *store.DB, email string, confirmed bool) (u home.User) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		u = home.User{Email: email, Sub: "sub-" + email}
		if now := tx.Now().Stamp(); confirmed {
			u.ConfirmedAt = &now
		}
		u, err = tx.CreateUser(u)
		return err
	})
	return u
}

func TestSessionsAreOfTheirUser(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	one, other := newPerson(t, db, "a@example.com", true), newPerson(t, db, "b@example.com", true)
	update(t, db, func(tx *store.Tx) error {
		for _, s := range []store.Session{{ID: "1", User: one.ID}, {ID: "2", User: one.ID}, {ID: "3", User: other.ID}} {
			if ended, err := tx.PutSession(s); ended || err != nil {
				t.Errorf("put %+v: %t %v", s, ended, err)
			}
		}
		if _, err := tx.PutSession(store.Session{ID: "4", User: 99}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("session of nobody: %v", err)
		}
		if err := tx.EndSession("9"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("end of none: %v", err)
		}
		return tx.EndSessionsOfUser(one.ID, "2")
	})
	view(t, db, func(tx *store.Tx) error {
		for id, want := range map[string]bool{"1": false, "2": true, "3": true, "4": false, "": false} {
			if _, ok, err := tx.Session(id); ok != want || err != nil {
				t.Errorf("session %q: %t %v, want %t", id, ok, err, want)
			}
		}
		return nil
	})
}

func TestOldestSessionOfMoreThanTheMostIsEnded(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	u := newPerson(t, db, "a@example.com", true)
	update(t, db, func(tx *store.Tx) error {
		for n := range store.MaxSessions + 1 {
			at := motion.Time(1000 - n) // each older than those before
			ended, err := tx.PutSession(store.Session{ID: fmt.Sprint(n), User: u.ID, RotatedAt: at})
			if ended != (n == store.MaxSessions) || err != nil {
				t.Errorf("session %d: ended %t, %v", n, ended, err)
			}
		}
		if _, ok, _ := tx.Session(fmt.Sprint(store.MaxSessions)); !ok {
			t.Error("the new session has ended, which is the oldest")
		}
		if _, ok, _ := tx.Session(fmt.Sprint(store.MaxSessions - 1)); ok {
			t.Error("the oldest of the others goes on")
		}
		return nil
	})
}

func TestSweepTakesExpiredSessionsOnly(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	u := newPerson(t, db, "a@example.com", true)
	update(t, db, func(tx *store.Tx) error {
		for id, end := range map[string]motion.Time{"1": 1, "2": tx.Now() - 1, "3": tx.Now() + 60, "4": 2} {
			if _, err := tx.PutSession(store.Session{ID: id, User: u.ID, ExpiresAt: end}); err != nil {
				return err
			}
		}
		return nil
	})
	left := func(want int) {
		view(t, db, func(tx *store.Tx) error {
			all, err := tx.SessionsOfUser(u.ID)
			if len(all) != want {
				t.Errorf("%d sessions are left, want %d", len(all), want)
			}
			return err
		})
	}
	update(t, db, func(tx *store.Tx) error { return tx.SweepSessions(2) })
	left(2)
	update(t, db, func(tx *store.Tx) error { return tx.SweepSessions(2) })
	left(1)
	update(t, db, func(tx *store.Tx) error { return tx.SweepSessions(2) })
	left(1)
}

func TestFamiliarAddressesAreTheLastEight(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	u, other := newPerson(t, db, "a@example.com", true), newPerson(t, db, "b@example.com", true)
	address := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{192, 168, 1, byte(n)}) }
	update(t, db, func(tx *store.Tx) error {
		for n := range 10 {
			if err := tx.NoteFamiliar(u.ID, address(n)); err != nil {
				return err
			}
		}
		return tx.NoteFamiliar(u.ID, address(3)) // used again
	})
	view(t, db, func(tx *store.Tx) error {
		for n := range 11 {
			known, err := tx.Familiar(u.ID, address(n))
			if want := n >= 2 && n < 10; known != want || err != nil {
				t.Errorf("address %d: %t %v, want %t", n, known, err, want)
			}
		}
		if known, _ := tx.Familiar(other.ID, address(5)); known {
			t.Error("another user is known there")
		}
		return nil
	})
	update(t, db, func(tx *store.Tx) error { return tx.DeleteUser(u.ID) })
	view(t, db, func(tx *store.Tx) error {
		known, err := tx.Familiar(u.ID, address(5))
		if known {
			t.Error("addresses of a deleted user are kept")
		}
		return err
	})
}

func TestSetupCodeServesOneUser(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	update(t, db, func(tx *store.Tx) error {
		for _, code := range []string{"", "0000-0000-0000"} {
			if err := tx.RedeemSetupCode(code, 1); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%q before there is a code: %v", code, err)
			}
		}
		_, err := tx.CreateUser(home.User{Email: "jdoe@example.com", Sub: "1"})
		return errors.Join(err, tx.PutSetupCode("7K2M-Q9XA-04TZ"))
	})
	update(t, db, func(tx *store.Tx) error {
		if err := tx.CheckSetupCode("7k2mq9xao4tz"); err != nil {
			t.Errorf("typed by a person: %v", err)
		}
		if err := tx.RedeemSetupCode("7K2M-Q9XA-04TZ", 1); err != nil {
			t.Errorf("the right code: %v", err)
		}
		if err := tx.RedeemSetupCode("7K2M-Q9XA-04TZ", 2); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the second user: %v", err)
		}
		return tx.PutSetupCode("AAAA-BBBB-CCCC") // as a restart does
	})
	update(t, db, func(tx *store.Tx) error {
		if err := tx.RedeemSetupCode("7k2m q9xa 04tz", 1); err != nil {
			t.Errorf("who has shown it before: %v", err)
		}
		if err := tx.RedeemSetupCode("0000-0000-0000", 1); fault.KindOf(err) != fault.Invalid {
			t.Errorf("a wrong one from who has shown another: %v", err)
		}
		if err := errors.Join(tx.RedeemSetupCode("AAAA-BBBB-CCCC", 1), tx.RedeemSetupCode("AAAA-BBBB-CCCC", 1)); err != nil {
			t.Errorf("the present one from who has shown another: %v", err)
		}
		if err := tx.EndSetupCode(); err != nil {
			return err
		}
		if err := tx.RedeemSetupCode("AAAA-BBBB-CCCC", 1); fault.KindOf(err) != fault.Invalid {
			t.Errorf("after there is an owner: %v", err)
		}
		return nil
	})
}

func TestSweepTakesUsersWhoNeverConfirmed(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	stale, member, confirmed := newPerson(t, db, "a@example.com", false), newPerson(t, db, "b@example.com", false), newPerson(t, db, "c@example.com", true)
	update(t, db, func(tx *store.Tx) error {
		one, err := tx.CreateHome(home.Home{ExternalID: network})
		if err != nil {
			return err
		}
		_, err = tx.CreateMembership(home.Membership{Home: one.ID, User: member.ID})
		return err
	})
	update(t, db, func(tx *store.Tx) error { return tx.SweepUnconfirmed(stale.CreatedAt, 10) })
	view(t, db, func(tx *store.Tx) error { _, err := tx.User(stale.ID); return err })
	update(t, db, func(tx *store.Tx) error { return tx.SweepUnconfirmed(tx.Now().Stamp()+1, 10) })
	view(t, db, func(tx *store.Tx) error {
		for _, u := range []home.User{member, confirmed} {
			if _, err := tx.User(u.ID); err != nil {
				t.Errorf("%s: %v", u.Email, err)
			}
		}
		if _, err := tx.User(stale.ID); fault.KindOf(err) != fault.NotFound {
			t.Errorf("the stale one: %v", err)
		}
		return nil
	})
}

func TestTakenUserIDIsNobodys(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	var id home.UserID
	update(t, db, func(tx *store.Tx) (err error) {
		id, err = tx.NextUserID()
		return err
	})
	view(t, db, func(tx *store.Tx) error {
		if users, err := tx.Users(); len(users) > 0 || err != nil {
			t.Errorf("users %+v %v", users, err)
		}
		return nil
	})
	if next := newPerson(t, db, "a@example.com", false); next.ID != id+1 {
		t.Errorf("the next id is %d after %d", next.ID, id)
	}
}
