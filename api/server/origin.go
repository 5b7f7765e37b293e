package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"sensegate/api"
	"sensegate/api/live"
	"sensegate/motion/fault"
)

// originList says which web pages may act through the browser of somebody in the house:
// those of the appliance itself, of the configured base URL, and of listed origins
// (RFC 6454: scheme, host and port). The browser sends where a page comes from with
// each write and each websocket, and no page can change that. A page that knows a token
// and sends it in the header Authorization needs no list, for its browser adds none by
// itself; programs send no Origin.
type originList struct {
	base   string          // "": none is configured
	listed map[string]bool // which may read answers too (CORS)
}

func newOriginList(c Config) originList {
	o := originList{listed: map[string]bool{}}
	o.base, _ = originOf(strings.TrimRight(c.BaseURL, "/"))
	for _, text := range c.Origins {
		if origin, ok := originOf(text); ok {
			o.listed[origin] = true
		}
	}
	return o
}

// originOf returns an origin in one spelling, with its port, and whether text is one.
func originOf(text string) (origin string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Hostname() == "" || u.User != nil || u.Path != "" || strings.ContainsAny(text, "?#*") {
		return "", false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port), true
}

// ownOrigin returns the origin that a request was sent to; its Host is one of ours. A proxy
// that ends TLS says so: a page of another site cannot have its browser say it.
func ownOrigin(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	own, _ := originOf(scheme + "://" + r.Host)
	return own
}

// admits reports whether a request may come from where it comes from.
func (o originList) admits(r *http.Request) bool {
	if !live.Requested(r) && (api.IsSafe(r.Method) || r.Header.Get("Authorization") != "") {
		return true
	}
	text := r.Header.Get("Origin")
	if text == "" {
		return r.Header.Get("Sec-Fetch-Site") != "cross-site"
	}
	origin, _ := originOf(text)
	return o.own(r) || o.listed[origin]
}

// own reports whether the Origin of a request is that of the appliance, or of the configured
// base URL.
func (o originList) own(r *http.Request) bool {
	origin, ok := originOf(r.Header.Get("Origin"))
	return ok && (origin == ownOrigin(r) || origin == o.base)
}

// share lets pages of listed origins read the answer (CORS), and reports whether the
// request was only their browser's question whether they may ask, which it answers.
func (o originList) share(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(o.listed) == 0 {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	text := r.Header.Get("Origin")
	if origin, ok := originOf(text); !ok || !o.listed[origin] {
		return false
	}
	h.Set("Access-Control-Allow-Origin", text)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// errOrigin is the answer to a page of another site.
var errOrigin = &fault.Error{Kind: fault.Forbidden, Code: "origin",
	Message: "origin: pages of another site may not do this; set http.base_url in the configuration if it is the appliance behind a proxy, or add it to http.origins"}
