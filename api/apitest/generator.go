package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// target is a documented operation.
type target struct {
	method, template string
	operation        *openapi3.Operation
}

// Generator makes requests, valid and invalid ones, from a document.
type Generator struct {
	*Client
	Server http.Handler
	Token  func() string // opens everything
	Weak   []string      // tokens that open less
	// May holds answers that a request which fits the document may get too, by row
	// ("METHOD /path"): such as 401 where a token in the body is judged, 429 where mails are
	// asked for.
	May map[string][]int
	values
	targets []target
}

// NewGenerator returns a generator for an interface that the server behind the client
// serves. Its rounds are the same for the same seed.
func NewGenerator(c *Client, server http.Handler, seed uint64) *Generator {
	g := &Generator{Client: c, Server: server, values: values{Rand: rand.New(rand.NewPCG(seed, 0)), seen: map[string][]any{}}}
	for _, path := range slices.Sorted(maps.Keys(c.Doc.Paths.Map())) {
		operations := c.Doc.Paths.Value(path).Operations()
		for _, method := range slices.Sorted(maps.Keys(operations)) {
			row := target{method, path, operations[method]}
			g.targets = append(g.targets, row)
			if row.operation.RequestBody != nil { // more that can be wrong
				g.targets = append(g.targets, row, row)
			}
		}
	}
	return g
}

// Learn makes the generator name what exists: a value of the fields and parameters of a
// name.
func (g *Generator) Learn(name string, values ...any) {
	for _, value := range values {
		g.learn(name, value)
	}
}

// request is a generated request and what is known of it.
type request struct {
	target
	token  string
	path   string // below the base, escaped, with its query
	media  string
	body   []byte
	strict bool // every part fits the document and the key opens everything
	wrong  bool // some part does not fit the document: only a 4xx is right
}

// guarded reports whether the operation asks for credentials.
func (r request) guarded() bool {
	return r.operation.Security != nil && len(*r.operation.Security) > 0
}

func (r request) String() string {
	body := r.body
	if len(body) > 300 {
		body = fmt.Appendf(nil, "%s… (%d bytes)", body[:300], len(body))
	}
	return fmt.Sprintf("%s %.300q (%s) %s %q", r.method, r.path, r.template, r.media, body)
}

// Shoot sends one request and checks the answer: none may end in a 5xx, each must have
// the status class that fits and an answer as documented.
func (g *Generator) Shoot() {
	g.T.Helper()
	r := g.request()
	raw := httptest.NewRequest(r.method, "http://localhost"+g.Base+"/", bytes.NewReader(r.body))
	path, query, _ := strings.Cut(r.path, "?")
	plain, err := url.PathUnescape(g.Base + path)
	if err != nil {
		plain = g.Base + path // net/http refuses such a request
	}
	raw.URL.Path, raw.URL.RawPath, raw.URL.RawQuery = plain, g.Base+path, query
	if err != nil || raw.URL.EscapedPath() != g.Base+path {
		return
	}
	if r.token != "" {
		raw.Header.Set("Authorization", r.token)
	}
	if r.media != "" {
		raw.Header.Set("Content-Type", r.media)
	}
	w := httptest.NewRecorder()
	g.Server.ServeHTTP(w, raw)
	g.judge(r, Answer{w.Code, w.Header(), w.Body.Bytes()})
}

// judge checks one answer.
func (g *Generator) judge(r request, a Answer) {
	g.T.Helper()
	live := r.operation.Responses.Value("101") != nil
	switch {
	case a.Status >= 500 || a.Status < 200 || a.Status >= 300 && a.Status < 400:
		g.T.Errorf("%v\n\tstatus %d: %s", r, a.Status, a.Body)
	case r.wrong && a.Status < 400:
		g.T.Errorf("%v\n\twas accepted: %d %.300s", r, a.Status, a.Body)
	case r.token == "" && r.guarded() && a.Status < 400:
		g.T.Errorf("%v\n\tneeds no key: %d", r, a.Status)
	case r.strict && live && a.Status != http.StatusUpgradeRequired && a.Status != http.StatusNotFound &&
		!(a.Status == http.StatusForbidden && strings.Contains(string(a.Body), "live_disabled")): // an earlier request has switched it off
		g.T.Errorf("%v\n\tstatus %d of a websocket", r, a.Status)
	case r.strict && !live && !slices.Contains(g.May[r.method+" "+r.template], a.Status) && slices.Contains([]int{401, 405, 406, 413, 415, 429}, a.Status):
		g.T.Errorf("%v\n\tfits the document, but: %d %s", r, a.Status, a.Body)
	}
	switch {
	case a.Status >= 400:
		g.isProblem(r, a)
	case r.method == http.MethodHead || a.Status == http.StatusNoContent:
	default:
		g.Conforms(r.method, strings.Split(r.path, "?")[0], a)
		var value any
		if json.Unmarshal(a.Body, &value) == nil {
			g.harvest("", value)
		}
	}
}

// isProblem checks that an error is a problem as documented, which says what to do.
func (g *Generator) isProblem(r request, a Answer) {
	g.T.Helper()
	var value any
	if err := json.Unmarshal(a.Body, &value); err != nil {
		g.T.Fatalf("%v\n\t%d: %v: %s", r, a.Status, err, a.Body)
	}
	schema := r.operation.Responses.Value("default").Value.Content["application/problem+json"].Schema.Value
	if err := schema.VisitJSON(value, openapi3.VisitAsResponse()); err != nil {
		g.T.Errorf("%v\n\tthe problem is not as documented: %v\n%s", r, err, a.Body)
	}
	problem, _ := value.(map[string]any)
	if problem["status"] != float64(a.Status) || problem["detail"] == "" || a.Header.Get("Content-Type") != "application/problem+json" {
		g.T.Errorf("%v\n\t%d: %s", r, a.Status, a.Body)
	}
	for _, leak := range []string{"json: ", "goroutine", "sensegate/", "runtime error", "bolt"} {
		if text := string(a.Body); strings.Contains(text, leak) && !strings.Contains(r.String(), leak) {
			g.T.Errorf("%v\n\tspeaks of the program: %s", r, a.Body)
		}
	}
}

// request makes a request for one of the operations.
func (g *Generator) request() request {
	r := request{target: g.targets[g.IntN(len(g.targets))], token: g.Token(), strict: true}
	damage := "" // the one part that is damaged
	if g.IntN(3) > 0 {
		r.strict = false
		damage = g.part(r.operation)
	}
	path := g.path(&r, damage == "path")
	if query := g.query(&r, damage == "query"); query != "" {
		path += "?" + query
	}
	r.path = path
	g.body(&r, damage)
	switch damage {
	case "token":
		tokens := append([]string{"", "sg_nothing", strings.Repeat("x", 9000), "Basic eDp5", "Bearer"}, g.Weak...)
		r.token = tokens[g.IntN(len(tokens))]
	case "method":
		r.method = []string{"HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "POST", "GET", "BREW"}[g.IntN(8)]
		r.wrong = false
	}
	return r
}

// part chooses the part of a request that is to be damaged.
func (g *Generator) part(operation *openapi3.Operation) string {
	parts := []string{"token", "method"}
	if operation.RequestBody != nil {
		parts = append(parts, "body", "body", "body", "body", "body", "raw", "raw", "media")
	}
	for _, p := range operation.Parameters {
		parts = append(parts, p.Value.In)
	}
	return parts[g.IntN(len(parts))]
}

// path fills in the template of a request.
func (g *Generator) path(r *request, damaged bool) string {
	var parameters []*openapi3.Parameter
	for _, p := range r.operation.Parameters {
		if p.Value.In == "path" {
			parameters = append(parameters, p.Value)
		}
	}
	bad := -1
	if damaged && len(parameters) > 0 {
		bad = g.IntN(len(parameters))
	}
	path := r.template
	for i, p := range parameters {
		text := g.text(p.Name, p.Schema.Value)
		if i == bad {
			text = g.oddText(text)
		}
		if text == "" {
			text = " " // without any text it would be the address of another operation
		}
		r.judgeText(p, text)
		path = strings.ReplaceAll(path, "{"+p.Name+"}", g.escape(text))
	}
	if g.IntN(20) == 0 {
		path += "/"
	}
	return path
}

// query makes the query of a request.
func (g *Generator) query(r *request, damaged bool) string {
	var pairs []string
	for _, ref := range r.operation.Parameters {
		p := ref.Value
		if p.In != "query" || !p.Required && g.IntN(2) == 0 {
			continue
		}
		text := g.text(p.Name, p.Schema.Value)
		if damaged && g.IntN(2) == 0 {
			if g.IntN(5) == 0 {
				r.wrong = r.wrong || p.Required
				continue
			}
			text = g.oddText(text)
		}
		r.judgeText(p, text)
		pairs = append(pairs, p.Name+"="+url.QueryEscape(text))
	}
	g.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	if damaged && g.IntN(4) == 0 { // of two values the first counts
		pairs = append(pairs, []string{"%zz=1", "from=%ff", "=", "&&", "array", "unknown=1", "last=1&last=2", "%00=%00"}[g.IntN(8)])
	}
	return strings.Join(pairs, "&")
}

// judgeText notes whether the text of a parameter fits its schema.
func (r *request) judgeText(p *openapi3.Parameter, text string) {
	var value any = text
	var err error
	switch {
	case p.Schema.Value.Type.Is("integer"):
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		value = float64(n)
	case p.Schema.Value.Type.Is("number"):
		value, err = strconv.ParseFloat(text, 64)
	case p.Schema.Value.Type.Is("boolean"):
		value, err = strconv.ParseBool(text)
	case !p.Schema.Value.Type.Is("string"):
		return
	}
	if text == "" && p.In == "query" && !p.Required { // taken as absent
		return
	}
	if err != nil || p.Schema.Value.VisitJSON(value) != nil {
		r.wrong, r.strict = true, false
	}
}

// body makes the body of a request that has one.
func (g *Generator) body(r *request, damage string) {
	if r.operation.RequestBody == nil {
		return
	}
	schema := r.operation.RequestBody.Value.Content["application/json"].Schema.Value
	value := g.valid("", schema, 0)
	if damage == "body" {
		for range 1 + g.IntN(2) {
			value = g.damage(value)
		}
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		g.T.Fatalf("encode a body: %v", err)
	}
	r.body, r.media = encoded, "application/json"
	if damage == "raw" {
		r.body = g.oddBytes(r.body)
	}
	if damage == "media" {
		r.media = []string{"text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/octet-stream", "nonsense;;;=", "application/json; charset=latin1", "APPLICATION/JSON"}[g.IntN(8)]
		r.wrong = r.wrong || g.refused(r.media)
	}
	var again any
	if json.Unmarshal(r.body, &again) != nil || schema.VisitJSON(withoutNulls(schema, again), openapi3.VisitAsRequest()) != nil {
		r.strict = false
		r.wrong = r.wrong || r.operation.RequestBody.Value.Required || len(bytes.TrimSpace(r.body)) > 0
	}
	r.strict = r.strict && len(r.body) < 1<<20
}

// withoutNulls takes the optional fields that are null out of a body: the
// appliance takes null for "not given".
func withoutNulls(s *openapi3.Schema, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			if value[name] != nil {
				value[name] = withoutNulls(property.Value, value[name])
			} else if !slices.Contains(s.Required, name) {
				delete(value, name)
			}
		}
	case []any:
		for i := range value {
			if s.Items != nil {
				value[i] = withoutNulls(s.Items.Value, value[i])
			}
		}
	}
	return value
}

// refused reports whether a media type is none of JSON.
func (*Generator) refused(media string) bool {
	return !strings.Contains(strings.ToLower(media), "json")
}
