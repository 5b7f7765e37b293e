package wire

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
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
