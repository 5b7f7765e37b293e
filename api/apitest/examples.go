package apitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api"
)

// documented walks the operations in the order of the table.
func documented(i api.Interface, doc *openapi3.T, visit func(row string, live bool, operation *openapi3.Operation)) {
	for _, route := range i.Routes {
		visit(route.Method+" "+route.Path, route.Live, doc.Paths.Value(route.Path).GetOperation(route.Method))
	}
}

// CheckDescribed checks that every operation has a description and examples, and that
// these fit their schemas.
func CheckDescribed(t *testing.T, i api.Interface) {
	t.Helper()
	documented(i, Document(t, i), func(row string, live bool, operation *openapi3.Operation) {
		if strings.HasPrefix(operation.Description, "May be called by") {
			t.Errorf("%s has no section in text/*.md", row)
			return
		}
		if live && !strings.Contains(operation.Description, "```json\n") {
			t.Errorf("%s: the description shows no message", row)
		}
		if body := operation.RequestBody; body != nil && body.Value.Content["application/json"] != nil { // not a form with a file
			wantExample(t, row+" request", body.Value.Content["application/json"])
		}
		if answer := successOf(operation); answer != nil && answer.Content["application/json"] != nil {
			wantExample(t, row+" response", answer.Content["application/json"])
		}
		for _, p := range operation.Parameters {
			for _, example := range examplesOf(p.Value) {
				if err := p.Value.Schema.Value.VisitJSON(example); err != nil {
					t.Errorf("%s: example of %s: %v", row, p.Value.Name, err)
				}
			}
		}
	})
}

// wantExample checks that there is an example and that it fits its schema.
func wantExample(t *testing.T, what string, media *openapi3.MediaType) {
	t.Helper()
	if media.Example == nil {
		t.Errorf("%s: no example in text/*.md", what)
		return
	}
	if err := media.Schema.Value.VisitJSON(media.Example, openapi3.MultiErrors()); err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\nSchema:")
		t.Errorf("%s: the example does not fit the schema: %s", what, reason)
	}
}

// examplesOf returns the examples of a parameter.
func examplesOf(p *openapi3.Parameter) []any {
	list := slices.Clone(p.Schema.Value.Examples)
	for _, one := range []any{p.Example, p.Schema.Value.Example} {
		if one != nil {
			list = append(list, one)
		}
	}
	return list
}

// example makes the request of an operation out of its examples: the required
// parameters, those that have an example, and the body.
func example(operation *openapi3.Operation, row string) (path, body string) {
	_, path, _ = strings.Cut(row, " ")
	query := url.Values{}
	for _, ref := range operation.Parameters {
		p := ref.Value
		text := ""
		if list := examplesOf(p); len(list) > 0 {
			text = fmt.Sprint(list[0])
			if n, ok := list[0].(float64); ok {
				text = fmt.Sprintf("%.0f", n)
			}
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
		case text != "":
			query.Set(p.Name, text)
		}
	}
	if operation.RequestBody != nil {
		raw, _ := json.Marshal(operation.RequestBody.Value.Content["application/json"].Example) // came from JSON
		body = string(raw)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, body
}

// Rehearsal sends the examples of an interface, with the ids in them replaced by those
// that a running one has given.
type Rehearsal struct {
	*Client
	Interface api.Interface
	Token     func(row string) string      // whose token a row is called with
	IDs       map[string]string            // by that of the examples
	RowIDs    map[string]map[string]string // of a row alone, before IDs
	Creates   []Creation                   // rows that make what others name: sent first, in order
	Last      []string                     // rows that end what others need: sent last, in order
	Refused   map[string]int               // rows whose example a running one refuses, and how
}

// Creation is a row that makes what others name.
type Creation struct {
	Row   string
	Field string // of its answer: the id
	ID    string // in the examples
}

// word is what an id can be; a MAC is one word.
var word = regexp.MustCompile(`[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9A-Za-z-]+`)

func (r *Rehearsal) real(row, text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string { return cmp.Or(r.RowIDs[row][w], r.IDs[w], w) })
}

// Request returns the example of a row, "METHOD /path".
func (r *Rehearsal) Request(row string) (method, path, body string) {
	method, template, _ := strings.Cut(row, " ")
	path, body = example(r.Doc.Paths.Value(template).GetOperation(method), row)
	return method, r.real(row, path), r.real(row, body)
}

func (r *Rehearsal) send(row string) Answer {
	method, path, body := r.Request(row)
	return r.As(r.Token(row), method, path, body)
}

// Check sends the example of every row that is not live and wants it accepted.
func (r *Rehearsal) Check() {
	r.T.Helper()
	var rows []string
	documented(r.Interface, r.Doc, func(row string, live bool, _ *openapi3.Operation) {
		created := slices.ContainsFunc(r.Creates, func(c Creation) bool { return c.Row == row })
		if !live && !created && !slices.Contains(r.Last, row) {
			rows = append(rows, row)
		}
	})
	for _, c := range r.Creates {
		a := r.send(c.Row)
		var made map[string]any
		if a.Status >= 300 || json.Unmarshal(a.Body, &made) != nil {
			r.T.Fatalf("%s: %d %s", c.Row, a.Status, a.Body)
		}
		if c.Field != "" {
			raw, _ := json.Marshal(made[c.Field]) // came from JSON
			r.IDs[c.ID] = strings.Trim(string(raw), `"`)
		}
	}
	for _, row := range append(rows, r.Last...) {
		if a := r.send(row); a.Status >= 300 && a.Status != r.Refused[row] {
			r.T.Errorf("%s: %d %s", row, a.Status, a.Body)
		}
	}
}
