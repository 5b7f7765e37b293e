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

// newUser makes a user.
func newUser(t *testing.T, db *store.DB, name string) (u home.User) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		u, err = tx.CreateUser(home.User{Email: name + "@example.com", Sub: "sub-" + name})
		return err
	})
	return u
}

// registerMobile stores a mobile device.
func registerMobile(t *testing.T, db *store.DB, user home.UserID, token string) (d home.MobileDevice) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		d, err = tx.RegisterMobile(store.MobileRegistration{User: user, Token: token, Session: "of " + token})
		return err
	})
	return d
}

func TestTokenBelongsToOneUser(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	one, two := newUser(t, db, "one"), newUser(t, db, "two")
	first := registerMobile(t, db, one.ID, "token")
	other := registerMobile(t, db, one.ID, "other")
	update(t, db, func(tx *store.Tx) error {
		d, err := tx.Mobile(first.ID)
		d.LastError, d.FailedAt = "refused", 5
		return errors.Join(err, tx.PutMobile(d))
	})
	again := func(user home.UserID) error {
		return db.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.RegisterMobile(store.MobileRegistration{User: user, Token: "token", Session: "of token"})
			return err
		})
	}
	wantKind(t, again(two.ID), fault.Conflict)
	wantKind(t, again(99), fault.NotFound)
	if err := again(one.ID); err != nil {
		t.Error(err)
	}
	view(t, db, func(tx *store.Tx) error {
		d, ok, err := tx.FindMobile(first.ID)
		if !ok || d.UserID != one.ID || d.LastError != "" || d.FailedAt != 0 {
			t.Errorf("registered again: %+v", d)
		}
		return err
	})
	update(t, db, func(tx *store.Tx) error { return tx.DeleteMobilesOf(one.ID, "of token") }) // they log out there
	if err := again(two.ID); err != nil {
		t.Errorf("after the log-out: %v", err)
	}
	view(t, db, func(tx *store.Tx) error {
		left, err := tx.MobilesOfUser(one.ID)
		if len(left) != 1 || left[0].ID != other.ID {
			t.Errorf("left %+v", left)
		}
		return err
	})
}

func TestUserHasTheMobileDevicesHeardOfLast(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := storetest.Open(t, c.set)
	user := newUser(t, db, "one")
	for i := range 32 {
		registerMobile(t, db, user.ID, fmt.Sprint(i))
		c.forward(time.Second)
	}
	registerMobile(t, db, user.ID, "0") // was the oldest
	c.forward(time.Second)
	registerMobile(t, db, user.ID, "new")
	view(t, db, func(tx *store.Tx) error {
		list, err := tx.MobilesOfUser(user.ID)
		var tokens []string
		for _, d := range list {
			tokens = append(tokens, d.Token)
		}
		if len(tokens) != 32 || slices.Contains(tokens, "1") || !slices.Contains(tokens, "0") || !slices.Contains(tokens, "new") {
			t.Errorf("%d: %v", len(tokens), tokens)
		}
		return err
	})
}

func TestDeliveriesAreDueInOrderOfTime(t *testing.T) {
	t.Parallel()
	c := newClock()
	db := storetest.Open(t, c.set)
	network := newNetwork(t, db, "g")
	wantDue := func(most int, messages ...string) {
		t.Helper()
		view(t, db, func(tx *store.Tx) error {
			due, err := tx.DeliveriesDue(most)
			var got []string
			for _, d := range due {
				got = append(got, d.Message)
			}
			if !slices.Equal(got, messages) {
				t.Errorf("due %v, want %v", got, messages)
			}
			return err
		})
	}
	update(t, db, func(tx *store.Tx) error {
		now := tx.Now().Stamp()
		return errors.Join(
			tx.AddDelivery(store.Delivery{NetworkID: network, Message: "later", DueAt: now.Add(time.Minute)}),
			tx.AddDelivery(store.Delivery{NetworkID: network, Message: "first", DueAt: now.Add(-time.Second)}),
			tx.AddDelivery(store.Delivery{NetworkID: network, Message: "now", DueAt: now}),
		)
	})
	wantDue(9, "first", "now")
	wantDue(1, "first")
	c.forward(time.Minute)
	wantDue(9, "first", "now", "later")
	update(t, db, func(tx *store.Tx) error {
		d, _, err := tx.Delivery(2)
		d.DueAt = tx.Now().Stamp().Add(time.Second)
		return errors.Join(err, tx.PutDelivery(d), tx.DeleteDelivery(3), tx.PutDelivery(store.Delivery{ID: 77}))
	})
	wantDue(9, "later")
	view(t, db, func(tx *store.Tx) error {
		if n := tx.DeliveryCount(); n != 2 {
			t.Errorf("%d left", n)
		}
		return nil
	})
	wantKind(t, db.Update(t.Context(), func(tx *store.Tx) error { return tx.AddDelivery(store.Delivery{NetworkID: 99}) }), fault.NotFound)
}

func TestDeliveriesGoWithTheirUserAndTheirNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	one, two := newUser(t, db, "one"), newUser(t, db, "two")
	update(t, db, func(tx *store.Tx) error {
		return errors.Join(
			tx.AddDelivery(store.Delivery{NetworkID: network, Message: "to one", Mobile: 1, UserID: one.ID}),
			tx.AddDelivery(store.Delivery{NetworkID: network, Message: "to two", Mobile: 2, UserID: two.ID}),
			tx.AddDelivery(store.Delivery{NetworkID: network, Message: "about one", UserIDs: []home.UserID{one.ID}}),
			tx.AddDelivery(store.Delivery{NetworkID: network, Message: "about both", UserIDs: []home.UserID{one.ID, two.ID}}),
		)
	})
	update(t, db, func(tx *store.Tx) error { return tx.DeleteUser(one.ID) })
	view(t, db, func(tx *store.Tx) error {
		list, err := tx.DeliveriesDue(9)
		if len(list) != 2 || list[0].Message != "to two" || !slices.Equal(list[1].UserIDs, []home.UserID{two.ID}) {
			t.Errorf("left %+v", list)
		}
		return err
	})
	update(t, db, func(tx *store.Tx) error { return tx.DeleteNetwork(network) })
	view(t, db, func(tx *store.Tx) error {
		if n := tx.DeliveryCount(); n != 0 {
			t.Errorf("%d left", n)
		}
		return nil
	})
}

func TestOldestPushComesFirstAndIsTakenOnce(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	update(t, db, func(tx *store.Tx) error {
		for _, title := range []string{"a", "b"} {
			if _, err := tx.AddPush(store.Push{NetworkID: network, Payload: motion.Document{"title": title}}); err != nil {
				return err
			}
		}
		for _, want := range []string{"a", "b"} {
			p, ok, err := tx.OldestPush()
			if err != nil || !ok || p.Payload.Text("title") != want {
				t.Errorf("%+v %v %v, want %s", p, ok, err, want)
			}
			if err := tx.DeletePush(p); err != nil {
				return err
			}
		}
		if p, ok, err := tx.OldestPush(); ok || err != nil {
			t.Errorf("%+v, %v", p, err)
		}
		return nil
	})
}
