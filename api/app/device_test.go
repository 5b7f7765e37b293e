package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/store"
)

// parsed reads JSON into a value of the type of v.
func parsed[T any](t testing.TB, text string, v T) T {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// newPlaced returns a household with two leafs and its master's id.
func newPlaced(t *testing.T) (h *household, master, foreign motion.NodeID) {
	h = newHousehold(t)
	h.reportStatus()
	for _, at := range []struct {
		network motion.NetworkID
		node    *motion.NodeID
	}{{h.network, &master}, {h.abroad, &foreign}} {
		nodes, err := h.engine.Inventory.Nodes(at.network)
		if err != nil || len(nodes) != 1 {
			t.Fatalf("nodes %v %v", nodes, err)
		}
		*at.node = nodes[0].ID
	}
	return h, master, foreign
}

// radarConfig returns the last sensing configuration that devices were sent.
func (h *household) radarConfig() motion.RadarConfig {
	h.T.Helper()
	sent := h.devices.of("config")
	if len(sent) == 0 {
		h.T.Fatal("no configuration was sent")
	}
	var n struct {
		Radar motion.RadarConfig `json:"radar_config"`
	}
	return parsed(h.T, sent[len(sent)-1], n).Radar
}

// leaf returns the record of the kitchen leaf.
func (h *household) leaf() (leaf motion.Leaf) {
	h.T.Helper()
	h.update(func(tx *store.Tx) (err error) {
		leaf, err = tx.LeafByMAC(h.network, kitchen)
		return err
	})
	return leaf
}

func TestLeafLadder(t *testing.T) {
	t.Parallel()
	h, _, _ := newPlaced(t)
	id := fmt.Sprintf(`"network_id":%d,`, h.home)
	right := `{` + id + `"mac_address":"02:bb:00:00:00:31","friendly_name":"Box","location":"Den","auto":"0"}`
	h.climb(http.MethodPut,
		step{"no token", person{}, "/leaf", right, 401, ""},
		step{"stranger", h.nobody, "/leaf", right, 404, ""},
		step{"foreign", h.neighbour, "/leaf", right, 404, ""},
		step{"foreign leaf", h.neighbour, "/leaf", `{"mac_address":"02:bb:00:00:00:31"}`, 404, "not found"},
		step{"unknown leaf", h.owner, "/leaf", `{"mac_address":"02:bb:00:00:00:99"}`, 404, "not found"},
		step{"malformed", h.owner, "/leaf", `{"mac_address"`, 400, ""},
		step{"no leaf", h.owner, "/leaf", `{"location":"Den"}`, 422, "body.mac_address"},
		step{"mistakes", h.owner, "/leaf", `{"mac_address":"x","auto":"yes","location":"a/b","node_id":1}`, 422, "body.node_id"},
		step{"right", h.member, "/leaf", right, 200, `"friendly_name":"Box","location":"Den","auto":"0","mobile":false`},
	)
	if got := h.leaf(); got.Location != "Den" || got.FriendlyName != "Box" {
		t.Errorf("stored %+v", got)
	}
	if got := h.radarConfig().Sounding.Clients[kitchen.String()].Mode; got != "deny" {
		t.Errorf("devices were sent mode %q", got)
	}
}

func TestLeafIsChangedInPartAndByForm(t *testing.T) {
	t.Parallel()
	h, _, _ := newPlaced(t)
	for _, c := range []struct{ form, want string }{
		{"auto=1", `"friendly_name":"Kitchen speaker","location":"Kitchen","auto":"1","mobile":false`},
		{"auto=", `"friendly_name":"Kitchen speaker","location":"Kitchen","auto":"","mobile":false`},
		{"mobile=true", `"auto":"","mobile":true`},
		{"mobile=false&location=", `"location":"","auto":"","mobile":true`},
	} {
		form := "mac_address=" + url.QueryEscape(kitchen.String()) + "&network_id=" + fmt.Sprint(h.home) + "&" + c.form
		a := h.Send(h.owner.token, http.MethodPut, "/leaf/", formMedia, form)
		if a.Status != 200 || !strings.Contains(string(a.Body), c.want) {
			t.Errorf("%s: %d %s, want %s", form, a.Status, a.Body, c.want)
		}
	}
	if got := h.radarConfig().Sounding.Clients; len(got) != 0 {
		t.Errorf("devices were sent clients %v, want none after auto was taken back", got)
	}
}

func TestNodeLadder(t *testing.T) {
	t.Parallel()
	h, master, foreign := newPlaced(t)
	body := func(id any) string {
		return fmt.Sprintf(`{"node_id":%v,"location":"Attic","friendly_name":"Gate"}`, id)
	}
	h.climb(http.MethodPut,
		step{"no token", person{}, "/node", body(master), 401, ""},
		step{"stranger", h.nobody, "/node", body(master), 404, ""},
		step{"foreign network", h.neighbour, fmt.Sprintf("/node?network_id=%d", h.home), body(master), 404, ""},
		step{"foreign node", h.owner, "/node", body(foreign), 404, fmt.Sprintf("node %d is not known", foreign)},
		step{"unknown node", h.owner, "/node", body(99), 404, "node 99 is not known"},
		step{"a leaf's id", h.owner, "/node", body(h.leaf().ID), 404, "is not known"},
		step{"malformed", h.owner, "/node", `{`, 400, ""},
		step{"mistakes", h.owner, "/node", `{"node_id":"x","auto":"1","location":7}`, 422, "not allowed for a node"},
		step{"right", h.member, "/node", body(master), 200, `"friendly_name":"Gate","location":"Attic"`},
		step{"in part", h.member, "/node", body(fmt.Sprintf(`"%d"`, master))[:len(`{"node_id":"1"`)] + "}", 200, `"friendly_name":"Gate","location":"Attic"`},
	)
	form := h.Send(h.member.token, http.MethodPut, "/node", formMedia, fmt.Sprintf("node_id=%d&location=Loft", master))
	if form.Status != 200 || !strings.Contains(string(form.Body), `"friendly_name":"Gate","location":"Loft"`) {
		t.Errorf("form: %d %s", form.Status, form.Body)
	}
}

func TestDevicesLadder(t *testing.T) {
	t.Parallel()
	h, master, foreign := newPlaced(t)
	before := len(h.devices.of("config"))
	leaf := `{"mac_address":"02:bb:00:00:00:31","auto":"0","location":"Den","friendly_name":"Box"}`
	node := fmt.Sprintf(`{"node_id":%d,"location":"Attic","friendly_name":"Gate"}`, master)
	h.climb(http.MethodPatch,
		step{"no token", person{}, "/devices", "[" + leaf + "]", 401, ""},
		step{"stranger", h.nobody, "/devices", "[" + leaf + "]", 404, ""},
		step{"foreign network", h.neighbour, fmt.Sprintf("/devices?network_id=%d", h.home), "[" + leaf + "]", 404, ""},
		step{"foreign leaf", h.neighbour, "/devices", "[" + leaf + "]", 422, "body[0].mac_address"},
		step{"malformed", h.owner, "/devices", "[", 400, ""},
		step{"mixed, one is foreign", h.owner, "/devices", fmt.Sprintf(`[%s,{"node_id":%d,"location":"","friendly_name":""}]`, leaf, foreign), 422, `"location":"body[1].node_id"`},
		step{"twice", h.owner, "/devices", "[" + leaf + "," + leaf + "]", 422, `"location":"body[1]","message":"is the same device as body[0]"`},
		step{"foreign node", h.owner, "/devices", fmt.Sprintf(`[%s,{"node_id":%d,"location":"","friendly_name":""}]`, node, foreign), 422, `"location":"body[1].node_id"`},
		step{"mac of a node object", h.owner, "/devices", `[{"node_id":134,"mac_address":"02:bb:00:00:00:31","location":"","friendly_name":""}]`, 422,
			`{"location":"body[0].mac_address","message":"not allowed for a node","value":"02:bb:00:00:00:31"}`},
		step{"wrapped", h.owner, "/devices", `{"devices":[{"auto":"1"}]}`, 422, `"location":"body.devices[0].friendly_name","message":"is required"`},
		step{"empty", h.owner, "/devices", `[]`, 200, `{"devices":[]}`},
	)
	if got := h.leaf(); got.Location != "Kitchen" || got.FriendlyName != "Kitchen speaker" {
		t.Errorf("a refused request has changed the leaf: %+v", got)
	}
	if sent := h.devices.of("config")[before:]; len(sent) > 0 {
		t.Errorf("refused requests have sent %v", sent)
	}
	apitest.WantJSON(t, h.as(h.member, http.MethodPatch, "/devices", "["+leaf+"]"), fmt.Sprintf(
		`{"devices":[{"id":%d,"network_id":%d,"mac_address":"02:bb:00:00:00:31","friendly_name":"Box","location":"Den","auto":"0","mobile":false}]}`, h.leaf().ID, h.home))
	apitest.WantJSON(t, h.as(h.member, http.MethodPatch, "/devices", fmt.Sprintf(`{"network_id":"%d","devices":[%s]}`, h.home, node)), fmt.Sprintf(
		`{"devices":[{"node_id":%d,"network_id":%d,"deviceId":"csi-a-02aa00000110","node_name":"GWA1000133","friendly_name":"Gate","location":"Attic"}]}`, master, h.home))
	if got := h.radarConfig().Sounding.Clients[kitchen.String()].Mode; got != "deny" {
		t.Errorf("devices were sent mode %q", got)
	}
	for name, body := range map[string]string{"a leaf and a node": "[%s,%s]", "wrapped": `{"devices":[%s,%s]}`} {
		mixed := fmt.Sprintf(body, strings.ReplaceAll(leaf, "Den", name), strings.ReplaceAll(node, "Attic", name))
		got := apitest.Want[struct{ Devices []map[string]any }](t, h.as(h.member, http.MethodPatch, "/devices", mixed), 200).Devices
		if len(got) != 2 || got[0]["mac_address"] != kitchen.String() || got[0]["location"] != name || got[1]["node_id"] != float64(master) || got[1]["location"] != name {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestDevicesArePlacedWhilePausedButNotTheirSounding(t *testing.T) {
	t.Parallel()
	h, _, _ := newPlaced(t)
	apitest.Want[any](t, h.as(h.owner, http.MethodPut, "/network_motion_config", `{"motion_paused":true}`), 200)
	leaf := func(auto string) string {
		return `[{"mac_address":"02:bb:00:00:00:31","auto":` + auto + `,"location":"Den","friendly_name":"Box"}]`
	}
	h.climb(http.MethodPatch,
		step{"sounding", h.owner, "/devices", leaf(`0`), 409, "paused"},
		step{"place alone", h.owner, "/devices", leaf(`""`), 200, `"location":"Den"`},
	)
}

func TestZonePriorityLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path = "/zone_priority"
	foreign := fmt.Sprintf("%s?network_id=%d", path, h.home)
	h.climb(http.MethodGet,
		step{"no token", person{}, path, "", 401, ""},
		step{"foreign", h.neighbour, foreign, "", 404, ""},
		step{"right", h.member, path, "", 200, `[]`},
	)
	many := make([]string, 65)
	for i := range many {
		many[i] = fmt.Sprintf(`"zone %d"`, i)
	}
	h.climb(http.MethodPatch,
		step{"no token", person{}, path, `[]`, 401, ""},
		step{"foreign", h.neighbour, foreign, `[]`, 404, ""},
		step{"malformed", h.owner, path, `["`, 400, ""},
		step{"no list", h.owner, path, `{"zones":[]}`, 422, "body"},
		step{"no text", h.owner, path, `["Den",7,""]`, 422, `"location":"body[1]"`},
		step{"twice", h.owner, path, `["Den","Den"]`, 422, `"location":"body[1]"`},
		step{"too many", h.owner, path, "[" + strings.Join(many, ",") + "]", 422, "64"},
		step{"too long", h.owner, path, `["` + strings.Repeat("x", 257) + `"]`, 422, "256"},
		step{"right", h.member, path, `["Kitchen","Garden shed"]`, 200, `["Kitchen","Garden shed"]`},
	)
	if got := h.guardianConfig().Leafblower; got.Mode != "zone" || len(got.ZonePriorityList) != 2 {
		t.Errorf("the guardian was sent %+v", got)
	}
	h.climb(http.MethodGet, step{"stored", h.owner, path, "", 200, `["Kitchen","Garden shed"]`})
	h.climb(http.MethodPatch, step{"replaced by nothing, as data", h.owner, path, `{"data":[]}`, 200, `[]`})
	if got := h.guardianConfig().Leafblower; got.Mode != "legacy" || len(got.ZonePriorityList) != 0 {
		t.Errorf("the guardian was sent %+v", got)
	}
}
