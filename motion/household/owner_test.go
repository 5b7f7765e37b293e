package household_test

import (
	"fmt"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
	"sensegate/store/storetest"
)

// join makes a user a member of a home by an invitation.
func (p *place) join(id home.ID, owner, user home.UserID, name string) home.Membership {
	p.t.Helper()
	if _, err := p.Invite(p.t.Context(), id, owner, []string{name + "@example.com"}); err != nil {
		p.t.Fatal(err)
	}
	m, err := p.Join(p.t.Context(), id, household.Candidate{User: user, By: user})
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// owner returns who owns a home, and fails the test unless it is one.
func (p *place) owner(id home.ID) (owner home.UserID) {
	p.t.Helper()
	err := p.db.View(p.t.Context(), func(tx *store.Tx) error {
		members, err := tx.MembershipsOfHome(id)
		owners := 0
		for _, m := range members {
			if m.Role == home.OwnerRole {
				owner = m.User
				owners++
			}
		}
		if owners != 1 {
			p.t.Errorf("%d owners of home %d: %+v", owners, id, members)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return owner
}

// events returns the events of a kind of a network, oldest first.
func (p *place) events(network motion.NetworkID, kind string) (events []motion.Event) {
	p.t.Helper()
	err := p.db.View(p.t.Context(), func(tx *store.Tx) (err error) {
		events, err = tx.Events(store.EventQuery{Network: network, Kinds: []string{kind}, Last: 100, Ascending: true})
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return events
}

func TestMemberWhoJoinedFirstSucceedsTheOwner(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house := p.home("g", 1)
	second, owner, first := p.user("second"), p.user("owner"), p.user("first")
	p.claim(house.ID, owner)
	p.join(house.ID, owner, first, "first")
	p.join(house.ID, owner, second, "second")
	before := p.homeNow(house.ID)
	mailed := p.mailed.Load()
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "again", p.DeleteUser(t.Context(), owner, household.Leaving{}), fault.NotFound)
	if got := p.owner(house.ID); got != first {
		t.Errorf("owner %d, want %d", got, first)
	}
	if after := p.homeNow(house.ID); after.ClaimedAt != before.ClaimedAt {
		t.Errorf("history begins at %v, want %v", after.ClaimedAt, before.ClaimedAt)
	}
	changed := p.events(house.ExternalID, motion.OwnerChangedEvent)
	if len(changed) != 1 || changed[0].Category != motion.CategorySystem || changed[0].Data["sub"] != "sub-first" || changed[0].Detail["reason"] != "left" {
		t.Errorf("events %+v", changed)
	}
	if got := p.mailed.Load() - mailed; got != 2 {
		t.Errorf("%d mails, want one to each of the two members", got)
	}
	for _, found := range storetest.Scan(t, p.db, "owner@example.com", "sub-owner") {
		t.Error(found)
	}
}

func TestOwnerNamesTheirSuccessor(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other := p.home("g", 1), p.home("h", 2)
	owner, first, second, stranger := p.user("owner"), p.user("first"), p.user("second"), p.user("stranger")
	for _, id := range []home.ID{house.ID, other.ID} {
		p.claim(id, owner)
		p.join(id, owner, first, "first")
	}
	p.join(house.ID, owner, second, "second")
	wantKind(t, "a stranger", p.DeleteUser(t.Context(), owner, household.Leaving{Successor: stranger}), fault.Invalid)
	wantKind(t, "themselves", p.DeleteUser(t.Context(), owner, household.Leaving{Successor: owner}), fault.Invalid)
	wantKind(t, "of what is deleted", p.DeleteUser(t.Context(), owner, household.Leaving{Successor: second, Disown: true}), fault.Invalid)
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{Successor: second}); err != nil {
		t.Fatal(err)
	}
	if a, b := p.owner(house.ID), p.owner(other.ID); a != second || b != first {
		t.Errorf("owners %d and %d, want %d, and where that one does not live %d", a, b, second, first)
	}
}

func TestHomeWithoutSuccessorIsWiped(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, added := p.home("g", 1), p.user("owner"), p.user("added")
	p.claim(house.ID, owner)
	err := p.ChangeHome(t.Context(), house.ID, func(h *home.Home) { h.Name, h.Address = "Villa Rosenduft", "Fliederweg 7" }, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Join(t.Context(), house.ID, household.Candidate{User: added, By: owner}); err != nil { // and has never joined themselves
		t.Fatal(err)
	}
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	for _, found := range storetest.Scan(t, p.db, "Rosenduft", "Fliederweg", "owner@example.com", "sub-owner") {
		t.Error(found)
	}
	left, created, err := p.ByGuardian(t.Context(), "g")
	if err != nil || created || left.Claimed() || !left.OwnedBefore || left.ID == house.ID {
		t.Errorf("left %+v, created %t, %v", left, created, err)
	}
	_, err = p.Claim(t.Context(), left.ID, added, household.Proof{})
	wantKind(t, "claimed by a session alone", err, fault.Forbidden)
	if err := p.engine.State.Known(house.ExternalID); err != nil {
		t.Errorf("the network in Core: %v", err)
	}
}

func TestOwnerHandsTheHomeOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, member, added := p.home("g", 1), p.user("owner"), p.user("member"), p.user("added")
	p.claim(house.ID, owner)
	m := p.join(house.ID, owner, member, "member")
	unasked, err := p.Join(t.Context(), house.ID, household.Candidate{User: added, By: owner})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.HandOver(t.Context(), m.ID, member)
	wantKind(t, "by a member", err, fault.Forbidden)
	_, err = p.HandOver(t.Context(), unasked.ID, owner)
	wantKind(t, "to somebody who has not joined", err, fault.Conflict)
	_, err = p.HandOver(t.Context(), 77, owner)
	wantKind(t, "unknown", err, fault.NotFound)
	before, mailed := p.homeNow(house.ID), p.mailed.Load()
	if _, err := p.HandOver(t.Context(), m.ID, owner); err != nil {
		t.Fatal(err)
	}
	if got := p.owner(house.ID); got != member {
		t.Errorf("owner %d, want %d", got, member)
	}
	if after := p.homeNow(house.ID); after.ClaimedAt != before.ClaimedAt {
		t.Errorf("history begins at %v, want %v", after.ClaimedAt, before.ClaimedAt)
	}
	if changed := p.events(house.ExternalID, motion.OwnerChangedEvent); len(changed) != 1 || changed[0].Data["sub"] != "sub-member" {
		t.Errorf("events %+v", changed)
	}
	if got := p.mailed.Load() - mailed; got != 2 {
		t.Errorf("%d mails, want one to each of both", got)
	}
	_, err = p.HandOver(t.Context(), m.ID, owner)
	wantKind(t, "by who owned it", err, fault.Forbidden)
}

func TestOwnerAddsOnlyWhomTheyKnowOrWhoLivesNowhere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, shared, far := p.home("g", 1), p.home("h", 2), p.home("i", 3)
	owner, friend, stranger, alone := p.user("owner"), p.user("friend"), p.user("stranger"), p.user("alone")
	p.claim(house.ID, owner)
	p.claim(shared.ID, owner)
	p.claim(far.ID, stranger)
	p.join(shared.ID, owner, friend, "friend")
	add := func(user home.UserID) (home.Membership, error) {
		return p.Join(t.Context(), house.ID, household.Candidate{User: user, By: owner})
	}
	_, elsewhere := add(stranger)
	_, unknown := add(77)
	wantKind(t, "who lives elsewhere", elsewhere, fault.NotFound)
	if want := fmt.Sprintf("user_id: %d is not known; invite their address first", stranger); elsewhere.Error() != want || unknown == nil {
		t.Errorf("%v, want %q; unknown: %v", elsewhere, want, unknown)
	}
	if m, err := add(friend); err != nil || !m.Added || !m.Unasked || !m.Muted {
		t.Errorf("who shares another home: %+v %v", m, err)
	}
	m, err := add(alone)
	if err != nil || !m.Unasked {
		t.Fatalf("who lives nowhere: %+v %v", m, err)
	}
	joined := p.events(house.ExternalID, motion.MemberJoinedEvent)
	if last := joined[len(joined)-1]; last.Data["sub"] != nil || last.Data["first_name"] != nil {
		t.Errorf("the event names who was not asked: %+v", last)
	}
	accepted, err := p.Join(t.Context(), house.ID, household.Candidate{User: alone, By: alone})
	if err != nil || accepted.Unasked || accepted.ID != m.ID {
		t.Errorf("accepted %+v %v", accepted, err)
	}
	if again, err := p.Join(t.Context(), house.ID, household.Candidate{User: alone, By: alone}); err != nil || again.ID != accepted.ID {
		t.Errorf("once more: %+v %v", again, err)
	}
}

// homeNow returns the record of a home.
func (p *place) homeNow(id home.ID) (house home.Home) {
	p.t.Helper()
	err := p.db.View(p.t.Context(), func(tx *store.Tx) (err error) {
		house, err = tx.Home(id)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return house
}
