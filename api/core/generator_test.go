package core_test

import (
	"flag"
	"fmt"
	"net/http"
	"testing"

	"sensegate/api/apitest"
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
			h := newHome(t)
			g := newGenerator(h, *seed+round)
			for range roundLength {
				g.Shoot()
			}
			h.wantWell()
		})
	}
}

func newGenerator(h *home, seed uint64) *apitest.Generator {
	h.reportStatus()
	h.change(func(n *motion.Network) {
		n.Meta = motion.Document{"guardian_env": "local", "dwm": map[string]any{"systemName": "demo"}}
	})
	g := apitest.NewGenerator(h.Client, h.server, seed)
	g.Token = func() string { return h.all }
	g.Weak = []string{h.key("foreign", h.other, auth.Scopes()...), h.key("reader", 0, auth.ScopeRead)}
	g.Learn("network_id", float64(h.network), float64(h.network), float64(h.other), 77.0)
	g.Learn("guardian_deviceid", guardianID, masterID)
	g.Learn("deviceid", guardianID, masterID)
	g.Learn("query", "meta->>'guardian_env'", "meta->'dwm'->>'systemName'", "meta ? 'guardian_env'")
	g.Learn("val", "%")
	g.Learn("bssid", "02:aa:00:00:01:12")
	g.Learn("mac", kitchen.String())
	return g
}

// wantWell checks the appliance after its requests; its database is checked when
// it is closed.
func (h *home) wantWell() {
	h.T.Helper()
	if a := h.get(fmt.Sprintf("/network/find/id/%d", h.other)); a.Status != 200 && a.Status != 404 {
		h.T.Errorf("afterwards: %d %s", a.Status, a.Body)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := h.db.Check(h.T.Context()); err != nil {
		h.T.Error(err)
	}
}
