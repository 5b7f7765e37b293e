package app_test

import (
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
)

// ask posts to the gatekeeper as an extender that nobody knows, and returns why it has
// to wait.
func (h *household) ask(guardian, device string) string {
	h.T.Helper()
	post := motion.Bootstrap{LocationID: guardian, Radar: motion.Radar{DeviceID: device, NodeName: "EXA1000135", RootMode: 1}}
	a, err := h.engine.Admit(h.T.Context(), post, motion.Credentials{Address: netip.MustParseAddr("127.0.0.9")})
	if err != nil {
		h.T.Fatal(err)
	}
	return a.TryAgain
}

// closedHousehold returns a household whose first adoption window has passed.
func closedHousehold(t *testing.T) *household {
	t.Helper()
	var late atomic.Int64 // the clock is put forward
	now := func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	h := newHousehold(t, func(s *store.Options, e *engine.Options) {
		s.Now, e.Now, e.FirstWindow = now, now, 10*time.Minute
	})
	late.Store(int64(15 * time.Minute))
	return h
}

func TestLadderOfAdoption(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for _, c := range []struct{ method, path string }{{"GET", "/adoption"}, {"POST", "/adoption"}, {"POST", "/adoption/csi-x"}} {
		h.climb(c.method,
			step{name: "no token", path: c.path, status: 401},
			step{name: "stranger", who: h.nobody, path: c.path, status: 404},
			step{name: "member", who: h.member, path: c.path, status: 403},
			step{name: "malformed", who: h.owner, path: c.path + "?x=%zz", status: 400},
			step{name: "invalid", who: h.owner, path: c.path + "?network_id=x", status: 422},
		)
	}
	h.climb(http.MethodPost,
		step{name: "no such device", who: h.owner, path: "/adoption/csi-x", status: 404},
		step{name: "too long a name", who: h.owner, path: "/adoption/" + strings.Repeat("x", 65), status: 422},
		step{name: "a body of another kind", who: h.owner, path: "/adoption", body: `{"network_id":"x"}`, status: 422},
	)
}

// adoption is the answer of the adoption rows.
type adoption struct {
	Open    bool
	Until   *motion.Stamp
	Pending []struct {
		DeviceID string `json:"device_id"`
		Approved bool
	}
}

func TestOwnerLetsDevicesInForTenMinutes(t *testing.T) {
	t.Parallel()
	h := closedHousehold(t)
	if waits := h.ask(guardianID, "csi-a-02aa00000310"); waits == "" {
		t.Fatal("the window is open")
	}
	before := h.engine.Now()
	opened := apitest.Want[adoption](t, h.as(h.owner, "POST", "/adoption", `{"network_id":1}`), 200)
	if !opened.Open || opened.Until == nil || opened.Until.Since(before.Stamp()) < 9*time.Minute || opened.Until.Since(before.Stamp()) > 11*time.Minute {
		t.Errorf("opened %+v at %v", opened, before)
	}
	if waits := h.ask(guardianID, "csi-a-02aa00000310"); waits != "" {
		t.Errorf("waits: %s", waits)
	}
}

func TestOwnerSeesAndAdoptsOnlyDevicesThatCouldBeTheirs(t *testing.T) {
	t.Parallel()
	h := closedHousehold(t)
	h.ask(guardianID, "csi-own")
	h.ask("b52f00c2d97b4e5580136c2e", "csi-neighbour")
	h.ask("nobody-knows", "csi-new")
	seen := apitest.Want[adoption](t, h.as(h.owner, "GET", "/adoption", ""), 200)
	if seen.Open || len(seen.Pending) != 2 || seen.Pending[0].DeviceID == "csi-neighbour" || seen.Pending[1].DeviceID == "csi-neighbour" {
		t.Errorf("seen %+v", seen)
	}
	apitest.WantProblem(t, h.as(h.owner, "POST", "/adoption/csi-neighbour", ""), 404, "csi-neighbour: not found")
	apitest.Want[adoption](t, h.as(h.owner, "POST", "/adoption/csi-own", ""), 200)
	if waits := h.ask(guardianID, "csi-own"); waits != "" {
		t.Errorf("waits: %s", waits)
	}
	if waits := h.ask("b52f00c2d97b4e5580136c2e", "csi-neighbour"); waits == "" {
		t.Error("the neighbour's device was let in")
	}
}
