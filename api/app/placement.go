package app

import (
	"strconv"

	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/motion/shape"
)

// Shapes adds what the fields of a leaf do not say.
func (leafPlacement) Shapes() map[string]shape.Shape {
	return map[string]shape.Shape{"auto": auto, "mobile": yesOrNo}
}

// Shapes adds what the fields of a leaf do not say.
func (leafChange) Shapes() map[string]shape.Shape {
	return map[string]shape.Shape{"auto": auto, "mobile": yesOrNo, "network_id": positive}
}

// Shapes adds what the fields of a node do not say.
func (nodePlacement) Shapes() map[string]shape.Shape {
	return map[string]shape.Shape{"node_id": positive, "mac_address": notForNode, "auto": notForNode, "mobile": notForNode}
}

// Shapes adds what the fields of a node do not say.
func (nodeChange) Shapes() map[string]shape.Shape {
	shapes := nodePlacement{}.Shapes()
	shapes["network_id"] = positive
	return shapes
}

func notForNode(m *fault.Details, at string, value any) { m.Add(at, value, "not allowed for a node") }

// auto says whether a leaf may be selected for sounding: "1", "0" or "", or a number.
func auto(m *fault.Details, at string, value any) {
	if modeOf(value) == nil {
		m.Add(at, value, `want "1" (may take part), "0" (never) or "" (as the network)`)
	}
}

// modeOf returns the sounding mode that auto stands for (payloads.md 5.3); nil: for none.
func modeOf(auto any) *string {
	var mode string
	switch auto {
	case "1", 1.0:
		mode = setting.Allow
	case "0", 0.0:
		mode = setting.Deny
	case "":
	default:
		return nil
	}
	return &mode
}

// autoOf returns the auto that a sounding mode stands for.
func autoOf(mode string) string {
	switch mode {
	case setting.Allow:
		return "1"
	case setting.Deny:
		return "0"
	}
	return ""
}

// yesOrNo is a boolean; forms send it as text.
func yesOrNo(m *fault.Details, at string, value any) {
	if boolOf(value) == nil {
		m.Add(at, value, "want true or false")
	}
}

// boolOf returns the boolean that a value stands for; nil: for none.
func boolOf(value any) *bool {
	switch v := value.(type) {
	case bool:
		return &v
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return &b
		}
	case float64:
		if b := v == 1; b || v == 0 {
			return &b
		}
	}
	return nil
}

// positive is an id; forms send it as text.
func positive(m *fault.Details, at string, value any) {
	text, _ := value.(string)
	if number, ok := value.(float64); ok {
		text = strconv.FormatFloat(number, 'f', -1, 64)
	}
	if id, err := strconv.ParseUint(text, 10, 31); err != nil || id == 0 {
		m.Add(at, value, "want a positive whole number")
	}
}
