package core_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/api/server"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
	"sensegate/store/storetest"
)

// benchNetwork writes network i with two nodes, six leafs and their links.
func benchNetwork(tx *store.Tx, i int) error {
	network, err := tx.CreateNetwork(motion.Network{
		GuardianID:     fmt.Sprintf("guardian-%06d", i),
		Meta:           motion.Document{"guardian_env": "local", "dwm": map[string]any{"groupId": "lab", "systemName": fmt.Sprintf("home-%05d", i)}},
		GuardianConfig: motion.Document{"motion_events": map[string]any{"cooldown": 90}},
	})
	if err != nil {
		return err
	}
	address := func(low byte) motion.MAC { return motion.MAC{2, byte(i >> 16), byte(i >> 8), byte(i), 0, low} }
	var nodes []motion.Node
	for n := range 2 {
		node, err := tx.PutNode(motion.Node{
			NetworkID: network.ID, DeviceID: fmt.Sprintf("csi-%06d-%d", i, n), Name: fmt.Sprintf("GW%06d%d", i, n), RootMode: 2 - n,
			APBSSID2GHz: address(byte(16*n + 1)), APBSSID5GHz: address(byte(16*n + 2)), MeshBSSID: address(byte(16*n + 3)),
			Version: motion.Document{"algos": map[string]any{"omot": "1.9.2"}},
		})
		if err != nil {
			return err
		}
		nodes = append(nodes, node)
	}
	network.MasterID = nodes[0].ID
	if err := tx.PutNetwork(network); err != nil {
		return err
	}
	for l := range 6 {
		leaf, err := tx.PutLeaf(motion.Leaf{NetworkID: network.ID, MAC: address(byte(64 + l)), FriendlyName: "Speaker", Location: "Kitchen"})
		if err != nil {
			return err
		}
		name := motion.LinkName(nodes[0].Name, leaf.MAC.Name())
		link := motion.Link{Name: name, NetworkID: network.ID, Dst: nodes[0].ID, Src: leaf.ID, DstName: nodes[0].Name, SrcName: leaf.MAC.Name(), Sounding: true, Online: true}
		if err := tx.PutLink(link); err != nil {
			return err
		}
	}
	return tx.PutStatus(motion.StatusReport{
		TS: 1764000000, NetworkID: network.ID, GuardianID: network.GuardianID, Version: motion.Document{"core": "0.7.2"},
		Leafblower: map[string]motion.Choice{}, Radars: map[string]motion.Radar{nodes[0].Name: {DeviceID: nodes[0].DeviceID, NodeName: nodes[0].Name}},
	})
}

// benchSensed writes network i with one node that has described itself and has no guardian, a leaf
// and their link: 3.3 KB as the networks of firmware-sim load, whose status is composed for each answer.
func benchSensed(tx *store.Tx, i int) error {
	network, err := tx.CreateNetwork(motion.Network{
		GuardianID: fmt.Sprintf("guardian-%06d", i), Meta: motion.Document{"name": "bench"}, LastHeard: 1764000000,
	})
	if err != nil {
		return err
	}
	address := func(low byte) motion.MAC { return motion.MAC{2, byte(i >> 16), byte(i >> 8), byte(i), 0, low} }
	node, err := tx.PutNode(motion.Node{
		NetworkID: network.ID, DeviceID: fmt.Sprintf("csi-%06d", i), Name: fmt.Sprintf("GW%06d", i), RootMode: 2, LocationID: "9e672846789a9c9b76686f52",
		APBSSID2GHz: address(1), APBSSID5GHz: address(2), MeshBSSID: address(3), LastHeard: 1764000000.25,
	})
	if err != nil {
		return err
	}
	port := func(name, kind, phy string, low byte, routes ...motion.Document) motion.Interface {
		return motion.Interface{Name: name, Type: kind, MAC: address(low), WifiPhy: phy, WifiChannel: 36, Status: "Connected", RxBytes: "937876978", TxBytes: "481324793", Routes: routes}
	}
	leaf, unplaced := tx.PutLeaf(motion.Leaf{NetworkID: network.ID, MAC: address(64), Hostname: "plug", IP: "192.168.11.14"})
	network.MasterID = node.ID
	return errors.Join(unplaced, tx.PutNetwork(network), tx.PutRadar(node.ID, motion.Radar{
		DeviceID: node.DeviceID, NodeName: node.Name, LocationID: node.LocationID, RootMode: 2, GatewayBSSID: motion.MAC{2, 255, 0, 0, 0, 1},
		MeshBSSID: node.MeshBSSID, APBSSID2GHz: node.APBSSID2GHz, APBSSID5GHz: node.APBSSID5GHz,
		HWID: "Acme", HWVersion: "AP-900", FWVersion: "1.4.2", Uptime: "180000.00", StatusTime: 0.52,
		Mem: map[string]string{"avail": "318828", "free": "276284", "total": "496180"}, Load: []string{"0.96", "1.21", "1.37"},
		Version: motion.Document{"algos": map[string]any{"omot": "1.9.2"}, "radios": map[string]any{"wifi0": map[string]any{"chipset": "X4019", "fw_version": "0.1"}}},
		Interfaces: []motion.Interface{
			port("wan0", "ETHERNET", "", 0, motion.Document{"dst": "0.0.0.0", "gateway": "192.168.11.254", "metric": "0", "netmask": "0.0.0.0"}),
			port("home-ap-24", "WIFI_AP", "wifi0", 1), port("home-ap-50", "WIFI_AP", "wifi1", 2), port("bhaul-ap-u50", "WIFI_AP", "wifi2", 3),
		},
	}), tx.PutLink(motion.Link{
		Name: motion.LinkName(node.Name, leaf.MAC.Name()), NetworkID: network.ID, Dst: node.ID, Src: leaf.ID,
		DstName: node.Name, SrcName: leaf.MAC.Name(), IfName: "guardian", Sounding: true, Online: true, LastHeard: 1764000000,
	}))
}

// benchServer serves an appliance with so many networks, and returns a key.
func benchServer(b *testing.B, networks int, write func(tx *store.Tx, i int) error) (s *server.Server, token string) {
	b.Helper()
	db := storetest.Open(b)
	err := db.Update(b.Context(), func(tx *store.Tx) (err error) {
		for i := range networks {
			if err := write(tx, i); err != nil {
				return err
			}
		}
		_, token, err = tx.CreateAPIKey(store.APIKey{Name: "bench", Scopes: auth.Scopes()})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.New(b.Context(), db, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	e.Introduce(silent{})
	config := server.Defaults()
	config.Rate, config.Burst = 1e9, 1e9
	s = server.New(config, slog.New(slog.DiscardHandler))
	s.Mount(core.New(e, db, auth.NewKeys(db)).Interface())
	return s, token
}

// weightless is a response writer without a cost of its own.
type weightless struct {
	header http.Header
	status int
	bytes  int
}

func (w *weightless) Header() http.Header    { return w.header }
func (w *weightless) WriteHeader(status int) { w.status = status }
func (w *weightless) Write(b []byte) (int, error) {
	w.bytes += len(b)
	return len(b), nil
}

// benchGet reads path through the whole stack, the key's check included, without
// the network.
func benchGet(b *testing.B, server *server.Server, token, path string) {
	b.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/core"+path, nil)
	r.Header.Set("Authorization", token)
	var w *weightless
	b.ReportAllocs()
	for b.Loop() {
		w = &weightless{header: http.Header{}}
		server.ServeHTTP(w, r)
		if w.status != http.StatusOK {
			b.Fatalf("%s: status %d", path, w.status)
		}
	}
	b.ReportMetric(float64(w.bytes), "answer-B")
}

// masterOf returns the node id of a network's master.
func masterOf(b *testing.B, server *server.Server, token, path string) (id motion.NodeID) {
	b.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/core"+path, nil)
	r.Header.Set("Authorization", token)
	w := httptest.NewRecorder()
	server.ServeHTTP(w, r)
	return apitest.Want[networkAnswer](b, apitest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}, http.StatusOK).MasterID
}

// BenchmarkReadOne reads one record on an appliance with 1,000 networks: under
// 100 µs is wanted.
func BenchmarkReadOne(b *testing.B) {
	server, token := benchServer(b, 1000, benchNetwork)
	master := masterOf(b, server, token, "/network/find/id/500")
	for name, path := range map[string]string{
		"network":   "/network/find/id/500",
		"expanded":  "/network/find/id/500?expandNodes=true",
		"master":    fmt.Sprintf("/network/find/masterid/%d", master),
		"bssid":     "/network/find/mac/02:00:01:f3:00:01",
		"guardian":  "/network/find/device/guardian-000499",
		"node":      "/node/find/device/csi-000499-0",
		"nodeBSSID": "/node/find/mac/02:00:01:f3:00:01",
		"nodes":     "/node/find/networkid/500",
		"status":    "/network/500/status",
		"topology":  "/network/500/topology?offline=true",
		"events":    "/network/500/events/history",
	} {
		b.Run(name, func(b *testing.B) { benchGet(b, server, token, path) })
	}
}

// BenchmarkFindMeta finds networks among 10,000 by a pattern: under 50 ms is
// wanted.
func BenchmarkFindMeta(b *testing.B) {
	server, token := benchServer(b, 10_000, benchNetwork)
	for name, pattern := range map[string]string{"1": "%me-05000", "100": "home-050%", "10000": "home%"} {
		b.Run(name, func(b *testing.B) {
			benchGet(b, server, token, "/network/find/meta/"+url.PathEscape("meta->'dwm'->>'systemName'")+"?array=true&val="+url.QueryEscape(pattern))
		})
	}
}

// BenchmarkFindMetaSensed finds all of 10,000 networks that have no guardian: under 50 ms is wanted.
func BenchmarkFindMetaSensed(b *testing.B) {
	server, token := benchServer(b, 10_000, benchSensed)
	benchGet(b, server, token, "/network/find/meta/"+url.PathEscape("meta->>'name'")+"?array=true&val=bench")
}
