package insights

import (
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// TestWhatIsNotReadIsNoAbsence has more to say of arrivals and departures than one answer
// of the history holds, ended by an arrival or by a departure.
func TestWhatIsNotReadIsNoAbsence(t *testing.T) {
	t.Parallel()
	for name, newest := range map[string]int{"one more is read": 15 << 10, "one fewer is read": 30 << 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := storetest.Open(t, func(o *store.Options) { o.Now = func() time.Time { return time.Unix(20_000, 0) } })
			err := db.Update(t.Context(), func(tx *store.Tx) error {
				n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
				if err != nil {
					return err
				}
				one, err := tx.CreateHome(home.Home{ExternalID: n.ID})
				if err != nil {
					return err
				}
				person, err := tx.CreateUser(home.User{Email: "ann@example.com", Sub: "sub-1"})
				if err != nil {
					return err
				}
				devices := []home.DevicePresence{{Present: true, At: 1}}
				if _, err := tx.CreateMembership(home.Membership{Role: home.OwnerRole, User: person.ID, Home: one.ID, IsPresent: true, Devices: devices}); err != nil {
					return err
				}
				for i := range 101 { // here and away by turns, a hundred seconds each
					e := motion.Event{NetworkID: n.ID, Event: motion.MemberArrivedEvent, TS: motion.Time(1000 + 100*i)}
					if i%2 == 1 {
						e.Event = motion.MemberLeftEvent
					}
					size := 15 << 10
					if i == 100 {
						size = newest
					}
					e.Detail = motion.Document{"x": strings.Repeat("x", size)}
					if _, _, err := tx.AddEvent(e, ""); err != nil {
						return err
					}
				}
				away, err := absences(tx, n.ID, 900, 15_000)
				for _, a := range away {
					if a.To-a.From > 100 {
						t.Errorf("away from %d to %d", a.From, a.To)
					}
				}
				if len(away) < 20 {
					t.Errorf("away %d times", len(away))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
