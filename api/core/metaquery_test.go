package core

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fault"
)

func TestMetaQueryIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]metaQuery{
		`meta->>'guardian_env'`:          {key: "guardian_env"},
		`meta->'dwm'->>'systemName'`:     {inDWM: true, key: "systemName"},
		`meta->'dwm' ? 'systemName'`:     {inDWM: true, key: "systemName", exists: true},
		`meta->'dwm' \? 'systemName'`:    {inDWM: true, key: "systemName", exists: true},
		`meta->'dwm' \\? 'systemName'`:   {inDWM: true, key: "systemName", exists: true},
		`meta ? 'friendly_name'`:         {key: "friendly_name", exists: true},
		`meta \\? 'friendly_name'`:       {key: "friendly_name", exists: true},
		`meta?'a/b%c d"'`:                {key: `a/b%c d"`, exists: true},
		` meta  ->  'dwm' ->>  'owner' `: {inDWM: true, key: "owner"},
		`meta->>'dwm'`:                   {key: "dwm"},
	} {
		val := "x%"
		if want.exists {
			val = ""
		}
		want.pattern = val
		if got, err := parseMetaQuery(text, val); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", text, got, err, want)
		}
	}
}

func TestEverythingElseIsMalformed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "meta", "meta->'dwm'", "meta->>guardian_env", "meta->>'guardian_env", "meta->>''", `meta->>"guardian_env"`,
		"meta->'home'->>'sens'", "meta->'dwm'->'systemName'", "meta->'dwm'->>'a'->>'b'", "meta->>'a' or true", "meta->>'a';",
		"meta ?| 'a'", "meta ?? 'a'", `meta \\\? 'a'`, "META->>'a'", "metal->>'a'", "x meta->>'a'", "meta->>'it''s'", "meta\t? 'a'",
		"meta->'dwm'", "meta->'DWM'->>'a'", "meta#>>'{dwm,a}'", "meta - >>'a'", "'a'",
	} {
		for _, val := range []string{"", "x"} {
			if _, err := parseMetaQuery(text, val); fault.KindOf(err) != fault.Malformed {
				t.Errorf("%q with val %q: %v, want malformed", text, val, err)
			}
		}
	}
	if _, err := parseMetaQuery("meta ? 'a'", "x"); fault.KindOf(err) != fault.Malformed {
		t.Errorf("existence with val: %v", err)
	}
	if _, err := parseMetaQuery("meta->>'a'", ""); fault.KindOf(err) != fault.Malformed {
		t.Errorf("value without val: %v", err)
	}
}

func TestMetaQueryMatches(t *testing.T) {
	t.Parallel()
	var meta motion.Document
	raw := `{"dwm":{"systemName":"demo-home","groupId":"50%_x"},"guardian_env":"local","motion_paused":0,"neuron_env":null,"big":1000000}`
	if err := json.Unmarshal([]byte(raw), &meta); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query, val string
		want       bool
	}{
		{`meta->>'guardian_env'`, "loc%", true},
		{`meta->>'guardian_env'`, "local", true},
		{`meta->>'guardian_env'`, "LOC%", false},
		{`meta->>'guardian_env'`, "oca", false},
		{`meta->>'guardian_env'`, "%oca%", true},
		{`meta->>'motion_paused'`, "0", true},
		{`meta->>'big'`, "1000000", true},
		{`meta->>'neuron_env'`, "%", false},
		{`meta->>'systemName'`, "%", false},
		{`meta->>'dwm'`, `%"demo-home"%`, true},
		{`meta->'dwm'->>'systemName'`, "demo%", true},
		{`meta->'dwm'->>'groupId'`, "50%x", true},
		{`meta->'dwm'->>'groupId'`, "50%_x", true},
		{`meta->'dwm'->>'groupId'`, "50__x", false},
		{`meta->'dwm' ? 'systemName'`, "", true},
		{`meta->'dwm' ? 'guardian_env'`, "", false},
		{`meta ? 'neuron_env'`, "", true},
		{`meta ? 'systemName'`, "", false},
	} {
		q, err := parseMetaQuery(c.query, c.val)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.matches(meta); got != c.want {
			t.Errorf("%s with %q: %t", c.query, c.val, got)
		}
		if q.matches(nil) || q.matches(motion.Document{"dwm": "systemName"}) && q.inDWM {
			t.Errorf("%s matches where there is nothing", c.query)
		}
	}
}

// TestLikeAgreesWithItsDefinition compares with the definition: % is any run, \% a percent
// sign, everything else itself.
func TestLikeAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	var defined func(text, pattern string) bool
	defined = func(text, pattern string) bool {
		switch {
		case pattern == "":
			return text == ""
		case pattern[0] == '%':
			return defined(text, pattern[1:]) || text != "" && defined(text[1:], pattern)
		case strings.HasPrefix(pattern, `\%`):
			return text != "" && text[0] == '%' && defined(text[1:], pattern[2:])
		}
		return text != "" && text[0] == pattern[0] && defined(text[1:], pattern[1:])
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab_%\\]{0,8}`).Draw(t, "text")
		pattern := rapid.StringMatching(`[ab_%\\]{0,6}`).Draw(t, "pattern")
		if got := like(text, pattern); got != defined(text, pattern) {
			t.Fatalf("like(%q, %q) = %t", text, pattern, got)
		}
	})
}

// String writes a query in its usual form.
func (q metaQuery) String() string {
	path, operator := "meta", "->>"
	if q.inDWM {
		path = "meta->'dwm'"
	}
	if q.exists {
		operator = " ? "
	}
	return fmt.Sprintf("%s%s'%s'", path, operator, q.key)
}

func FuzzMetaQuery(f *testing.F) {
	for _, text := range []string{`meta->>'a'`, `meta->'dwm'->>'b'`, `meta->'dwm' \\? 'c'`, `meta ? 'd'`, `meta->>''`, "meta\x00"} {
		f.Add(text, "x%")
		f.Add(text, "")
	}
	f.Fuzz(func(t *testing.T, text, val string) {
		q, err := parseMetaQuery(text, val)
		if err != nil {
			if fault.KindOf(err) != fault.Malformed {
				t.Fatalf("%q: %v is not malformed", text, err)
			}
			return
		}
		again, err := parseMetaQuery(q.String(), val)
		if err != nil || again != q {
			t.Fatalf("%q read as %+v, written as %s, read as %+v %v", text, q, q, again, err)
		}
		if strings.Contains(q.key, "'") || q.exists != (val == "") {
			t.Fatalf("%q with %q: %+v", text, val, q)
		}
		object := motion.Document{q.key: "v"}
		if q.inDWM {
			object = motion.Document{"dwm": map[string]any{q.key: "v"}}
		}
		if !q.exists {
			q.pattern = "%"
		}
		if !q.matches(object) {
			t.Fatalf("%s does not match its own key", q)
		}
	})
}
