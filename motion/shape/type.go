package shape

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Document returns the shape of a document whose known keys are the fields of T.
// Unknown keys are kept, at every depth.
func Document[T any]() Object { return objectOf(reflect.TypeFor[T](), Anything) }

// special is a type with keys whose shapes do not follow from its fields.
type special interface{ Shapes() map[string]Shape }

// named is a type of which one of some keys has to be given.
type named interface{ AnyOf() []string }

// Read reads a JSON value, decoded into any, as a T: a struct whose fields say what may
// stand where. It notes all that is wrong; what has a mistake is not in the result. A
// key that is no field is refused, one without omitempty is required. Beyond the tags of
// the document there is shape (place, zone), items (what a list holds, in words) and entries
// (the most of a map). T may have methods Shapes() map[string]Shape and AnyOf() []string,
// and a field At, which takes its place.
func Read[T any](m *fault.Details, at string, value any) (result T) {
	read(m, at, value, reflect.ValueOf(&result).Elem())
	return result
}

func read(m *fault.Details, at string, value any, into reflect.Value) {
	if place := into.FieldByName("At"); place.IsValid() {
		place.SetString(at)
	}
	object, ok := value.(map[string]any)
	if !ok {
		m.Add(at, nil, "want an object")
		return
	}
	fields := reflect.VisibleFields(into.Type())
	byName, ofRecords := map[string]reflect.StructField{}, false
	for _, f := range fields {
		if isRecords(f.Type) { // without them there is nothing to say of the rest
			ofRecords = true
			before := len(*m)
			if of(f.Type, f.Tag, Nothing)(m, at+"."+nameOf(f), object[nameOf(f)]); len(*m) > before {
				return
			}
		}
		byName[nameOf(f)] = f
	}
	shape := objectOf(into.Type(), Nothing)
	for _, key := range slices.Sorted(maps.Keys(object)) {
		f, isField := byName[key]
		if ofRecords && !isField {
			Nothing(m, at+"."+key, nil)
			continue
		}
		before := len(*m)
		if shape.checkKey(m, at, key, object[key]); len(*m) > before || !isField || isRecords(f.Type) {
			continue
		}
		if decode(object[key], into.FieldByIndex(f.Index)) != nil {
			Nothing(m, at+"."+key, object[key])
		}
	}
	requireFields(m, at, object, into)
	for _, f := range fields {
		if isRecords(f.Type) {
			readRecords(m, at+"."+nameOf(f), object[nameOf(f)].([]any), into.FieldByIndex(f.Index))
		}
	}
}

// readRecords reads the objects of a list.
func readRecords(m *fault.Details, at string, items []any, into reflect.Value) {
	into.Set(reflect.MakeSlice(into.Type(), len(items), len(items)))
	for i, item := range items {
		read(m, at+"["+strconv.Itoa(i)+"]", item, into.Index(i))
	}
}

// requireFields notes the keys that are missing.
func requireFields(m *fault.Details, at string, object map[string]any, into reflect.Value) {
	for _, f := range reflect.VisibleFields(into.Type()) {
		_, given := object[nameOf(f)]
		if name := nameOf(f); !given && name != "" && !strings.Contains(f.Tag.Get("json"), ",omitempty") {
			m.Add(at+"."+name, nil, "is required")
		}
	}
	n, ok := into.Interface().(named)
	if !ok {
		return
	}
	keys := n.AnyOf()
	if !slices.ContainsFunc(keys, func(key string) bool { return object[key] != nil }) {
		last := len(keys) - 1
		m.Add(at, nil, "%s or %s is required", strings.Join(keys[:last], ", "), keys[last])
	}
}

// decode sets a field to a value.
func decode(value any, field reflect.Value) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, field.Addr().Interface())
}

// nameOf returns the key of a field, "" when it has none.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// isRecords reports whether a type is a list of objects.
func isRecords(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct
}

// objectOf returns the shape of a struct.
func objectOf(t reflect.Type, others Shape) Object {
	o := Object{Known: map[string]Shape{}, Others: others}
	for _, f := range reflect.VisibleFields(t) {
		if name := nameOf(f); name != "" {
			o.Known[name] = of(f.Type, f.Tag, others)
		}
	}
	if s, ok := reflect.Zero(t).Interface().(special); ok {
		maps.Copy(o.Known, s.Shapes())
	}
	return o
}

// of returns the shape of a field of a type with a tag; others is that of unknown keys.
func of(t reflect.Type, tag reflect.StructTag, others Shape) Shape {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	enum := strings.Split(tag.Get("enum"), ",")
	switch {
	case tag.Get("shape") == "place":
		return Place
	case t == reflect.TypeFor[motion.MAC]():
		return MAC
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return Anything // it refuses what it cannot read
	case tag.Get("enum") == "0,1":
		return Toggle
	}
	switch t.Kind() {
	case reflect.Struct:
		return objectOf(t, others).Check
	case reflect.Map:
		return ByMAC(int(limit(tag, "entries")), of(t.Elem(), "", others))
	case reflect.Slice:
		return listOf(t, tag)
	case reflect.String:
		if tag.Get("enum") != "" {
			return Word(enum...)
		}
		return Text(int(limit(tag, "maxLength")))
	case reflect.Float64:
		return number(limit(tag, "minimum"), limit(tag, "maximum"))
	case reflect.Int, reflect.Int32, reflect.Uint32:
		if tag.Get("enum") != "" {
			return choice(enum...)
		}
		return Integer(int(limit(tag, "minimum")), int(limit(tag, "maximum")))
	}
	return Anything
}

// listOf returns the shape of a list of texts, or of objects, which [Read] looks into.
func listOf(t reflect.Type, tag reflect.StructTag) Shape {
	most := int(limit(tag, "maxItems"))
	switch {
	case isRecords(t):
		return Array(most, tag.Get("items"))
	case tag.Get("shape") == "zone":
		return list(most, Zone)
	}
	return list(most, Text(longestPlace))
}

// limit returns a number of a tag.
func limit(tag reflect.StructTag, name string) float64 {
	n, err := strconv.ParseFloat(tag.Get(name), 64)
	if err != nil {
		panic("shape: a field has no " + name + ": " + string(tag))
	}
	return n
}
