package household_test

import (
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// stored returns the record of a home.
func (p *place) stored(id home.ID) home.Home {
	p.t.Helper()
	h, err := store.Read(p.t.Context(), p.db, func(tx *store.Tx) (home.Home, error) { return tx.Home(id) })
	if err != nil {
		p.t.Fatal(err)
	}
	return h
}

// after lets so many seconds pass, and Watch's step of a second.
func (p *place) after(seconds int64) {
	p.t.Helper()
	p.ahead.Add(seconds)
	if err := p.Leave(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
}

func TestWhoIsGoneNoLongerLeaves(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, ann, guest := p.home("own", 1), p.user("ann"), p.user("guest")
	p.claim(house.ID, ann)
	if err := p.joinAs(p.joinCode(house.ID, ann), guest); err != nil {
		t.Fatal(err)
	}
	if _, err := p.LeaveSoon(t.Context(), house.ID, guest); err != nil {
		t.Fatal(err)
	}
	err := p.db.Update(t.Context(), func(tx *store.Tx) error {
		m, _, err := tx.MembershipOf(house.ID, guest)
		if err != nil {
			return err
		}
		return tx.DeleteMembership(m.ID)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.after(31)
	if h := p.stored(house.ID); h.Scene != home.AtHome || h.AwayAt != 0 {
		t.Errorf("after the removal: %+v", h)
	}
}

func TestHomeChangesToAwayAfterAWhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, ann := p.home("own", 1), p.user("ann")
	p.claim(house.ID, ann)
	soon := func() {
		t.Helper()
		if _, err := p.LeaveSoon(t.Context(), house.ID, ann); err != nil {
			t.Fatal(err)
		}
	}
	soon()
	p.after(20)
	soon() // does not begin anew
	if h := p.stored(house.ID); h.Scene != home.AtHome || h.AwayBy != ann {
		t.Errorf("before its time: %+v", h)
	}
	p.after(11)
	if h := p.stored(house.ID); h.Scene != home.Away || h.SceneBy != ann || h.SceneAt.IsZero() || h.AwayAt != 0 {
		t.Errorf("when it is due: %+v", h)
	}
	_, err := p.LeaveSoon(t.Context(), house.ID, ann)
	wantKind(t, "leaving twice", err, fault.Conflict)
	for name, undo := range map[string]func() error{
		"undone": func() error { return p.Stay(t.Context(), house.ID) },
		"at home": func() error {
			_, err := p.ChangeScene(t.Context(), house.ID, ann, home.AtHome, home.ByUser)
			return err
		},
	} {
		if _, err := p.ChangeScene(t.Context(), house.ID, ann, home.AtHome, home.ByUser); err != nil {
			t.Fatal(err)
		}
		soon()
		if err := undo(); err != nil {
			t.Fatal(err)
		}
		p.after(40)
		if h := p.stored(house.ID); h.Scene != home.AtHome {
			t.Errorf("%s: %+v", name, h)
		}
	}
	soon()
	p.after(-3600) // the clock is set back
	if h := p.stored(house.ID); h.Scene != home.Away {
		t.Errorf("after the clock was set back: %+v", h)
	}
}

// TestHomeForgetsWhoLeft: what a home says of a user goes with the membership.
func TestHomeForgetsWhoLeft(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, ann, bob := p.home("own", 1), p.user("ann"), p.user("bob")
	p.claim(house.ID, ann)
	var m home.Membership
	if err := p.db.Update(t.Context(), func(tx *store.Tx) (err error) {
		m, err = tx.CreateMembership(home.Membership{Role: home.MemberRole, User: bob, Home: house.ID})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ChangeScene(t.Context(), house.ID, bob, home.Away, home.ByUser); err != nil {
		t.Fatal(err)
	}
	if err := p.db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteMembership(m.ID) }); err != nil {
		t.Fatal(err)
	}
	if h := p.stored(house.ID); h.SceneBy != 0 || h.SceneAt == 0 {
		t.Errorf("%+v", h)
	}
}

func TestRoomIsRenamedEverywhere(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, ann := p.home("own", 1), p.user("ann")
	p.claim(house.ID, ann)
	ctx := t.Context()
	nodes := func() string {
		state, err := p.engine.Inventory.NetworkState(house.ExternalID)
		if err != nil || len(state.Nodes) != 1 {
			t.Fatalf("%v %v", state.Nodes, err)
		}
		return state.Nodes[0].Location
	}
	wantKind(t, "a room without devices", p.RenameRoom(ctx, house.ID, "Den", "Study"), fault.NotFound)
	state, err := p.engine.Inventory.NetworkState(house.ExternalID)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.engine.Inventory.PlaceNode(ctx, state.Nodes[0].ID, "Den", "Box"); err != nil {
		t.Fatal(err)
	}
	if err := p.engine.Inventory.PlaceLeaf(ctx, house.ExternalID, [6]byte{2, 0xbb, 0, 0, 0, 1}, "Attic", "Plug"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.AddLocation(ctx, house.ID, "Den"); err != nil {
		t.Fatal(err)
	}
	if err := p.OrderRooms(ctx, house.ID, []string{"Den", "Attic"}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "the name of another room", p.RenameRoom(ctx, house.ID, "Den", "attic"), fault.Conflict)
	wantKind(t, "no name", p.RenameRoom(ctx, house.ID, "Den", " "), fault.Invalid)
	if err := p.RenameRoom(ctx, house.ID, "Den", " Study "); err != nil || nodes() != "Study" {
		t.Errorf("%v, the node is in %q", err, nodes())
	}
	h := p.stored(house.ID)
	if h.RoomOrder[0] != "Study" || h.Rooms("Study", "Attic") >= 0 || h.Rooms("Cellar", "Attic") <= 0 || h.Rooms("Cellar", "Zoo") >= 0 {
		t.Errorf("order %v", h.RoomOrder)
	}
	own, err := store.Read(ctx, p.db, func(tx *store.Tx) ([]home.Location, error) { return tx.Locations(house.ID) })
	if err != nil || len(own) != 1 || own[0].Name != "Study" {
		t.Errorf("locations %+v %v", own, err)
	}
}
