package setting

import (
	"fmt"
	"strconv"

	"sensegate/motion"
)

// Placement is what a household asks for one node or leaf (PUT /node, PUT /leaf
// and PATCH /devices, interfaces.md 4.2 no. 5). Nil is not asked for.
type Placement struct {
	At string // its place in the request, such as body[1]

	Node motion.NodeID // 0: it is a leaf
	MAC  motion.MAC    // of a leaf

	FriendlyName, Location *string
	Mode                   *string // Allow, Deny, or "": that of the network; of a leaf
	Mobile                 *bool   // of a leaf
}

// ReadPlacements reads the body of PATCH /devices: a list, or an object that has it
// as devices. Leafs and nodes may be mixed; each has its place and name. What can be told
// to be wrong without knowing the devices goes into m.
func ReadPlacements(m *Mistakes, body any) []Placement {
	at := "body"
	if wrapper, ok := body.(map[string]any); ok {
		at, body = "body.devices", wrapper["devices"]
		object{known: map[string]shape{"devices": anything, "network_id": positive}, others: nothing}.check(m, "body", wrapper)
	}
	items, ok := body.([]any)
	if !ok || len(items) > maxPatched {
		m.Add(at, nil, "want an array of at most %d leafs or nodes", maxPatched)
		return nil
	}
	placements := make([]Placement, 0, len(items))
	for i, item := range items {
		place := fmt.Sprintf("%s[%d]", at, i)
		fields, ok := item.(map[string]any)
		if !ok {
			m.Add(place, nil, "want an object")
			continue
		}
		kind, rules := "leaf", leafShape()
		if _, isNode := fields["node_id"]; isNode {
			kind, rules = "node", nodeShape()
		}
		rules.check(m, place, fields)
		if kind == "leaf" {
			require(m, place, fields, "mac_address", "auto")
		}
		require(m, place, fields, "location", "friendly_name")
		placements = append(placements, placementOf(place, fields))
	}
	return placements
}

// ReadLeaf reads the body of PUT /leaf likewise.
func ReadLeaf(m *Mistakes, body any) Placement {
	return readOne(m, body, leafShape(), "mac_address")
}

// ReadNode reads the body of PUT /node likewise.
func ReadNode(m *Mistakes, body any) Placement {
	return readOne(m, body, nodeShape(), "node_id")
}

func readOne(m *Mistakes, body any, rules object, name string) Placement {
	fields, ok := body.(map[string]any)
	if !ok {
		m.Add("body", nil, "want an object")
		return Placement{At: "body"}
	}
	rules.known["network_id"] = positive // says whose it is
	rules.check(m, "body", fields)
	require(m, "body", fields, name)
	return placementOf("body", fields)
}

// leafShape is a leaf as a household places it.
func leafShape() object {
	return object{
		known:  map[string]shape{"mac_address": address, "auto": auto, "mobile": yesOrNo, "friendly_name": place, "location": place},
		others: nothing,
	}
}

// nodeShape is a node as a household places it.
func nodeShape() object {
	return object{
		known: map[string]shape{
			"node_id": positive, "mac_address": notForNode, "auto": notForNode, "mobile": notForNode, "friendly_name": place, "location": place,
		},
		others: nothing,
	}
}

// require adds a mistake for each field that is missing.
func require(m *Mistakes, at string, fields map[string]any, names ...string) {
	for _, name := range names {
		if _, given := fields[name]; !given {
			m.Add(at+"."+name, nil, "is required")
		}
	}
}

func notForNode(m *Mistakes, at string, value any) { m.Add(at, value, "not allowed for a node") }

// auto says whether a leaf may be selected for sounding: "1", "0" or "".
func auto(m *Mistakes, at string, value any) {
	if _, ok := modeOf(value); !ok {
		m.Add(at, value, `want "1" (may take part), "0" (never) or "" (as the network)`)
	}
}

// modeOf returns the sounding mode that auto stands for (payloads.md 5.3).
func modeOf(auto any) (mode string, ok bool) {
	switch auto {
	case "1", 1.0:
		return Allow, true
	case "0", 0.0:
		return Deny, true
	}
	return "", auto == ""
}

// AutoOf returns the auto that a sounding mode stands for.
func AutoOf(mode string) string {
	switch mode {
	case Allow:
		return "1"
	case Deny:
		return "0"
	}
	return ""
}

// yesOrNo is a boolean; forms send it as text.
func yesOrNo(m *Mistakes, at string, value any) {
	if _, ok := boolOf(value); !ok {
		m.Add(at, value, "want true or false")
	}
}

func boolOf(value any) (b, ok bool) {
	switch v := value.(type) {
	case bool:
		return v, true
	case string:
		b, err := strconv.ParseBool(v)
		return b, err == nil
	}
	return value == 1.0, value == 1.0 || value == 0.0
}

// positive is an id; forms send it as text.
func positive(m *Mistakes, at string, value any) {
	if _, ok := nodeIDOf(value); !ok {
		m.Add(at, value, "want a positive whole number")
	}
}

func nodeIDOf(value any) (motion.NodeID, bool) {
	text, isText := value.(string)
	if number, ok := value.(float64); ok {
		text, isText = strconv.FormatFloat(number, 'f', -1, 64), true
	}
	id, err := strconv.ParseUint(text, 10, 31)
	return motion.NodeID(id), isText && err == nil && id > 0
}

// placementOf returns what the fields ask for; those that have a mistake are not
// asked for.
func placementOf(at string, fields map[string]any) Placement {
	p := Placement{At: at}
	p.Node, _ = nodeIDOf(fields["node_id"])
	if text, ok := fields["mac_address"].(string); ok {
		p.MAC, _ = motion.ParseMAC(text)
	}
	if text, ok := fields["friendly_name"].(string); ok {
		p.FriendlyName = &text
	}
	if text, ok := fields["location"].(string); ok {
		p.Location = &text
	}
	if value, given := fields["auto"]; given {
		if mode, ok := modeOf(value); ok {
			p.Mode = &mode
		}
	}
	if value, given := fields["mobile"]; given {
		if mobile, ok := boolOf(value); ok {
			p.Mobile = &mobile
		}
	}
	return p
}
