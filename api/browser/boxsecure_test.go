package browser_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"sensegate/api/apitest"
	boxes "sensegate/api/box"
	"sensegate/motion"
)

// probed is what a try of the encrypted connection finds.
func probed(context.Context) []boxes.SecureCheck {
	return []boxes.SecureCheck{{Code: "listens", OK: true, Text: "It answers."}, {Code: "chain", OK: false, Text: "Nobody knows it."}}
}

func TestEncryptionOfTheAppliance(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	wantBody := func(method, path, want string) {
		t.Helper()
		if a := b.keeper.ask(method, "/admin"+path, ""); a.Status != http.StatusOK || strings.TrimSpace(string(a.Body)) != want {
			t.Errorf("%s %s: %d\n%s\nwant\n%s", method, path, a.Status, a.Body, want)
		}
	}
	b.secured = boxes.Secure{Own: true, Authority: "4F:0A"}
	wantBody("GET", "/secure", `{"page":"","own_authority":true,"ca_sha256":"4F:0A","ca":"/ca.pem","ends_at":null,"names":[]}`)
	b.secured = boxes.Secure{Page: "https://192.168.1.20:8443/", Own: true, Authority: "4F:0A", Ends: 1795536060, Names: []string{"gw.local", "192.168.1.20"}}
	wantBody("GET", "/secure", `{"page":"https://192.168.1.20:8443/","own_authority":true,"ca_sha256":"4F:0A","ca":"/ca.pem","ends_at":1795536060,"names":["gw.local","192.168.1.20"]}`)
	wantBody("POST", "/secure/test", `{"checks":[{"code":"listens","ok":true,"text":"It answers."},{"code":"chain","ok":false,"text":"Nobody knows it."}]}`)
}

func TestSuppliedCertificateThatEndsIsShown(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	attention := func() (found []any) {
		type status struct {
			Attention []struct {
				Code   string
				Figure *float64
			}
		}
		for _, a := range apitest.Want[status](t, b.keeper.ask(http.MethodGet, "/admin/status", ""), 200).Attention {
			if a.Code == "certificate_ends" && a.Figure != nil {
				found = append(found, *a.Figure)
			} else if a.Code == "certificate_ends" {
				found = append(found, nil)
			}
		}
		return found
	}
	in := func(left time.Duration) motion.Time { return motion.TimeOf(time.Now().Add(left)) }
	for name, test := range map[string]struct {
		shown boxes.Secure
		want  any // days, or what else
	}{
		"the appliance's own":   {boxes.Secure{Own: true, Ends: in(time.Hour)}, "nothing"},
		"supplied, in 60 hours": {boxes.Secure{Ends: in(60 * time.Hour)}, 2.0},
		"supplied, in a month":  {boxes.Secure{Ends: in(31 * 24 * time.Hour)}, "nothing"},
		"supplied, over":        {boxes.Secure{Ends: in(-time.Hour)}, nil},
	} {
		b.secured = test.shown
		found := attention()
		switch {
		case test.want == "nothing" && len(found) == 0:
		case len(found) != 1 || found[0] != test.want:
			t.Errorf("%s: %v, want %v", name, found, test.want)
		}
	}
}
