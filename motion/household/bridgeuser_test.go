package household_test

import (
	"testing"

	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// bridgeUsers makes the MQTT user that the owner of a home has made, one of another home, and one of
// the administrator.
func (p *place) bridgeUsers(id, other home.ID) {
	p.t.Helper()
	p.update(func(tx *store.Tx) error {
		for name, of := range map[string]home.ID{"own": id, "other": other, "admin": 0} {
			if _, _, err := tx.CreateIntegrationUser(store.IntegrationUser{Name: name, TopicPrefix: name, Home: of}); err != nil {
				return err
			}
		}
		return nil
	})
}

// wantBridgeUser fails the test unless the home's MQTT user is there, or else ended with its sessions.
func (p *place) wantBridgeUser(there bool) {
	p.t.Helper()
	users, err := store.Read(p.t.Context(), p.db, (*store.Tx).IntegrationUsers)
	if err != nil {
		p.t.Fatal(err)
	}
	names := map[string]bool{}
	for _, u := range users {
		names[u.Name] = true
	}
	if names["own"] != there || !names["other"] || !names["admin"] {
		p.t.Errorf("users %v, want the home's: %t, and the others", names, there)
	}
	if cut := p.cut.Load(); (cut == 0) != there || cut > 1 {
		p.t.Errorf("sessions were ended %d times", cut)
	}
}

// TestBridgeUserEndsWithTheOwnership: a former owner knows the password of the bridge's user.
func TestBridgeUserEndsWithTheOwnership(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *place, id home.ID, owner, member home.UserID, m home.MembershipID) error{
		"handed over by a code": func(p *place, id home.ID, owner, _ home.UserID, _ home.MembershipID) error {
			return p.joinAs(p.code(id, owner, nextOwner), p.user("stranger"))
		},
		"handed over by a code, and stays": func(p *place, id home.ID, owner, _ home.UserID, _ home.MembershipID) error {
			return p.joinAs(p.code(id, owner, nextStays), p.user("stranger"))
		},
		"handed over to a member": func(p *place, _ home.ID, owner, _ home.UserID, m home.MembershipID) error {
			_, err := p.HandOver(p.t.Context(), m, owner)
			return err
		},
		"disowned": func(p *place, id home.ID, owner, _ home.UserID, _ home.MembershipID) error {
			return p.Disown(p.t.Context(), id, owner)
		},
		"left to a member": func(p *place, _ home.ID, owner, _ home.UserID, _ home.MembershipID) error {
			return p.DeleteUser(p.t.Context(), owner, household.Leaving{})
		},
		"left to nobody": func(p *place, _ home.ID, owner, member home.UserID, m home.MembershipID) error {
			if err := p.RemoveMember(p.t.Context(), m, member); err != nil {
				return err
			}
			p.wantBridgeUser(true) // a member who leaves does not know it
			return p.DeleteUser(p.t.Context(), owner, household.Leaving{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			house, other := p.home("g", 1), p.home("h", 2)
			owner, member := p.user("owner"), p.user("member")
			p.claim(house.ID, owner)
			p.bridgeUsers(house.ID, other.ID)
			m := p.join(house.ID, owner, member, "member")
			if _, err := p.HandOver(t.Context(), m.ID, member); err == nil {
				t.Error("a member hands over")
			}
			p.wantBridgeUser(true)
			if err := end(p, house.ID, owner, member, m.ID); err != nil {
				t.Fatal(err)
			}
			p.wantBridgeUser(false)
		})
	}
}

// TestBridgeUserEndsWithAClaim: of a home without an owner a user may be left by a restored
// database.
func TestBridgeUserEndsWithAClaim(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other := p.home("g", 1), p.home("h", 2)
	p.bridgeUsers(house.ID, other.ID)
	p.claim(house.ID, p.user("owner"))
	p.wantBridgeUser(false)
}

// TestBridgeUserStaysWhenTheHandOverFails: record and session end together with the ownership or not.
func TestBridgeUserStaysWhenTheHandOverFails(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, other, owner := p.home("g", 1), p.home("h", 2), p.user("owner")
	p.claim(house.ID, owner)
	p.bridgeUsers(house.ID, other.ID)
	if err := p.joinAs(p.code(house.ID, owner, nextOwner), owner); codeOf(err) != "member" {
		t.Errorf("the owner themselves: %v", err)
	}
	p.wantBridgeUser(true)
}
