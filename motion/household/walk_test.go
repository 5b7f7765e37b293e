package household_test

import (
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
)

func TestInstallersBeginFewWalkTests(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	robin := p.installer(house.ID, owner, "robin", 7)
	start := func(user home.UserID) error {
		_, err := p.StartWalk(t.Context(), house.ID, house.ExternalID, household.Viewer{User: user, Resident: user == owner}, "Kitchen")
		return err
	}
	end := func() {
		t.Helper()
		if _, err := p.engine.Sensing.EndWalk(house.ExternalID); err != nil {
			t.Fatal(err)
		}
	}
	for range 6 {
		if err := start(robin); err != nil {
			t.Fatal(err)
		}
		wantKind(t, "a second one", start(owner), fault.Conflict)
		end()
	}
	wantKind(t, "one more", start(robin), fault.Throttled)
	if err := start(owner); err != nil {
		t.Errorf("the owner is held to it: %v", err)
	}
	end()
	p.ahead.Add(3600)
	if err := start(robin); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	if err := p.RemoveInstaller(t.Context(), house.ID, robin, owner); err != nil {
		t.Fatal(err)
	}
	if err := start(owner); err != nil {
		t.Errorf("one of somebody who is gone runs on: %v", err)
	}
}

func TestSetupThatIsDoneStaysDone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	code := func() string {
		t.Helper()
		made, _, err := p.NewJoinCode(t.Context(), house.ID, owner, nextOwner)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	open := func(code string) bool { return p.CheckJoinCode(t.Context(), code) == nil }
	put := func(step home.SetupStep, resident bool) error {
		return p.PutSetupStep(t.Context(), house.ID, step, resident)
	}
	wantKind(t, "begun by an installer", put(home.SetupHandOver, false), fault.Conflict)
	if err := put(home.SetupHandOver, true); err != nil {
		t.Fatal(err)
	}
	first, second := code(), code()
	if open(first) || !open(second) {
		t.Errorf("two codes hand the home over: %t %t", open(first), open(second))
	}
	member := p.joinCode(house.ID, owner)
	if err := put(home.SetupDone, false); err != nil {
		t.Fatal(err)
	}
	if open(second) || !open(member) {
		t.Errorf("after the end: the owner's code %t, a member's %t", open(second), open(member))
	}
}
