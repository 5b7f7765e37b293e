package household_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/motion/notify"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noDevices stands for the broker: commands go nowhere.
type noDevices struct{ cut *atomic.Int32 } // sessions of MQTT users that were ended

func (noDevices) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (noDevices) Disconnect(motion.DeviceKey, string)               {}
func (d noDevices) DisconnectUser(string, string)                   { d.cut.Add(1) }

// place is an appliance without its doors.
type place struct {
	*household.Household
	t      *testing.T
	db     *store.DB
	engine *engine.Engine
	ahead  atomic.Int64 // seconds that the database's clock is ahead
	mailed atomic.Int32
	ended  atomic.Int32
	cut    atomic.Int32 // how often the broker was told to end sessions of an MQTT user
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return newPlaceOn(t, "")
}

// newPlaceOn is newPlace on a copy of a database file; "": on an empty one.
func newPlaceOn(t *testing.T, file string) *place {
	t.Helper()
	p := &place{t: t}
	p.db = storetest.Open(t, func(o *store.Options) {
		if file != "" {
			data, err := os.ReadFile(file)
			if err := errors.Join(err, os.WriteFile(o.Path, data, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		o.Now = func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load()) * time.Second) }
	})
	var err error
	if p.engine, err = engine.New(t.Context(), p.db, engine.Options{FirstWindow: time.Hour}); err != nil {
		t.Fatal(err)
	}
	p.engine.Introduce(noDevices{&p.cut})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.engine.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	p.Household = household.New(p.db, p.engine, household.Options{
		Mail: func(tx *store.Tx, m notify.Mail) error {
			if m.Kind == notify.AccountDeleted {
				return nil // not stored without a mail server
			}
			p.mailed.Add(1)
			_, err := tx.AddMail(store.Mail{Kind: string(m.Kind), HomeID: m.Home, Address: m.To, Link: m.Token, Text: strings.Join(m.Members, ", ")})
			return err
		},
		Ended: func() { p.ended.Add(1) },
	})
	return p
}

// home returns the home of a new network.
func (p *place) home(guardian string, low byte) home.Home {
	p.t.Helper()
	post := motion.Bootstrap{LocationID: guardian, Radar: motion.Radar{
		DeviceID: "csi-" + guardian, NodeName: "GWA" + guardian, RootMode: motion.RootModeMaster, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 0, low},
	}}
	if _, err := p.engine.Devices.Admit(p.t.Context(), post, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")}); err != nil {
		p.t.Fatal(err)
	}
	house, created, err := p.ByGuardian(p.t.Context(), guardian)
	if err != nil || !created {
		p.t.Fatalf("%+v %t %v", house, created, err)
	}
	return house
}

// user makes a confirmed user.
func (p *place) user(name string) (id home.UserID) {
	p.t.Helper()
	err := p.db.Update(p.t.Context(), func(tx *store.Tx) error {
		now := tx.Now().Stamp()
		u, err := tx.CreateUser(home.User{Email: name + "@example.com", FirstName: name, Sub: "sub-" + name, ConfirmedAt: &now})
		id = u.ID
		return errors.Join(err, tx.SetAddressProof(id, store.AddressProof{Vouched: true}))
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

// claim makes a user the owner of a home.
func (p *place) claim(id home.ID, user home.UserID) {
	p.t.Helper()
	if _, err := p.Claim(p.t.Context(), id, user, household.Proof{Local: true}); err != nil {
		p.t.Fatal(err)
	}
}

func wantKind(t *testing.T, what string, err error, kind fault.Kind) {
	t.Helper()
	if fault.KindOf(err) != kind {
		t.Errorf("%s: %v, want fault kind %d", what, err, kind)
	}
}

// TestNobodyIsFoundInAnothersPlace has strangers say that a BSSID is theirs, and name a
// device as a guardian, before and after the home that it is.
func TestNobodyIsFoundInAnothersPlace(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bssid := motion.MAC{2, 0xaa, 0, 0, 0, 1}
	p.home("own", 1)
	if found, _, err := p.ByBSSID(t.Context(), bssid); err != nil || found.ID != 1 {
		t.Fatalf("%+v %v", found, err)
	}
	p.home("sham", 1)
	_, _, err := p.ByBSSID(t.Context(), bssid)
	wantKind(t, "two that have it", err, fault.Conflict)
	if err := p.db.Update(t.Context(), func(tx *store.Tx) error { // a guardian has told of it, and it never posted
		_, err := tx.PutNode(motion.Node{NetworkID: 1, DeviceID: "extender", Name: "EXT", APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 0, 9}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	p.home("sham2", 9)
	_, _, err = p.ByBSSID(t.Context(), motion.MAC{2, 0xaa, 0, 0, 0, 9})
	wantKind(t, "an extender of the home and a stranger", err, fault.Conflict)
	first := motion.Bootstrap{LocationID: "early", Radar: motion.Radar{DeviceID: "late", NodeName: "N", RootMode: motion.RootModeMaster}}
	if _, err := p.engine.Devices.Admit(t.Context(), first, motion.Credentials{Address: netip.MustParseAddr("127.0.0.2")}); err != nil {
		t.Fatal(err)
	}
	if found := p.home("late", 3); found.ExternalID != 5 {
		t.Errorf("the guardian late is found as that of network %d", found.ExternalID)
	}
}

// TestExtenderOfSeveralNetworksIsTheOwnersToApprove has a stranger's guardian tell of the
// extender of a home, and its master say that it has the BSSID that the extender hears.
func TestExtenderOfSeveralNetworksIsTheOwnersToApprove(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.home("own", 1)
	p.home("sham", 1)
	if err := p.db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutNode(motion.Node{NetworkID: 2, DeviceID: "extender", Name: "EXT"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	extender := motion.Bootstrap{LocationID: "unknown", Radar: motion.Radar{DeviceID: "extender", RootMode: 1,
		Links: []motion.RadarLink{{MAC: motion.MAC{2, 0xaa, 0, 0, 0, 1}, PeerType: motion.PeerMesh}}}}
	post := func() motion.Admission {
		a, err := p.engine.Devices.Admit(t.Context(), extender, motion.Credentials{Address: netip.MustParseAddr("127.0.0.2")})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := post(); a.TryAgain == "" {
		t.Fatalf("%+v", a)
	}
	if err := p.Adopt(t.Context(), 1, household.Viewer{Resident: true}, "extender"); err != nil {
		t.Fatal(err)
	}
	if a := post(); a.Network != 1 {
		t.Errorf("approved by the owner: %+v", a)
	}
}

func TestHomeIsMadeOnceHoweverManyAsk(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house := p.home("g", 1)
	if err := p.db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteHome(house.ID) }); err != nil {
		t.Fatal(err)
	}
	var made atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			ask := func() (home.Home, bool, error) { return p.ByGuardian(t.Context(), "g") }
			if i%2 == 0 {
				ask = func() (home.Home, bool, error) { return p.ByBSSID(t.Context(), motion.MAC{2, 0xaa, 0, 0, 0, 1}) }
			}
			found, created, err := ask()
			if err != nil || found.ID != house.ID+1 || found.Claimed() || found.Scene != home.AtHome || found.SceneConfigID == 0 {
				t.Errorf("%+v %v", found, err)
			}
			if created {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 1 {
		t.Errorf("made %d times", made.Load())
	}
}

func TestJoiningAndLeavingEndInOneStateAtATime(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, guest := p.home("g", 1), p.user("owner"), p.user("guest")
	p.claim(house.ID, owner)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			_, err := p.Invite(t.Context(), house.ID, owner, []string{"guest@example.com"})
			m, joining := p.Join(t.Context(), house.ID, household.Candidate{User: guest, By: guest})
			var leaving error
			if joining == nil {
				leaving = p.RemoveMember(t.Context(), m.ID, owner)
			}
			for _, err := range []error{err, joining, leaving} {
				if kind := fault.KindOf(err); err != nil && kind != fault.Conflict && kind != fault.Forbidden {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	joined, removed := 0, 0
	err := p.db.View(t.Context(), func(tx *store.Tx) error {
		events, err := storetest.Events(tx, house.ExternalID)
		for _, e := range events {
			if e.Data.Text("sub") != "sub-guest" {
				continue
			}
			switch e.Event {
			case motion.MemberJoinedEvent:
				joined++
			case motion.MemberRemovedEvent:
				removed++
			}
			if joined-removed < 0 || joined-removed > 1 {
				t.Errorf("joined %d and removed %d times", joined, removed)
			}
		}
		return err
	})
	if err != nil || joined == 0 || joined != removed || int(p.ended.Load()) != removed {
		t.Errorf("joined %d, removed %d, told %d times: %v", joined, removed, p.ended.Load(), err)
	}
}

func TestInvitationIsMailedAgainAfterAMinuteOnly(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	p.claim(house.ID, owner)
	for range 3 {
		if failed, err := p.Invite(t.Context(), house.ID, owner, []string{"x@example.com", " X@example.com"}); err != nil || len(failed) != 0 {
			t.Fatalf("%q %v", failed, err)
		}
	}
	if p.mailed.Load() != 1 {
		t.Errorf("mailed %d times", p.mailed.Load())
	}
	p.ahead.Store(61)
	if _, err := p.Invite(t.Context(), house.ID, owner, []string{"x@example.com"}); err != nil || p.mailed.Load() != 2 {
		t.Errorf("a minute later mailed %d times, %v", p.mailed.Load(), err)
	}
	err := p.db.View(t.Context(), func(tx *store.Tx) error {
		mails, err := tx.Mails()
		if err != nil || len(mails) != 1 {
			return fmt.Errorf("%d mails, want the one whose link works; %w", len(mails), err)
		}
		works, err := tx.MatchInvitation(house.ID, "x@example.com", mails[0].Link)
		if !works {
			t.Errorf("the link %q is void", mails[0].Link)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestDisowningIsTheOwnersAndHappensOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other := p.home("g", 1), p.home("h", 2)
	owner, member := p.user("owner"), p.user("member")
	p.claim(house.ID, owner)
	p.claim(other.ID, owner)
	if _, err := p.Invite(t.Context(), house.ID, owner, []string{"member@example.com"}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Join(t.Context(), house.ID, household.Candidate{User: member, By: member}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, "by a member", p.Disown(t.Context(), house.ID, member), fault.Forbidden)
	wantKind(t, "unknown", p.Disown(t.Context(), 77, owner), fault.NotFound)
	var done atomic.Int32
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			switch err := p.Disown(t.Context(), house.ID, owner); {
			case err == nil:
				done.Add(1)
			default:
				wantKind(t, "again", err, fault.NotFound)
			}
		})
	}
	all.Wait()
	if done.Load() != 1 {
		t.Errorf("disowned %d times", done.Load())
	}
	err := p.db.View(t.Context(), func(tx *store.Tx) error {
		_, gone := tx.User(member)
		_, stays := tx.User(owner)
		wantKind(t, "who belongs nowhere else", gone, fault.NotFound)
		return errors.Join(stays, p.engine.State.Known(other.ExternalID))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestInvitingAndWithdrawingInALoopEnds(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other, owner := p.home("g", 1), p.home("h", 2), p.user("owner")
	p.claim(house.ID, owner)
	p.claim(other.ID, owner)
	loop := func(id home.ID, address string) (refused bool) {
		t.Helper()
		failed, err := p.Invite(t.Context(), id, owner, []string{address})
		if err != nil {
			t.Fatal(err)
		}
		open, err := p.Invitations(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range open {
			if err := p.Withdraw(t.Context(), i.ID); err != nil {
				t.Fatal(err)
			}
		}
		return len(failed) == 1
	}
	for i := range 5 {
		if refused := loop(house.ID, []string{"x@example.com", "X@example.com"}[i%2]); refused != (i >= 3) {
			t.Errorf("mail %d to the address is refused: %t", i+1, refused)
		}
	}
	if loop(other.ID, "x@example.com") {
		t.Error("another home's mail to the address is refused")
	}
	for i := range home.MaxInvitations {
		if refused := loop(house.ID, fmt.Sprintf("x%d@example.com", i)); refused != (i >= home.MaxInvitations-3) {
			t.Errorf("mail %d of the hour is refused: %t", i+4, refused)
		}
	}
	p.ahead.Store(3600)
	if loop(house.ID, "y@example.com") {
		t.Error("refused an hour later")
	}
	if !loop(house.ID, "x@example.com") {
		t.Error("a fourth mail of the day to the address is sent")
	}
	p.ahead.Store(24 * 3600)
	if loop(house.ID, "x@example.com") {
		t.Error("refused a day later")
	}
}
