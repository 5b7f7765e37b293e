package store

import (
	"errors"
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
)

func TestMigrationGivesEveryHomeOneOwnerOrNobody(t *testing.T) {
	t.Parallel()
	db := openV2(t)
	err := db.View(t.Context(), func(tx *Tx) error {
		owned, err := tx.Home(1)
		if err != nil {
			return err
		}
		if !owned.Claimed() || !owned.OwnedBefore || owned.Name != "Owned" {
			t.Errorf("the owned home: %+v", owned)
		}
		inherited, err := tx.Home(2)
		if err != nil {
			return err
		}
		first, _, err := tx.UserByEmail("first@example.com")
		if err != nil {
			return err
		}
		owner, _, err := tx.MembershipOf(2, first.ID)
		if err != nil {
			return err
		}
		if owner.Role != home.OwnerRole || !inherited.OwnedBefore || inherited.Name != "Ownerless" {
			t.Errorf("owner %+v of %+v, want the confirmed member who joined first", owner, inherited)
		}
		if joined := motion.TimeOf(owner.CreatedAt.Std()); inherited.ClaimedAt != joined {
			t.Errorf("history begins at %v, want %v, when the successor joined", inherited.ClaimedAt, joined)
		}
		all, err := tx.Homes()
		for _, h := range all {
			members, err := tx.MembershipsOfHome(h.ID)
			if err != nil {
				return err
			}
			owners := 0
			for _, m := range members {
				if m.Role == home.OwnerRole {
					owners++
				}
			}
			if owners != min(1, len(members)) || h.Claimed() != (owners == 1) {
				t.Errorf("%d owners of %+v with %+v", owners, h, members)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMigrationWipesHomesThatNobodyLivesIn(t *testing.T) {
	t.Parallel()
	db := openV2(t)
	err := db.View(t.Context(), func(tx *Tx) error {
		if _, err := tx.Home(3); err == nil {
			t.Error("the home without people is there")
		}
		left, ok, err := tx.HomeOfNetwork(3)
		if err != nil {
			return err
		}
		if !ok || !left.OwnedBefore || left.Claimed() || left.Name+left.Address+left.Latitude != "" {
			t.Errorf("left behind: %+v", left)
		}
		meta, err := tx.HomeMeta(left.ID)
		if err != nil || len(meta) > 0 {
			t.Errorf("meta %v", meta)
		}
		never, err := tx.Home(4)
		if never.OwnedBefore || never.Claimed() {
			t.Errorf("the one that nobody has owned: %+v", never)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestMigrationKeepsPresenceOfAnUnknownDevice(t *testing.T) {
	t.Parallel()
	db := openV2(t)
	update := func(user home.UserID, device home.MobileID) (m home.Membership) {
		t.Helper()
		err := db.Update(t.Context(), func(tx *Tx) (err error) {
			if m, _, err = tx.MembershipOf(1, user); err != nil {
				return err
			}
			own := []home.MobileID{1, 2}
			m = m.Report(home.PresenceReport{Device: device, TS: tx.Now()}, own, tx.Now()).Membership
			return tx.PutMembership(m)
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	err := db.View(t.Context(), func(tx *Tx) error {
		owner, _, err := tx.UserByEmail("owner@example.com")
		m, _, also := tx.MembershipOf(1, owner.ID)
		if !m.IsPresent || len(m.Devices) != 1 || m.Devices[0].At != m.PresenceAt {
			t.Errorf("the owner, who is at home: %+v", m)
		}
		return errors.Join(err, also)
	})
	if err != nil {
		t.Fatal(err)
	}
	if m := update(1, 1); m.IsPresent {
		t.Errorf("present after one phone has left: %+v", m)
	}
}
