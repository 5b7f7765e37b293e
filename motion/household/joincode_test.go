package household_test

import (
	"errors"
	"sync"
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// joinAs joins by a code as a user who is known.
func (p *place) joinAs(code string, user home.UserID) error {
	_, err := p.JoinByCode(p.t.Context(), code, func(*store.Tx) (home.UserID, error) { return user, nil })
	return err
}

// codeOf returns the code of a fault, "" for none.
func codeOf(err error) string {
	var f *fault.Error
	errors.As(err, &f)
	if f == nil {
		return ""
	}
	return f.Code
}

func (p *place) joinCode(id home.ID, owner home.UserID) string {
	p.t.Helper()
	code, _, err := p.NewJoinCode(p.t.Context(), id, owner, household.Admission{Role: household.JoinMember})
	if err != nil {
		p.t.Fatal(err)
	}
	return code
}

func TestJoinCodeLetsOnePersonJoin(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house := p.home("g", 1)
	owner, guest, late := p.user("owner"), p.user("guest"), p.user("late")
	p.claim(house.ID, owner)
	code := p.joinCode(house.ID, owner)
	if err := p.joinAs(code, owner); codeOf(err) != "member" {
		t.Errorf("somebody who belongs to it: %v", err)
	}
	refused := errors.New("refused")
	if _, err := p.JoinByCode(t.Context(), code, func(*store.Tx) (home.UserID, error) {
		return 0, fault.New(fault.Conflict, "%v", refused)
	}); fault.KindOf(err) != fault.Conflict {
		t.Errorf("an account that cannot be made: %v", err)
	}
	if err := errors.Join(p.CheckJoinCode(t.Context(), code), p.joinAs("  "+code[:4]+code[5:], guest)); err != nil {
		t.Errorf("after attempts that failed: %v", err)
	}
	used, wrong := p.joinAs(code, late), p.joinAs("7K2M-Q9XA", late)
	if wrong == nil || codeOf(wrong) != "join_code" || used == nil || used.Error() != wrong.Error() {
		t.Errorf("used: %v; wrong: %v; want the same", used, wrong)
	}
}

func TestJoinCodeIsUsedOnceByTwoAtATime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house := p.home("g", 1)
	owner, guests := p.user("owner"), []home.UserID{p.user("a"), p.user("b"), p.user("c"), p.user("d")}
	p.claim(house.ID, owner)
	code := p.joinCode(house.ID, owner)
	joined := make(chan error, len(guests))
	var wg sync.WaitGroup
	for _, guest := range guests {
		wg.Go(func() { joined <- p.joinAs(code, guest) })
	}
	wg.Wait()
	close(joined)
	in := 0
	for err := range joined {
		if err == nil {
			in++
		}
	}
	if in != 1 {
		t.Errorf("%d joined by one code", in)
	}
}

func TestJoinCodeEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house := p.home("g", 1)
	owner, guest := p.user("owner"), p.user("guest")
	p.claim(house.ID, owner)
	if _, _, err := p.NewJoinCode(t.Context(), house.ID, guest, household.Admission{Role: household.JoinMember}); fault.KindOf(err) != fault.Forbidden {
		t.Errorf("made by a stranger: %v", err)
	}
	check := func(what, code string, open bool) {
		t.Helper()
		if err := p.CheckJoinCode(t.Context(), code); (err == nil) != open || err != nil && codeOf(err) != "join_code" {
			t.Errorf("%s: %v", what, err)
		}
	}
	first := p.joinCode(house.ID, owner)
	check("new", first, true)
	for range 3 {
		check("one of three", first, true)
		p.joinCode(house.ID, owner)
	}
	check("three newer ones", first, false)
	withdrawn := p.joinCode(house.ID, owner)
	p.EndJoinCodes(house.ID)
	check("withdrawn", withdrawn, false)
	old := p.joinCode(house.ID, owner)
	p.ahead.Add(14 * 60)
	check("after 14 minutes", old, true)
	p.ahead.Add(60)
	check("after 15 minutes", old, false)
	p.ahead.Add(-16 * 60)
	check("of the future", old, false)
	p.ahead.Add(16 * 60)
	of := p.joinCode(house.ID, owner)
	if err := p.joinAs(p.joinCode(house.ID, owner), guest); err != nil {
		t.Fatal(err)
	}
	var theirs home.Membership
	if err := p.db.View(t.Context(), func(tx *store.Tx) (err error) {
		theirs, _, err = tx.MembershipOf(house.ID, guest)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	check("of the owner", of, true)
	if _, err := p.HandOver(t.Context(), theirs.ID, owner); err != nil {
		t.Fatal(err)
	}
	check("of a former owner", of, false)
	var back home.Membership
	if err := p.db.View(t.Context(), func(tx *store.Tx) (err error) {
		back, _, err = tx.MembershipOf(house.ID, owner)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.HandOver(t.Context(), back.ID, guest); err != nil {
		t.Fatal(err)
	}
	check("of an owner who has the home back", of, false)
}
