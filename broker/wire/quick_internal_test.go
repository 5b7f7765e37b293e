package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sensegate/motion"
)

// What is read quickly is what encoding/json reads.
func FuzzQuickly(f *testing.F) {
	for _, text := range []string{
		`{}`, ` {"a" : [ ] , "b":{"c":[1,-0,0.5,-1.25e+7,1E9,"",true,false,null]}} `, `{"a":1,"a":{"b":2}}`, `{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":.5}`, `{"a":1e}`,
		`{"a":"b\n"}`, `{"ä":1}`, `{"a":1}x`, `{"a":1,}`, `{"a" 1}`, `[1]`, `{"a":[1,]}`, `{"a":tru}`, "{\"a\":\"\x1f\"}", `{"a":1 2}`, `{"a"`, `{`, "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		got, ok := quickly(payload)
		if !ok {
			return
		}
		decoder := json.NewDecoder(bytes.NewReader(payload))
		decoder.UseNumber()
		var want any
		if err := decoder.Decode(&want); err != nil || decoder.More() {
			t.Fatalf("%q is no JSON: %v", payload, err)
		}
		if !reflect.DeepEqual(any(got), want) {
			t.Fatalf("%q: %v, want %v", payload, got, want)
		}
	})
}

// What devices send is read quickly.
func TestQuicklyReadsWhatDevicesSend(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, ` {"a" : [ ] , "b":{"c":[1,-0,0.5,-1.25e+7,1E9,"",true,false,null]}} `,
		`{"ts": 1764000000.5, "links": ["EXA1000134.GWA1000133"], "data": {"mkai": [0.0]}, "loc": ["nomotion"], "interval": 500}`,
	} {
		if _, ok := quickly([]byte(text)); !ok {
			t.Errorf("%s is not read", text)
		}
	}
	for _, text := range []string{`{"a":01}`, `{"a":1.}`, `{"a":-}`, `{"a":.5}`, `{"a":1e}`, `{"a":1}x`, `{"a":1,}`, `{"a" 1}`, `[1]`, `{"a":[1,]}`, `{"a":tru}`, "{\"a\":\"\x1f\"}", `{"a":1 2}`, `{"a"`, `{`, ""} {
		if object, ok := quickly([]byte(text)); ok {
			t.Errorf("%s is read as %v", text, object)
		}
	}
}

// usual is a motion-matrix as guardians send it, of steps.
func usual(steps int) string {
	row := func(value string) string {
		if steps == 1 {
			return value
		}
		return "[" + value + strings.Repeat(", "+value, steps-1) + "]"
	}
	return fmt.Sprintf(`{"ts": 1764000000.5, "links": ["EXA1000134.GWA1000133", "GWA1000133.02bb00000031"], "data": {"lraw": [%s, %s], "mkai": [%s, %s], "msad": [%s, %s]}, `+
		`"loc": ["02:bb:00:00:00:31", 0.82], "interval": 500, "count": %d, "motion_tripped": 1, "last_motion": 1764000000.5, "motion_enabled": 1}`,
		row("0.04"), row("0.35"), row("0.0"), row("1.0000001"), row("NaN"), row("null"), steps)
}

// A matrix that is read quickly is what it is without, also in the memory of another one.
func FuzzQuickMatrix(f *testing.F) {
	for _, text := range []string{
		usual(1), usual(2), `{"links": [], "data": {"mkai": []}}`, `{"links": ["AA0112-BB0031"], "motion": {"mkai": [[0, 1]]}, "loc": ["nomotion"], "count": 2}`,
		`{"links": ["a.b"], "data": {"mkai": [0.5]}, "count": 2}`, `{"links": ["a.b"], "data": {"mkai": [2]}}`, `{"links": ["a.02-BB-00-00-00-31"], "data": {"mkai": [0], "other": 1}}`,
		`{"links": ["a.b"], "data": {"mkai": [0]}, "links": ["a.c"]}`, `{"links": ["a.b"], "data": {"mkai": [0]}, "ts": 1764000000500}`, `{"links": ["a.b"], "data": {"mkai": [-Infinity]}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		var reader matrixReader
		reader.read([]byte(usual(2)))
		if !reader.read(payload) {
			return
		}
		top, err := parse(payload)
		if err != nil {
			t.Fatalf("%q is read, but %v", payload, err)
		}
		want, err := decodeMatrix(top)
		if err != nil {
			t.Fatalf("%q is read, but %v", payload, err)
		}
		if diff := cmp.Diff(want, motion.Report(&reader.message), cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", payload, diff)
		}
	})
}

// The matrices that guardians send are read quickly, what is wrong is not.
func TestQuickMatrixReadsWhatGuardiansSend(t *testing.T) {
	t.Parallel()
	var reader matrixReader
	for _, text := range []string{usual(1), usual(2), usual(60), strings.Replace(usual(1), `"data": {`, `"later": {"x": [1, "y"]}, "data": {"later": [null], `, 1)} {
		if !reader.read([]byte(text)) {
			t.Errorf("%s is not read", text)
		}
	}
	for _, change := range []struct{ now, then string }{
		{`"data"`, `"dato"`}, {`"mkai"`, `"lraw"`}, {`0.04`, `1.04`}, {`0.04`, `-0.04`}, {`0.04, 0.35`, `0.04`}, {`"count": 1`, `"count": 2`}, {`"count": 1`, `"count": 1.5`},
		{`"interval": 500`, `"interval": 0`}, {`1764000000.5`, `1764000000500`}, {`GWA1000133"`, `GWA 1000133"`}, {`"loc": [`, `"loc": ["nowhere", `}, {`"links"`, `"count": 1, "links"`},
		{`NaN`, `Nan`}, {`null`, `nul`}, {`}`, ``}, {`{`, `[`}, {`"ts"`, `"\u0074s"`},
	} {
		text := strings.Replace(usual(1), change.now, change.then, 1)
		if text == usual(1) {
			t.Fatalf("%q is not there", change.now)
		}
		if reader.read([]byte(text)) {
			t.Errorf("%s is read as %v", text, reader.message)
		}
	}
	if reader.read([]byte(usual(1) + "x")) {
		t.Errorf("what follows is ignored: %v", reader.message)
	}
}

func TestLinkIDIsOneNewText(t *testing.T) {
	for text, want := range map[string]string{
		"GWA1000133.02bb00000031": "GWA1000133.02bb00000031", "GWA1000133.02BB00000031": "GWA1000133.02bb00000031",
		"02:BB:00:00:00:31.02-aa-00-00-01-10": "02bb00000031.02aa00000110", "twelve-chars.seventeen-letters": "twelve-chars.seventeen-letters",
	} {
		if got, err := linkID(text); err != nil || got != want {
			t.Errorf("link %q is read as %q, %v, want %q", text, got, err, want)
		}
	}
	const letters = "0123456789abfABFgz-_:. "
	for range 200_000 { // ends that are read quickly are read as they are slowly
		name := make([]byte, []int{0, 1, 10, 12, 12, 12, 13, 17, 17, 64, 65}[rand.IntN(11)])
		few := 1 + rand.IntN(len(letters))
		for i := range name {
			name[i] = letters[rand.IntN(few)]
		}
		if slow, err := wireName(string(name)); plainName(string(name)) && (err != nil || slow != string(name)) {
			t.Fatalf("%q is plain, and read as %q, %v", name, slow, err)
		}
	}
	if id, err := linkID("GWA1000133.000000000000"); err == nil {
		t.Errorf("the zero address is read as %q", id)
	}
	if n := testing.AllocsPerRun(10, func() { _, _ = linkID("GWA1000133.02bb00000031") }); n > 1 {
		t.Errorf("%g allocations, want one", n)
	}
}

func TestShortDecimalIsWhatParseFloatReads(t *testing.T) {
	t.Parallel()
	read := 0
	for range 200_000 {
		digits := strconv.FormatUint(rand.Uint64N(uint64(math.Pow10(1+rand.IntN(19)))), 10)
		text := digits
		if dot := rand.IntN(len(digits) + 1); dot < len(digits) {
			text = digits[:dot] + "." + digits[dot:]
			if dot == 0 {
				text = "0" + text
			}
		}
		got, ok := shortDecimal([]byte(text))
		if !ok {
			continue
		}
		read++
		if want, err := strconv.ParseFloat(text, 64); err != nil || got != want {
			t.Fatalf("%s: %v; want %v, %v", text, got, want, err)
		}
	}
	if read < 100_000 {
		t.Errorf("%d of 200,000 numbers were read", read)
	}
	for _, text := range []string{"-1", "1e3", "1E3", "-0", "12345678901234567", "1.2345678901234567"} {
		if got, ok := shortDecimal([]byte(text)); ok {
			t.Errorf("%s was read as %v", text, got)
		}
	}
}
