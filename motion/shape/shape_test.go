package shape_test

import (
	"encoding/json"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/shape"
)

type thing struct {
	At    string      `json:"-"`
	MAC   *motion.MAC `json:"mac,omitempty"`
	ID    *uint32     `json:"id,omitempty" minimum:"1" maximum:"9"`
	Name  *string     `json:"name,omitempty" maxLength:"256" shape:"place"`
	Color *string     `json:"color,omitempty" enum:"red,blue"`
	On    *int32      `json:"on,omitempty" enum:"0,1"`
	Share *float64    `json:"share,omitempty" minimum:"0" maximum:"1"`
	Zones *[]string   `json:"zones,omitempty" maxItems:"2" shape:"zone"`
}

func (thing) AnyOf() []string { return []string{"mac", "id"} }

type things struct {
	Things []thing `json:"things" maxItems:"2" items:"things"`
}

// read reads JSON as a T and returns the mistakes as lines.
func read[T any](t *testing.T, text string) (T, string) {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var found fault.Details
	result := shape.Read[T](&found, "body", value)
	var lines []string
	for _, d := range found {
		lines = append(lines, d.Location+": "+d.Message)
	}
	return result, strings.Join(lines, "\n")
}

func TestValuesAreReadIntoTheirFields(t *testing.T) {
	t.Parallel()
	got, wrong := read[things](t, `{"things":[{"mac":"02-BB-00-00-00-31","name":"Küche 2","on":1,"zones":[]},{"id":9,"color":"blue","share":0.5}]}`)
	raw, err := json.Marshal(got)
	want := `{"things":[{"mac":"02:bb:00:00:00:31","name":"Küche 2","on":1,"zones":[]},{"id":9,"color":"blue","share":0.5}]}`
	if wrong != "" || err != nil || string(raw) != want || got.Things[1].At != "body.things[1]" {
		t.Errorf("%s at %q, mistakes %q; want %s", raw, got.Things[1].At, wrong, want)
	}
}

func TestEveryMistakeIsToldAtItsPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[]`:                       "body: want an object",
		`{}`:                       "body.things: want an array of at most 2 things",
		`{"things":[{},{},{}]}`:    "body.things: want an array of at most 2 things",
		`{"z":1,"things":[7,{}]}`:  "body.z: not a field here\nbody.things[0]: want an object\nbody.things[1]: mac or id is required",
		`{"things":[{"id":null}]}`: "body.things[0].id: want a whole number from 1 to 9\nbody.things[0]: mac or id is required",
		`{"things":[{"id":10,"Name":"x","color":"green","on":2,"share":2,"zones":["a","a"],"x":1}]}`: `body.things[0].Name: write the key as name
body.things[0].color: want one of red, blue
body.things[0].id: want a whole number from 1 to 9
body.things[0].on: want 0 or 1
body.things[0].share: want a number from 0 to 1
body.things[0].x: not a field here
body.things[0].zones[1]: stands twice`,
		`{"things":[{"mac":"00:00:00:00:00:00","name":"a/b","zones":["","b","c"]}]}`: `body.things[0].mac: want a MAC address such as 02:bb:00:00:00:31
body.things[0].name: want letters, digits, spaces and = + - _ @ ! only
body.things[0].zones: want an array of at most 2 strings`,
	} {
		if _, got := read[things](t, text); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want)
		}
	}
}

func TestValueWithAMistakeIsLeftOut(t *testing.T) {
	t.Parallel()
	got, _ := read[things](t, `{"things":[{"id":1,"on":7,"share":1}]}`)
	if one := got.Things[0]; *one.ID != 1 || one.On != nil || *one.Share != 1 {
		t.Errorf("%+v", one)
	}
}

func TestUnknownKeysOfADocumentAreKept(t *testing.T) {
	t.Parallel()
	type section struct {
		Rate int `json:"rate" minimum:"1" maximum:"2"`
	}
	type document struct {
		Section section `json:"section"`
	}
	var found fault.Details
	shape.Document[document]().Check(&found, "body", map[string]any{"vendor": true, "section": map[string]any{"rate": 3.0, "own": "x", "RATE": 1.0}})
	found.Sort()
	if len(found) != 2 || found[0].Location != "body.section.RATE" || found[1].Location != "body.section.rate" {
		t.Errorf("%+v", found)
	}
}
