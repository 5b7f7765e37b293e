package engine_test

import (
	"fmt"
	"testing"
	"time"

	"sensegate/motion"
)

// TestWindowLetsInSoManyStrangers has strangers take one another's place.
func TestWindowLetsInSoManyStrangers(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		in := 0
		for i := range 600 {
			p := extender(fmt.Sprint("s", i))
			p.Radar.NodeName = "X"
			if a := b.postFrom(elsewhere, p, ""); a.Network == id {
				in++
			}
		}
		if in < 200 || in > 256 {
			t.Errorf("%d of 600 strangers were let in at once", in)
		}
		if a := b.post(peer(), ""); a.Network != id {
			t.Errorf("the home's own extender, meanwhile: %+v", a)
		}
	})
}

// TestDeviceIsLetInSoOften has two strangers take turns in one place, and a device of the
// home post with its token over and over.
func TestDeviceIsLetInSoOften(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		token := b.post(peer(), "").RadarToken
		in := map[string]int{}
		for i := range 100 {
			p := extender(fmt.Sprint("s", i%2))
			p.Radar.NodeName = "X"
			if a := b.postFrom(elsewhere, p, ""); a.Network == id {
				in[p.Radar.DeviceID]++
			}
			if a := b.post(peer(), token); a.Network == id {
				token = a.RadarToken
				in["own"]++
			}
		}
		if in["s0"] != 16 || in["s1"] != 16 || in["own"] < 10 || in["own"] > 16 {
			t.Errorf("let in %v times at once, want 16 each", in)
		}
		time.Sleep(time.Minute)
		if a := b.post(peer(), token); a.Network != id {
			t.Errorf("a minute later: %+v", a)
		}
	})
}

// TestFirstWindowReplacesNobody has strangers come, within the first day of a home that was
// claimed, for the places of its devices while those are switched off.
func TestFirstWindowReplacesNobody(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.claim(id)
		lead := extender("csi-lead")
		lead.Radar.RootMode = 2
		b.wantWaiting(elsewhere, lead, "", "the network's master is connected: switch it off or remove it first")
		for _, key := range []motion.DeviceKey{guardianKey, masterKey, peerKey} {
			b.State.Disconnected(key, "switched off")
		}
		time.Sleep(time.Hour)
		swap := extender("csi-swap")
		swap.Radar.NodeName = peerName
		b.wantWaiting(elsewhere, swap, "", "another device was adopted with that node_id: open an adoption window of the network to replace it, or approve it by hand")
		b.wantWaiting(elsewhere, lead, "", "the network has another master: open an adoption window to replace it")
		if a := b.postFrom(elsewhere, newcomer(location, 1), ""); a.Network != id {
			t.Errorf("a new extender: %+v", a)
		}
		if a := b.post(master(), ""); a.Network != id || a.GuardianToken == "" {
			t.Errorf("the master itself: %+v", a)
		}
		if a := b.post(peer(), ""); a.Network != id {
			t.Errorf("the extender itself: %+v", a)
		}
		if _, err := b.Devices.OpenAdoption(t.Context(), id, 600); err != nil {
			t.Fatal(err)
		}
		if a := b.postFrom(elsewhere, swap, ""); a.Network != id {
			t.Errorf("in a window of the owner: %+v", a)
		}
		if a := b.postFrom(elsewhere, lead, ""); a.GuardianToken == "" {
			t.Errorf("another master in a window of the owner: %+v", a)
		}
	})
}
