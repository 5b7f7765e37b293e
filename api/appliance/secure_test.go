package appliance

import (
	"crypto/tls"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sensegate/api/pki"
)

func TestEncryptedConnectionOfARunningApplianceIsAllRight(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	var codes []string
	for _, check := range r.box.TestSecure(t.Context()) {
		codes = append(codes, check.Code)
		if !check.OK {
			t.Errorf("%s: %s", check.Code, check.Text)
		}
	}
	if want := []string{"listens", "certificate_valid", "chain", "names", "clock"}; !slices.Equal(codes, want) {
		t.Errorf("checked %v, want %v", codes, want)
	}
	s := r.box.Secure()
	if s.Page != "https://"+r.HTTPS().String()+"/" || !s.Own || s.Authority != r.certs.Fingerprint() || s.Ends.IsZero() || !slices.Contains(s.Names, "127.0.0.1") || !slices.Contains(s.Names, "localhost") {
		t.Errorf("%+v", s)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorityOf(t, r)}}}
	defer client.CloseIdleConnections()
	response, err := client.Get(s.Page)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if now, err := r.box.Status(t.Context()); err != nil || now.SuppliedEnds != 0 {
		t.Errorf("the own certificate ends at %v in the status: %v", now.SuppliedEnds, err)
	}
}

func TestWithoutAnEncryptedListenerThereIsNoPage(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.HTTP.TLSListen = "off" })
	if s := r.box.Secure(); s.Page != "" {
		t.Errorf("the page is %s", s.Page)
	}
	checks := r.box.TestSecure(t.Context())
	if len(checks) != 2 || checks[0].OK || !strings.Contains(checks[0].Text, "switched off") || checks[1].Code != "clock" {
		t.Errorf("checked: %+v", checks)
	}
}

func TestPageIsWhereBrowsersAcceptTheCertificate(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	own := r.certs.State()
	for name, test := range map[string]struct {
		told []string
		want string
	}{
		"the first that is covered":      {[]string{"192.0.2.7", "localhost", "127.0.0.1"}, "localhost"},
		"the first when none is covered": {[]string{"192.0.2.7", "elsewhere.example"}, "192.0.2.7"},
		"nobody is told anything":        {nil, ""},
	} {
		if got := bestHost(own, test.told); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	supplied := pki.State{Names: []string{"*.example", "sense.example"}}
	if got := bestHost(supplied, nil); got != "sense.example" {
		t.Errorf("without anything told: %q", got)
	}
}
