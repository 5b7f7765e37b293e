package store_test

import (
	"maps"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// openWithNetwork opens a database with a network that has a home.
func openWithNetwork(t *testing.T) (*store.DB, motion.NetworkID) {
	t.Helper()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.CreateHome(home.New(network))
		return err
	})
	return db, network
}

func TestRoomKeepsItsIDWhenItIsRenamed(t *testing.T) {
	t.Parallel()
	db, network := openWithNetwork(t)
	give := func(names ...string) map[string]uint32 {
		t.Helper()
		var ids map[string]uint32
		update(t, db, func(tx *store.Tx) (err error) {
			ids, err = tx.GiveRoomIDs(network, names)
			return err
		})
		return ids
	}
	if ids := give("Kitchen", "Office"); !maps.Equal(ids, map[string]uint32{"Kitchen": 1, "Office": 2}) {
		t.Fatalf("the first rooms have the ids %v", ids)
	}
	update(t, db, func(tx *store.Tx) error { return tx.RenameRoomID(network, "Kitchen", "Pantry") })
	update(t, db, func(tx *store.Tx) error { return tx.RenameRoomID(network, "nowhere", "Office") })
	if ids := give("Pantry", "Office", "Kitchen"); !maps.Equal(ids, map[string]uint32{"Pantry": 1, "Office": 2, "Kitchen": 3}) {
		t.Errorf("after Kitchen was renamed to Pantry the ids are %v", ids)
	}
	give("Pantry")
	if ids := give("Pantry", "Office"); !maps.Equal(ids, map[string]uint32{"Pantry": 1, "Office": 4}) {
		t.Errorf("a room that was gone has the ids %v, want a new one", ids)
	}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.GiveRoomIDs(network+1, []string{"Kitchen"})
		return err
	})
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("rooms of a network that is not there: %v", err)
	}
}

// TestRoomsOfAFormerHouseholdAreForgotten: their names say how it lived; what its Home Assistant knows
// by their ids is no room of the next one.
func TestRoomsOfAFormerHouseholdAreForgotten(t *testing.T) {
	t.Parallel()
	db, network := openWithNetwork(t)
	update(t, db, func(tx *store.Tx) error {
		if _, err := tx.GiveRoomIDs(network, []string{"Nursery"}); err != nil {
			return err
		}
		h, _, err := tx.HomeOfNetwork(network)
		if err == nil {
			_, err = tx.VacateHome(h.ID)
		}
		return err
	})
	update(t, db, func(tx *store.Tx) error {
		ids, all, err := tx.RoomIDs(network, []string{"Nursery"})
		if err != nil || all || len(ids) != 0 {
			t.Errorf("the ids %v are left, %v", ids, err)
		}
		if ids, err = tx.GiveRoomIDs(network, []string{"Kitchen"}); ids["Kitchen"] != 2 {
			t.Errorf("the next household's rooms have the ids %v", ids)
		}
		return err
	})
}

func TestPublishedTopicsAreKeptByUplink(t *testing.T) {
	t.Parallel()
	db, _ := openWithNetwork(t)
	topics := map[string]map[string]string{"a/config": {"motion": "binary_sensor"}, "a/motion": nil}
	update(t, db, func(tx *store.Tx) error { return tx.PutPublishedTopics("house", topics) })
	update(t, db, func(tx *store.Tx) error {
		for name, want := range map[string]int{"house": 2, "other": 0} {
			if got, err := tx.PublishedTopics(name); err != nil || len(got) != want {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
		return tx.PutPublishedTopics("house", nil)
	})
	update(t, db, func(tx *store.Tx) error {
		got, err := tx.PublishedTopics("house")
		if len(got) != 0 {
			t.Errorf("after they were cleared there are %v", got)
		}
		return err
	})
}
