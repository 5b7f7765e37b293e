package api_test

import (
	"net/http"
	"net/netip"
	"testing"

	"sensegate/api"
)

func TestRemoteIsUnmapped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"[::ffff:192.0.2.1]:9": "192.0.2.1", "[fe80::1%eth0]:9": "fe80::1", "192.0.2.1:9": "192.0.2.1"} {
		if got := api.NewRequest(&http.Request{RemoteAddr: text}).Remote(); got != netip.MustParseAddr(want) {
			t.Errorf("remote of %s: %v, want %s", text, got, want)
		}
	}
	if got := api.NewRequest(&http.Request{RemoteAddr: "@"}).Remote(); got.IsValid() {
		t.Errorf("remote of a unix socket: %v", got)
	}
}
