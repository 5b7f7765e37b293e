package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// newHome makes a home of a new network, and a user.
func newHome(t *testing.T, db *store.DB, guardian string) (id home.ID, user home.UserID) {
	t.Helper()
	network := newNetwork(t, db, guardian)
	update(t, db, func(tx *store.Tx) error {
		one, err1 := tx.CreateHome(home.New(network))
		u, err2 := tx.CreateUser(home.User{Email: guardian + "@example.com", Sub: "sub-" + guardian, FirstName: "Ann"})
		id, user = one.ID, u.ID
		return errors.Join(err1, err2)
	})
	return id, user
}

func TestAnAddressHasOneInvitationToAHome(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	one, _ := newHome(t, db, "a")
	other, _ := newHome(t, db, "b")
	update(t, db, func(tx *store.Tx) error {
		first, err1 := tx.PutInvitation(home.Invitation{Home: one, Email: "X@example.com", ExpiresAt: 5})
		again, err2 := tx.PutInvitation(home.Invitation{Home: one, Email: "x@EXAMPLE.com", ExpiresAt: tx.Now().Stamp() + 1})
		_, err3 := tx.PutInvitation(home.Invitation{Home: other, Email: "x@example.com", ExpiresAt: 5})
		if again.ID != first.ID || again.CreatedAt != tx.Now().Stamp() {
			t.Errorf("first %+v, again %+v", first, again)
		}
		found, ok, err4 := tx.InvitationTo(one, "x@example.COM")
		if !ok || found != again {
			t.Errorf("found %+v, want %+v", found, again)
		}
		_, ghost := tx.PutInvitation(home.Invitation{Home: 77, Email: "x@example.com"})
		wantKind(t, ghost, fault.NotFound)
		return errors.Join(err1, err2, err3, err4)
	})
	update(t, db, func(tx *store.Tx) error {
		err := errors.Join(tx.DropInvitations(one, false), tx.DropInvitations(other, false))
		kept, err1 := tx.InvitationsOfHome(one)
		gone, err2 := tx.InvitationsOfHome(other)
		if len(kept) != 1 || len(gone) != 0 {
			t.Errorf("open %+v, expired %+v", kept, gone)
		}
		return errors.Join(err, err1, err2, tx.DropInvitations(one, true))
	})
	view(t, db, func(tx *store.Tx) error {
		left, err := tx.InvitationsOfHome(one)
		if len(left) != 0 {
			t.Errorf("left %+v", left)
		}
		return err
	})
}

func TestDeletedHomeAndUserTakeTheirsAlong(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	one, ann := newHome(t, db, "a")
	other, bob := newHome(t, db, "b")
	update(t, db, func(tx *store.Tx) error {
		_, err1 := tx.AddLocation(one, "Atelier")
		_, err2 := tx.AddLocation(other, "Bunker")
		_, err3 := tx.PutInvitation(home.Invitation{Home: other, Email: "A@example.com", ExpiresAt: 1 << 41})
		return errors.Join(err1, err2, err3,
			tx.PutHomeMeta(one, motion.Document{"k": "Atelier"}), tx.PutHomeMeta(other, motion.Document{"k": "Bunker"}),
			tx.PutUserMeta(ann, motion.Document{"k": "Atelier"}), tx.PutUserMeta(bob, motion.Document{"k": "Bunker"}))
	})
	update(t, db, func(tx *store.Tx) error { return errors.Join(tx.DeleteHome(one), tx.DeleteUser(ann)) })
	for _, found := range storetest.Scan(t, db, "Atelier", "a@example.com", "A@example.com") {
		t.Error(found)
	}
	if kept := storetest.Scan(t, db, "Bunker"); len(kept) != 3 {
		t.Errorf("of the other home: %q", kept)
	}
	view(t, db, func(tx *store.Tx) error {
		none, err1 := tx.HomeMeta(one)
		locations, err2 := tx.Locations(other)
		if none == nil || len(none) != 0 || len(locations) != 1 || locations[0].ID != home.FirstLocation+1 || *locations[0].Home != other {
			t.Errorf("meta %v, locations %+v", none, locations)
		}
		return errors.Join(err1, err2)
	})
	err := db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutHomeMeta(one, motion.Document{"k": 1}) })
	wantKind(t, err, fault.NotFound)
	err = db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutUserMeta(ann, motion.Document{"k": 1}) })
	wantKind(t, err, fault.NotFound)
}

func TestHistoryForgetsAPerson(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	var ann, bob home.User
	update(t, db, func(tx *store.Tx) (err error) {
		if ann, err = tx.CreateUser(home.User{Email: "ann@example.com", Sub: "sub-1", FirstName: "Ann"}); err != nil {
			return err
		}
		if bob, err = tx.CreateUser(home.User{Email: "bob@example.com", Sub: "sub-11", FirstName: "Bob"}); err != nil {
			return err
		}
		for i, data := range []motion.Document{
			{"id": int64(ann.ID), "sub": ann.Sub, "first_name": "Ann", "user": map[string]any{}},
			{"id": int64(bob.ID), "sub": bob.Sub, "first_name": "Bob", "user": map[string]any{}},
			{"id": 1, "title": "away", "user": map[string]any{"id": int64(ann.ID)}},
			{"id": 4, "title": "home", "user": map[string]any{"id": int64(ann.ID) + 10}},
			{"note": ann.Sub},
		} {
			if _, _, err := tx.AddEvent(motion.Event{NetworkID: network, Category: motion.CategorySystem, Event: "E", TS: tx.Now(), Data: data}, fmt.Sprint(i)); err != nil {
				return err
			}
		}
		return tx.ForgetInEvents(ann)
	})
	view(t, db, func(tx *store.Tx) error {
		var left []string
		events, err := storetest.Events(tx, network)
		for _, e := range events {
			left = append(left, e.Data.Text("title")+e.Data.Text("first_name")+e.Data.Text("note"))
			if user, _ := e.Data["user"].(map[string]any); e.Data.Text("title") == "away" && len(user) != 0 {
				t.Errorf("still by %v", user)
			}
		}
		if got := strings.Join(left, " "); len(left) != 4 || strings.Contains(got, "Ann") || !strings.Contains(got, "Bob") || !strings.Contains(got, "away") {
			t.Errorf("left %q", left)
		}
		return err
	})
}

func TestDeletedNetworkTakesWhoWaitsForItAlong(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	gone := newNetwork(t, db, "gone")
	newNetwork(t, db, "stays")
	update(t, db, func(tx *store.Tx) error {
		return errors.Join(
			tx.SetPending([]motion.PendingDevice{
				{ID: "1", DeviceID: "one", LocationID: "gone"}, {ID: "2", DeviceID: "two", LocationID: "stays"},
				{ID: "3", DeviceID: "by a mesh link", NetworkID: gone},
			}),
			tx.DeleteNetwork(gone))
	})
	view(t, db, func(tx *store.Tx) error {
		list, err := tx.PendingDevices()
		if len(list) != 1 || list[0].DeviceID != "two" {
			t.Errorf("waiting %+v", list)
		}
		return err
	})
}
