package store

import (
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
