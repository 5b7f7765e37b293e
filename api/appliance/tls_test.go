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
