package household_test

import (
	"sync"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

var (
	nextOwner = household.Admission{Role: household.JoinOwner}
	nextStays = household.Admission{Role: household.JoinOwner, Days: 14}
)

func TestHouseholdTakesOverFromTheInstaller(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, robin, jo := p.home("g", 1), p.user("robin"), p.user("jo")
	p.claim(house.ID, robin)
	colleague := p.installer(house.ID, robin, "colleague", 7)
	if err := p.ChangeHome(t.Context(), house.ID, func(h *home.Home) { h.SetupStep = home.SetupHandOver }, ""); err != nil {
		t.Fatal(err)
	}
	spare := p.joinCode(house.ID, robin)
	mailed, told := p.mailed.Load(), p.ended.Load()
	before := p.homeNow(house.ID)
	joined, err := p.JoinByCode(t.Context(), p.code(house.ID, robin, nextStays), func(*store.Tx) (home.UserID, error) { return jo, nil })
	if err != nil || joined != (household.Joined{Home: house.ID, User: jo, Role: household.JoinOwner}) {
		t.Fatalf("joined %+v, %v", joined, err)
	}
	after := p.homeNow(house.ID)
	if p.owner(house.ID) != jo || p.belongs(house.ID, robin) || !p.installs(house.ID, robin) || p.installs(house.ID, colleague) {
		t.Errorf("owner %d, installers %+v", p.owner(house.ID), after.Installers)
	}
	if i := after.Installers[0]; i.Until.Since(i.Since) != 14*day || i.By != robin {
		t.Errorf("robin stays as %+v", i)
	}
	if after.ClaimedAt != before.ClaimedAt || after.SetupStep != "" {
		t.Errorf("since %v, step %q; want the history of before, and the setup done", after.ClaimedAt, after.SetupStep)
	}
	if p.mailed.Load() != mailed+2 || p.ended.Load() == told {
		t.Errorf("%d mails; live connections checked: %t", p.mailed.Load()-mailed, p.ended.Load() != told)
	}
	for kind, reason := range map[string]any{motion.OwnerChangedEvent: "handed_over", motion.InstallerLeftEvent: "handed_over", motion.MemberRemovedEvent: nil} {
		if events := p.events(house.ExternalID, kind); len(events) != 1 || events[0].Detail["reason"] != reason {
			t.Errorf("%s: %+v", kind, events)
		}
	}
	err = p.joinAs(spare, p.user("late"))
	if codeOf(err) != "join_code" {
		t.Errorf("a code of the owner before: %v", err)
	}
	_, _, err = p.NewJoinCode(t.Context(), house.ID, robin, nextOwner)
	wantKind(t, "a code by who stays as installer", err, fault.Forbidden)
	p.wantNoAddress(house.ID, "robin@example.com")
}

// wantNoAddress fails the test if the outbox of a home has a mail to an address.
func (p *place) wantNoAddress(id home.ID, address string) {
	p.t.Helper()
	err := p.db.View(p.t.Context(), func(tx *store.Tx) error {
		mails, err := tx.Mails()
		for _, m := range mails {
			if m.HomeID == id && m.Address == address {
				p.t.Errorf("the owner reads the address in the outbox: %+v", m)
			}
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestMemberTakesOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, mum, other := p.home("g", 1), p.user("owner"), p.user("mum"), p.user("other")
	p.claim(house.ID, owner)
	p.join(house.ID, owner, mum, "mum")
	p.join(house.ID, owner, other, "other")
	robin := p.installer(house.ID, owner, "robin", 7)
	code := p.code(house.ID, owner, nextOwner)
	if err := p.joinAs(code, owner); codeOf(err) != "member" {
		t.Errorf("the owner themselves: %v", err)
	}
	if err := p.joinAs(code, mum); err != nil {
		t.Fatal(err)
	}
	if p.owner(house.ID) != mum || p.belongs(house.ID, owner) || p.installs(house.ID, owner) || !p.belongs(house.ID, other) {
		t.Errorf("owner %d; the one before must be gone, the other stay", p.owner(house.ID))
	}
	if !p.installs(house.ID, robin) || p.homeNow(house.ID).Installers[0].By != 0 {
		t.Errorf("installers %+v: the household has let them in", p.homeNow(house.ID).Installers)
	}
}

func TestInstallerTakesOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	robin := p.installer(house.ID, owner, "robin", 7)
	if err := p.joinAs(p.code(house.ID, owner, nextStays), robin); err != nil {
		t.Fatal(err)
	}
	if p.owner(house.ID) != robin || p.installs(house.ID, robin) || !p.installs(house.ID, owner) {
		t.Errorf("owner %d, installers %+v", p.owner(house.ID), p.homeNow(house.ID).Installers)
	}
}

func TestHomeHasOneOwnerHoweverManyTakeOver(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	codes := []string{p.code(house.ID, owner, nextOwner), p.code(house.ID, owner, nextStays), p.joinCode(house.ID, owner)}
	codes = append(codes, codes[0], codes[1])
	guests := []home.UserID{p.user("a"), p.user("b"), p.user("c"), p.user("d"), p.user("e")}
	owners := make(chan home.UserID, len(guests))
	var wg sync.WaitGroup
	for i, guest := range guests {
		wg.Go(func() {
			joined, err := p.JoinByCode(t.Context(), codes[i], func(*store.Tx) (home.UserID, error) { return guest, nil })
			if err == nil && joined.Role == household.JoinOwner {
				owners <- guest
			}
		})
	}
	wg.Wait()
	close(owners)
	first, more := <-owners, len(owners)
	if got := p.owner(house.ID); got != first || more != 0 || p.belongs(house.ID, owner) {
		t.Errorf("owner %d; %d took over, and %d more", got, first, more)
	}
}

func TestCodeOfAnOwnerWhoLostTheHomeStaysWrong(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, mum, guest := p.home("g", 1), p.user("owner"), p.user("mum"), p.user("guest")
	p.claim(house.ID, owner)
	theirs := p.join(house.ID, owner, mum, "mum")
	codes := []string{p.code(house.ID, owner, nextOwner), p.code(house.ID, owner, household.Admission{Role: household.JoinInstaller, Days: 1})}
	if _, err := p.HandOver(t.Context(), theirs.ID, owner); err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		for _, code := range codes {
			if err := p.joinAs(code, guest); codeOf(err) != "join_code" {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	check("of a former owner")
	var mine home.Membership
	if err := p.db.View(t.Context(), func(tx *store.Tx) (err error) {
		mine, _, err = tx.MembershipOf(house.ID, owner)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.HandOver(t.Context(), mine.ID, mum); err != nil {
		t.Fatal(err)
	}
	check("of one who got the home back")
	codes = []string{p.code(house.ID, owner, nextOwner)}
	if err := p.Disown(t.Context(), house.ID, owner); err != nil {
		t.Fatal(err)
	}
	again := p.home("g", 1)
	guest = p.user("another")
	p.claim(again.ID, p.user("later"))
	check("of a home that was disowned")
}

func TestUnconfirmedAccountOwnsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	var late home.UserID
	if err := p.db.Update(t.Context(), func(tx *store.Tx) error {
		u, err := tx.CreateUser(home.User{Email: "late@example.com", Sub: "sub-late"})
		late = u.ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	code := p.code(house.ID, owner, nextOwner)
	wantKind(t, "unconfirmed", p.joinAs(code, late), fault.Conflict)
	if p.owner(house.ID) != owner || p.CheckJoinCode(t.Context(), code) != nil {
		t.Error("the home has changed hands, or the code is used up")
	}
}

// lastMailTo returns the newest mail to an address; its text is the names of members.
func (p *place) lastMailTo(address string) (last store.Mail) {
	p.t.Helper()
	err := p.db.View(p.t.Context(), func(tx *store.Tx) error {
		mails, err := tx.Mails()
		for _, m := range mails {
			if m.Address == address && m.Kind == "owner_changed" {
				last = m
			}
		}
		return err
	})
	if err != nil || last.Address == "" {
		p.t.Fatalf("no mail to %s: %v", address, err)
	}
	return last
}

// TestNextOwnerIsToldWhoStays: somebody from outside, in the inbox and by mail. A member knows the others.
func TestNextOwnerIsToldWhoStays(t *testing.T) {
	t.Parallel()
	for name, outside := range map[string]bool{"from outside": true, "a member": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			house, owner, kim, jo := p.home("g", 1), p.user("owner"), p.user("kim"), p.user("jo")
			p.claim(house.ID, owner)
			p.join(house.ID, owner, kim, "kim")
			want := 1
			if !outside {
				p.join(house.ID, owner, jo, "jo")
				want = 0
			}
			if err := p.joinAs(p.code(house.ID, owner, nextStays), jo); err != nil {
				t.Fatal(err)
			}
			told := p.events(house.ExternalID, motion.MemberStaysEvent)
			if len(told) != want || want > 0 && told[0].Data["id"] != float64(kim) {
				t.Errorf("told %+v", told)
			}
			if mailed, got := p.lastMailTo("jo@example.com"), map[bool]string{true: "kim"}[outside]; mailed.Text != got {
				t.Errorf("the mail names %q, want %q", mailed.Text, got)
			}
			if err := p.DeleteUser(t.Context(), kim, household.Leaving{}); err != nil {
				t.Fatal(err)
			}
			if left := p.events(house.ExternalID, motion.MemberStaysEvent); len(left) != 0 {
				t.Errorf("after their account %+v", left)
			}
		})
	}
}
