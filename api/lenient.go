package api

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Lenient is a field of a body that existing clients also send as text: a number or
// boolean T, such as 17 and "17". Limits in the field's tags hold for neither form;
// what needs them checks Value.
type Lenient[T any] struct{ Value T }

// Schema describes both forms.
func (Lenient[T]) Schema(r huma.Registry) *huma.Schema {
	plain := r.Schema(reflect.TypeFor[T](), true, "")
	text := &huma.Schema{Type: huma.TypeString, MaxLength: new(int), Pattern: `^-?[0-9]+(\.[0-9]+)?$`}
	switch plain.Type {
	case huma.TypeBoolean:
		text.Pattern = "^(true|false)$"
	case huma.TypeInteger:
		text.Pattern = "^-?[0-9]+$"
	}
	*text.MaxLength = 32
	if t := reflect.TypeFor[T](); plain.Type == huma.TypeInteger {
		plain.Minimum, plain.Maximum = limits(t)
		plain.Format = "" // int32, which is signed, would be wrong of an id
		plain.PrecomputeMessages()
	}
	text.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{plain, text}}
}

// UnmarshalJSON reads either form.
func (l *Lenient[T]) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(withoutZeros(text))
	}
	if json.Unmarshal(raw, &l.Value) != nil {
		return errors.New("a number is out of range")
	}
	return nil
}

// withoutZeros returns a number as JSON writes it: without zeros before its digits.
func withoutZeros(number string) string {
	digits, negative := strings.CutPrefix(number, "-")
	for len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		digits = digits[1:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}
