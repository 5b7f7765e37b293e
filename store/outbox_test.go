package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// clock is a wall clock that a test moves.
type clock struct{ now time.Time }

func newClock() *clock                   { return &clock{time.Unix(1764000000, 0)} }
func (c *clock) set(o *store.Options)    { o.Now = func() time.Time { return c.now } }
func (c *clock) stamp() motion.Stamp     { return motion.StampOf(c.now) }
func (c *clock) forward(d time.Duration) { c.now = c.now.Add(d) }

func mailIDs(mails []store.Mail) (ids []uint64) {
	for _, m := range mails {
		ids = append(ids, m.ID)
	}
	return ids
}

// addMail puts a mail into the outbox and returns it.
func addMail(t *testing.T, db *store.DB, m store.Mail) store.Mail {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		m, err = tx.AddMail(m)
		return err
	})
	return m
}

func TestExpiredLinkIsNotToldAndThenForgotten(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := storetest.Open(t, c.set)
	m := addMail(t, db, store.Mail{Address: "a@example.com", Link: "http://box/reset?token=t", ExpiresAt: c.stamp().Add(time.Hour)})
	for _, later := range []struct {
		after time.Duration
		link  string
	}{{59 * time.Minute, m.Link}, {time.Minute, ""}} {
		c.forward(later.after)
		view(t, db, func(tx *store.Tx) error {
			one, err1 := tx.Mail(m.ID)
			all, err2 := tx.Mails()
			if one.Link != later.link || len(all) != 1 || all[0].Link != later.link {
				t.Errorf("%v later: %q, %+v", later.after, one.Link, all)
			}
			return errors.Join(err1, err2)
		})
	}
	update(t, db, (*store.Tx).SweepMails)
	view(t, db, func(tx *store.Tx) error {
		kept, ok, err := tx.StoredMail(m.ID)
		if !ok || kept.Link != "" {
			t.Errorf("stored: %+v", kept)
		}
		return err
	})
}

func TestOutboxIsBounded(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := storetest.Open(t, c.set)
	update(t, db, func(tx *store.Tx) error {
		for i := range 20 {
			if _, err := tx.AddMail(store.Mail{Address: fmt.Sprintf("%s@example.com", []string{"a", "A"}[i%2])}); err != nil {
				return err
			}
		}
		list, err := tx.Mails()
		if len(list) != 16 || list[0].ID != 5 {
			t.Errorf("of one address: %v", mailIDs(list))
		}
		for i := range 1000 {
			if _, err := tx.AddMail(store.Mail{Address: fmt.Sprintf("%d@example.com", i)}); err != nil {
				return err
			}
		}
		all, err2 := tx.Mails()
		if len(all) != 1000 || all[0].Address != "0@example.com" {
			t.Errorf("%d in all, the oldest to %s", len(all), all[0].Address)
		}
		return errors.Join(err, err2)
	})
	c.forward(29 * 24 * time.Hour)
	young := addMail(t, db, store.Mail{Address: "young@example.com"})
	c.forward(2 * 24 * time.Hour)
	update(t, db, (*store.Tx).SweepMails)
	view(t, db, func(tx *store.Tx) error {
		all, err := tx.Mails()
		if !slices.Equal(mailIDs(all), []uint64{young.ID}) {
			t.Errorf("after 30 days: %v", mailIDs(all))
		}
		return err
	})
}

func TestMailsAreDueInOrderOfTime(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := storetest.Open(t, c.set)
	later := addMail(t, db, store.Mail{Address: "a@example.com", DueAt: c.stamp().Add(time.Minute)})
	now := addMail(t, db, store.Mail{Address: "b@example.com", DueAt: c.stamp()})
	addMail(t, db, store.Mail{Address: "c@example.com"})
	wantDue := func(waiting int, ids ...uint64) {
		t.Helper()
		view(t, db, func(tx *store.Tx) error {
			due, n, err := tx.MailsDue()
			if !slices.Equal(mailIDs(due), ids) || n != waiting {
				t.Errorf("due %v of %d, want %v of %d", mailIDs(due), n, ids, waiting)
			}
			return err
		})
	}
	wantDue(2, now.ID)
	c.forward(time.Minute)
	wantDue(2, now.ID, later.ID)
	update(t, db, func(tx *store.Tx) error {
		now.DueAt, now.SentAt = 0, tx.Now().Stamp()
		return tx.PutMail(now)
	})
	wantDue(1, later.ID)
}

func TestMailsGoWithWhoTheyAreAbout(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	var user, other home.User
	var house home.Home
	update(t, db, func(tx *store.Tx) (err error) {
		var errs [3]error
		user, errs[0] = tx.CreateUser(home.User{Email: "Jdoe@example.com", Sub: "1"})
		other, errs[1] = tx.CreateUser(home.User{Email: "mum@example.com", Sub: "2"})
		house, errs[2] = tx.CreateHome(home.Home{ExternalID: network})
		return errors.Join(errs[:]...)
	})
	addMail(t, db, store.Mail{Address: "old@example.com", UserID: user.ID})
	addMail(t, db, store.Mail{Address: "jdoe@example.com", HomeID: house.ID})
	withdrawn := addMail(t, db, store.Mail{Address: "a@example.com", HomeID: house.ID})
	invite := addMail(t, db, store.Mail{Address: "b@example.com", HomeID: house.ID})
	stays := addMail(t, db, store.Mail{Address: "mum@example.com", UserID: other.ID})
	steps := []struct {
		name   string
		remove func(*store.Tx) error
		left   []uint64
	}{
		{"user", func(tx *store.Tx) error { return tx.DeleteUser(user.ID) }, []uint64{withdrawn.ID, invite.ID, stays.ID}},
		{"invitation", func(tx *store.Tx) error {
			i, err := tx.PutInvitation(home.Invitation{Home: house.ID, Email: "A@example.com"})
			return errors.Join(err, tx.DeleteInvitation(i.ID))
		}, []uint64{invite.ID, stays.ID}},
		{"network", func(tx *store.Tx) error { return tx.DeleteNetwork(network) }, []uint64{stays.ID}},
		{"mail", func(tx *store.Tx) error { return tx.DeleteMail(stays.ID) }, nil},
	}
	for _, step := range steps {
		update(t, db, step.remove)
		view(t, db, func(tx *store.Tx) error {
			all, err := tx.Mails()
			if !slices.Equal(mailIDs(all), step.left) {
				t.Errorf("%s removed: left %v, want %v", step.name, mailIDs(all), step.left)
			}
			return err
		})
	}
	wantKind(t, db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteMail(stays.ID) }), fault.NotFound)
	wantKind(t, db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutMail(stays) }), fault.NotFound)
}

func TestResetMailsDoNotPushOutAnInvitation(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	invite := addMail(t, db, store.Mail{Kind: "invite", Address: "a@example.com"})
	update(t, db, func(tx *store.Tx) error {
		for i := range 1020 {
			address := "a@example.com"
			if i >= 20 {
				address = fmt.Sprintf("%d@example.com", i)
			}
			if _, err := tx.AddMail(store.Mail{Kind: "reset", Address: address}); err != nil {
				return err
			}
		}
		list, err := tx.Mails()
		if len(list) != 1000 || list[0].ID != invite.ID {
			t.Errorf("%d mails, the oldest %d", len(list), list[0].ID)
		}
		return err
	})
}
