package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// armedHome is a home in a database whose clock the test sets.
type armedHome struct {
	t    *testing.T
	db   *store.DB
	now  int64 // seconds
	home home.Home
}

func newArmedHome(t *testing.T) *armedHome {
	t.Helper()
	h := &armedHome{t: t, now: 1764000000}
	h.db = storetest.Open(t, func(o *store.Options) { o.Now = func() time.Time { return time.Unix(h.now, 0) } })
	network := newNetwork(t, h.db, "g")
	update(t, h.db, func(tx *store.Tx) (err error) {
		h.home, err = tx.CreateHome(home.Home{ExternalID: network, Scene: home.AtHome})
		return err
	})
	return h
}

// scene changes the scene at a time.
func (h *armedHome) scene(at int64, s home.Scene) {
	h.t.Helper()
	h.now, h.home.Scene = at, s
	update(h.t, h.db, func(tx *store.Tx) error { return tx.PutHome(h.home) })
}

// arm changes motion_events.armed at a time.
func (h *armedHome) arm(at int64, armed int) {
	h.t.Helper()
	h.now = at
	update(h.t, h.db, func(tx *store.Tx) error {
		n, err := tx.Network(h.home.ExternalID)
		if err != nil {
			return err
		}
		n.GuardianConfig = motion.Document{"motion_events": map[string]any{"armed": armed}}
		return tx.PutNetwork(n)
	})
}

// changes returns what tells of [from, to).
func (h *armedHome) changes(from, to motion.Time) (list []motion.ArmedChange) {
	h.t.Helper()
	view(h.t, h.db, func(tx *store.Tx) (err error) {
		list, err = tx.ArmedChanges(h.home.ExternalID, from, to)
		return err
	})
	return list
}

func TestArmingIsRememberedFromEachChangeOn(t *testing.T) {
	t.Parallel()
	h := newArmedHome(t)
	const begin = 1764000000
	h.scene(begin+100, home.Away)
	h.scene(begin+150, home.Away)
	h.arm(begin+200, 0) // away, but not armed
	h.arm(begin+300, 1)
	h.scene(begin+400, home.AtHome)
	h.arm(begin+500, 0) // at home all the same
	change := func(after motion.Time, armed bool) motion.ArmedChange {
		return motion.ArmedChange{NetworkID: h.home.ExternalID, At: begin + after, Armed: armed}
	}
	all := []motion.ArmedChange{change(0, false), change(100, true), change(200, false), change(300, true), change(400, false)}
	for _, c := range []struct {
		name     string
		from, to motion.Time
		want     []motion.ArmedChange
	}{
		{"all", begin - 1, begin + 1000, all},
		{"before the first", begin - 1000, begin, all[:0]},
		{"between two: the one before", begin + 250, begin + 300, all[2:3]},
		{"from a change on: that one", begin + 100, begin + 201, all[1:3]},
		{"after the last", begin + 900, begin + 1000, all[4:]},
	} {
		if diff := cmp.Diff(c.want, h.changes(c.from, c.to)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestArmingIsKeptInOrderWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	h := newArmedHome(t)
	h.scene(1764000100, home.Away)
	h.scene(1763990000, home.AtHome)
	got := h.changes(0, 1764001000)
	if len(got) != 3 || got[2].Armed || got[2].At <= got[1].At {
		t.Errorf("%+v", got)
	}
}

func TestArmingIsForgottenAfterTwoYears(t *testing.T) {
	t.Parallel()
	h := newArmedHome(t)
	const day = 24 * 3600
	h.scene(1764000000+10*day, home.Away)
	h.scene(1764000000+20*day, home.AtHome)
	h.scene(1764000000+(730+15)*day, home.Away)
	got := h.changes(0, 1e10)
	if len(got) != 3 || got[0].At != 1764000000+10*day { // which says how the two years began
		t.Errorf("%+v", got)
	}
}

func TestArmingIsBounded(t *testing.T) {
	t.Parallel()
	h := newArmedHome(t)
	update(t, h.db, func(tx *store.Tx) error { // each one a microsecond after the last
		for i := range 5000 {
			h.home.Scene = []home.Scene{home.Away, home.AtHome}[i%2]
			if err := tx.PutHome(h.home); err != nil {
				return err
			}
		}
		return nil
	})
	if got := h.changes(0, 1e10); len(got) != 4096 || got[4095].Armed {
		t.Errorf("%d changes", len(got))
	}
}

func TestArmingGoesWithItsHome(t *testing.T) {
	t.Parallel()
	h := newArmedHome(t)
	h.scene(1764000100, home.Away)
	network := h.home.ExternalID
	update(t, h.db, func(tx *store.Tx) error { return tx.DeleteHome(h.home.ID) })
	if got := h.changes(0, 1e10); len(got) != 0 {
		t.Errorf("after the home: %+v", got)
	}
	h.arm(1764000200, 0) // a network without a home has none
	if got := h.changes(0, 1e10); len(got) != 0 {
		t.Errorf("without a home: %+v", got)
	}
	update(t, h.db, func(tx *store.Tx) error { return tx.DeleteNetwork(network) })
}
