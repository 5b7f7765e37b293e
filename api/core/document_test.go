package core_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/goleak"

	"sensegate/api/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite openapi.json and docs/core.md")

func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	got, err := core.New(nil, nil, nil).Interface().Document()
	if err != nil {
		t.Fatal(err)
	}
	const path = "openapi.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not current; look at the change and run go test ./api/core -update", path)
	}
}

func document(t testing.TB) *openapi3.T {
	t.Helper()
	raw, err := core.New(nil, nil, nil).Interface().Document()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		t.Fatal(err)
	}
	allowNulls(doc)
	return doc
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	doc := document(t)
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Summary == "" || len(op.Tags) != 1 || op.Security == nil {
				t.Errorf("%s %s: summary %q, tags %v, security %v", method, path, op.Summary, op.Tags, op.Security)
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" {
					t.Errorf("%s %s: %s has no description", method, path, p.Value.Name)
				}
			}
		}
	}
}

// notServed are the rows of routes.tsv that are still to come.
var notServed = []string{}

// specified returns the rows of routes.tsv that belong to Core, in order, with
// their kind.
func specified(t *testing.T) (rows []string, kinds map[string]string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/routes.tsv")
	if err != nil {
		t.Fatal(err)
	}
	kinds = map[string]string{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 5 || cells[0] != "core" {
			continue
		}
		if cells[3] != "core key" {
			t.Errorf("routes.tsv: %v: who is %q", cells, cells[3])
		}
		row := cells[1] + " " + nameless(cells[2])
		rows = append(rows, row)
		kinds[row] = cells[4]
	}
	return rows, kinds
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

func nameless(path string) string { return parameter.ReplaceAllString(path, "{}") }

func TestTableIsTheSpecifiedOne(t *testing.T) {
	t.Parallel()
	rows, kinds := specified(t)
	i := core.New(nil, nil, nil).Interface()
	var served []string
	for _, route := range i.Routes {
		row := route.Method + " " + nameless(i.Base+route.Path)
		served = append(served, row)
		kind, known := kinds[row]
		switch {
		case !known:
			t.Errorf("%s is not in routes.tsv", row)
		case (kind == "websocket") != route.Live:
			t.Errorf("%s: live is %t, want %s", row, route.Live, kind)
		case slices.Contains(notServed, row):
			t.Errorf("%s is served: take it off the list of rows to come", row)
		case route.Who != "core key" || route.Summary == "":
			t.Errorf("%s: who %q, summary %q", row, route.Who, route.Summary)
		}
	}
	for _, row := range rows {
		if !slices.Contains(served, row) && !slices.Contains(notServed, row) {
			t.Errorf("%s is not served", row)
		}
	}
	if len(served)+len(notServed) != len(rows) {
		t.Errorf("%d rows served and %d to come, of %d", len(served), len(notServed), len(rows))
	}
}

func TestTableStandsInTheOrderOfTheDocument(t *testing.T) {
	t.Parallel()
	rows, _ := specified(t)
	i := core.New(nil, nil, nil).Interface()
	last := -1
	for _, route := range i.Routes {
		at := slices.Index(rows, route.Method+" "+nameless(i.Base+route.Path))
		if at < last {
			t.Errorf("%s %s stands too late", route.Method, route.Path)
		}
		last = at
	}
}
