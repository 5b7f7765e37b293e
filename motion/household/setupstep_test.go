package household_test

import (
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// TestOwnerCodeEndsWithTheHandOverStep: the page does not show it any more, wherever the step goes.
func TestOwnerCodeEndsWithTheHandOverStep(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	open := func(code string) bool { return p.CheckJoinCode(t.Context(), code) == nil }
	put := func(step home.SetupStep, resident bool) error {
		return p.PutSetupStep(t.Context(), house.ID, step, resident)
	}
	for _, next := range []home.SetupStep{home.SetupWalk, home.SetupDevices, home.SetupDone} {
		if err := put(home.SetupHandOver, true); err != nil {
			t.Fatal(err)
		}
		first, second, member := p.code(house.ID, owner, nextOwner), p.code(house.ID, owner, nextOwner), p.joinCode(house.ID, owner)
		if err := put(home.SetupHandOver, true); err != nil { // a second phone
			t.Fatal(err)
		}
		if open(first) || !open(second) {
			t.Errorf("two codes hand the home over: %t %t", open(first), open(second))
		}
		if err := put(next, true); err != nil {
			t.Fatal(err)
		}
		if open(second) || !open(member) {
			t.Errorf("after %q: the owner's code %t, a member's %t", next, open(second), open(member))
		}
	}
}

// TestHandOverStepIsTheOwners: installers neither begin nor leave it, nor any step of a home that is set up.
func TestHandOverStepIsTheOwners(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	put := func(step home.SetupStep, resident bool) error {
		return p.PutSetupStep(t.Context(), house.ID, step, resident)
	}
	for _, step := range []home.SetupStep{home.SetupDevices, home.SetupHandOver, home.SetupDone} {
		wantKind(t, "of a home that is set up", put(step, false), fault.Conflict)
	}
	if err := put(home.SetupWalk, true); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "begun by an installer", put(home.SetupHandOver, false), fault.Forbidden)
	if err := put(home.SetupRooms, false); err != nil {
		t.Errorf("another step by an installer: %v", err)
	}
	if err := put(home.SetupHandOver, true); err != nil {
		t.Fatal(err)
	}
	code := p.code(house.ID, owner, nextOwner)
	wantKind(t, "left by an installer", put(home.SetupWalk, false), fault.Forbidden)
	if p.CheckJoinCode(t.Context(), code) != nil || p.homeNow(house.ID).SetupStep != home.SetupHandOver {
		t.Error("an installer has ended the handing over")
	}
}

// TestTakeOverEndsTheSetup: at whatever step the code was shown.
func TestTakeOverEndsTheSetup(t *testing.T) {
	t.Parallel()
	for _, step := range []home.SetupStep{home.SetupDevices, home.SetupRooms, home.SetupWalk, home.SetupHandOver} {
		p := newPlace(t)
		house, owner := p.home("g", 1), p.user("owner")
		p.claim(house.ID, owner)
		if err := p.PutSetupStep(t.Context(), house.ID, step, true); err != nil {
			t.Fatal(err)
		}
		if err := p.joinAs(p.code(house.ID, owner, nextStays), p.user("jo")); err != nil {
			t.Fatal(err)
		}
		if left := p.homeNow(house.ID).SetupStep; left != home.SetupDone {
			t.Errorf("at %q: the next owner is led to %q", step, left)
		}
		wantKind(t, "a step by the one before", p.PutSetupStep(t.Context(), house.ID, home.SetupRooms, false), fault.Conflict)
	}
}
