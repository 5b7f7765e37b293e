package browser_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
	"sensegate/store"
)

// setupDevices is the answer of GET /devices.
type setupDevices struct {
	WindowUntil *motion.Time `json:"window_until"`
	Devices     []browser.DeviceView
}

func (p *tab) setupDevices() setupDevices {
	p.box.T.Helper()
	return apitest.Want[setupDevices](p.box.T, p.setUp(http.MethodGet, "/devices", ""), 200)
}

func (s setupDevices) of(deviceID string) (d browser.DeviceView) {
	if i := slices.IndexFunc(s.Devices, func(d browser.DeviceView) bool { return d.DeviceID == deviceID }); i >= 0 {
		return s.Devices[i]
	}
	return d
}

const master = "csi-a-02aa00000110"

// ask sends the post of an extender of the first home.
func (b *box) askToJoin(device string) {
	b.T.Helper()
	radar := motion.Radar{DeviceID: device, NodeName: "EXA1000135", LocationID: "a41f00c2d97b4e5580136c2e", RootMode: 1, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 3, 0x12}}
	_, err := b.engine.Devices.Admit(b.T.Context(), motion.Bootstrap{Radar: radar, LocationID: radar.LocationID}, motion.Credentials{Address: netip.MustParseAddr("192.168.10.17")})
	if err != nil {
		b.T.Fatal(err)
	}
}

func (b *box) leaf(network motion.NetworkID, low byte, hostname string) (id motion.NodeID) {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		l, err := tx.PutLeaf(motion.Leaf{NetworkID: network, MAC: motion.MAC{2, 0xbb, 0, 0, 0, low}, Hostname: hostname})
		id = l.ID
		return err
	})
	if err := b.engine.State.Reload(b.T.Context(), network); err != nil {
		b.T.Fatal(err)
	}
	return id
}

func TestDevicesSayWhatTheyLack(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	key := motion.DeviceKey{Kind: motion.RadarKind, ID: master}
	if d := b.nobody.setupDevices().of(master); d.State != "offline" || d.Why != "never_connected" || d.Kind != "node" || d.ID == nil {
		t.Errorf("before it connects %+v", d)
	}
	b.engine.State.BeginSession(motion.Device{DeviceKey: key, NetworkID: b.network, NodeID: b.nodeOf(master)})
	b.engine.State.Connected(key, netip.MustParseAddr("192.168.10.13"))
	if d := b.nobody.setupDevices().of(master); d.State != "online" || d.Why != "no_frames" || d.Address != "192.168.10.13" || d.Heard == nil || d.Rate != nil {
		t.Errorf("connected and deaf %+v", d)
	}
	for reason, code := range map[string]string{"keep alive timeout": "keep_alive", "connection lost": "lost", "disconnected": "ended"} {
		b.engine.State.Disconnected(key, reason)
		if d := b.nobody.setupDevices().of(master); d.State != "offline" || d.Why != code {
			t.Errorf("%s: %+v", reason, d)
		}
	}
	b.engine.State.BadInput("client/"+master, "wrong token", nil)
	if d := b.nobody.setupDevices().of(master); d.Why != "wrong_token" || d.Figures["count"] != 1 {
		t.Errorf("with a wrong token %+v", d)
	}
	if first := b.nobody.setupDevices().Devices[0]; first.DeviceID != master {
		t.Errorf("first %+v, want the one with a problem", first)
	}
}

func (b *box) nodeOf(device string) (id motion.NodeID) {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		n, err := tx.NodeByDevice(device)
		id = n.ID
		return err
	})
	return id
}

func TestInstallerLetsDevicesIn(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.nobody.done(http.MethodDelete, fmt.Sprintf("/devices/adoption?network_id=%d", b.home), "")
	b.askToJoin(extender)
	d := b.nobody.setupDevices().of(extender)
	if d.State != "waiting" || d.Why != "waiting" || d.Entry == "" || d.ID != nil || d.Address != "192.168.10.17" {
		t.Fatalf("an extender that asks %+v", d)
	}
	other := apitest.Want[setupDevices](t, b.neighbour.ask(http.MethodGet, "/devices", ""), 200)
	if d := other.of(extender); d.Entry != "" {
		t.Errorf("another household sees it: %+v", d)
	}
	body := fmt.Sprintf(`{"network_id":%d}`, b.home)
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, "/devices/"+d.Entry+"/adopt", fmt.Sprintf(`{"network_id":%d}`, b.other)), 404, "not found")
	apitest.WantProblem(t, b.nobody.ask(http.MethodPost, "/devices/unknown/adopt", body), 404, "not found")
	adopted := apitest.Want[setupDevices](t, b.nobody.ask(http.MethodPost, "/devices/"+d.Entry+"/adopt", body), 200)
	if d := adopted.of(extender); d.Why != "approved" || adopted.WindowUntil != nil {
		t.Errorf("approved: %+v, window %v", d, adopted.WindowUntil)
	}
	b.askToJoin(extender)
	if d := b.nobody.setupDevices().of(extender); d.State != "offline" || d.ID == nil {
		t.Errorf("let in: %+v", d)
	}
	opened := apitest.Want[setupDevices](t, b.nobody.ask(http.MethodPost, "/devices/adoption", body), 200)
	if left := opened.WindowUntil.Since(b.engine.State.Now()); opened.WindowUntil == nil || left < 590 || left > 600 {
		t.Errorf("the window is open for %v s", left)
	}
}

func TestInstallerNamesPlacesAndRemovesDevices(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	node, leaf, foreign := b.nodeOf(master), b.leaf(b.network, 0x31, "speaker"), b.nodeOf("csi-b-02aa00000210")
	b.place(leaf, "Hall")
	put := func(kind string, id motion.NodeID, change string) apitest.Answer {
		return b.nobody.ask(http.MethodPut, fmt.Sprintf("/devices/%d", id), fmt.Sprintf(`{"network_id":%d,"kind":%q,%s}`, b.home, kind, change))
	}
	if a := put("node", node, `"name":" Gateway","room":"Hallway "`); a.Status != 204 {
		t.Fatalf("name a node: %d %s", a.Status, a.Body)
	}
	if a := put("leaf", leaf, `"room":"Kitchen"`); a.Status != 204 {
		t.Fatalf("place a leaf: %d %s", a.Status, a.Body)
	}
	apitest.WantProblem(t, put("leaf", leaf, `"room":"<b>"`), 422, "body.room")
	apitest.WantProblem(t, put("node", foreign, `"room":"Kitchen"`), 404, "is not known")
	apitest.WantProblem(t, put("leaf", leaf+1000, `"room":"Kitchen"`), 404, "is not known")
	apitest.WantProblem(t, put("roof", leaf, `"room":"Kitchen"`), 422, "kind")
	list := b.nobody.setupDevices()
	if d := list.of("02:bb:00:00:00:31"); d.Name != "speaker" || d.Room != "Kitchen" || d.Kind != "leaf" || d.Why != "not_heard" {
		t.Errorf("leaf %+v", d)
	}
	if d := list.of(master); d.Name != "Gateway" || d.Room != "Hallway" {
		t.Errorf("node %+v", d)
	}
	remove := func(kind string, id motion.NodeID) apitest.Answer {
		return b.nobody.setUp(http.MethodDelete, fmt.Sprintf("/devices/%d?kind=%s", id, kind), "")
	}
	apitest.WantProblem(t, remove("node", foreign), 404, "is not known")
	apitest.WantProblem(t, remove("leaf", node+1000), 404, "is not known")
	for kind, id := range map[string]motion.NodeID{"leaf": leaf, "node": node} {
		if a := remove(kind, id); a.Status != 204 {
			t.Errorf("remove the %s: %d %s", kind, a.Status, a.Body)
		}
		apitest.WantProblem(t, remove(kind, id), 404, "is not known")
	}
	if left := b.nobody.setupDevices().Devices; len(left) != 0 {
		t.Errorf("left %+v", left)
	}
}

// TestHouseholdIsToldWhatAnInstallerRemoves: of what its owner removes it is not.
func TestHouseholdIsToldWhatAnInstallerRemoves(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	remove := func(who *tab, kind string, id motion.NodeID) {
		who.done(http.MethodDelete, fmt.Sprintf("/devices/%d?network_id=%d&kind=%s", id, b.home, kind), "")
	}
	remove(b.owner, "leaf", b.leaf(b.network, 0x33, "plug"))
	if n, values := b.member.notified(motion.InstallerRemovedDeviceEvent); n != 0 {
		t.Fatalf("of the owner's the household is told %d times: %v", n, values)
	}
	placed := b.leaf(b.network, 0x31, "speaker")
	b.place(placed, "Kitchen")
	remove(b.nobody, "leaf", placed)
	if n, values := b.member.notified(motion.InstallerRemovedDeviceEvent); n != 1 || values["member"] != "passer" || values["device"] != "speaker" || values["deviceId"] != "02:bb:00:00:00:31" {
		t.Errorf("of a leaf: told %d times, %v", n, values)
	}
	node := b.nodeOf(master)
	b.nobody.done(http.MethodPut, fmt.Sprintf("/devices/%d", node), fmt.Sprintf(`{"network_id":%d,"kind":"node","name":"Gateway","room":"Hallway"}`, b.home))
	remove(b.nobody, "node", node)
	inbox := b.member.inbox("?last=1").Notices
	if n, _ := b.member.notified(motion.InstallerRemovedDeviceEvent); n != 2 || inbox[0].Values["device"] != "Gateway" || inbox[0].Values["place"] != "Hallway" {
		t.Errorf("of a node: told %d times, %+v", n, inbox)
	}
}
