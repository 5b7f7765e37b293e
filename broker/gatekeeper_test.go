package broker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/broker"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// admitter answers every post alike and keeps the last one.
type admitter struct {
	admission   motion.Admission
	err         error
	bootstrap   motion.Bootstrap
	credentials motion.Credentials
	posts       int
}

func (a *admitter) Admit(_ context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	a.bootstrap, a.credentials, a.posts = b, c, a.posts+1
	return a.admission, a.err
}

const masterPost = `{"radar_status": {"deviceId": "csi-a-02aa00000110", "node_id": "GWA1000133", "root_mode": "2"}, "location_id": "a41f00c2d97b4e5580136c2e"}`

func master() motion.Admission {
	return motion.Admission{
		Network: 1042, GuardianID: "a41f00c2d97b4e5580136c2e", GuardianToken: "k2J", DeviceID: "csi-a-02aa00000110", RadarToken: "9fQ",
	}
}

func plainAndTLS() broker.GatekeeperConfig {
	return broker.GatekeeperConfig{MQPort: 1883, MQSecurePort: 8883}
}

// request is a post that came from the LAN to 192.168.10.2.
func request(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr = "192.168.10.13:40000"
	local := &net.TCPAddr{IP: net.IPv4(192, 168, 10, 2), Port: 8080}
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func gatekeeper(config broker.GatekeeperConfig, a broker.Admitter) http.Handler {
	return broker.NewGatekeeper(config, a, slog.New(slog.DiscardHandler))
}

func TestGatekeeperAnswersInTheFormsOfTheProtocol(t *testing.T) {
	t.Parallel()
	port := 8884
	with := func(change func(*motion.Admission)) motion.Admission {
		admission := master()
		change(&admission)
		return admission
	}
	plainOnly := broker.GatekeeperConfig{MQPort: 1883}
	for name, c := range map[string]struct {
		config    broker.GatekeeperConfig
		admission motion.Admission
		want      string
	}{
		"master": {plainAndTLS(), master(), `{"local_config":{"guardian_mqtt":{"network_id":1042,"guardian_id":"a41f00c2d97b4e5580136c2e","mqServer":"192.168.10.2","mqPort":1883,"mqSecurePort":8883,"mqToken":"k2J","mqType":"guardian"},` +
			`"radar_mqtt":{"network_id":1042,"deviceId":"csi-a-02aa00000110","mqServer":"192.168.10.2","mqPort":1883,"mqSecureRadarPort":8883,"mqToken":"9fQ","mqType":"radar"}},"radar_config":{},"guardian_config":{}}`},
		"peer": {plainAndTLS(), with(func(a *motion.Admission) { a.GuardianToken = "" }),
			`{"local_config":{"radar_mqtt":{"network_id":1042,"deviceId":"csi-a-02aa00000110","mqServer":"192.168.10.2","mqPort":1883,"mqSecureRadarPort":8883,"mqToken":"9fQ","mqType":"radar"}},"radar_config":{},"guardian_config":{}}`},
		"TLS off": {plainOnly, with(func(a *motion.Admission) { a.SecurePort = &port }),
			`{"local_config":{"guardian_mqtt":{"network_id":1042,"guardian_id":"a41f00c2d97b4e5580136c2e","mqServer":"192.168.10.2","mqPort":1883,"mqToken":"k2J","mqType":"guardian"},` +
				`"radar_mqtt":{"network_id":1042,"deviceId":"csi-a-02aa00000110","mqServer":"192.168.10.2","mqPort":1883,"mqToken":"9fQ","mqType":"radar"}},"radar_config":{},"guardian_config":{}}`},
		"another radar port and configurations": {plainAndTLS(), with(func(a *motion.Admission) {
			a.GuardianToken, a.SecurePort = "", &port
			a.Radar, a.Guardian = motion.Document{"log_level": "a&b"}, motion.Document{"x": 1}
		}), `{"local_config":{"radar_mqtt":{"network_id":1042,"deviceId":"csi-a-02aa00000110","mqServer":"192.168.10.2","mqPort":1883,"mqSecureRadarPort":8884,"mqToken":"9fQ","mqType":"radar"}},"radar_config":{"log_level":"a&b"},"guardian_config":{"x":1}}`},
		"configured server": {broker.GatekeeperConfig{MQServer: "broker.example", MQPort: 1884}, with(func(a *motion.Admission) { a.GuardianToken = "" }),
			`{"local_config":{"radar_mqtt":{"network_id":1042,"deviceId":"csi-a-02aa00000110","mqServer":"broker.example","mqPort":1884,"mqToken":"9fQ","mqType":"radar"}},"radar_config":{},"guardian_config":{}}`},
		"not yet":  {plainAndTLS(), motion.Admission{TryAgain: "waiting for adoption"}, `{"status":"TRYAGAIN","retry_after_s":30,"reason":"waiting for adoption"}`},
		"redirect": {plainAndTLS(), with(func(a *motion.Admission) { a.Redirect = "https://other.example/gatekeeper?a=1&b=2" }), `{"gatekeeper_redirect":"https://other.example/gatekeeper?a=1&b=2"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := serve(gatekeeper(c.config, &admitter{admission: c.admission}), request("POST", "/gatekeeper", masterPost))
			if w.Code != http.StatusOK || w.Body.String() != c.want {
				t.Errorf("answer %d %s, want 200 %s", w.Code, w.Body, c.want)
			}
			if w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

func TestGatekeeperTakesCredentialsFromHeaderOrQuery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ authorization, target, want string }{
		"bearer":          {"Bearer 9fQ", "/gatekeeper", "9fQ"},
		"any case":        {"bearer 9fQ", "/gatekeeper", "9fQ"},
		"query":           {"", "/gatekeeper?access_token=p%2Bs", "p+s"},
		"header first":    {"Bearer 9fQ", "/gatekeeper?access_token=psk", "9fQ"},
		"another scheme":  {"Basic 9fQ", "/gatekeeper?access_token=psk", "psk"},
		"no token at all": {"", "/gatekeeper", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &admitter{admission: master()}
			r := request("POST", c.target, masterPost)
			r.Header.Set("Authorization", c.authorization)
			r.Header.Set("Content-Type", "text/plain")
			serve(gatekeeper(plainAndTLS(), a), r)
			want := motion.Credentials{Token: c.want, Address: netip.MustParseAddr("192.168.10.13")}
			if a.credentials != want {
				t.Errorf("credentials %+v, want %+v", a.credentials, want)
			}
			if a.bootstrap.Radar.NodeName != "GWA1000133" || a.bootstrap.Radar.RootMode != motion.RootModeMaster || a.bootstrap.LocationID != "a41f00c2d97b4e5580136c2e" {
				t.Errorf("bootstrap %+v", a.bootstrap)
			}
		})
	}
}

func TestGatekeeperAsksWhoseAddressItIs(t *testing.T) {
	t.Parallel()
	mac := motion.MAC{2, 0xaa, 0, 0, 1, 0x10}
	config := plainAndTLS()
	config.Neighbour = func(address netip.Addr) motion.MAC {
		if address != netip.MustParseAddr("192.168.10.13") {
			t.Errorf("asked for %v", address)
		}
		return mac
	}
	a := &admitter{admission: master()}
	serve(gatekeeper(config, a), request("POST", "/gatekeeper", masterPost))
	if a.credentials.MAC != mac {
		t.Errorf("credentials %+v", a.credentials)
	}
}

func TestGatekeeperTurnsAwayWhatIsNoBootstrap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, origin, body string
		status               int
		reason, detail       string
	}{
		"another method": {"GET", "", "", 405, broker.TurnedMethod, "want POST"},
		"a web page":     {"POST", "http://192.168.10.2", masterPost, 403, broker.TurnedBrowser, "only devices bootstrap"},
		"no JSON":        {"POST", "", "{", 400, broker.TurnedMalformed, "not JSON: unexpected EOF"},
		"no device":      {"POST", "", `{"radar_status": {"deviceId": "\"#"}}`, 400, broker.TurnedMalformed, `radar_status.deviceId: \"\\\"#\": want 1 to 64 letters, digits and - _ . :`},
		"too large":      {"POST", "", strings.Repeat(" ", 256<<10) + masterPost, 413, broker.TurnedTooLarge, "body over 262144 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told string
			config := plainAndTLS()
			config.TurnedAway = func(address netip.Addr, reason string, _ error) { told = address.String() + " " + reason }
			a := &admitter{admission: master()}
			r := request(c.method, "/gatekeeper?access_token=psk", c.body)
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := serve(gatekeeper(config, a), r)
			want := fmt.Sprintf(`{"type":"about:blank","title":"%s","status":%d,"detail":"%s"}`, http.StatusText(c.status), c.status, c.detail)
			if w.Code != c.status || w.Body.String() != want || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("answer %d %s %s, want %d %s", w.Code, w.Header(), w.Body, c.status, want)
			}
			if told != "192.168.10.13 "+c.reason || a.posts != 0 {
				t.Errorf("told %q after %d posts, want %q after none", told, a.posts, "192.168.10.13 "+c.reason)
			}
			if allow := w.Header().Get("Allow"); (allow == "POST") != (c.status == 405) {
				t.Errorf("Allow %q with status %d", allow, c.status)
			}
		})
	}
}

func TestGatekeeperAsksForRoomForABody(t *testing.T) {
	t.Parallel()
	config := plainAndTLS()
	var told string
	config.TurnedAway = func(_ netip.Addr, reason string, _ error) { told = reason }
	given, decoded := 0, 0
	config.Body = func(_ http.ResponseWriter, r *http.Request, limit int) ([]byte, func(), error) {
		if given++; limit != 256<<10 || given > 1 {
			return nil, nil, fault.New(fault.Unavailable, "no room for %d bytes", limit)
		}
		body, err := io.ReadAll(r.Body)
		return body, func() { decoded++ }, err
	}
	h := gatekeeper(config, &admitter{admission: master()})
	if w := serve(h, request("POST", "/gatekeeper", masterPost)); w.Code != http.StatusOK || decoded != 1 {
		t.Errorf("answer %d %s, %d bodies decoded", w.Code, w.Body, decoded)
	}
	w := serve(h, request("POST", "/gatekeeper", masterPost))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || told != broker.TurnedBusy {
		t.Errorf("without room: %d %v %s, told %q", w.Code, w.Header(), w.Body, told)
	}
}

func TestGatekeeperToldOfErrorsKeepsSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err        error
		status     int
		retryAfter string
		body, log  string
	}{
		"own trouble": {errors.New("disk on fire"), 500, "", "try again later", "disk on fire"},
		"not ready":   {&fault.Error{Kind: fault.Unavailable, Message: "store is read-only", RetryAfter: 2500 * time.Millisecond}, 503, "3", "store is read-only", ""},
		"too often":   {fault.New(fault.Throttled, "wrong token too often"), 429, "1", "wrong token too often", ""},
		"a mistake":   {fmt.Errorf("admit: %w", fault.New(fault.Invalid, "location_id: missing")), 400, "", "location_id: missing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			h := broker.NewGatekeeper(plainAndTLS(), &admitter{err: c.err}, slog.New(slog.NewTextHandler(&log, nil)))
			r := request("POST", "/gatekeeper?access_token=SECRET", masterPost)
			w := serve(h, r)
			if w.Code != c.status || !strings.Contains(w.Body.String(), `"detail":"`+c.body+`"`) || w.Header().Get("Retry-After") != c.retryAfter {
				t.Errorf("answer %d %v %s", w.Code, w.Header(), w.Body)
			}
			if !strings.Contains(log.String(), c.log) || (c.log == "") != (log.Len() == 0) || strings.Contains(log.String()+w.Body.String(), "SECRET") {
				t.Errorf("log %q, want %q in it and no token", log.String(), c.log)
			}
		})
	}
}

func TestTokensAreMadeOnlyForAnAnswerThatCanBeGiven(t *testing.T) {
	t.Parallel()
	a := &admitter{admission: master()}
	r := httptest.NewRequest("POST", "/gatekeeper", strings.NewReader(masterPost)) // without a local address
	if w := serve(gatekeeper(plainAndTLS(), a), r); w.Code != http.StatusInternalServerError || a.posts != 0 {
		t.Errorf("answer %d after %d admissions, want 500 after none", w.Code, a.posts)
	}
}

func TestAddressThatPostsTooOftenWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &admitter{admission: master()}
		h := gatekeeper(plainAndTLS(), a)
		post := func(from string) *httptest.ResponseRecorder {
			r := request("POST", "/gatekeeper", masterPost)
			r.RemoteAddr = from
			return serve(h, r)
		}
		for i := range 10 {
			if w := post("[2001:db8::1]:9"); w.Code != http.StatusOK {
				t.Fatalf("post %d: answer %d, want 200", i+1, w.Code)
			}
		}
		// another address of the same host
		w := post("[2001:db8::2]:9")
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || a.posts != 10 {
			t.Fatalf("post 11: answer %d %v after %d admissions, want 429 after 10", w.Code, w.Header(), a.posts)
		}
		if w := post("192.168.10.14:9"); w.Code != http.StatusOK {
			t.Errorf("another device: answer %d, want 200", w.Code)
		}
		time.Sleep(time.Second)
		if w := post("[2001:db8::1]:9"); w.Code != http.StatusOK {
			t.Errorf("a second later: answer %d, want 200", w.Code)
		}
		for range 50 {
			if w := post("127.0.0.1:9"); w.Code != http.StatusOK {
				t.Fatalf("loopback: answer %d, want 200", w.Code)
			}
		}
		// more addresses than are kept in mind
		for i := range 3000 {
			if w := post(fmt.Sprintf("10.0.%d.%d:9", i/250, i%250)); w.Code != http.StatusOK {
				t.Fatalf("stranger %d: answer %d, want 200", i, w.Code)
			}
		}
	})
}

func TestServerIsTheAddressThatThePostCameTo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(gatekeeper(plainAndTLS(), &admitter{admission: master()}))
	defer server.Close()
	response, err := server.Client().Post(server.URL+"/gatekeeper", "application/json", strings.NewReader(masterPost))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(body), `"mqServer":"127.0.0.1"`) {
		t.Errorf("answer %s %v, want it to name 127.0.0.1", body, err)
	}
}
