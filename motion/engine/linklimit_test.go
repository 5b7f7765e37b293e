package engine_test

import (
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// fillLinks has the master hear strangers [from, 120).
func (b *box) fillLinks(from int) {
	b.t.Helper()
	for i := from; i < 120; i++ {
		b.report(masterKey, batch(motion.MAC{2, 0xcc, 0, 0, 1, byte(i)}, masterAP, now(), nil))
	}
}

// linksOf returns the links of the box's network by the radar that hears them, and how many
// leafs it has.
func (b *box) linksOf() (byRadar map[string]int, sources map[string]bool, leafs int) {
	b.t.Helper()
	byRadar, sources = map[string]int{}, map[string]bool{}
	b.view(func(tx *store.Tx) error {
		links, err := tx.Links(b.network())
		for _, l := range links {
			byRadar[l.DstName]++
			sources[l.SrcName] = true
		}
		if err != nil {
			return err
		}
		list, err := tx.Leafs(b.network())
		leafs = len(list)
		return err
	})
	return byRadar, sources, leafs
}

// TestPassersByDoNotBlindAHome has one radar hear more strangers than a network has links.
func TestPassersByDoNotBlindAHome(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		_, _, before := b.linksOf()
		b.fillLinks(0)
		if err := b.Inventory.PlaceLeaf(t.Context(), id, motion.MAC{2, 0xcc, 0, 0, 1, 0}, "", "Lamp"); err != nil { // heard first
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute) // they have gone
		b.report(peerKey, batch(kitchen, peerAP, now(), nil))
		byRadar, sources, leafs := b.linksOf()
		if byRadar[peerName] != 1 || byRadar[masterName] != 119 || leafs != before+119 { // the kitchen's was known
			t.Errorf("links %v of %d leafs, want one more of the peer, one less of the master", byRadar, leafs)
		}
		if named := (motion.MAC{2, 0xcc, 0, 0, 1, 0}).Name(); !sources[named] || sources[(motion.MAC{2, 0xcc, 0, 0, 1, 1}).Name()] {
			t.Errorf("the one that somebody has named goes first")
		}
	})
}

// TestRadarThatHearsAllLeavesOthersTheirPart has a stranger's radar keep as many links alive
// as a network can have.
func TestRadarThatHearsAllLeavesOthersTheirPart(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		_, _, before := b.linksOf()
		b.fillLinks(0)
		for i := range 8 {
			b.report(peerKey, batch(motion.MAC{2, 0xdd, 0, 0, 1, byte(i)}, peerAP, now(), nil))
		}
		b.refuse(peerKey, batch(motion.MAC{2, 0xdd, 0, 0, 1, 8}, peerAP, now(), nil), fault.TooLarge) // too many at once
		time.Sleep(61 * time.Second)
		b.fillLinks(8) // the others gave way
		b.report(peerKey, batch(motion.MAC{2, 0xdd, 0, 0, 1, 8}, peerAP, now(), nil))
		if byRadar, _, leafs := b.linksOf(); byRadar[peerName] != 9 || byRadar[masterName] != 111 || leafs != before+120 {
			t.Errorf("links %v of %d leafs", byRadar, leafs)
		}
		b.refuse(masterKey, batch(motion.MAC{2, 0xee, 0, 0, 1, 1}, masterAP, now(), nil), fault.TooLarge)
	})
}
