package household_test

import (
	"net/netip"
	"sync"
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// trust notes that the administrator has made the account of a user.
func (p *place) trust(user home.UserID) home.UserID {
	p.t.Helper()
	if err := p.db.Update(p.t.Context(), func(tx *store.Tx) error { return tx.TrustUser(user) }); err != nil {
		p.t.Fatal(err)
	}
	return user
}

func (p *place) setup(user home.UserID) household.Setup {
	p.t.Helper()
	s, err := p.Setup(p.t.Context(), user)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// network lets a network in that nobody has looked for: it has no home.
func (p *place) network(guardian string) {
	p.t.Helper()
	post := motion.Bootstrap{LocationID: guardian, Radar: motion.Radar{
		DeviceID: "csi-" + guardian, NodeName: "GWA" + guardian, RootMode: motion.RootModeMaster, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 0, 9},
	}}
	if _, err := p.engine.Devices.Admit(p.t.Context(), post, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")}); err != nil {
		p.t.Fatal(err)
	}
}

func TestWhoHasShownTheCodeSeesWhatNobodyOwns(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, stranger, robin := p.home("g", 1), p.user("owner"), p.user("stranger"), p.trust(p.user("robin"))
	p.claim(house.ID, owner)
	p.network("h")
	if s := p.setup(stranger); s.Code || len(s.Claimable) != 0 || len(s.Homes) != 0 {
		t.Errorf("a stranger sees %+v", s)
	}
	s := p.setup(robin)
	if !s.Code || len(s.Claimable) != 1 || len(s.Claimable[0].Nodes) != 1 || s.Claimable[0].Nodes[0] != "GWAh" || s.Claimable[0].ID == house.ID {
		t.Fatalf("robin sees %+v", s)
	}
	if again := p.setup(robin); len(again.Claimable) != 1 || again.Claimable[0].ID != s.Claimable[0].ID {
		t.Errorf("asked again: %+v", again)
	}
	if err := p.SetUp(t.Context(), s.Claimable[0].ID, robin, household.Proof{}, "Home", "Europe/Berlin"); err != nil {
		t.Fatal(err)
	}
	sam := p.installer(house.ID, owner, "sam", 7)
	if s := p.setup(robin); len(s.Claimable) != 0 || len(s.Homes) != 1 || s.Homes[0].SetupStep != home.SetupDevices || s.Homes[0].Until != 0 {
		t.Errorf("the owner sees %+v", s)
	}
	if s := p.setup(sam); s.Code || len(s.Homes) != 1 || s.Homes[0].ID != house.ID || s.Homes[0].Until == 0 {
		t.Errorf("the installer sees %+v", s)
	}
	p.ahead.Store(7*day + 1)
	if s := p.setup(sam); len(s.Homes) != 0 {
		t.Errorf("afterwards they see %+v", s)
	}
}

func TestOneOfTwoInstallersClaims(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house := p.home("g", 1)
	users := []home.UserID{p.trust(p.user("robin")), p.trust(p.user("sam"))}
	claim := func(user home.UserID, zone string) error {
		return p.SetUp(t.Context(), house.ID, user, household.Proof{}, "Home", zone)
	}
	outcomes := make([]error, 6) // each of them three times, as a phone that lost the answer
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() { outcomes[i] = claim(users[i%2], "Europe/Berlin") })
	}
	wg.Wait()
	owner, late := users[0], users[1]
	if p.owner(house.ID) == late {
		owner, late = late, owner
	}
	for i, err := range outcomes {
		if users[i%2] == owner && err != nil || users[i%2] == late && codeOf(err) != "owned" {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
	if joined := p.events(house.ExternalID, motion.MemberJoinedEvent); len(joined) != 1 {
		t.Errorf("events %+v", joined)
	}
	if err := p.ChangeHome(t.Context(), house.ID, func(h *home.Home) { h.SetupStep = home.SetupWalk }, ""); err != nil {
		t.Fatal(err)
	}
	if err := claim(owner, "America/Toronto"); err != nil { // a phone that travelled
		t.Errorf("again by the owner: %v", err)
	}
	wantSetup(t, p, house, home.SetupWalk, "Europe/Berlin")
}

// wantSetup checks the step and the time zone of a home.
func wantSetup(t *testing.T, p *place, house home.Home, step home.SetupStep, zone string) {
	t.Helper()
	got := p.homeNow(house.ID)
	err := p.db.View(t.Context(), func(tx *store.Tx) error {
		settings, err := tx.SettingsInForce(house.ExternalID)
		if got.SetupStep != step || got.Name != "Home" || settings.Timezone != zone {
			t.Errorf("step %q of %q in %s, want %q in %s", got.SetupStep, got.Name, settings.Timezone, step, zone)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSetupGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, robin := p.home("g", 1), p.trust(p.user("robin"))
	if err := p.SetUp(t.Context(), house.ID, robin, household.Proof{}, "Home", "Europe/Berlin"); err != nil {
		t.Fatal(err)
	}
	sam := p.installer(house.ID, robin, "sam", 7)
	code := p.joinCode(house.ID, robin)
	kept, err := p.db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after := newPlaceOn(t, kept.Path)
	wantSetup(t, after, house, home.SetupDevices, "Europe/Berlin")
	for _, who := range []home.UserID{robin, sam} {
		if homes := after.setup(who).Homes; len(homes) != 1 || homes[0].Timezone != "Europe/Berlin" {
			t.Errorf("user %d sets up %+v, want the home in Europe/Berlin", who, homes)
		}
	}
	if !after.installs(house.ID, sam) || after.owner(house.ID) != robin {
		t.Error("sam is no installer after the restart, or robin no owner")
	}
	if err := after.joinAs(code, after.user("late")); codeOf(err) != "join_code" {
		t.Errorf("a code of before the restart: %v", err)
	}
}

func TestNothingIsSetUpWithoutTheCode(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, robin := p.home("g", 1), p.user("robin")
	err := p.SetUp(t.Context(), house.ID, robin, household.Proof{}, "Home", "Europe/Berlin")
	if codeOf(err) != "setup_code" || p.homeNow(house.ID).Name != "" {
		t.Errorf("claimed without the code: %v, %+v", err, p.homeNow(house.ID))
	}
}
