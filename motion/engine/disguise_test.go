package engine_test

import (
	"context"
	"testing"

	"sensegate/motion"
	"sensegate/store"
)

// leafs returns the addresses of the leafs that are known.
func (b *box) leafs() (macs []string) {
	b.t.Helper()
	b.view(func(tx *store.Tx) error {
		list, err := tx.Leafs(b.network())
		for _, l := range list {
			macs = append(macs, l.MAC.String())
		}
		return err
	})
	return macs
}

// TestNodeThatWasHeardBeforeItWasLetInIsNoLeaf: an extender is on the air before it has posted.
func TestNodeThatWasHeardBeforeItWasLetInIsNoLeaf(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		b.connect(location, a.GuardianToken)
		b.connect(masterID, a.RadarToken)
		b.report(masterKey, batch(peerBH, masterAP, now(), nil))
		b.report(masterKey, batch(kitchen, masterAP, now(), nil))
		equal(t, "leafs before", b.leafs(), []string{peerBH.String(), kitchen.String()})

		b.connect(peerID, b.post(peer(), "").RadarToken)
		equal(t, "leafs after", b.leafs(), []string{kitchen.String()})
		b.report(masterKey, batch(peerBH, masterAP, now(), nil))
		equal(t, "leafs when it is heard again", b.leafs(), []string{kitchen.String()})
		top, err := b.Inventory.Topology(a.Network, true)
		if err != nil || len(top.Links) != 2 {
			t.Fatalf("links %+v (%v), want that of the node and that of the leaf", top.Links, err)
		}
		equal(t, "events", b.linkEvents(), []string{
			"LinkCreatedEvent GWA1000133." + peerBH.Name(), "LinkCreatedEvent GWA1000133." + kitchen.Name(),
			"LinkDisconnectedEvent GWA1000133." + peerBH.Name(), "LinkCreatedEvent GWA1000133.EXA1000134",
		})
	})
}

// TestNodeTakesNoPlacedLeafAway: what a node says of its addresses undoes no one's work.
func TestNodeTakesNoPlacedLeafAway(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		b.connect(masterID, a.RadarToken)
		b.report(masterKey, batch(peerBH, masterAP, now(), nil))
		if err := b.Inventory.PlaceLeaf(context.Background(), a.Network, peerBH, "Kitchen", ""); err != nil {
			t.Fatal(err)
		}
		b.post(peer(), "")
		equal(t, "leafs", b.leafs(), []string{peerBH.String()})
	})
}

// TestNodeOfTheGuardianIsNoLeaf: the same of a node that a guardian tells of.
func TestNodeOfTheGuardianIsNoLeaf(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		a := b.post(master(), "")
		b.connect(location, a.GuardianToken)
		b.connect(masterID, a.RadarToken)
		b.report(masterKey, batch(peerBH, masterAP, now(), nil))
		report := status()
		report.Radars = map[string]motion.Radar{masterName: master().Radar, peerName: peer().Radar}
		b.report(guardianKey, report)
		equal(t, "leafs", b.leafs(), nil)
	})
}
