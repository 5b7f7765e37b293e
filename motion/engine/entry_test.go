package engine_test

import (
	"fmt"
	"testing"
	"time"
)

// TestWindowLetsInSoManyStrangers has strangers take one another's place.
func TestWindowLetsInSoManyStrangers(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		in := 0
		for i := range 600 {
			p := newcomer(location, 1)
			p.Radar.DeviceID, p.Radar.NodeName = fmt.Sprint("s", i), "X"
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
			p := newcomer(location, 1)
			p.Radar.DeviceID, p.Radar.NodeName = fmt.Sprint("s", i%2), "X"
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
