package app

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/motion/shape"
)

const (
	kitchenLeaf = `{"mac_address":"02:bb:00:00:00:31","auto":"0","location":"Kitchen","friendly_name":"Speaker"}`
	meshNode    = `{"node_id":134,"location":"Hallway","friendly_name":"Mesh node"}`
)

// placements reads a body of PATCH /devices.
func placements(t *testing.T, body string) ([]setting.Placement, fault.Details) {
	t.Helper()
	var changes deviceChanges
	if err := json.Unmarshal([]byte(body), &changes); err != nil {
		t.Fatal(err)
	}
	return changes.placements, changes.found
}

func TestPlacementsAreReadBareAndWrapped(t *testing.T) {
	t.Parallel()
	for body, at := range map[string]string{
		"[" + kitchenLeaf + "]":                                   "body[0]",
		`{"devices":[` + kitchenLeaf + `]}`:                       "body.devices[0]",
		`{"network_id":"17","devices":[` + kitchenLeaf + `]}`:     "body.devices[0]",
		`[` + strings.ReplaceAll(kitchenLeaf, `"0"`, "0") + `]`:   "body[0]",
		`[` + strings.ReplaceAll(kitchenLeaf, ":bb", ":BB") + `]`: "body[0]",
	} {
		list, m := placements(t, body)
		if len(m) > 0 || len(list) != 1 {
			t.Errorf("%s: %+v %+v", body, list, m)
			continue
		}
		p := list[0]
		if p.At != at || p.Node != 0 || p.MAC != (motion.MAC{2, 0xbb, 0, 0, 0, 0x31}) || *p.Mode != setting.Deny || *p.Location != "Kitchen" || *p.FriendlyName != "Speaker" {
			t.Errorf("%s: %+v", body, p)
		}
	}
	list, m := placements(t, "["+meshNode+"]")
	if len(m) > 0 || list[0].Node != 134 || !list[0].MAC.IsZero() || list[0].Mode != nil {
		t.Errorf("node: %+v %+v", list, m)
	}
}

func TestMistakesOfPlacementsHaveTheirPlaces(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`:                   "body.devices: want an array of at most 256 leafs or nodes",
		`"x"`:                  "body: want an array of at most 256 leafs or nodes",
		`[1]`:                  "body[0]: want an object",
		`[{}]`:                 "body[0].mac_address: is required, body[0].auto: is required, body[0].location: is required, body[0].friendly_name: is required",
		`[{"node_id":134}]`:    "body[0].location: is required, body[0].friendly_name: is required",
		`{"devices":[],"x":1}`: "body.x: not a field here",
		`[` + kitchenLeaf + `,{"node_id":134,"mac_address":"02:bb:00:00:00:31","auto":"","location":"Hall","friendly_name":"M"}]`:                            "body[1].auto: not allowed for a node, body[1].mac_address: not allowed for a node",
		`[{"mac_address":"x","auto":"2","location":"a/b","friendly_name":7,"mobile":"so"}]`:                                                                  `body[0].auto: want "1" (may take part), "0" (never) or "" (as the network), body[0].friendly_name: want a string, body[0].location: want letters, digits, spaces and = + - _ @ ! only, body[0].mac_address: want a MAC address such as 02:bb:00:00:00:31, body[0].mobile: want true or false`,
		`[{"node_id":0,"location":"","friendly_name":""}]`:                                                                                                   "body[0].node_id: want a positive whole number",
		`[{"node_id":null,"location":null,"friendly_name":""}]`:                                                                                              "body[0].location: want a string, body[0].node_id: want a positive whole number",
		`[{"mac_address":"02:bb:00:00:00:31","auto":true,"location":"` + strings.Repeat("ü", 257) + `","friendly_name":"` + strings.Repeat("ü", 256) + `"}]`: `body[0].auto: want "1" (may take part), "0" (never) or "" (as the network), body[0].location: want at most 256 characters`,
	} {
		_, m := placements(t, body)
		var texts []string
		for _, d := range m {
			texts = append(texts, d.Location+": "+d.Message)
		}
		if got := strings.Join(texts, ", "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", body, got, want)
		}
	}
}

func TestOneLeafOrNodeIsReadFromTextToo(t *testing.T) {
	t.Parallel()
	var m fault.Details
	leaf := shape.Read[leafChange](&m, "body", map[string]any{"network_id": "17", "mac_address": "02:bb:00:00:00:31", "auto": "", "mobile": "true"})
	if len(m) > 0 || *modeOf(leaf.Auto) != "" || !*boolOf(leaf.Mobile) || leaf.Location != nil || leaf.FriendlyName != nil {
		t.Errorf("%+v %+v", leaf, m)
	}
	node := shape.Read[nodeChange](&m, "body", map[string]any{"network_id": 17.0, "node_id": "0134", "location": ""})
	if len(m) > 0 || node.Node.Value != 134 || *node.Location != "" || node.FriendlyName != nil {
		t.Errorf("%+v %+v", node, m)
	}
	shape.Read[nodeChange](&m, "body", map[string]any{"location": "Hall", "auto": "1"})
	shape.Read[leafChange](&m, "body", []any{})
	want := []string{"body.auto", "body.node_id", "body"}
	if !slices.EqualFunc(m, want, func(d fault.Detail, at string) bool { return d.Location == at }) {
		t.Errorf("%+v, want mistakes at %v", m, want)
	}
}

func TestAutoStandsForASoundingMode(t *testing.T) {
	t.Parallel()
	for mode, auto := range map[string]string{setting.Allow: "1", setting.Deny: "0", "": ""} {
		if got := modeOf(auto); autoOf(mode) != auto || got == nil || *got != mode {
			t.Errorf("mode %q has auto %q, want %q and back", mode, autoOf(mode), auto)
		}
	}
}

func FuzzPlacements(f *testing.F) {
	for _, body := range []string{"[" + kitchenLeaf + "]", `{"devices":[` + meshNode + `]}`, `[{"node_id":1e99}]`, `[[null]]`, `{"devices":{"a":1}}`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var changes deviceChanges
		if json.Unmarshal([]byte(body), &changes) != nil {
			return
		}
		list, m := changes.placements, changes.found
		var e *fault.Error
		if err := m.Err(); err != nil && (!errors.As(err, &e) || e.Kind != fault.Invalid) {
			t.Fatalf("%v", err)
		}
		for _, p := range list {
			named := p.Node != 0 || !p.MAC.IsZero()
			complete := named && p.Location != nil && p.FriendlyName != nil && (p.Mode != nil) == (p.Node == 0)
			if len(m) == 0 && !complete {
				t.Fatalf("no mistakes, and %+v", p)
			}
		}
	})
}
