package setting

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/shape"
)

// largest bounds a document, as JSON in bytes: both configurations have to fit one
// command to a device.
const largest = 48 << 10

// Edit is a change of a document as a caller asks for it: with Replace the body
// takes the place of what is there (POST), otherwise it is merged into it by the
// rules of RFC 7396, null deleting a key (PATCH). With a Key both concern the value
// at that top-level key alone, the only one of Body (interfaces.md 4.1 no. 1).
type Edit struct {
	Key     string
	Replace bool
	Body    motion.Document // nil: what the caller has sent is no object
}

// apply returns what the edit makes of a document.
func (e Edit) apply(d motion.Document) (motion.Document, error) {
	switch {
	case e.Body == nil:
		return nil, fault.Details{{Location: "body", Message: "want an object"}}.Err()
	case e.Replace && e.Key == "":
		return e.Body.Clone(), nil
	case e.Replace:
		d = cloneOf(d)
		d[e.Key] = e.Body[e.Key]
		return d, nil
	}
	return merged(d, e.Body), nil
}

// at returns where a path of the document stands in the request.
func (e Edit) at(path ...string) string {
	place := "body"
	for i, key := range path {
		if i > 0 || e.Key == "" {
			place += "." + key
		}
	}
	return place
}

// check adds what is wrong with the edited document.
func (e Edit) check(m *fault.Details, o shape.Object, d motion.Document) {
	if e.Key == "" {
		checkKeys(m, "body", map[string]any(e.Body))
		o.Check(m, "body", map[string]any(d))
		return
	}
	checkKeys(m, "body", e.Body[e.Key])
	if len(e.Key) > shape.LongestKey {
		m.Add("query.key", nil, "want at most %d bytes", shape.LongestKey)
		return
	}
	if value, there := d[e.Key]; there {
		o.Field(e.Key)(m, "body", value)
	}
}

// checkKeys adds a mistake for each object of a request with an empty key, which null
// may delete.
func checkKeys(m *fault.Details, at string, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	for _, key := range sortedKeys(object) {
		if key == "" && object[key] != nil {
			m.Add(at, nil, "a key is empty")
		}
		checkKeys(m, at+"."+key, object[key])
	}
}

// merged returns target with patch merged into it (RFC 7396). Neither is changed.
func merged(target, patch map[string]any) map[string]any {
	result := cloneOf(target)
	for key, value := range patch {
		object, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(result, key)
		case isObject:
			before, _ := result[key].(map[string]any)
			result[key] = merged(before, object)
		default:
			result[key] = value
		}
	}
	return result
}

// cloneOf returns a copy of the top level, never nil.
func cloneOf(d map[string]any) map[string]any {
	if d == nil {
		return map[string]any{}
	}
	return maps.Clone(d)
}

// plain returns a value as a document, with the types that JSON decodes to, which shapes
// work on.
func plain(d any) (motion.Document, error) {
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	result := motion.Document{}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, fmt.Errorf("decode document: %w", err)
	}
	if result == nil { // it was null
		result = motion.Document{}
	}
	return result, nil
}

// fits refuses a document that is too large.
func fits(d motion.Document) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encode document: %w", err)
	}
	if len(raw) > largest {
		return fault.New(fault.TooLarge, "document: would have %d bytes, want at most %d", len(raw), largest)
	}
	return nil
}

// sortedKeys returns the keys of an object in order.
func sortedKeys(v map[string]any) []string { return slices.Sorted(maps.Keys(v)) }
