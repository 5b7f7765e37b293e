package jsonwriter

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"sensegate/motion"
	"sensegate/motion/jsonwriter/jsonwritertest"
)

// chance makes values of every shape, the same ones for the same seed.
type chance struct{ *rand.Rand }

func newChance(seed uint64) chance { return chance{rand.New(rand.NewPCG(seed, 0))} }

func (c chance) text() string {
	return []string{
		"", "Kitchen", "Küche", "厨房", "<b>&amp;</b>", "a\"b\\c/d", "\x00\x1f\x7f\b\f\n\r\t", "line\u2028and\u2029", "broken\xff\xc3", "\ufffd", "é<", "😀", "02:aa:00:00:01:12",
	}[c.IntN(13)]
}

func (c chance) number() float64 {
	if c.IntN(4) == 0 {
		return math.Float64frombits(c.Uint64N(0x7ff << 52)) // every finite one that is not negative
	}
	return []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 0.001, -0.01, 7.25, 9.999, 0.0005, 999999999999.999, 1e12 + 0.125, 1e-6, 9.999999e-7, 1e20, 1e21, -1e21, 1 << 53, 1<<53 - 1, 1<<53 + 2, 1764000060.2, math.MaxFloat64, math.SmallestNonzeroFloat64,
	}[c.IntN(24)]
}

// any returns a value of a document.
func (c chance) any(depth int) any {
	kinds := 14
	if depth == 0 {
		kinds = 10
	}
	switch c.IntN(kinds) {
	case 0, 1, 2:
		return c.text()
	case 3, 4:
		return c.number()
	case 5:
		return c.IntN(100) - 50
	case 6:
		return c.IntN(2) == 0
	case 7:
		return motion.Time(c.number())
	case 8:
		return nil
	case 9:
		return json.Number("1.50")
	case 10:
		return map[string]any(c.document(depth - 1))
	case 11:
		return c.document(depth - 1)
	case 12:
		return []any{c.any(depth - 1), c.any(depth - 1)}
	}
	return map[string]string{c.text(): c.text()}
}

func (c chance) document(depth int) motion.Document {
	if c.IntN(8) == 0 {
		return nil
	}
	d := motion.Document{}
	for range c.IntN(4) {
		d[c.text()] = c.any(depth)
	}
	if c.IntN(8) == 0 { // more than small maps have
		for i := range 40 {
			d[string(rune('a'+i))] = i
		}
	}
	return d
}

// fill sets a value and all that it holds.
func (c chance) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case motion.Document:
		v.Set(reflect.ValueOf(c.document(3)))
		return
	case json.RawMessage:
		return // set from documents
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			c.fill(v.Field(i))
		}
	case reflect.Slice:
		if n := c.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1)) // also an empty one
		}
		for i := range v.Len() {
			c.fill(v.Index(i))
		}
	case reflect.Array: // an address
		if c.IntN(3) > 0 {
			for i := range v.Len() {
				v.Index(i).SetUint(c.Uint64() & 255)
			}
		}
	case reflect.Map:
		if c.IntN(4) == 0 {
			return
		}
		v.Set(reflect.MakeMap(v.Type()))
		for range c.IntN(4) {
			value := reflect.New(v.Type().Elem()).Elem()
			c.fill(value)
			v.SetMapIndex(reflect.ValueOf(c.text()), value)
		}
	case reflect.Pointer:
		if c.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			c.fill(v.Elem())
		}
	case reflect.Interface:
		if value := c.any(2); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	case reflect.String:
		v.SetString(c.text())
	case reflect.Float64:
		v.SetFloat(c.number())
	case reflect.Bool:
		v.SetBool(c.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(int64(c.IntN(2000) - 1000))
	case reflect.Uint32:
		v.SetUint(uint64(c.Uint32()))
	default:
		panic("the generator does not know " + v.Type().String())
	}
}

func FuzzReportsAreWrittenAsByEncodingJSON(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		var report motion.StatusReport
		newChance(seed).fill(reflect.ValueOf(&report).Elem())
		w := Writer{EscapeHTML: true}
		w.Report("", &report)
		wantSame(t, string(w.Out), string(jsonwritertest.ByEncodingJSON(t, jsonwritertest.Tidy(report), true)))
	})
}

func FuzzLiveFramesAreWrittenAsByEncodingJSON(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		var frame motion.LiveFrame
		newChance(seed).fill(reflect.ValueOf(&frame).Elem())
		got, err := LiveFrame(&frame)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, string(got), string(jsonwritertest.ByEncodingJSON(t, frame, true)))
	})
}

func TestLiveFrameWithANumberThatJSONCannotSayIsRefused(t *testing.T) {
	t.Parallel()
	infinite := math.Inf(1)
	text, err := LiveFrame(&motion.LiveFrame{Data: motion.LiveData{MSAD: []*float64{&infinite}}})
	if unsupported := new(json.UnsupportedValueError); text != nil || !errors.As(err, &unsupported) {
		t.Errorf("got %s and %v", text, err)
	}
}

func FuzzValuesAreWrittenAsByEncodingJSON(f *testing.F) {
	f.Add("line\u2028<&>é", 0.5, 7)
	f.Add("broken\xff", 1e21, -7)
	f.Add("\x00\"\\", math.Copysign(0, -1), 0)
	f.Fuzz(func(t *testing.T, text string, number float64, integer int) {
		if math.IsNaN(number) || math.IsInf(number, 0) {
			t.Skip("JSON cannot say it")
		}
		values := map[string]any{text: text, "number": number, "integer": integer, "time": motion.Time(number)}
		for _, escapeHTML := range []bool{false, true} {
			w := Writer{EscapeHTML: escapeHTML}
			w.Value("", values)
			wantSame(t, string(w.Out), string(jsonwritertest.ByEncodingJSON(t, values, escapeHTML)))
		}
	})
}

// wantSame compares two texts, and shows where they part.
func wantSame(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	t.Fatalf("at byte %d:\n%q\nwant\n%q", at, got[max(0, at-40):min(len(got), at+40)], want[max(0, at-40):min(len(want), at+40)])
}

func TestThousandthsAreWrittenInTheirShortestForm(t *testing.T) {
	t.Parallel()
	c := newChance(1)
	for digits := int64(1); digits <= 1e15; digits *= 10 {
		for range 5000 {
			v := float64(c.Int64N(2*digits)-digits) / 1000
			if v == 0 {
				continue // of which there is a negative one too
			}
			var w Writer
			w.Number("", v)
			if want := strconv.FormatFloat(v, 'f', -1, 64); string(w.Out) != want {
				t.Fatalf("got %s, want %s", w.Out, want)
			}
		}
	}
}

func TestNumberThatJSONCannotSayIsNotAnswered(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("NaN was written")
		}
	}()
	new(Writer).Number("", math.NaN())
}
