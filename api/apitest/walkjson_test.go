package apitest

import (
	"strings"
	"testing"
)

func TestEveryDifferenceFromTheDocumentIsSeen(t *testing.T) {
	t.Parallel()
	const documented = `{"id": 1, "ts": 1764000000.5, "name": "GWA1000133", "tag": null, "density": [[91.7, 1764000000], "…"],
		"devices": [{"mac": "02:bb:00:00:00:31", "online": true}], "config": {"rev": 2, "…": "…"}, "links": ["…"]}`
	for name, c := range map[string]struct{ from, to, says string }{
		"nothing":                  {"", "", ""},
		"another time and figure":  {`1764000000.5, "name"`, `1795000000, "name"`, ""},
		"another figure":           {"91.7", "null", ""},
		"more of a shortened list": {`1764000000], "…"`, `1764000000], [1, 1764003600]`, ""},
		"a further elided field":   {`"…": "…"`, `"mode": 1`, ""},
		"another value":            {`"id": 1`, `"id": 2`, ".id: documented 1, got 2"},
		"another type":             {`"id": 1`, `"id": "1"`, `.id: documented 1, got "1"`},
		"no time":                  {"1764000000.5", "5", ".ts: documented"},
		"null":                     {"1764000000.5", "null", ".ts: documented"},
		"no null":                  {`"tag": null`, `"tag": ""`, ".tag: documented"},
		"a renamed field":          {`"rev"`, `"revision"`, `.config: documented field "rev" is missing`},
		"a new field":              {`"id": 1`, `"id": 1, "uid": 1`, `: field "uid" is not documented`},
		"a new field in a list":    {`"online": true`, `"online": true, "ip": ""`, `.devices[0]: field "ip"`},
		"a longer list":            {`"online": true}`, `"online": true}, {}`, ".devices: documented 1 items, got 2"},
		"an empty list":            {`[[91.7, 1764000000], "…"]`, `[]`, ".density: documented 1 items, got 0"},
		"an object for a list":     {`"links": ["…"]`, `"links": {}`, ".links: documented"},
		"another thing":            {"02:bb:00:00:00:31", "02:bb:00:00:00:32", ".devices[0].mac"},
	} {
		got := strings.Replace(documented, c.from, c.to, 1)
		got = strings.NewReplacer(`, "…": "…"`, "", `, "…"`, "", `"…"`, "").Replace(got)
		all := rule{}.differences("", mustRead(t, block{text: documented})[0], mustRead(t, block{text: got})[0])
		if text := strings.Join(all, "\n"); (text == "") != (c.says == "") || !strings.HasPrefix(text, c.says) {
			t.Errorf("%s: %q, want %q", name, text, c.says)
		}
	}
	moved := strings.NewReplacer("31", "32", `, "…": "…"`, "", `, "…"`, "", `"…"`, "").Replace(documented)
	if all := (rule{moment: true}).differences("", mustRead(t, block{text: documented})[0], mustRead(t, block{text: moved})[0]); len(all) > 0 {
		t.Errorf("in a block of the moment another device is no difference: %q", all)
	}
}

func TestShorteningIsNoDifference(t *testing.T) {
	t.Parallel()
	answer := mustRead(t, block{text: `{"a": [1, 2, 3, 4], "b": [{"x": 1}, {}, {}, {}], "c": {"d": 1, "e": 2}, "f": []}`})[0]
	for former, want := range map[string]string{
		`null`: `{"a": [1, 2, 3, "…"], "b": [{"x": 1}, "…"], "c": {"d": 1, "e": 2}, "f": []}`,
		`{"a": ["…"], "b": [{}, {}, "…"], "c": {"e": 1, "…": "…"}}`: `{"a": ["…"], "b": [{"x": 1}, {}, "…"], "c": {"e": 2, "…": "…"}, "f": []}`,
	} {
		short := shorten(mustRead(t, block{text: former})[0], answer)
		if all := (rule{}).differences("", short, answer); short.line() != want || len(all) > 0 {
			t.Errorf("%s, want %s; %q", short.line(), want, all)
		}
	}
}

func TestTokensAreShownByTheirBeginning(t *testing.T) {
	t.Parallel()
	answer := mustRead(t, block{text: `{"link": "http://a/b?token=eyJhbGciOiJIUzI1NiJ9.e30.c2ln-bmF_0", "id": "USER_0123456789abcdef0123456789abcdef"}`})[0]
	short := shorten(value{}, answer)
	if want := `{"link": "http://a/b?token=eyJhbGciOiJI…", "id": "USER_0123456789abcdef0123456789abcdef"}`; short.line() != want {
		t.Errorf("%s, want %s", short.line(), want)
	}
	for text, same := range map[string]bool{
		`{"link": "http://a/b?token=eyJ0eXAiOiJKV1…", "id": "USER_ffff456789abcdef0123456789abcdef"}`: true,
		`{"link": "http://a/c?token=eyJ0eXAiOiJKV1…", "id": "USER_ffff456789abcdef0123456789abcdef"}`: false,
		`{"link": "http://a/b?token=", "id": "USER_ffff456789abcdef0123456789abcdef"}`:                false,
		`{"link": "http://a/b?token=eyJ0eXAiOiJKV1…", "id": "HUB_ffff456789abcdef0123456789abcdef"}`:  false,
	} {
		if all := (rule{}).differences("", mustRead(t, block{text: text})[0], answer); (len(all) == 0) != same {
			t.Errorf("%s: %q", text, all)
		}
	}
}

func TestPathsPick(t *testing.T) {
	t.Parallel()
	answer := mustRead(t, block{text: `{"a": [{"id": 2, "n": "x"}, {"id": 10, "n": "y"}, {"id": 9, "n": "z"}], "b": []}`})[0]
	for path, want := range map[string]string{".a[0].n": "x", ".a[2].id": "9", ".a|max_by(.id).n": "y", ".b": "[]", "": answer.line()} {
		if got, err := pick(answer, path); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", path, got, err, want)
		}
	}
	for _, path := range []string{".c", ".a[3]", ".b|max_by(.id).n", ".a|length"} {
		if got, err := pick(answer, path); err == nil {
			t.Errorf("%s: %s", path, got)
		}
	}
}
