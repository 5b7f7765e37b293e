package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api"
	"sensegate/api/sampletest"
	"sensegate/motion/fault"
)

func TestEachKindHasItsStatus(t *testing.T) {
	t.Parallel()
	s, log := testServer(t, sampletest.NoLive())
	for kind, want := range map[string]struct {
		status int
		code   string
		header string // that must be set
	}{
		"malformed":    {400, "malformed", ""},
		"unauthorized": {401, "unauthorized", "Www-Authenticate"},
		"forbidden":    {403, "forbidden", ""},
		"notfound":     {404, "not_found", ""},
		"conflict":     {409, "conflict", ""},
		"toolarge":     {413, "too_large", ""},
		"unsupported":  {415, "unsupported_media_type", ""},
		"invalid":      {422, "invalid", ""},
		"throttled":    {429, "throttled", "Retry-After"},
		"unavailable":  {503, "unavailable", "Retry-After"},
		"internal":     {500, "internal", ""},
		"deadline":     {503, "timeout", "Retry-After"},
	} {
		w := sampletest.Do(s, "GET", "/core/fail?kind="+kind, "")
		if w.Code != want.status || !strings.Contains(w.Body.String(), `"code":"`+want.code+`"`) {
			t.Errorf("%s: %d %s, want %d %s", kind, w.Code, w.Body, want.status, want.code)
		}
		if want.header != "" && w.Header().Get(want.header) == "" {
			t.Errorf("%s: no header %s", kind, want.header)
		}
		if ct := w.Header().Get("Content-Type"); ct != api.ProblemType {
			t.Errorf("%s: content type %q", kind, ct)
		}
		if strings.Contains(w.Body.String(), "disk") {
			t.Errorf("%s: the cause is shown: %s", kind, w.Body)
		}
	}
	if n := strings.Count(log.String(), "disk /dev/secret broke"); n != 1 {
		t.Errorf("the cause of the 500 is logged %d times, want once", n)
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	for k := fault.Malformed; k <= fault.Unavailable; k++ {
		if api.KindStatus(k) == 0 {
			t.Errorf("kind %d has no status", k)
		}
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	w := sampletest.Do(s, "PATCH", "/core/network/7/devices?last=0", `[{"name":"a"},{"name":"","rank":12,"extra":1},{"rank":"1"}]`,
		"Authorization", "secret-a")
	sampletest.WantStatus(t, w, http.StatusUnprocessableEntity)
	sampletest.WantJSON(t, w, `{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"request is not valid","code":"invalid","errors":[
		{"location":"body[1].extra","message":"unexpected property"},
		{"location":"body[1].name","message":"expected length >= 1","value":""},
		{"location":"body[1].rank","message":"expected number <= 9","value":12},
		{"location":"body[2]","message":"expected required property name to be present"},
		{"location":"body[2].rank","message":"expected integer","value":"1"},
		{"location":"query.last","message":"expected number >= 1","value":0}]}`)
}

func TestQueryThatCannotBeReadIsMalformed(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	w := sampletest.Do(s, "PATCH", "/core/network/7/devices?last=0&from=x", `[{"name":""}]`, "Authorization", "secret-a")
	sampletest.WantStatus(t, w, http.StatusBadRequest)
	sampletest.WantJSON(t, w, `{"type":"about:blank","title":"Bad Request","status":400,"detail":"request is not valid","code":"malformed","errors":[
		{"location":"body[0].name","message":"expected length >= 1","value":""},
		{"location":"query.from","message":"invalid float","value":"x"},
		{"location":"query.last","message":"expected number >= 1","value":0}]}`)
}

func TestAtMost20MistakesAreTold(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	for name, c := range map[string]struct {
		body, says string
		told       int
	}{
		"twenty":      {"[" + strings.Repeat("0,", 19) + "0]", `"detail":"request is not valid"`, 20},
		"one more":    {"[" + strings.Repeat("0,", 20) + "0]", `"detail":"request is not valid: 21 mistakes, of which the first 20 are told"`, 20},
		"many keys":   {"[" + unknownKeys(1000) + "]", `"detail":"request is not valid: 1001 mistakes, of which the first 20 are told"`, 20},
		"long keys":   {`[{"name":"a","` + strings.Repeat("ä", 100_000) + `":0,"` + strings.Repeat("b", 100_000) + `":0}]`, `"detail":"request is not valid"`, 2},
		"long values": {`[{"name":"` + strings.Repeat("a", 100_000) + `"}]`, `"detail":"request is not valid"`, 1},
	} {
		w := sampletest.Do(s, "PATCH", "/core/network/7/devices", c.body, "Authorization", "secret-a")
		if n := strings.Count(w.Body.String(), `"location"`); w.Code != http.StatusUnprocessableEntity || n != c.told || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d, %d mistakes told, want 422 and %d: %.300s", name, w.Code, n, c.told, w.Body)
		}
		if w.Body.Len() > 4000 {
			t.Errorf("%s: %d bytes of answer", name, w.Body.Len())
		}
	}
}

// unknownKeys returns an object with n keys that no operation knows.
func unknownKeys(n int) string {
	var b strings.Builder
	b.WriteString(`{"x":0`)
	for i := range n - 1 {
		fmt.Fprintf(&b, `,"x%d":0`, i)
	}
	return b.String() + "}"
}

func TestValuesOfABodyAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	most := strings.Repeat("0,", api.MaxValues-2) + "0"
	for name, c := range map[string]struct {
		body, media string
		status      int
	}{
		"as many as may be":  {"[" + most + "]", api.JSONType, 422},
		"one more":           {"[" + most + ",0]", api.JSONType, 413},
		"keys":               {unknownKeys(api.MaxValues + 1), api.JSONType, 413},
		"wrapped":            {`{"data":` + unknownKeys(api.MaxValues) + `}`, api.JSONType, 413},
		"nested":             {strings.Repeat("[", api.MaxValues+1), api.JSONType, 413},
		"commas in a text":   {`[{"name":"\"` + strings.Repeat(",", 2*api.MaxValues) + `"}]`, api.JSONType, 422},
		"fields of a form":   {strings.Repeat("a=1&", api.MaxValues+1), api.FormType, 413},
		"behind a quote":     {`"` + strings.Repeat("a=1&", api.MaxValues+1), api.FormType, 413},
		"text with no quote": {`["` + strings.Repeat(",", 2*api.MaxValues), api.JSONType, 400},
	} {
		w := sampletest.Do(s, "PATCH", "/core/network/7/devices", c.body, "Authorization", "secret-a", "Content-Type", c.media)
		if w.Code != c.status {
			t.Errorf("%s: %d, want %d: %.300s", name, w.Code, c.status, w.Body)
		}
	}
}

func TestMalformedIsNotInvalid(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	key := []string{"Authorization", "Bearer secret-a"}
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"broken JSON":         {`{"name":`, nil, 400},
		"no body":             {``, nil, 400},
		"two values":          {`{"name":"a"} {}`, nil, 400},
		"text":                {`{"name":"a"}`, []string{"Content-Type", "text/plain"}, 415},
		"type with a charset": {`{"name":"a"}`, []string{"Content-Type", "application/json; charset=utf-8"}, 200},
		"type in capitals":    {`{"name":"a"}`, []string{"Content-Type", "Application/JSON"}, 200},
		"vendor's JSON":       {`{"name":"a"}`, []string{"Content-Type", "application/vnd.home+json"}, 200},
		"unreadable type":     {`{"name":"a"}`, []string{"Content-Type", ";;="}, 415},
		"wrong type":          {`[]`, nil, 422},
		"number too large":    {`{"name":"a","rank":-4294967297}`, nil, 422},
	} {
		w := sampletest.Do(s, "PUT", "/core/device", c.body, append(c.header, key...)...)
		if w.Code != c.status {
			t.Errorf("%s: %d %.300s, want %d", name, w.Code, w.Body, c.status)
		}
		if strings.Contains(w.Body.String(), "Go ") || w.Body.Len() > 2000 {
			t.Errorf("%s: says too much: %.300s", name, w.Body)
		}
	}
}

func TestNumbersAreNotCut(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	for _, target := range []string{"/core/network/4294967303/devices", "/core/network/-1/devices", "/core/network/7/devices?from=NaN",
		"/core/network/7/devices?from=-Inf", "/core/network/7/devices?last=4294967297"} {
		w := sampletest.Do(s, "PATCH", target, `[]`, "Authorization", "secret-a")
		if w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s, want 422", target, w.Code, w.Body)
		}
	}
}

func TestAbsentParametersHaveDefaults(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	sampletest.WantJSON(t, sampletest.Do(s, "PATCH", "/core/network/7/devices", `[]`, "Authorization", "secret-a"), `{"name":"ok","rank":10,"gain":-1}`)
	sampletest.WantJSON(t, sampletest.Do(s, "PATCH", "/core/network/7/devices?from=2.5&last=3", `[]`, "Authorization", "secret-a"), `{"name":"ok","rank":3,"gain":2.5}`)
}

func TestPanicIsAnsweredAndCounted(t *testing.T) {
	t.Parallel()
	s, log := testServer(t, sampletest.NoLive())
	for _, path := range []string{"/core/panic", "/core/nan"} {
		w := sampletest.Do(s, "GET", path, "", "Accept-Encoding", "gzip")
		sampletest.WantStatus(t, w, http.StatusInternalServerError)
		if strings.Contains(w.Body.String(), "secret-panic") || !strings.Contains(w.Body.String(), `"code":"internal"`) {
			t.Errorf("%s: %s", path, w.Body)
		}
	}
	var counted strings.Builder
	if s.WriteMetrics(&counted); !strings.Contains(counted.String(), "sensegate_http_panics_total{door=\"http\"} 2\n") {
		t.Errorf("want 2 panics counted:\n%s", &counted)
	}
	if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "secret-panic") {
		t.Error("the panic is not logged")
	}
}

func TestCredentialsComeFirst(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	sampletest.WantStatus(t, sampletest.Do(s, "PATCH", "/core/network/x/devices", `{`), http.StatusUnauthorized)
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami?token=secret-a", ""), http.StatusUnauthorized) // only a websocket may
	upgrade := []string{"Upgrade", "websocket", "Connection", "Upgrade"}
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami?token=secret-a", "", upgrade...), http.StatusUnauthorized) // and what says that it is one is none
	sampletest.WantStatus(t, sampletest.Do(s, "DELETE", "/core/alert/1?token=secret-a", "", upgrade...), http.StatusUnauthorized)
	for _, value := range []string{"secret-a", "Bearer secret-a", "bearer  secret-a"} {
		sampletest.WantJSON(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", value), `{"route":"","value":"a"}`)
	}
	sampletest.WantStatus(t, sampletest.Do(s, "GET", "/core/whoami", "", "Authorization", "Basic secret-a"), http.StatusUnauthorized)
	w := sampletest.Do(s, "DELETE", "/core/alert/1", "", "Authorization", "secret-a")
	sampletest.WantStatus(t, w, http.StatusNoContent)
}

func TestSecretsAreNotEchoed(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]any{
		"body.mac_address": "value", "path.network_id": "value", "body.users[2].name": "value", "query.key": "value",
		"body.password": nil, "query.access_token": nil, "body.token": nil, "body.setup_code": nil, "body.webhook.secret": nil,
		"body.emails[3]": nil, "body.user.email": nil,
	} {
		if got := api.Shown(place, "value"); got != want {
			t.Errorf("%s: %v is echoed, want %v", place, got, want)
		}
	}
}
