package core_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// networkAnswer is a network record as clients read it.
type networkAnswer struct {
	ID         motion.NetworkID `json:"id"`
	GuardianID string           `json:"guardian_id"`
	MasterID   motion.NodeID    `json:"master_id"`
	LastHeard  motion.Time      `json:"last_heard"`
	Online     bool             `json:"online"`
	Meta       json.RawMessage  `json:"meta"`
	Guardian   map[string]any   `json:"guardian_config"`
	Radar      map[string]any   `json:"radar_config"`
	LastStatus *struct {
		TS motion.Time `json:"ts"`
	} `json:"last_guardian_status"`
	Nodes *[]motion.Node `json:"nodes"`
}

func TestNetworkIsFoundInEveryWay(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.change(func(n *motion.Network) {
		n.Meta = motion.Document{"dwm": map[string]any{"systemName": "demo/home 1%"}, "guardian_env": "local"}
	})
	for _, path := range []string{
		"/network/find/masterid/1",
		fmt.Sprintf("/network/find/id/%d", h.network),
		"/network/find/mac/02:aa:00:00:01:12", "/network/find/mac/02-AA-00-00-01-13", "/network/find/mac/02aa00000114", "/network/find/mac/02:aa:00:00:01:15",
		"/network/find/device/" + guardianID, "/network/find/device/" + masterID,
		"/network/find/meta/" + url.PathEscape("meta->>'guardian_env'") + "?val=loc%25",
		"/network/find/meta/" + url.PathEscape("meta->'dwm'->>'systemName'") + "?val=demo%2Fhome%201%25",
		"/network/find/meta/" + url.PathEscape("meta->'dwm' ? 'systemName'"),
		"/network/find/meta/" + url.PathEscape(`meta->'dwm' \\? 'systemName'`),
	} {
		found := apitest.Want[networkAnswer](t, h.get(path), 200)
		if found.ID != h.network || found.GuardianID != guardianID || found.MasterID != 1 || found.Nodes != nil {
			t.Errorf("%s: %+v", path, found)
		}
		list := apitest.Want[[]networkAnswer](t, h.get(withQuery(path, "array=true&expandNodes=true")), 200)
		if len(list) != 1 || list[0].Nodes == nil || len(*list[0].Nodes) != 1 || (*list[0].Nodes)[0].DeviceID != masterID {
			t.Errorf("%s as an array with nodes: %+v", path, list)
		}
	}
	for _, path := range []string{
		"/network/find/masterid/77", "/network/find/masterid/0", "/network/find/id/77", "/network/find/id/0", "/network/find/device/nothing", "/network/find/device/" + strings.Repeat("x", 5000),
		"/network/find/mac/02:aa:00:00:01:10", "/network/find/mac/00:00:00:00:00:00",
		"/network/find/meta/" + url.PathEscape("meta->>'guardian_env'") + "?val=cloud&array=true",
	} {
		apitest.WantProblem(t, h.get(path), 404, "")
	}
	for _, query := range []string{"meta", "meta->'home' ? 'sens'", "name='x'", "\x00"} {
		apitest.WantProblem(t, h.get("/network/find/meta/"+url.PathEscape(query)), 400, "")
	}
}

// withQuery adds to the query of a path.
func withQuery(path, query string) string {
	if u, err := url.Parse(path); err == nil && u.RawQuery != "" {
		return path + "&" + query
	}
	return path + "?" + query
}

func TestKeyWithSlashIsFoundInMeta(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.change(func(n *motion.Network) { n.Meta = motion.Document{"a/b": "c"} })
	found := apitest.Want[networkAnswer](t, h.get("/network/find/meta/meta-%3E%3E%27a%2Fb%27?val=%25"), 200)
	if found.ID != h.network {
		t.Errorf("%+v", found)
	}
}

func TestSeveralResultsAreAnArray(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := "/network/find/meta/" + url.PathEscape("meta->>'guardian_env'") + "?val=%25"
	apitest.WantProblem(t, h.get(path), 404, "no such network")
	h.change(func(n *motion.Network) { n.Meta = motion.Document{"guardian_env": "local"} })
	apitest.Want[networkAnswer](t, h.get(path), 200)
	third := h.admit("c52f00c2d97b4e5580136c2e", "csi-c-02aa00000310", "GWC", 0x30)
	h.network = third
	h.change(func(n *motion.Network) { n.Meta = motion.Document{"guardian_env": "local"} })
	list := apitest.Want[[]networkAnswer](t, h.get(path), 200)
	if len(list) != 2 || list[0].ID != 1 || list[1].ID != third {
		t.Errorf("%+v", list)
	}
	bound := h.key("bound", third, "core:read")
	if one := apitest.Want[networkAnswer](t, h.As(bound, "GET", path, ""), 200); one.ID != third {
		t.Errorf("a bound key found %+v", one)
	}
}

func TestNetworkRecordTellsWhatIsInForce(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := fmt.Sprintf("/network/find/id/%d", h.network)
	fresh := apitest.Want[networkAnswer](t, h.get(path), 200)
	if string(fresh.Meta) != "{}" || !fresh.Online || fresh.LastHeard == 0 || fresh.LastStatus != nil {
		t.Errorf("fresh: %+v, meta %s", fresh, fresh.Meta)
	}
	motionEvents, _ := fresh.Guardian["motion_events"].(map[string]any)
	measurement, _ := fresh.Radar["measurement"].(map[string]any)
	if motionEvents["cooldown"] != 120.0 || measurement["base_threshold"] != 84.85 {
		t.Errorf("configurations %v %v", fresh.Guardian, fresh.Radar)
	}
	h.reportStatus()
	if heard := apitest.Want[networkAnswer](t, h.get(path), 200); heard.LastStatus == nil || heard.LastStatus.TS == 0 {
		t.Errorf("after a report: %+v", heard)
	}
}

func TestNodesAreFound(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	byID := apitest.Want[networkAnswer](t, h.get("/node/find/id/1"), 200)
	if byID.ID != h.network || byID.Nodes == nil || len(*byID.Nodes) != 1 || (*byID.Nodes)[0].ID != 1 {
		t.Errorf("by id: %+v", byID)
	}
	if list := apitest.Want[[]networkAnswer](t, h.get("/node/find/id/1?array"), 200); len(list) != 1 {
		t.Errorf("as an array: %+v", list)
	}
	for _, path := range []string{
		"/node/find/device/" + masterID, "/node/find/mac/02:aa:00:00:01:12", "/node/find/mac/02:aa:00:00:01:13",
		"/node/find/mac/02:aa:00:00:01:14", "/node/find/mac/02:AA:00:00:01:15",
	} {
		node := apitest.Want[motion.Node](t, h.get(path), 200)
		if node.ID != 1 || node.DeviceID != masterID || node.Role != motion.MeshRoot || !node.Online || h.engine.State.Now().Since(node.LastHeard) > 60 {
			t.Errorf("%s: %+v", path, node)
		}
		if list := apitest.Want[[]motion.Node](t, h.get(path+"?array=true"), 200); len(list) != 1 {
			t.Errorf("%s as an array: %+v", path, list)
		}
	}
	for _, path := range []string{"/node/find/id/77", "/node/find/device/nothing", "/node/find/device/" + guardianID, "/node/find/mac/02:aa:00:00:01:10", "/node/find/device/" + strings.Repeat("x", 5000)} {
		apitest.WantProblem(t, h.get(path), 404, "no such node")
	}
	if list := apitest.Want[[]motion.Node](t, h.get(fmt.Sprintf("/node/find/networkid/%d", h.network)), 200); len(list) != 1 || list[0].ID != 1 {
		t.Errorf("of the network: %+v", list)
	}
	apitest.WantProblem(t, h.get("/node/find/networkid/99"), 404, "network 99")
}

func TestStatusIsTheLastReport(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := fmt.Sprintf("/network/%d/status", h.network)
	apitest.WantProblem(t, h.get(path), 404, "never reported")
	h.reportStatus()
	full := apitest.Want[map[string]any](t, h.get(path), 200)
	for _, key := range []string{"ts", "network_id", "guardian_id", "shard_id", "startup", "motion_enabled", "motion_tripped", "last_motion", "version", "leafblower", "radars"} {
		if full[key] == nil {
			t.Errorf("%s is missing: %v", key, full)
		}
	}
	part := apitest.Want[map[string]any](t, h.get(path+"?key=ts,%20guardian_id"), 200)
	if len(part) != 2 || part["guardian_id"] != guardianID {
		t.Errorf("two keys: %v", part)
	}
	apitest.WantProblem(t, h.get(path+"?key=ts,nonsense"), 422, "nonsense")
	radars := apitest.Want[map[string]map[string]motion.Radar](t, h.get(path+"?key=radars"), 200)
	if got := radars["radars"]["GWA1000133"]; len(got.Links) != 1 || got.Mem == nil || got.Load == nil || got.Version == nil {
		t.Errorf("radar with nulls: %+v", got)
	}
}

func TestTopologyShowsOfflineDevicesOnDemand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	path := fmt.Sprintf("/network/%d/topology", h.network)
	topology := apitest.Want[motion.Topology](t, h.get(path), 200)
	if len(topology.Devices) != 2 || len(topology.Links) != 1 || topology.Links[0].LinkID != kitchenID || topology.Devices[1].Location != "Kitchen" {
		t.Errorf("%+v", topology)
	}
	h.engine.State.Disconnected(motion.DeviceKey{Kind: motion.Guardian, ID: guardianID}, "gone")
	other := fmt.Sprintf("/network/%d/topology", h.other)
	if got := apitest.Want[motion.Topology](t, h.get(other), 200); len(got.Devices) != 0 {
		t.Errorf("online without a session: %+v", got)
	}
	if got := apitest.Want[motion.Topology](t, h.get(other+"?offline=true"), 200); len(got.Devices) != 1 || got.Devices[0].Online {
		t.Errorf("with what is offline: %+v", got)
	}
}
