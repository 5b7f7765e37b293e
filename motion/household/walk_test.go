package household_test

import (
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
)

// walks begins and ends walk tests of a home.
type walks struct {
	*place
	house home.Home
	owner home.UserID
}

func (w *walks) viewer(user home.UserID) household.Viewer {
	return household.Viewer{User: user, Resident: user == w.owner}
}

func (w *walks) start(user home.UserID) error {
	_, err := w.StartWalk(w.t.Context(), w.house.ID, w.house.ExternalID, w.viewer(user), "Kitchen")
	return err
}

// end ends a walk test that ran for so many seconds.
func (w *walks) end(user home.UserID, after int64) {
	w.t.Helper()
	w.ahead.Add(after)
	if _, err := w.EndWalk(w.t.Context(), w.house.ExternalID, w.viewer(user)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walks) running() bool {
	w.t.Helper()
	state, err := w.Walk(w.t.Context(), w.house.ExternalID, w.viewer(w.owner))
	if err != nil {
		w.t.Fatal(err)
	}
	return state.Running
}

func newWalks(t *testing.T) *walks {
	t.Helper()
	p := newPlace(t)
	w := &walks{place: p, house: p.home("g", 1), owner: p.user("owner")}
	p.claim(w.house.ID, w.owner)
	return w
}

func TestInstallersBeginFewWalkTests(t *testing.T) {
	t.Parallel()
	w := newWalks(t)
	robin := w.installer(w.house.ID, w.owner, "robin", 7)
	for range 6 {
		if err := w.start(robin); err != nil {
			t.Fatal(err)
		}
		wantKind(t, "a second one", w.start(w.owner), fault.Conflict)
		w.end(robin, 20)
	}
	wantKind(t, "one more", w.start(robin), fault.Throttled)
	if err := w.start(w.owner); err != nil {
		t.Errorf("the owner is held to it: %v", err)
	}
	w.end(w.owner, 0)
	w.ahead.Add(3600)
	if err := w.start(robin); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestStoppedWalkTestsCountByTheDayAlone: one that was stopped at once is none of the six of an hour.
func TestStoppedWalkTestsCountByTheDayAlone(t *testing.T) {
	t.Parallel()
	w := newWalks(t)
	robin := w.installer(w.house.ID, w.owner, "robin", 7)
	for i := range 24 {
		if err := w.start(robin); err != nil {
			t.Fatalf("after %d: %v", i, err)
		}
		w.end(robin, 9)
	}
	wantKind(t, "one more", w.start(robin), fault.Throttled)
	w.ahead.Add(3600)
	wantKind(t, "an hour later", w.start(robin), fault.Throttled)
	w.ahead.Add(23 * 3600)
	if err := w.start(robin); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// TestWalkTestEndsWithWhoeverBeganIt: at the moment they lose the home, and so somebody else begins one.
func TestWalkTestEndsWithWhoeverBeganIt(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*walks, home.UserID) (next home.UserID, err error){
		"removed": func(w *walks, robin home.UserID) (home.UserID, error) {
			return w.owner, w.RemoveInstaller(w.t.Context(), w.house.ID, robin, w.owner)
		},
		"left": func(w *walks, robin home.UserID) (home.UserID, error) {
			return w.owner, w.RemoveInstaller(w.t.Context(), w.house.ID, robin, robin)
		},
		"account deleted": func(w *walks, robin home.UserID) (home.UserID, error) {
			return w.owner, w.DeleteUser(w.t.Context(), robin, household.Leaving{})
		},
		"time over": func(w *walks, _ home.UserID) (home.UserID, error) {
			w.ahead.Store(7*day + 1)
			return w.owner, w.EndInstallations(w.t.Context())
		},
		"handed over": func(w *walks, robin home.UserID) (home.UserID, error) {
			jo := w.user("jo")
			err := w.joinAs(w.code(w.house.ID, w.owner, nextStays), jo)
			return jo, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalks(t)
			robin := w.installer(w.house.ID, w.owner, "robin", 7)
			if name == "time over" {
				w.ahead.Store(7*day - 5)
			}
			if err := w.start(robin); err != nil {
				t.Fatal(err)
			}
			next, err := lose(w, robin)
			if err != nil {
				t.Fatal(err)
			}
			if w.running() {
				t.Error("it runs on")
			}
			w.owner = next
			if err := w.start(next); err != nil {
				t.Errorf("the owner's own: %v", err)
			}
		})
	}
}

// TestWalkTestOfTheOwnerEndsWithTheHandOver: though they stay as installer, for whom the household has
// not been told of it.
func TestWalkTestOfTheOwnerEndsWithTheHandOver(t *testing.T) {
	t.Parallel()
	w := newWalks(t)
	former, jo := w.owner, w.user("jo")
	if err := w.start(former); err != nil {
		t.Fatal(err)
	}
	if err := w.joinAs(w.code(w.house.ID, former, nextStays), jo); err != nil {
		t.Fatal(err)
	}
	if !w.installs(w.house.ID, former) || w.running() {
		t.Error("it runs on under the next owner")
	}
	if live, err := w.WalkLive(t.Context(), w.house.ExternalID, household.Viewer{User: former}); err != nil || live != nil {
		t.Errorf("the one before sees %v, %v", live, err)
	}
	w.owner = jo
	if err := w.start(jo); err != nil {
		t.Errorf("of the next owner: %v", err)
	}
	// One of the next owner's is not the former one's to touch.
	_, err := w.EndWalk(t.Context(), w.house.ExternalID, household.Viewer{User: former})
	wantKind(t, "ended by the one before", err, fault.Forbidden)
}
