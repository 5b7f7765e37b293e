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
	one, other, never := p.home("g", 1), p.home("h", 2), p.home("i", 3)
	owner, neighbour, stranger := p.user("owner"), p.user("neighbour"), p.user("stranger")
	p.claim(one.ID, owner)
	p.claim(other.ID, neighbour)
	disowned := p.Disown(t.Context(), one.ID, owner)
	neverOwned := p.engine.DeleteNetwork(t.Context(), never.ExternalID, func(*store.Tx) error { return nil })
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
	if err := p.engine.DeleteNetwork(t.Context(), again.ExternalID, func(*store.Tx) error { return nil }); err != nil {
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
			one, err := tx.CreateHome(home.New(n.ID))
			if err != nil {
				return err
			}
			one.OwnedBefore = true
			if err := errors.Join(tx.PutHome(one), tx.DeleteNetwork(n.ID)); err != nil {
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
