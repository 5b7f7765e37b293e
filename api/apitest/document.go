package apitest

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api"
)

// Document returns the document of an interface, read back.
func Document(t testing.TB, i api.Interface) *openapi3.T {
	t.Helper()
	doc, err := ReadDocument(i)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// ReadDocument is Document outside a test, so that many can share what it returns: it is
// only read.
func ReadDocument(i api.Interface) (*openapi3.T, error) {
	raw, err := i.Document()
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	allowNulls(doc)
	return doc, nil
}

// CheckCurrent checks that the document in a file is the interface's; with update it
// writes it first.
func CheckCurrent(t *testing.T, i api.Interface, path string, update bool) {
	t.Helper()
	got, err := i.Document()
	if err != nil {
		t.Fatal(err)
	}
	if update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not current; look at the change and run go test . -run Document -update beside it", path)
	}
}

// CheckValid checks that the document is valid OpenAPI and says of every operation
// what it is, who may call it and what its parameters mean. open are the rows that
// need no credentials.
func CheckValid(t *testing.T, i api.Interface, open []string) {
	t.Helper()
	doc := Document(t, i)
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			secured := op.Security != nil && len(*op.Security) > 0
			if op.Summary == "" || len(op.Tags) != 1 || secured == slices.Contains(open, method+" "+path) {
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

// Row is a line of routes.tsv.
type Row struct{ Method, Path, Who, Kind string }

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// name returns the row without the names of its parameters.
func (r Row) name() string { return r.Method + " " + parameter.ReplaceAllString(r.Path, "{}") }

// Specified returns the rows of an interface in a file such as routes.tsv.
func Specified(t testing.TB, file, of string) (rows []Row) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) == 5 && cells[0] == of {
			rows = append(rows, Row{cells[1], cells[2], cells[3], cells[4]})
		}
	}
	return rows
}

// CheckTable checks that the table of an interface holds exactly the specified rows,
// in their order and for their callers, and after them the extra ones ("GET /path" as
// in the table). Several specified rows can be one of the table, with a parameter.
func CheckTable(t *testing.T, i api.Interface, rows []Row, extra []string) {
	t.Helper()
	served := map[string]api.Route{}
	last := -1
	for _, route := range i.Routes {
		name := Row{Method: route.Method, Path: i.Base + route.Path}.name()
		served[name] = route
		at := slices.IndexFunc(rows, func(r Row) bool { return r.name() == name })
		switch {
		case at < 0 && !slices.Contains(extra, route.Method+" "+route.Path):
			t.Errorf("%s %s is neither in routes.tsv nor extra", route.Method, route.Path)
		case at >= 0 && at < last:
			t.Errorf("%s %s stands too late", route.Method, route.Path)
		case at >= 0:
			last = at
		}
	}
	for _, row := range rows {
		route, ok := served[row.name()]
		if !ok {
			t.Errorf("%s %s is not served", row.Method, row.Path)
			continue
		}
		if route.Who != row.Who || (row.Kind == "websocket") != route.Live || route.Summary == "" {
			t.Errorf("%s %s: who %q, live %t, summary %q; want %q, %s", row.Method, row.Path, route.Who, route.Live, route.Summary, row.Who, row.Kind)
		}
	}
	for _, name := range extra {
		if !slices.ContainsFunc(i.Routes, func(r api.Route) bool { return r.Method+" "+r.Path == name }) {
			t.Errorf("%s is extra and not served", name)
		}
	}
}
