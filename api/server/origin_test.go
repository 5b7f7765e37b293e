package server

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sensegate/api/sampletest"
)

// originServer answers pages of https://app.example:8443, and is reached as
// https://sense.example through a proxy, and as sensegate-2.local on the local network.
func originServer(t *testing.T) *Server {
	t.Helper()
	s, _ := testServer(t, sampletest.NoLive())
	s.config.BaseURL, s.config.Origins = "https://sense.example/", []string{"https://app.example:8443"}
	s.origins = newOriginList(s.config)
	s.hosts.holds = func(name string) bool { return name == "sensegate-2.local" }
	return s
}

// from sends a request with headers, over TLS or not.
func from(s *Server, method, target string, secure bool, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(`{"name":"a"}`))
	r.Host = "127.0.0.1:8080"
	if secure {
		r.TLS = &tls.ConnectionState{}
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestPagesOfOtherSitesCannotWrite(t *testing.T) {
	t.Parallel()
	s := originServer(t)
	for name, c := range map[string]struct {
		secure bool
		header []string
		status int
	}{
		"a program":                     {false, nil, 200},
		"a page of ours":                {false, []string{"Origin", "http://127.0.0.1:8080"}, 200},
		"over TLS":                      {true, []string{"Origin", "https://127.0.0.1:8080"}, 200},
		"by a name":                     {false, []string{"Origin", "http://localhost:8080", "Host", "localhost:8080"}, 200},
		"by a name that it holds":       {false, []string{"Origin", "http://sensegate-2.local:8080", "Host", "sensegate-2.local:8080"}, 200},
		"of another box":                {false, []string{"Origin", "http://sensegate.local:8080", "Host", "sensegate-2.local:8080"}, 403},
		"in capitals":                   {false, []string{"Origin", "http://HOME.example:80", "Host", "home.example"}, 200},
		"on the scheme's port":          {true, []string{"Origin", "https://home.example", "Host", "home.example:443"}, 200},
		"at an IPv6 address":            {false, []string{"Origin", "http://[fd00::1]:8080", "Host", "[fd00::1]:8080"}, 200},
		"behind a proxy":                {false, []string{"Origin", "https://sense.example"}, 200},
		"a listed one":                  {false, []string{"Origin", "https://app.example:8443"}, 200},
		"a foreign one":                 {false, []string{"Origin", "http://evil.example"}, 403},
		"of nowhere":                    {false, []string{"Origin", "null"}, 403},
		"of no origin":                  {false, []string{"Origin", "evil"}, 403},
		"of another port":               {false, []string{"Origin", "http://127.0.0.1:9999"}, 403},
		"of another scheme":             {false, []string{"Origin", "https://127.0.0.1:8080"}, 403},
		"of plain HTTP, over TLS":       {true, []string{"Origin", "http://127.0.0.1:8080"}, 403},
		"of another of our names":       {false, []string{"Origin", "http://home.example:8080"}, 403},
		"of the listed name's own port": {false, []string{"Origin", "https://app.example"}, 403},
		"of the base URL, other port":   {false, []string{"Origin", "https://sense.example:8443"}, 403},
		"through a proxy with TLS":      {false, []string{"Origin", "https://127.0.0.1:8080", "X-Forwarded-Proto", "https"}, 200},
		"of another, through a proxy":   {false, []string{"Origin", "https://evil.example", "X-Forwarded-Proto", "https"}, 403},
		"that hides its origin":         {false, []string{"Sec-Fetch-Site", "cross-site"}, 403},
		"typed in by a person":          {false, []string{"Sec-Fetch-Site", "none"}, 200},
		"that knows a token":            {false, []string{"Origin", "http://evil.example", "Authorization", "secret-a"}, 200},
	} {
		for _, media := range []string{"application/json", "application/x-www-form-urlencoded", "text/plain", ""} {
			w := from(s, "PUT", "/core/device", c.secure, append(c.header, "Content-Type", media)...)
			want := c.status
			if want == 200 && media != "application/json" && media != "" {
				want = http.StatusUnsupportedMediaType // a form is of JSON here
			}
			if w.Code != want {
				t.Errorf("a page %s, %q: %d, want %d: %s", name, media, w.Code, want, w.Body)
			}
			if w.Code == 403 && (!strings.Contains(w.Body.String(), `"code":"origin"`) || !strings.Contains(w.Body.String(), "http.origins")) {
				t.Errorf("a page %s: %s", name, w.Body)
			}
		}
	}
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		if w := from(s, method, "/core/alert/status", false, "Origin", "http://evil.example"); w.Code >= 300 || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s of a foreign page: %d %v", method, w.Code, w.Header())
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE", "INVENTED"} {
		for _, path := range []string{"/core/alert/status", "/core/nothing", "/nothing"} {
			if w := from(s, method, path, false, "Origin", "http://evil.example"); w.Code != 403 {
				t.Errorf("%s %s of a foreign page: %d", method, path, w.Code)
			}
		}
	}
}

func TestListedPagesReadAnswers(t *testing.T) {
	t.Parallel()
	s := originServer(t)
	const listed = "https://app.example:8443"
	w := from(s, "OPTIONS", "/core/whoami", false, "Origin", listed, "Access-Control-Request-Method", "PATCH", "Access-Control-Request-Headers", "authorization")
	sampletest.WantStatus(t, w, http.StatusNoContent)
	for name, want := range map[string]string{
		"Access-Control-Allow-Origin": listed, "Access-Control-Allow-Headers": "Authorization, Content-Type", "Vary": "Origin",
		"Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE", "Access-Control-Allow-Credentials": "",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("asked before: %s is %q, want %q", name, got, want)
		}
	}
	for token, status := range map[string]int{"secret-a": 200, "guess": 401} {
		w := from(s, "GET", "/core/whoami", false, "Origin", listed, "Authorization", token)
		if w.Code != status || w.Header().Get("Access-Control-Allow-Origin") != listed || !strings.Contains(strings.Join(w.Header().Values("Vary"), ", "), "Origin") {
			t.Errorf("%s: %d %v, want %d", token, w.Code, w.Header(), status)
		}
	}
	for _, other := range []string{"http://evil.example", "https://sense.example", "null", ""} {
		w := from(s, "OPTIONS", "/core/whoami", false, "Origin", other, "Access-Control-Request-Method", "GET")
		if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Vary") != "Origin" {
			t.Errorf("%q is answered %v", other, w.Header())
		}
	}
	s.HandleAnyHost("/gatekeeper", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	if w := from(s, "POST", "/gatekeeper", false, "Origin", listed); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Error("pages may read the answers for devices")
	}
}

func TestOriginsAreValidated(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"https://app.example": true, "http://localhost:5173": true, "HTTPS://App.Example:8443": true, "capacitor://localhost": true, "http://[fd00::1]:81": true,
		"app.example": false, "https://app.example/": false, "https://app.example/x": false, "*": false, "https://*.example": false, "null": false,
		"": false, "https://user@app.example": false, "https://app.example?": false, "https://app.example#": false, "https://:8443": false, "file:///x": false,
	} {
		c := Defaults()
		c.Origins = []string{text}
		if err := c.Validate(); (err == nil) != valid || err != nil && !strings.HasPrefix(err.Error(), "origins: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
