package household_test

import (
	"sync"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
	"sensegate/store/storetest"
)

const day = 24 * 3600

// code makes a join code.
func (p *place) code(id home.ID, owner home.UserID, a household.Admission) string {
	p.t.Helper()
	code, _, err := p.NewJoinCode(p.t.Context(), id, owner, a)
	if err != nil {
		p.t.Fatal(err)
	}
	return code
}

// installer lets a new user in as installer of a home.
func (p *place) installer(id home.ID, owner home.UserID, name string, days int) home.UserID {
	p.t.Helper()
	user := p.user(name)
	if err := p.joinAs(p.code(id, owner, household.Admission{Role: household.JoinInstaller, Days: days}), user); err != nil {
		p.t.Fatal(err)
	}
	return user
}

// installs reports whether a user may look after a home now.
func (p *place) installs(id home.ID, user home.UserID) (in bool) {
	p.t.Helper()
	err := p.db.View(p.t.Context(), func(tx *store.Tx) error {
		house, err := tx.Home(id)
		_, in = house.InstallerOf(user, tx.Now())
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return in
}

// belongs reports whether a user is a member of a home.
func (p *place) belongs(id home.ID, user home.UserID) (in bool) {
	p.t.Helper()
	err := p.db.View(p.t.Context(), func(tx *store.Tx) (err error) {
		_, in, err = tx.MembershipOf(id, user)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return in
}

func TestInstallationEndsByItself(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	robin := p.installer(house.ID, owner, "robin", 7)
	if !p.installs(house.ID, robin) || p.belongs(house.ID, robin) {
		t.Fatal("robin is no installer, or a member")
	}
	joined := p.events(house.ExternalID, motion.InstallerJoinedEvent)
	if len(joined) != 1 || joined[0].Data["first_name"] != "robin" || joined[0].Detail["until"] != float64(p.homeNow(house.ID).Installers[0].Until) {
		t.Errorf("events %+v", joined)
	}
	look := func(what string, ahead int64, in bool, ended int) {
		t.Helper()
		p.ahead.Store(ahead)
		before := p.ended.Load()
		if err := p.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := p.events(house.ExternalID, motion.InstallerLeftEvent)
		if p.installs(house.ID, robin) != in || len(left) != ended {
			t.Errorf("%s: %t, ended %d times", what, p.installs(house.ID, robin), len(left))
		}
		if told := p.ended.Load() > before; told != (ended > 0) {
			t.Errorf("%s: live connections are checked: %t", what, told)
		}
	}
	look("after six days", 6*day, true, 0)
	look("the clock is set back before they came", -3600, false, 0)
	look("and forward again", 3600, true, 0)
	look("after seven days", 7*day+1, false, 1)
	p.ahead.Store(0)
	if p.installs(house.ID, robin) {
		t.Error("the clock is set back, and robin is in again")
	}
	if left := p.events(house.ExternalID, motion.InstallerLeftEvent); left[0].Detail["reason"] != "ended" || left[0].Data["first_name"] != "robin" {
		t.Errorf("events %+v", left)
	}
}

func TestOwnerRemovesInstallersAndTheyThemselves(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	member := p.user("member")
	p.join(house.ID, owner, member, "member")
	robin, sam := p.installer(house.ID, owner, "robin", 7), p.installer(house.ID, owner, "sam", 1)
	remove := func(user, by home.UserID) error { return p.RemoveInstaller(t.Context(), house.ID, user, by) }
	wantKind(t, "by a member", remove(robin, member), fault.Forbidden)
	wantKind(t, "by another installer", remove(robin, sam), fault.Forbidden)
	wantKind(t, "a member", remove(member, owner), fault.NotFound)
	if p.ended.Load() != 2 {
		t.Errorf("told %d times, want once for each who was let in", p.ended.Load())
	}
	if err := remove(robin, owner); err != nil {
		t.Fatal(err)
	}
	if err := remove(sam, sam); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "again", remove(robin, owner), fault.NotFound)
	if p.installs(house.ID, robin) || p.installs(house.ID, sam) || p.ended.Load() != 4 {
		t.Errorf("they are in, or what they have open goes on: told %d times", p.ended.Load())
	}
	left := p.events(house.ExternalID, motion.InstallerLeftEvent)
	if len(left) != 2 || left[0].Detail["reason"] != "removed" || left[1].Detail["reason"] != "left" {
		t.Errorf("events %+v", left)
	}
}

func TestMemberIsNoInstallerAndTheOtherWayRound(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	robin := p.installer(house.ID, owner, "robin", 7)
	_, _, err := p.NewJoinCode(t.Context(), house.ID, robin, household.Admission{Role: household.JoinMember})
	wantKind(t, "a code of an installer", err, fault.Forbidden)
	installs := household.Admission{Role: household.JoinInstaller, Days: 2}
	if err := p.joinAs(p.code(house.ID, owner, installs), robin); err != nil || len(p.homeNow(house.ID).Installers) != 1 {
		t.Errorf("let in anew: %v", err)
	}
	if i := p.homeNow(house.ID).Installers[0]; i.Until.Since(i.Since) != 2*day {
		t.Errorf("let in anew for %v s", i.Until.Since(i.Since))
	}
	if err := p.joinAs(p.joinCode(house.ID, owner), robin); err != nil {
		t.Fatal(err)
	}
	if p.installs(house.ID, robin) || !p.belongs(house.ID, robin) {
		t.Error("robin joined, and is an installer or no member")
	}
	if err := p.joinAs(p.code(house.ID, owner, installs), robin); codeOf(err) != "member" {
		t.Errorf("a member with a code for an installer: %v", err)
	}
	sam := p.installer(house.ID, owner, "sam", 7)
	p.join(house.ID, owner, sam, "sam") // by an invitation
	if p.installs(house.ID, sam) {
		t.Error("sam was invited, and is an installer still")
	}
}

func TestWhoDeletesTheirAccountInstallsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other, owner := p.home("g", 1), p.home("h", 2), p.user("owner")
	p.claim(house.ID, owner)
	robin := p.installer(house.ID, owner, "robin", 7)
	p.claim(other.ID, robin)
	if err := p.Disown(t.Context(), other.ID, robin); err != nil {
		t.Fatal(err)
	}
	if !p.installs(house.ID, robin) {
		t.Fatal("disowning the only home of an installer deletes them")
	}
	if err := p.DeleteUser(t.Context(), robin, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	if left := p.homeNow(house.ID).Installers; len(left) != 0 {
		t.Errorf("installers %+v", left)
	}
	left := p.events(house.ExternalID, motion.InstallerLeftEvent)
	if len(left) != 1 || left[0].Detail["reason"] != "left" || left[0].Data["sub"] != nil {
		t.Errorf("events %+v, want one that names nobody", left)
	}
	for _, found := range storetest.Scan(t, p.db, "robin@example.com", "sub-robin") {
		t.Error(found)
	}
}

func TestHomeWithoutItsHouseholdHasNoInstallers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	robin := p.installer(house.ID, owner, "robin", 7)
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	vacant, _, err := p.ByGuardian(t.Context(), "g")
	if err != nil || len(vacant.Installers) != 0 || vacant.SetupStep != "" {
		t.Errorf("wiped: %+v, %v", vacant, err)
	}
	next := p.user("next")
	p.claim(vacant.ID, next)
	if p.installs(vacant.ID, robin) {
		t.Error("claimed anew, robin is in again")
	}
	if err := p.Disown(t.Context(), vacant.ID, next); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "of a home that is gone", p.RemoveInstaller(t.Context(), vacant.ID, robin, robin), fault.NotFound)
}

func TestInstallersCodeIsUsedOnceByTwoAtATime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	code := p.code(house.ID, owner, household.Admission{Role: household.JoinInstaller, Days: 7})
	guests := []home.UserID{p.user("a"), p.user("b"), p.user("c")}
	var wg sync.WaitGroup
	for _, guest := range guests {
		wg.Go(func() { _ = p.joinAs(code, guest) })
	}
	wg.Wait()
	if list := p.homeNow(house.ID).Installers; len(list) != 1 {
		t.Errorf("let in by one code: %+v", list)
	}
}
