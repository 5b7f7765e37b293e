package appliance

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"strings"
	"testing"
)

// authorityOf downloads what clients are to trust, as anyone, over plain HTTP.
func authorityOf(t *testing.T, r running) *x509.CertPool {
	t.Helper()
	response, err := http.Get("http://" + r.HTTP().String() + "/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	pool := x509.NewCertPool()
	if err != nil || response.StatusCode != http.StatusOK || !pool.AppendCertsFromPEM(raw) || strings.Contains(string(raw), "PRIVATE") {
		t.Fatalf("%s, %v: %s", response.Status, err, raw)
	}
	return pool
}

func TestClientsThatTrustTheDownloadedAuthorityUseTLS(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	trust := &tls.Config{RootCAs: authorityOf(t, r)}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	response, err := client.Get("https://" + r.HTTPS().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK || response.ProtoMajor != 1 {
		t.Errorf("%s over %s", response.Status, response.Proto)
	}
	conn, err := tls.Dial("tcp", r.MQTTS().String(), trust)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	response, err = http.Post("http://"+r.HTTP().String()+"/ca.pem", "text/plain", strings.NewReader("mine"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /ca.pem: %s", response.Status)
	}
}

func TestCoreSpeaksTLSOnAListenerOfItsOwn(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.Core.Listen, c.Core.TLSListen = "127.0.0.1:0", "127.0.0.1:0" })
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorityOf(t, r)}}}
	defer client.CloseIdleConnections()
	for address, want := range map[string]int{
		"https://" + r.core.TLSAddr().String() + "/core/network/find/id/1": http.StatusUnauthorized,
		"http://" + r.core.Addr().String() + "/core/network/find/id/1":     http.StatusUnauthorized,
		"https://" + r.core.TLSAddr().String() + "/api/v1/version":         http.StatusNotFound,
		"https://" + r.HTTPS().String() + "/api/v1/version":                http.StatusOK,
	} {
		response, err := client.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %s, want %d", address, response.Status, want)
		}
	}
}

func TestListenersOfCoreAreValidated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		core CoreConfig
		want string
	}{
		"none":            {CoreConfig{}, ""},
		"both":            {CoreConfig{":1", ":2"}, ""},
		"off":             {CoreConfig{":1", "off"}, ""},
		"no address":      {CoreConfig{":1", "8444"}, "tls_listen: want"},
		"without a plain": {CoreConfig{"", ":2"}, "tls_listen: needs listen"},
		"no addresses":    {CoreConfig{"x", "y"}, "listen: want"},
	} {
		err := c.core.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestTLSCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.HTTP.TLSListen, c.MQTT.TLSListen = "off", "" })
	if r.HTTPS() != nil || r.MQTTS() != nil {
		t.Errorf("https on %v, mqtts on %v", r.HTTPS(), r.MQTTS())
	}
	if port := portOf(r.MQTTS()); port != 0 {
		t.Errorf("devices are sent to port %d", port)
	}
}
