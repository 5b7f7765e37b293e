package core_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api/core"
	"sensegate/motion"
)

// documented walks the operations in the order of the table.
func documented(t *testing.T, doc *openapi3.T, visit func(row string, live bool, operation *openapi3.Operation)) {
	t.Helper()
	for _, route := range core.New(nil, nil, nil).Interface().Routes {
		visit(route.Method+" "+route.Path, route.Live, doc.Paths.Value(route.Path).GetOperation(route.Method))
	}
}

// answerOf returns what an operation answers when all is well, nil for nothing.
func answerOf(operation *openapi3.Operation) *openapi3.MediaType {
	for _, status := range []string{"200", "201", "202"} {
		if r := operation.Responses.Value(status); r != nil {
			return r.Value.Content["application/json"]
		}
	}
	return nil
}

func TestEveryOperationIsDescribedWithExamples(t *testing.T) {
	t.Parallel()
	documented(t, document(t), func(row string, live bool, operation *openapi3.Operation) {
		if strings.HasPrefix(operation.Description, "May be called by") {
			t.Errorf("%s has no section in text/*.md", row)
			return
		}
		if live && !strings.Contains(operation.Description, "```json\n") {
			t.Errorf("%s: the description shows no message", row)
		}
		if operation.RequestBody != nil {
			wantExample(t, row+" request", operation.RequestBody.Value.Content["application/json"])
		}
		if answer := answerOf(operation); answer != nil {
			wantExample(t, row+" response", answer)
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

// rehearsal sends the examples to an appliance, with the ids of the examples
// replaced by those that it has given.
type rehearsal struct {
	*home
	ids map[string]string // by that of the examples
}

var word = regexp.MustCompile(`[0-9A-Za-z-]+`)

func (r rehearsal) real(text string) string {
	return word.ReplaceAllStringFunc(text, func(w string) string { return cmp.Or(r.ids[w], w) })
}

func (r rehearsal) send(row string, operation *openapi3.Operation) answer {
	path, body := example(operation, row)
	method, _, _ := strings.Cut(row, " ")
	return r.as(r.all, method, r.real(path), r.real(body))
}

// creation is a row that makes what others name: the field of its answer that
// holds the id, and the id in the examples.
type creation struct{ row, field, id string }

// creates are the creations, which are sent first.
func creates() []creation {
	return []creation{
		{"POST /network/{network_id}/events/create", "_id", "01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11"},
		{"POST /api/v1/universal-alert", "uuid", "01976b40-0d4e-7c11-9f02-77aa10c2e0b1"},
		{"POST /network/{network_id}/application/settings", "network_id", "1042"},
		{"POST /manage/create", "id", "901"},
		{"POST /manage/batch", "batch_id", "77"},
	}
}

// refusedExamples are the rows whose example an appliance of the tests refuses, as
// it has not what they need.
func refusedExamples() map[string]int {
	return map[string]int{
		"POST /network/{network_id}/motion/{realtime_provider}": http.StatusNotFound,
	}
}

func TestExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	h.change(func(n *motion.Network) {
		n.Meta = motion.Document{"guardian_env": "local", "dwm": map[string]any{"systemName": "demo-home"}}
	})
	record := want[networkAnswer](t, h.get(fmt.Sprintf("/network/find/id/%d", h.network)), http.StatusOK)
	r := rehearsal{h, map[string]string{"1042": fmt.Sprint(h.network), "133": fmt.Sprint(record.MasterID), "134": fmt.Sprint(record.MasterID)}}
	operations := map[string]*openapi3.Operation{}
	var rows, last []string
	documented(t, h.doc, func(row string, live bool, operation *openapi3.Operation) {
		operations[row] = operation
		switch {
		case live:
		case strings.HasPrefix(row, "DELETE ") || strings.HasSuffix(row, "/config/reset"):
			last = append(last, row)
		default:
			rows = append(rows, row)
		}
	})
	for _, c := range creates() {
		made := want[map[string]any](t, r.send(c.row, operations[c.row]), http.StatusOK)
		raw, _ := json.Marshal(made[c.field]) // came from JSON
		r.ids[c.id] = strings.Trim(string(raw), `"`)
	}
	for _, row := range append(rows, last...) {
		if slices.ContainsFunc(creates(), func(c creation) bool { return c.row == row }) {
			continue
		}
		a := r.send(row, operations[row])
		if refused := refusedExamples()[row]; a.status >= 300 && a.status != refused {
			t.Errorf("%s: %d %s", row, a.status, a.body)
		}
	}
}
