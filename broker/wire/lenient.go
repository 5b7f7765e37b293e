package wire

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

const (
	// maxItems is the longest list or map that becomes a typed one.
	maxItems = 1024
	// maxText is the longest text of a typed field, in bytes.
	maxText = 1024
	// endOfTime is the first time in seconds that counts as no time: the year 2286, and with
	// it every count of milliseconds since 2001.
	endOfTime = 1e10
)

// into calls coerce for a value whose type is known at compile time.
func into[T any](dst *T, src any) *fault.Error { return coerce(reflect.ValueOf(dst).Elem(), src) }

// coerce writes src, a value of parse, into dst and reads it as what dst wants:
// text as numbers and numbers as text, 0, 1 and words as switches, a list
// without elements as an empty object and the other way round. null, and an
// empty text where no text is wanted, leave dst as it is: presets are defaults.
// Keys of objects that dst does not have are ignored.
func coerce(dst reflect.Value, src any) *fault.Error {
	if src == nil || dst.Kind() != reflect.String && dst.Kind() != reflect.Interface && blank(src) {
		return nil
	}
	if text, ok := dst.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return coerceText(text, src)
	}
	switch dst.Kind() {
	case reflect.Pointer:
		value := reflect.New(dst.Type().Elem())
		if err := coerce(value.Elem(), src); err != nil {
			return err
		}
		dst.Set(value)
	case reflect.Interface:
		if value := plain(src); value != nil {
			dst.Set(reflect.ValueOf(value))
		}
	case reflect.Struct:
		return coerceStruct(dst, src)
	case reflect.Map:
		return coerceMap(dst, src)
	case reflect.Slice:
		return coerceList(dst, src)
	default:
		return coerceScalar(dst, src)
	}
	return nil
}

// coerceStruct reads an object by the json names of dst's fields.
func coerceStruct(dst reflect.Value, src any) *fault.Error {
	object, err := toObject(src)
	if err != nil {
		return err
	}
	for i := range dst.NumField() {
		name, _, _ := strings.Cut(dst.Type().Field(i).Tag.Get("json"), ",")
		if err := coerce(dst.Field(i), object[name]); err != nil {
			return under(name, err)
		}
	}
	return nil
}

// coerceMap reads an object with any keys. A key whose value is null is left
// out, unless the map holds any value.
func coerceMap(dst reflect.Value, src any) *fault.Error {
	object, err := toObject(src)
	if err != nil {
		return err
	}
	if len(object) > maxItems {
		return invalid("%d entries: at most %d", len(object), maxItems)
	}
	entry := dst.Type().Elem()
	made := reflect.MakeMapWithSize(dst.Type(), len(object))
	for key, value := range object {
		if len(key) > maxText {
			return invalid("key %.32q…: at most %d bytes", key, maxText)
		}
		if value == nil && entry.Kind() != reflect.Interface {
			continue
		}
		element := reflect.New(entry).Elem()
		if err := coerce(element, value); err != nil {
			return under(short(key), err)
		}
		made.SetMapIndex(reflect.ValueOf(key), element)
	}
	dst.Set(made)
	return nil
}

// coerceList reads a list.
func coerceList(dst reflect.Value, src any) *fault.Error {
	list, err := toList(src)
	if err != nil {
		return err
	}
	if len(list) > maxItems {
		return invalid("%d entries: at most %d", len(list), maxItems)
	}
	made := reflect.MakeSlice(dst.Type(), len(list), len(list))
	for i, value := range list {
		if err := coerce(made.Index(i), value); err != nil {
			return item(i, err)
		}
	}
	dst.Set(made)
	return nil
}

// coerceScalar reads a text, a switch or a number.
func coerceScalar(dst reflect.Value, src any) *fault.Error {
	if dst.Kind() == reflect.String {
		text, ok := scalarText(src)
		if !ok {
			return malformed("want a text")
		}
		if len(text) > maxText {
			return invalid("text of %d bytes: at most %d", len(text), maxText)
		}
		dst.SetString(text)
		return nil
	}
	if dst.Kind() == reflect.Bool {
		on, err := toBool(src)
		dst.SetBool(on)
		return err
	}
	number, err := toFloat(src)
	if err != nil {
		return err
	}
	if dst.Type() == reflect.TypeFor[motion.Time]() {
		if number < 0 || number >= endOfTime {
			number = 0 // the device's clock is wrong
		}
		dst.SetFloat(number)
		return nil
	}
	if dst.CanFloat() {
		dst.SetFloat(number)
		return nil
	}
	return coerceWhole(dst, src, number)
}

// coerceWhole writes a whole number; number is src as a float, which says whether
// it is whole when it is not written as digits alone.
func coerceWhole(dst reflect.Value, src any, number float64) *fault.Error {
	text, _ := scalarText(src)
	whole, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		if number != math.Trunc(number) || math.Abs(number) > 1<<53 {
			return invalid("%s is not a whole number in range", short(text))
		}
		whole = int64(number)
	}
	switch {
	case dst.CanInt() && !dst.OverflowInt(whole):
		dst.SetInt(whole)
	case dst.CanUint() && whole >= 0 && !dst.OverflowUint(uint64(whole)):
		dst.SetUint(uint64(whole))
	default:
		return invalid("%s is out of range", short(text))
	}
	return nil
}

// coerceText reads a text into a type that has its own text form, such as a MAC.
func coerceText(dst encoding.TextUnmarshaler, src any) *fault.Error {
	text, ok := src.(string)
	if !ok {
		return malformed("want a text")
	}
	if err := dst.UnmarshalText([]byte(strings.TrimSpace(text))); err != nil {
		return malformed("%.100s", err)
	}
	return nil
}

// toObject returns src as an object; an empty list counts as an empty object, because some
// agents cannot tell the two apart.
func toObject(src any) (map[string]any, *fault.Error) {
	switch v := src.(type) {
	case map[string]any:
		return v, nil
	case []any:
		if len(v) == 0 {
			return map[string]any{}, nil
		}
	}
	return nil, malformed("want an object")
}

// toList returns src as a list; an empty object counts as an empty list.
func toList(src any) ([]any, *fault.Error) {
	switch v := src.(type) {
	case []any:
		return v, nil
	case map[string]any:
		if len(v) == 0 {
			return []any{}, nil
		}
	}
	return nil, malformed("want a list")
}

// toBool returns src as a switch.
func toBool(src any) (bool, *fault.Error) {
	if text, ok := src.(string); ok {
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "yes", "on":
			return true, nil
		case "false", "no", "off":
			return false, nil
		}
	}
	number, err := toFloat(src)
	if err != nil {
		return false, malformed("want true or false")
	}
	return number != 0, nil
}

// toFloat returns src as a finite number.
func toFloat(src any) (float64, *fault.Error) {
	text, ok := scalarText(src)
	if !ok {
		return 0, malformed("want a number")
	}
	switch text {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		return 0, malformed("%s is not a finite number", short(text))
	}
	return number, nil
}

// scalarText returns the text of a text, number or switch.
func scalarText(src any) (string, bool) {
	switch v := src.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

// blank reports whether src is a text that stands for no value.
func blank(src any) bool {
	text, ok := src.(string)
	if !ok {
		return false
	}
	text = strings.TrimSpace(text)
	return text == "" || text == "null" || notNumber([]byte(text)) == len(text)
}

// plain turns a value of parse into what encoding/json makes of it without
// UseNumber: the values of a motion.Document. A number that no float64 holds
// becomes null, as Infinity does.
func plain(src any) any {
	switch v := src.(type) {
	case json.Number:
		number, err := v.Float64()
		if err != nil {
			return nil
		}
		return number
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, value := range v {
			object[key] = plain(value)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = plain(value)
		}
		return list
	}
	return src
}

// short quotes a text for a message.
func short(text string) string {
	if len(text) > 32 {
		text = text[:32]
	}
	return strconv.Quote(text)
}
