package engine

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/store"
	"sensegate/store/storetest"
)

// TestPostsToTheGatekeeperCostNoPace has strangers take one another's place, which raises an
// event each time.
func TestPostsToTheGatekeeperCostNoPace(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	clock := func() time.Time { return now }
	db := storetest.Open(t, func(o *store.Options) { o.Now = clock })
	e, err := New(t.Context(), db, Options{Now: clock, FirstWindow: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	e.Introduce(mute{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Events.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for i, id := range []string{"master", "one", "two", "one", "two"} {
		radar := motion.Radar{DeviceID: id, NodeName: "N", RootMode: 1}
		if i == 0 {
			radar.NodeName, radar.RootMode = "M", 2
		}
		from := motion.Credentials{Address: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}
		if a, err := e.Devices.Admit(t.Context(), motion.Bootstrap{LocationID: "g", Radar: radar}, from); err != nil || a.Network != 1 {
			t.Fatalf("%s: %+v, %v", id, a, err)
		}
	}
	n, err := e.State.Network(1)
	if err != nil {
		t.Fatal(err)
	}
	if left := n.Pace.Tokens.TokensAt(now); left != state.PaceBurst {
		t.Errorf("%v of %d events are left", left, state.PaceBurst)
	}
}

// TestPeopleLeaveTheGuardianItsPace has members change what they like without end.
func TestPeopleLeaveTheGuardianItsPace(t *testing.T) {
	t.Parallel()
	now, p := time.Unix(1764000000, 0), state.NewPace()
	for range 3 * state.PaceBurst {
		p.Note(100, state.Leaves(false), now)
	}
	if wait := p.Wait(state.Leaves(true), now); wait > 0 {
		t.Errorf("the guardian's events wait for %v", wait)
	}
	for range state.PaceBurst / 2 {
		p.Note(100, state.Leaves(true), now)
	}
	if wait := p.Wait(state.Leaves(true), now); wait != state.PaceEvery {
		t.Errorf("after its half of the burst they wait for %v, want %v", wait, state.PaceEvery)
	}
}
