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
	return h.askFrom("127.0.0.9", guardian, device)
}

// askFrom is ask from an address.
func (h *household) askFrom(address, guardian, device string) string {
	h.T.Helper()
	post := motion.Bootstrap{LocationID: guardian, Radar: motion.Radar{DeviceID: device, NodeName: "EXA1000135", RootMode: 1}}
	a, err := h.engine.Devices.Admit(h.T.Context(), post, motion.Credentials{Address: netip.MustParseAddr(address)})
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
	for _, c := range []struct{ method, path string }{{"GET", "/adoption"}, {"POST", "/adoption"}, {"DELETE", "/adoption"}, {"POST", "/adoption/csi-x"}} {
		h.climb(c.method,
			step{name: "no token", path: c.path, status: 401},
			step{name: "stranger", who: h.nobody, path: c.path, status: 404},
			step{name: "member", who: h.member, path: c.path, status: 403},
			step{name: "malformed", who: h.owner, path: c.path + "?x=%zz", status: 400},
			step{name: "malformed", who: h.owner, path: c.path + "?network_id=x", status: 400},
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
		ID         string
		DeviceID   string `json:"device_id"`
		LocationID string `json:"location_id"`
		Role       string
		Address    string
		Approved   bool
	}
}

func TestOwnerLetsDevicesInForTenMinutes(t *testing.T) {
	t.Parallel()
	h := closedHousehold(t)
	if waits := h.ask(guardianID, "csi-a-02aa00000310"); waits == "" {
		t.Fatal("the window is open")
	}
	before := h.engine.State.Now()
	opened := apitest.Want[adoption](t, h.as(h.owner, "POST", "/adoption", `{"network_id":1}`), 200)
	if !opened.Open || opened.Until == nil || opened.Until.Since(before.Stamp()) < 9*time.Minute || opened.Until.Since(before.Stamp()) > 11*time.Minute {
		t.Errorf("opened %+v at %v", opened, before)
	}
	if waits := h.ask("b52f00c2d97b4e5580136c2e", "csi-neighbour"); waits == "" {
		t.Error("the window of one network has let a device into another")
	}
	if seen := apitest.Want[adoption](t, h.as(h.neighbour, "GET", "/adoption", ""), 200); seen.Open {
		t.Errorf("the neighbour's is open too: %+v", seen)
	}
	if waits := h.ask(guardianID, "csi-a-02aa00000310"); waits != "" {
		t.Errorf("waits: %s", waits)
	}
	closed := apitest.Want[adoption](t, h.as(h.owner, "DELETE", "/adoption", ""), 200)
	if closed.Open || closed.Until == nil {
		t.Errorf("closed %+v", closed)
	}
	if waits := h.ask(guardianID, "csi-a-02aa00000311"); waits == "" {
		t.Error("let in after the window was closed")
	}
}

func TestOwnerIsAskedWhichOfTwoIsMeant(t *testing.T) {
	t.Parallel()
	h := closedHousehold(t)
	for _, address := range []string{"127.0.0.8", "127.0.0.9"} {
		h.askFrom(address, guardianID, "csi-twin")
	}
	apitest.WantProblem(t, h.as(h.owner, "POST", "/adoption/csi-twin", ""), 409, "name one by its id")
	seen := apitest.Want[adoption](t, h.as(h.owner, "GET", "/adoption", ""), 200)
	if len(seen.Pending) != 2 || seen.Pending[0].Role != "peer" || seen.Pending[0].LocationID != guardianID || seen.Pending[0].Address != "127.0.0.9" {
		t.Fatalf("seen %+v", seen)
	}
	apitest.WantProblem(t, h.as(h.neighbour, "POST", "/adoption/"+seen.Pending[0].ID, ""), 404, "not found")
	apitest.Want[adoption](t, h.as(h.owner, "POST", "/adoption/"+seen.Pending[0].ID, ""), 200)
	if waits := h.askFrom("127.0.0.8", guardianID, "csi-twin"); waits == "" {
		t.Error("the other of the two was let in")
	}
	if waits := h.askFrom("127.0.0.9", guardianID, "csi-twin"); waits != "" {
		t.Errorf("waits: %s", waits)
	}
}

func TestOwnerReadsWhoCameAndWhoWasRefused(t *testing.T) {
	t.Parallel()
	h := closedHousehold(t)
	h.ask(guardianID, "csi-own")
	apitest.Want[adoption](t, h.as(h.owner, "POST", "/adoption/csi-own", ""), 200)
	h.ask(guardianID, "csi-own") // its event comes after that of the refusal
	events := string(h.as(h.owner, "GET", "/events", "").Body)
	for _, want := range []string{"was not let in: waiting for adoption", "EXA1000135 was let in as a new device"} {
		if !strings.Contains(events, want) {
			t.Errorf("no %q in %s", want, events)
		}
	}
}

func TestOwnerSeesAndAdoptsOnlyDevicesThatCouldBeTheirs(t *testing.T) {
	t.Parallel()
	h := closedHousehold(t)
	h.ask(guardianID, "csi-own")
	h.ask("b52f00c2d97b4e5580136c2e", "csi-neighbour")
	h.ask("nobody-knows", "csi-new")
	h.ask(guardianID, "csi-b-02aa00000210") // the neighbour's master
	seen := apitest.Want[adoption](t, h.as(h.owner, "GET", "/adoption", ""), 200)
	if seen.Open || len(seen.Pending) != 2 || seen.Pending[0].DeviceID == "csi-neighbour" || seen.Pending[1].DeviceID == "csi-neighbour" {
		t.Errorf("seen %+v", seen)
	}
	apitest.WantProblem(t, h.as(h.owner, "POST", "/adoption/csi-neighbour", ""), 404, "csi-neighbour: not found")
	apitest.WantProblem(t, h.as(h.owner, "POST", "/adoption/csi-b-02aa00000210", ""), 404, "csi-b-02aa00000210: not found")
	apitest.Want[adoption](t, h.as(h.owner, "POST", "/adoption/csi-own", ""), 200)
	if waits := h.ask(guardianID, "csi-own"); waits != "" {
		t.Errorf("waits: %s", waits)
	}
	if waits := h.ask("b52f00c2d97b4e5580136c2e", "csi-neighbour"); waits == "" {
		t.Error("the neighbour's device was let in")
	}
}
