package household_test

import (
	"errors"
	"fmt"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

func TestNetworkFormedAgainAfterItsDisowningTakesTheSetupCode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other, never := p.home("g", 1), p.home("h", 2), p.home("i", 3)
	owner, neighbour, stranger := p.user("owner"), p.user("neighbour"), p.user("stranger")
	p.claim(house.ID, owner)
	p.claim(other.ID, neighbour)
	disowned := p.Disown(t.Context(), house.ID, owner)
	neverOwned := p.engine.Devices.DeleteNetwork(t.Context(), never.ExternalID, func(*store.Tx) error { return nil })
	if err := errors.Join(disowned, neverOwned); err != nil {
		t.Fatal(err)
	}
	again, free := p.home("g", 1), p.home("i", 3)
	if _, err := p.Claim(t.Context(), free.ID, neighbour, household.Proof{}); err != nil {
		t.Errorf("one that was never owned: %v", err)
	}
	_, err := p.Claim(t.Context(), again.ID, stranger, household.Proof{})
	wantKind(t, "claimed by a session alone", err, fault.Forbidden)

	// What was not claimed meanwhile is remembered over another deletion too.
	if err := p.engine.Devices.DeleteNetwork(t.Context(), again.ExternalID, func(*store.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	again = p.home("g", 1)
	_, err = p.Claim(t.Context(), again.ID, stranger, household.Proof{})
	wantKind(t, "claimed by a session alone after another deletion", err, fault.Forbidden)
	if err := p.db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutSetupCode("7K2M-Q9XA-04TZ") }); err != nil {
		t.Fatal(err)
	}
	returned := p.user("returned") // the owner's account went with the network
	if _, err := p.Claim(t.Context(), again.ID, returned, household.Proof{SetupCode: "7K2M-Q9XA-04TZ"}); err != nil {
		t.Errorf("claimed back with the code: %v", err)
	}
}

func TestManyDeletionsDoNotMakeAnOwnedNetworkForgotten(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const first, many = "the first", 1030
	err := p.db.Update(t.Context(), func(tx *store.Tx) error {
		for i := range many {
			name := first
			if i > 0 {
				name = fmt.Sprint("another ", i)
			}
			n, err := tx.CreateNetwork(motion.Network{GuardianID: name})
			if err != nil {
				return err
			}
			house, err := tx.CreateHome(home.New(n.ID))
			if err != nil {
				return err
			}
			house.OwnedBefore = true
			if err := errors.Join(tx.PutHome(house), tx.DeleteNetwork(n.ID)); err != nil {
				return err
			}
		}
		for _, name := range []string{first, fmt.Sprint("another ", many-1), "one that was never here"} {
			if owned, err := tx.OwnedBefore(name); err != nil || !owned {
				t.Errorf("%q counts as owned before: %t, %v", name, owned, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOwnerClaimsAgainWhatTheyDisowned(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other := p.home("g", 1), p.home("h", 2)
	owner, lodger, neighbour, stranger := p.user("owner"), p.user("lodger"), p.user("neighbour"), p.user("stranger")
	p.claim(house.ID, owner)
	p.claim(p.home("i", 3).ID, owner) // so that the account stays
	p.claim(other.ID, neighbour)
	p.join(house.ID, owner, lodger, "lodger")
	p.join(other.ID, neighbour, lodger, "lodger") // so that this one stays too
	wantKind(t, "disowned by a member", p.Disown(t.Context(), house.ID, lodger), fault.Forbidden)
	again := p.disowned(house.ID, owner)
	for name, user := range map[string]home.UserID{"a member of before": lodger, "an owner of another": neighbour, "a stranger": stranger} {
		_, err := p.Claim(t.Context(), again.ID, user, household.Proof{})
		wantKind(t, "claimed by "+name, err, fault.Forbidden)
	}
	const code = "7K2M-Q9XA-04TZ"
	p.update(func(tx *store.Tx) error { return tx.PutSetupCode(code) })
	if _, err := p.Claim(t.Context(), again.ID, owner, household.Proof{}); err != nil {
		t.Errorf("claimed by who disowned it: %v", err)
	}
	p.update(func(tx *store.Tx) error { return tx.CheckSetupCode(code) }) // it is for somebody else
}

func TestFormerOwnerClaimsNothingOfALaterOne(t *testing.T) {
	t.Parallel()
	for name, later := range map[string]func(*place, home.Home, home.UserID) error{
		"whose account ended": func(p *place, _ home.Home, user home.UserID) error {
			return p.DeleteUser(p.t.Context(), user, household.Leaving{})
		},
		"who disowned it": func(p *place, house home.Home, user home.UserID) error {
			p.disowned(house.ID, user)
			return nil
		},
		"whose network the administrator deleted": func(p *place, house home.Home, _ home.UserID) error {
			return p.engine.Devices.DeleteNetwork(p.t.Context(), house.ExternalID, func(*store.Tx) error { return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			house := p.home("g", 1)
			owner, next := p.user("owner"), p.user("next")
			p.claim(p.home("h", 2).ID, owner)
			p.claim(house.ID, owner)
			again := p.disowned(house.ID, owner)
			p.claim(again.ID, next)
			if err := later(p, again, next); err != nil {
				t.Fatal(err)
			}
			left, _, err := p.ByGuardian(t.Context(), "g")
			if fault.KindOf(err) == fault.NotFound {
				left = p.home("g", 1)
			}
			_, err = p.Claim(t.Context(), left.ID, owner, household.Proof{})
			wantKind(t, "claimed by the owner before", err, fault.Forbidden)
		})
	}
}

func TestDeletedUserIsForgottenAsFormerOwner(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other := p.home("g", 1), p.home("h", 2)
	owner := p.user("owner")
	p.claim(house.ID, owner)
	p.claim(other.ID, owner)
	again := p.disowned(house.ID, owner)
	disownedBy := func(want home.UserID) {
		t.Helper()
		p.update(func(tx *store.Tx) error {
			by, err := tx.DisownedBy(again.ExternalID)
			if by != want {
				t.Errorf("disowned by %d, want %d", by, want)
			}
			return err
		})
	}
	disownedBy(owner)
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	disownedBy(0)
}

// disowned has the owner of the home of the guardian g disown it, and its device form it
// again.
func (p *place) disowned(id home.ID, owner home.UserID) home.Home {
	p.t.Helper()
	if err := p.Disown(p.t.Context(), id, owner); err != nil {
		p.t.Fatal(err)
	}
	return p.home("g", 1)
}

func (p *place) update(change func(*store.Tx) error) {
	p.t.Helper()
	if err := p.db.Update(p.t.Context(), change); err != nil {
		p.t.Fatal(err)
	}
}
