package household_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

func TestPresenceThatEndsIsToldAndTheSceneFollows(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *place, owner home.UserID, m home.Membership) error{
		"log-out": func(p *place, _ home.UserID, m home.Membership) error {
			err := p.db.Update(p.t.Context(), func(tx *store.Tx) error { return tx.DeleteMobilesOf(m.User, "") })
			if err != nil {
				return err
			}
			return p.Look(p.t.Context())
		},
		"removal of the member": func(p *place, owner home.UserID, m home.Membership) error {
			return p.RemoveMember(p.t.Context(), m.ID, owner)
		},
		"deletion of the account": func(p *place, _ home.UserID, m home.Membership) error {
			return p.DeleteUser(p.t.Context(), m.User, household.Leaving{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			house, owner, member := p.home("g", 1), p.user("owner"), p.user("member")
			p.claim(house.ID, owner)
			m := p.join(house.ID, owner, member, "member")
			if _, err := p.ChangeSceneConfig(t.Context(), house.ID, func(c *home.SceneConfig) { c.AutoSwitching = true }); err != nil {
				t.Fatal(err)
			}
			p.enter(house.ID, member)
			if err := end(p, owner, m); err != nil {
				t.Fatal(err)
			}
			left := p.events(house.ExternalID, motion.MemberLeftEvent)
			if len(left) != 1 || p.homeNow(house.ID).Scene != home.Away {
				t.Fatalf("events %+v, scene %v", left, p.homeNow(house.ID).Scene)
			}
			if named := left[0].Data["sub"] != nil; named != (name != "deletion of the account") {
				t.Errorf("the event names somebody: %t", named)
			}
			if err := p.Look(t.Context()); err != nil || len(p.events(house.ExternalID, motion.MemberLeftEvent)) != 1 {
				t.Errorf("told twice; %v", err)
			}
		})
	}
}

func TestPresenceOfWhoWasNotAskedNamesNobody(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, alone := p.home("g", 1), p.user("owner"), p.user("alone")
	p.claim(house.ID, owner)
	if _, err := p.Join(t.Context(), house.ID, household.Candidate{User: alone, By: owner}); err != nil {
		t.Fatal(err)
	}
	p.enter(house.ID, alone)
	arrived := p.events(house.ExternalID, motion.MemberArrivedEvent)
	if len(arrived) != 1 || arrived[0].Data["sub"] != nil || arrived[0].Data["first_name"] != nil || arrived[0].Data["id"] != nil {
		t.Errorf("arrived %+v", arrived)
	}
}

// enter registers a phone of a user, which says that they are at home.
func (p *place) enter(id home.ID, user home.UserID) {
	p.t.Helper()
	var phone home.MobileDevice
	err := p.db.Update(p.t.Context(), func(tx *store.Tx) (err error) {
		phone, err = tx.RegisterMobile(store.MobileRegistration{User: user, Token: "a phone"})
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	replies, err := p.ReportPresence(p.t.Context(), user, []home.PresenceReport{{Home: id, Device: phone.ID, Present: true}})
	if err != nil || replies[0].Refused != nil || !replies[0].Present {
		p.t.Fatalf("%+v %v", replies, err)
	}
}
