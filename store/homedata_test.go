package store_test

import (
	"testing"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestSceneConfigLivesWithItsHome(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	first, second := newNetwork(t, db, "g"), newNetwork(t, db, "h")
	var one, other home.Home
	update(t, db, func(tx *store.Tx) (err error) {
		if one, err = tx.CreateHome(home.Home{ExternalID: first}); err != nil {
			return err
		}
		other, err = tx.CreateHome(home.Home{ExternalID: second, Scene: home.Away})
		return err
	})
	if one.Scene != home.AtHome || other.Scene != home.Away || one.SceneConfigID == other.SceneConfigID {
		t.Errorf("homes %+v and %+v", one, other)
	}
	view(t, db, func(tx *store.Tx) error {
		got, err := tx.SceneConfig(one.SceneConfigID)
		want := home.DefaultSceneConfig()
		want.ID, want.HomeID, want.CreatedAt, want.UpdatedAt = one.SceneConfigID, one.ID, 1764000000000, 1764000000000
		if got != want {
			t.Errorf("made with %+v, want %+v", got, want)
		}
		return err
	})
	changed := home.SceneConfig{ID: other.SceneConfigID, HomeID: other.ID, AutoArm: true}
	update(t, db, func(tx *store.Tx) error { return tx.PutSceneConfig(changed) })
	wantKind(t, db.Update(t.Context(), func(tx *store.Tx) error { return tx.PutSceneConfig(home.SceneConfig{ID: 99}) }), fault.NotFound)
	update(t, db, func(tx *store.Tx) error { return tx.DeleteHome(one.ID) })
	view(t, db, func(tx *store.Tx) error {
		_, err := tx.SceneConfig(one.SceneConfigID)
		wantKind(t, err, fault.NotFound)
		got, err := tx.SceneConfig(other.SceneConfigID)
		if got != changed {
			t.Errorf("its neighbour %+v, want %+v", got, changed)
		}
		return err
	})
}
