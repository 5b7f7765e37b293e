package household_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// In the file of schema 2 home 2 has lost its owner, and three people live in it.
func TestOwnerWhomAnUpdateChoseIsToldToAllOnce(t *testing.T) {
	t.Parallel()
	p := newPlaceOn(t, "../../store/testdata/v2.db")
	const ownerless = home.ID(2)
	for range 2 {
		if err := p.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	told := p.events(p.homeNow(ownerless).ExternalID, motion.OwnerChangedEvent)
	if len(told) != 1 || told[0].Detail.Text("reason") != "left" {
		t.Errorf("events %+v, want one that says that the owner left", told)
	}
	mailed := map[string]int{}
	err := p.db.View(t.Context(), func(tx *store.Tx) error {
		mails, err := tx.Mails()
		for _, m := range mails {
			if m.Kind == string(notify.OwnerChanged) {
				mailed[m.Address]++
			}
		}
		return err
	})
	if err != nil || len(mailed) != 3 || mailed["first@example.com"] != 1 || mailed["early@example.com"] != 1 || mailed["second@example.com"] != 1 {
		t.Errorf("mailed to %v, want one mail to each who lives there; %v", mailed, err)
	}
}
