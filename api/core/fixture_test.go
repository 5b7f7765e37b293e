package core_test

import (
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/api/server"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/sensing"
	"sensegate/store"
	"sensegate/store/storetest"
)

const (
	guardianID = "a41f00c2d97b4e5580136c2e"
	masterID   = "csi-a-02aa00000110"
	kitchenID  = "GWA1000133.02bb00000031"
)

var kitchen = motion.MAC{2, 0xbb, 0, 0, 0, 0x31}

// silent stands for the broker: commands go nowhere.
type silent struct{}

func (silent) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (silent) Disconnect(motion.DeviceKey, string)               {}
func (silent) DisconnectUser(string, string)                     {}

// home is a served appliance with two networks.
type home struct {
	*apitest.Client
	engine *engine.Engine
	db     *store.DB
	server *server.Server

	stopEngine func()

	network, other motion.NetworkID
	all            string // an API key with every scope
	extenders      atomic.Int32
}

// newClient returns a client of Core without an address.
func newClient(t testing.TB) *apitest.Client {
	table := core.New(nil, nil, nil).Interface()
	return &apitest.Client{T: t, Base: table.Base, Doc: apitest.Document(t, table)}
}

func newHome(t testing.TB, change ...func(*engine.Options)) *home {
	t.Helper()
	h := &home{Client: newClient(t), db: storetest.Open(t)}
	options := engine.Options{FirstWindow: time.Hour, Relays: func() map[string]sensing.Relay {
		return map[string]sensing.Relay{"mqtt": &outside{}, "webhook": &outside{gone: true}}
	}}
	for _, c := range change {
		c(&options)
	}
	var err error
	if h.engine, err = engine.New(t.Context(), h.db, options); err != nil {
		t.Fatal(err)
	}
	h.engine.Introduce(silent{})
	h.stopEngine = apitest.Background(t, h.engine.Run)
	h.network = h.admit(guardianID, masterID, "GWA1000133", 0x10)
	h.other = h.admit("b52f00c2d97b4e5580136c2e", "csi-b-02aa00000210", "GWB1000201", 0x20)
	h.all = h.key("all", 0, auth.Scopes()...)

	h.server = apitest.NewServer(t)
	keys := auth.NewKeys(h.db)
	h.server.Mount(core.New(h.engine, h.db, keys).Interface())
	h.server.Metrics(core.MetricsGuard(keys))
	h.Start(h.server)
	return h
}

// radarOf is what a master says of itself; low is the last octet of its first
// address.
func radarOf(guardian, device, name string, low byte) motion.Radar {
	return motion.Radar{
		DeviceID: device, NodeName: name, LocationID: guardian, RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 2}, APBSSID5GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 3},
		MeshBSSID: motion.MAC{2, 0xaa, 0, 0, 1, low + 4}, P2PBSSID: motion.MAC{2, 0xaa, 0, 0, 1, low + 5},
		HWVersion: "AP-900", Interfaces: []motion.Interface{{Name: "eth0", Type: "ETHERNET", MAC: motion.MAC{2, 0xaa, 0, 0, 1, low}, IP: "192.168.11.1"}},
	}
}

// admit lets a master in, which forms a network, and logs its guardian in.
func (h *home) admit(guardian, device, name string, low byte) motion.NetworkID {
	h.T.Helper()
	address := netip.MustParseAddr("127.0.0.1")
	post := motion.Bootstrap{Radar: radarOf(guardian, device, name, low), LocationID: guardian}
	admission, err := h.engine.Devices.Admit(h.T.Context(), post, motion.Credentials{Address: address})
	if err != nil || admission.Network == 0 {
		h.T.Fatalf("admit %s: %+v %v", device, admission, err)
	}
	key, err := h.engine.Devices.Login(h.T.Context(), guardian, admission.GuardianToken)
	if err != nil {
		h.T.Fatal(err)
	}
	h.engine.State.Connected(key, address)
	return admission.Network
}

// report sends a report as the first network's guardian.
func (h *home) report(r motion.Report) {
	h.T.Helper()
	if err := h.engine.Report(h.T.Context(), motion.DeviceKey{Kind: motion.Guardian, ID: guardianID}, r); err != nil {
		h.T.Fatal(err)
	}
}

// reportStatus sends a full report with one leaf.
func (h *home) reportStatus() {
	h.T.Helper()
	radar := radarOf(guardianID, masterID, "GWA1000133", 0x10)
	radar.Links = []motion.RadarLink{{MAC: kitchen, PeerType: motion.PeerClient, IfName: "home-ap-24", Hostname: "kitchen-speaker", RSSI: "-59"}}
	sounding := true
	h.report(motion.StatusReport{
		TS: h.engine.State.Now(), ShardID: "local", MotionEnabled: 1, MotionTripped: new(int), Version: motion.Document{"core": "0.7.2"},
		Leafblower: map[string]motion.Choice{kitchen.String(): {IsStatic: "STATIC", Sounding: &sounding}},
		Radars:     map[string]motion.Radar{"GWA1000133": radar},
	})
	if err := h.engine.Inventory.PlaceLeaf(h.T.Context(), h.network, kitchen, "Kitchen", "Kitchen speaker"); err != nil {
		h.T.Fatal(err)
	}
}

// change rewrites the record of the first network and makes the engine see it.
func (h *home) change(change func(*motion.Network)) {
	h.T.Helper()
	err := h.db.Update(h.T.Context(), func(tx *store.Tx) error {
		n, err := tx.Network(h.network)
		if err != nil {
			return err
		}
		change(&n)
		return tx.PutNetwork(n)
	})
	if err != nil {
		h.T.Fatal(err)
	}
	if err := h.engine.Inventory.PlaceLeaf(h.T.Context(), h.network, kitchen, "Kitchen", "Kitchen speaker"); err != nil { // reloads
		h.T.Fatal(err)
	}
}

// key makes an API key and returns its secret.
func (h *home) key(name string, network motion.NetworkID, scopes ...string) (secret string) {
	h.T.Helper()
	err := h.db.Update(h.T.Context(), func(tx *store.Tx) (err error) {
		_, secret, err = tx.CreateAPIKey(store.APIKey{Name: name, Scopes: scopes, NetworkID: network})
		return err
	})
	if err != nil {
		h.T.Fatal(err)
	}
	return secret
}

// get reads with the key that opens everything.
func (h *home) get(path string) apitest.Answer {
	h.T.Helper()
	return h.As(h.all, http.MethodGet, path, "")
}

// post acts with the key that opens everything.
func (h *home) post(path, body string) apitest.Answer {
	h.T.Helper()
	return h.As(h.all, http.MethodPost, path, body)
}
