package core_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api/auth"
	"sensegate/motion"
)

var (
	requests = flag.Int("requests", 4000, "requests that the generator sends")
	seed     = flag.Uint64("seed", 1, "seed of the generator's first round")
)

// roundLength is how many requests one appliance gets: they change it.
const roundLength = 500

// TestNoInputBreaksTheAppliance sends generated requests, valid and invalid ones,
// to every documented operation. None may end in a 5xx, each must have the status
// class that fits and an answer as documented, and the appliance must be well
// afterwards: it answers and its database is consistent. TestMain sees to it that
// no goroutine is left.
func TestNoInputBreaksTheAppliance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for round := range uint64(*requests+roundLength-1) / roundLength {
		t.Run(fmt.Sprint("seed ", *seed+round), func(t *testing.T) {
			t.Parallel()
			g := newGenerator(t, *seed+round)
			for range roundLength {
				g.shoot()
			}
			g.wantWell()
		})
	}
}

// target is a documented operation.
type target struct {
	method, template string
	operation        *openapi3.Operation
}

// generator makes requests from the document for one appliance.
type generator struct {
	*home
	values
	targets []target
	foreign string // a key that is bound to the other network
	reader  string // a key that may only read
}

func newGenerator(t *testing.T, seed uint64) *generator {
	h := newHome(t)
	h.reportStatus()
	h.change(func(n *motion.Network) {
		n.Meta = motion.Document{"guardian_env": "local", "dwm": map[string]any{"systemName": "demo"}}
	})
	g := &generator{
		home: h, values: values{Rand: rand.New(rand.NewPCG(seed, 0)), seen: map[string][]any{}},
		foreign: h.key("foreign", h.other, auth.Scopes()...), reader: h.key("reader", 0, auth.ScopeRead),
	}
	for _, id := range []motion.NetworkID{h.network, h.network, h.other, 77} {
		g.learn("network_id", float64(id))
	}
	for _, text := range []string{guardianID, masterID} {
		g.learn("guardian_deviceid", text)
		g.learn("deviceid", text)
	}
	for _, query := range []string{"meta->>'guardian_env'", "meta->'dwm'->>'systemName'", "meta ? 'guardian_env'"} {
		g.learn("query", query)
	}
	g.learn("val", "%")
	g.learn("bssid", "02:aa:00:00:01:12")
	g.learn("mac", kitchen.String())
	for _, path := range slices.Sorted(maps.Keys(h.doc.Paths.Map())) {
		operations := h.doc.Paths.Value(path).Operations()
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

// request is a generated request and what is known of it.
type request struct {
	target
	token  string
	path   string // below /core, escaped, with its query
	media  string
	body   []byte
	strict bool // every part fits the document and the key opens everything
	wrong  bool // some part does not fit the document: only a 4xx is right
}

func (r request) String() string {
	body := r.body
	if len(body) > 300 {
		body = fmt.Appendf(nil, "%s… (%d bytes)", body[:300], len(body))
	}
	return fmt.Sprintf("%s %.300q (%s) %s %q", r.method, r.path, r.template, r.media, body)
}

// shoot sends one request and checks the answer.
func (g *generator) shoot() {
	g.t.Helper()
	r := g.request()
	raw := httptest.NewRequest(r.method, "http://localhost/core/", bytes.NewReader(r.body))
	path, query, _ := strings.Cut(r.path, "?")
	plain, err := url.PathUnescape("/core" + path)
	if err != nil {
		plain = "/core" + path // net/http refuses such a request
	}
	raw.URL.Path, raw.URL.RawPath, raw.URL.RawQuery = plain, "/core"+path, query
	if err != nil || raw.URL.EscapedPath() != "/core"+path {
		return
	}
	if r.token != "" {
		raw.Header.Set("Authorization", r.token)
	}
	if r.media != "" {
		raw.Header.Set("Content-Type", r.media)
	}
	w := httptest.NewRecorder()
	g.server.ServeHTTP(w, raw)
	g.judge(r, answer{w.Code, w.Header(), w.Body.Bytes()})
}

// judge checks one answer.
func (g *generator) judge(r request, a answer) {
	g.t.Helper()
	live := r.operation.Responses.Value("101") != nil
	switch {
	case a.status >= 500 || a.status < 200 || a.status >= 300 && a.status < 400:
		g.t.Errorf("%v\n\tstatus %d: %s", r, a.status, a.body)
	case r.wrong && a.status < 400:
		g.t.Errorf("%v\n\twas accepted: %d %.300s", r, a.status, a.body)
	case r.token == "" && a.status < 400:
		g.t.Errorf("%v\n\tneeds no key: %d", r, a.status)
	case r.strict && live && a.status != http.StatusUpgradeRequired:
		g.t.Errorf("%v\n\tstatus %d of a websocket", r, a.status)
	case r.strict && !live && slices.Contains([]int{401, 405, 406, 413, 415, 429}, a.status):
		g.t.Errorf("%v\n\tfits the document, but: %d %s", r, a.status, a.body)
	}
	switch {
	case a.status >= 400:
		g.isProblem(r, a)
	case r.method == http.MethodHead || a.status == http.StatusNoContent:
	default:
		g.conforms(r.method, strings.Split(r.path, "?")[0], a)
		var value any
		if json.Unmarshal(a.body, &value) == nil {
			g.harvest("", value)
		}
	}
}

// isProblem checks that an error is a problem as documented, which says what to do.
func (g *generator) isProblem(r request, a answer) {
	g.t.Helper()
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		g.t.Fatalf("%v\n\t%d: %v: %s", r, a.status, err, a.body)
	}
	schema := r.operation.Responses.Value("default").Value.Content["application/problem+json"].Schema.Value
	if err := schema.VisitJSON(value, openapi3.VisitAsResponse()); err != nil {
		g.t.Errorf("%v\n\tthe problem is not as documented: %v\n%s", r, err, a.body)
	}
	problem, _ := value.(map[string]any)
	if problem["status"] != float64(a.status) || problem["detail"] == "" || a.header.Get("Content-Type") != "application/problem+json" {
		g.t.Errorf("%v\n\t%d: %s", r, a.status, a.body)
	}
	for _, leak := range []string{"json: ", "goroutine", "sensegate/", "runtime error", "bolt"} {
		if text := string(a.body); strings.Contains(text, leak) && !strings.Contains(r.String(), leak) {
			g.t.Errorf("%v\n\tspeaks of the program: %s", r, a.body)
		}
	}
}

// wantWell checks the appliance after its requests; its database is checked when
// it is closed.
func (g *generator) wantWell() {
	g.t.Helper()
	if a := g.get(fmt.Sprintf("/network/find/id/%d", g.other)); a.status != 200 && a.status != 404 {
		g.t.Errorf("afterwards: %d %s", a.status, a.body)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := g.db.Check(g.t.Context()); err != nil {
		g.t.Error(err)
	}
}

// request makes a request for one of the operations.
func (g *generator) request() request {
	r := request{target: g.targets[g.IntN(len(g.targets))], token: g.all, strict: true}
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
		r.token = []string{"", g.foreign, g.reader, "sg_nothing", strings.Repeat("x", 9000), "Basic eDp5", "Bearer"}[g.IntN(7)]
	case "method":
		r.method = []string{"HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "POST", "GET", "BREW"}[g.IntN(8)]
		r.wrong = false
	}
	return r
}

// part chooses the part of a request that is to be damaged.
func (g *generator) part(operation *openapi3.Operation) string {
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
func (g *generator) path(r *request, damaged bool) string {
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
		r.judgeText(p, text)
		path = strings.ReplaceAll(path, "{"+p.Name+"}", g.escape(text))
	}
	if g.IntN(20) == 0 {
		path += "/"
	}
	return path
}

// query makes the query of a request.
func (g *generator) query(r *request, damaged bool) string {
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
func (g *generator) body(r *request, damage string) {
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
		g.t.Fatalf("encode a body: %v", err)
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
func (*generator) refused(media string) bool {
	return !strings.Contains(strings.ToLower(media), "json")
}
