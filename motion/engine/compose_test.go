package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
)

// A guardian that reports no status: what the gatekeeper knows, and what it names in its
// figures, make topology, status and clients.
func TestTopologyOfAGuardianThatReportsNone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		b.connect(location, a.GuardianToken)
		b.post(peer(), "") // its agent never connects
		b.send(5, 0.4, 0)
		b.report(guardianKey, motion.StatusReport{TS: now(), MotionEnabled: 1}) // a heartbeat
		shown := func() string {
			synctest.Wait()
			topology, err := b.Inventory.Topology(a.Network, false)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, d := range topology.Devices {
				text += fmt.Sprint(d.Type, " ", d.Name, ", ")
			}
			for _, l := range topology.Links {
				text += fmt.Sprint(l.Type, " ", l.LinkID, " ", l.Online, ", ")
			}
			if len(topology.Devices) > 0 && topology.TS == nil {
				t.Error("a topology without a time")
			}
			return text
		}
		const all = "MESH_ROOT GWA1000133, MESH_NODE EXA1000134, LEAF 02bb00000031, LEAF 02bb00000032, " +
			"LEAF EXA1000134.02bb00000032 true, LEAF GWA1000133.02bb00000031 true, "
		if got := shown(); got != all {
			t.Errorf("topology %s", got)
		}
		report, err := b.lastStatus(a.Network)
		if err != nil || len(report.Radars) != 2 || len(report.Radars[peerName].Links) != 1 || !*report.Leafblower[hallway.String()].Sounding {
			t.Errorf("status %+v, %v", report, err)
		}
		if c := b.client(hallway); !c.Online || !c.Status {
			t.Errorf("client %+v", c)
		}
		equal(t, "events", b.linkEvents(), []string{"LinkCreatedEvent GWA1000133.02bb00000031", "LinkCreatedEvent EXA1000134.02bb00000032"})
		time.Sleep(2 * time.Minute)
		if got := shown(); got != "" {
			t.Errorf("after two minutes of silence: %s", got)
		}
		b.send(15, 0.4, 0)
		if got := shown(); got != all {
			t.Errorf("when it is heard again: %s", got)
		}
		b.report(guardianKey, status()) // what it reports takes the place
		topology, err := b.Inventory.Topology(a.Network, false)
		if err != nil || len(topology.Links) != 3 || topology.Links[0].IfName != "home" {
			t.Errorf("with a report: %+v, %v", topology.Links, err)
		}
	})
}

func TestMatrixMakesNoLinksOfStrangersAndNotTooMany(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		m := matrix(0, 0)
		m.Links = []string{"NOBODY.02bb00000031", masterName + ".NOBODY", "000112-000031", "nothing"}
		m.Values = motion.Figures{motion.MKAI: {{0}, {0}, {0}, {0}}}
		b.report(guardianKey, m)
		if got := b.linkEvents(); len(got) != 1 || got[0] != "LinkCreatedEvent "+kitchenLink {
			t.Errorf("links %q", got)
		}
		m = &motion.Matrix{TS: now(), Interval: 500, Count: 1, Values: motion.Figures{motion.MKAI: {}}}
		for i := range 200 {
			m.Links = append(m.Links, fmt.Sprintf("%s.02cc000001%02x", masterName, i))
			m.Values[motion.MKAI] = append(m.Values[motion.MKAI], []float64{0})
		}
		time.Sleep(11 * time.Second)
		b.report(guardianKey, m)
		if got := len(b.linkEvents()); got != 120 {
			t.Errorf("%d links", got)
		}
	})
}

// What a guardian finds of a leaf, what people set and what is shown agree.
func TestWhatMovesAboutIsTheSameEverywhere(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		reported, place string
		mobile          bool
		static          string
	}{
		"placed":                       {"STATIC", "Kitchen", false, "STATIC"},
		"placed, and said to move":     {"MOBILE", "Kitchen", true, "MOBILE"},
		"never placed":                 {"STATIC", "", true, "STATIC"},
		"placed, and nothing is said":  {"", "Kitchen", false, "STATIC"},
		"nowhere, and nothing is said": {"", "", true, "MOBILE"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				a := b.post(master(), "")
				b.connect(location, a.GuardianToken)
				r := status()
				r.Leafblower[kitchen.String()] = motion.Choice{IsStatic: c.reported, Sounding: &no, AP: map[string]float64{masterName: -0.5}}
				b.report(guardianKey, r)
				if c.place != "" {
					if err := b.clients(`{"devices":[{"mac":"02:bb:00:00:00:31","location":"` + c.place + `"}]}`); err != nil {
						t.Fatal(err)
					}
				}
				topology, err := b.Inventory.Topology(a.Network, true)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range topology.Devices {
					if d.Name == kitchen.Name() && (d.Mobile != c.mobile || d.IsStatic != c.static) {
						t.Errorf("topology %+v", d)
					}
				}
				report, err := b.lastStatus(a.Network)
				if err != nil || c.reported != "" && report.Leafblower[kitchen.String()].IsStatic != c.static {
					t.Errorf("status %+v, %v", report.Leafblower, err)
				}
				if got := b.client(kitchen).Reason; (got == "MOBILE") != c.mobile {
					t.Errorf("clients: %s", got)
				}
			})
		})
	}
}
