package engine_test

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// unreachable stands for the broker: commands go nowhere.
type unreachable struct{}

func (unreachable) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (unreachable) Disconnect(motion.DeviceKey, string)               {}
func (unreachable) DisconnectUser(string, string)                     {}

// street is a running engine with two networks, "first" and "second", whose
// masters are "ap-first" and "ap-second".
type street struct {
	*engine.Engine
	db     *store.DB
	tokens map[string]motion.Admission
}

func newStreet(t testing.TB) street {
	t.Helper()
	s := street{db: storetest.Open(t), tokens: map[string]motion.Admission{}}
	var err error
	if s.Engine, err = engine.New(t.Context(), s.db, engine.Options{FirstWindow: time.Hour}); err != nil {
		t.Fatal(err)
	}
	s.Introduce(unreachable{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for i, name := range []string{"first", "second"} {
		s.settle(t, name, "ap-"+name, motion.RootModeMaster, byte(16*(i+1)))
	}
	return s
}

// settle adopts a node of the network name; low is the last octet of its
// addresses.
func (s street) settle(t testing.TB, name, device string, mode int, low byte) motion.NetworkID {
	t.Helper()
	radar := motion.Radar{
		DeviceID: device, NodeName: device, LocationID: name, RootMode: mode,
		APBSSID2GHz: motion.MAC{2, 0, 0, 0, 0, low}, APBSSID5GHz: motion.MAC{2, 0, 0, 0, 0, low + 1},
		MeshBSSID: motion.MAC{2, 0, 0, 0, 0, low + 2}, P2PBSSID: motion.MAC{2, 0, 0, 0, 0, low + 3},
		Interfaces: []motion.Interface{{Name: "eth0", Type: "ETHERNET", MAC: motion.MAC{2, 0, 0, 0, 0, low + 4}}},
	}
	admission, err := s.Devices.Admit(t.Context(), motion.Bootstrap{Radar: radar, LocationID: name}, motion.Credentials{Address: netip.IPv6Loopback()})
	if err != nil || admission.Network == 0 {
		t.Fatalf("admit %s: %+v %v", device, admission, err)
	}
	s.tokens[device] = admission
	return admission.Network
}

// connect opens the sessions of a device: that of its radar, or of its guardian.
func (s street) connect(t testing.TB, device string, kind motion.DeviceKind) motion.DeviceKey {
	t.Helper()
	admission := s.tokens[device]
	id, token := admission.DeviceID, admission.RadarToken
	if kind == motion.Guardian {
		id, token = admission.GuardianID, admission.GuardianToken
	}
	key, err := s.Devices.Login(t.Context(), id, token)
	if err != nil {
		t.Fatal(err)
	}
	s.State.Connected(key, netip.IPv6Loopback())
	return key
}

func TestNetworksAreFoundByWhatTheyAreKnownBy(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	master, err := s.Inventory.NodeByDevice(t.Context(), "ap-second")
	if err != nil {
		t.Fatal(err)
	}
	extender := s.settle(t, "second", "extender", 1, 0x40)
	node, err := s.Inventory.NodeByDevice(t.Context(), "extender")
	if err != nil || node.NetworkID != extender {
		t.Fatalf("extender: %+v %v", node, err)
	}
	second := []motion.NetworkID{extender}
	if got, err := s.Inventory.NetworksByMaster(t.Context(), master.ID); err != nil || !slices.Equal(got, second) {
		t.Errorf("by master: %v", got)
	}
	if got, err := s.Inventory.NetworksByMaster(t.Context(), node.ID); err != nil || len(got) != 0 {
		t.Errorf("by a node that is no master: %v", got)
	}
	if got, err := s.Inventory.NetworksByMaster(t.Context(), 0); err != nil || len(got) != 0 {
		t.Errorf("by master 0: %v", got)
	}
	for device, want := range map[string][]motion.NetworkID{"second": second, "ap-second": second, "extender": {}, "nobody": {}, "": {}} {
		if got, err := s.Inventory.NetworksByGuardian(t.Context(), device); err != nil || !slices.Equal(got, want) {
			t.Errorf("by guardian %q: %v %v", device, got, err)
		}
	}
	if got := s.Inventory.NetworksByMeta(func(motion.Document) bool { return true }); !slices.Equal(got, []motion.NetworkID{1, 2}) {
		t.Errorf("by meta: %v", got)
	}
}

func TestNodesAreFoundByEachOfFourAddresses(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	for low := byte(0x20); low < 0x24; low++ {
		if got := s.Inventory.NodesByBSSID(motion.MAC{2, 0, 0, 0, 0, low}); len(got) != 1 || got[0].DeviceID != "ap-second" {
			t.Errorf("address %x: %+v", low, got)
		}
	}
	for _, mac := range []motion.MAC{{2, 0, 0, 0, 0, 0x24}, {}} {
		if got := s.Inventory.NodesByBSSID(mac); len(got) != 0 {
			t.Errorf("%s: %+v", mac, got)
		}
	}
}

func TestUnknownIsNotFound(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	_, byID := s.Inventory.Node(t.Context(), 99)
	_, byDevice := s.Inventory.NodeByDevice(t.Context(), "nobody")
	_, nodes := s.Inventory.Nodes(99)
	_, state := s.Inventory.NetworkState(99)
	for name, err := range map[string]error{"node": byID, "device": byDevice, "nodes": nodes, "state": state, "known": s.State.Known(99)} {
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.State.Known(1); err != nil {
		t.Error(err)
	}
}

func TestNetworkIsOnlineWithItsGuardianOrAnyNode(t *testing.T) {
	t.Parallel()
	for kind, nodeOnline := range map[motion.DeviceKind]bool{motion.Guardian: false, motion.RadarKind: true} {
		s := newStreet(t)
		before, err := s.Inventory.NetworkState(1)
		if err != nil || before.Online || !before.LastHeard.IsZero() || before.Meta == nil {
			t.Fatalf("before: %+v %v", before, err)
		}
		key := s.connect(t, "ap-first", kind)
		state, err := s.Inventory.NetworkState(1)
		if err != nil || !state.Online || state.LastHeard.IsZero() {
			t.Errorf("%s connected: %+v %v", kind, state, err)
		}
		if nodes, err := s.Inventory.Nodes(1); err != nil || len(nodes) != 1 || nodes[0].Online != nodeOnline || nodes[0].LastHeard.IsZero() == nodeOnline {
			t.Errorf("%s connected: nodes %+v %v", kind, nodes, err)
		}
		if other, err := s.Inventory.NetworkState(2); err != nil || other.Online {
			t.Errorf("the other network: %+v %v", other, err)
		}
		s.State.Disconnected(key, "gone")
		if state, err := s.Inventory.NetworkState(1); err != nil || state.Online || state.LastHeard.IsZero() {
			t.Errorf("%s gone: %+v %v", kind, state, err)
		}
	}
}

func TestStateShowsConfigurationInForce(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	state, err := s.Inventory.NetworkState(1)
	if err != nil {
		t.Fatal(err)
	}
	guardian, radar := state.Guardian(), state.Radar()
	if guardian.MotionEvents.Cooldown != 120 || radar.Sounding.RateMS != 40 {
		t.Errorf("%+v %+v", guardian, radar)
	}
}

func BenchmarkNetworkState(b *testing.B) {
	s := newStreet(b)
	for b.Loop() {
		if _, err := s.Inventory.NetworkState(1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNodeByDevice(b *testing.B) {
	s := newStreet(b)
	for b.Loop() {
		if _, err := s.Inventory.NodeByDevice(b.Context(), "ap-second"); err != nil {
			b.Fatal(err)
		}
	}
}
