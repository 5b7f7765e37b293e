package core_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
)

// outside stands for an outside service.
type outside struct {
	gone bool

	mu     sync.Mutex
	frames map[motion.NetworkID]int
}

func (o *outside) Ready() error {
	if o.gone {
		return fault.New(fault.Conflict, "webhook: gone")
	}
	return nil
}

func (o *outside) Deliver(network motion.NetworkID, _ []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.frames == nil {
		o.frames = map[motion.NetworkID]int{}
	}
	o.frames[network]++
}

func TestRelayTellsWhereAndUntilWhen(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	type relayed struct {
		Provider  string      `json:"provider"`
		Channel   string      `json:"channel"`
		ExpiresAt motion.Time `json:"expires_at"`
	}
	for range 2 {
		got := apitest.Want[relayed](t, h.post(fmt.Sprintf("/network/%d/motion/mqtt", h.network), ""), 200)
		if ahead := got.ExpiresAt.Since(h.engine.State.Now()); got.Provider != "mqtt" || got.Channel != fmt.Sprintf("motion/%d", h.network) || ahead < 50 || ahead > 60 {
			t.Errorf("%+v", got)
		}
	}
	got := h.post(fmt.Sprintf("/network/%d/motion/refresh", h.network), "")
	if got.Status != 200 || !strings.Contains(string(got.Body), `"live":true`) {
		t.Errorf("refresh is taken for a provider: %d %s", got.Status, got.Body)
	}
}

func TestUnknownProviderIsToldTheConfiguredOnes(t *testing.T) {
	t.Parallel()
	h, none := newHome(t), newHome(t, func(o *engine.Options) { o.Relays = nil })
	path := fmt.Sprintf("/network/%d/motion/", h.network)
	apitest.WantProblem(t, h.post(path+"pubnub", ""), 404, "configured: mqtt, webhook")
	apitest.WantProblem(t, h.post(path+"MQTT", ""), 404, "configured: mqtt, webhook")
	apitest.WantProblem(t, h.post(path+strings.Repeat("x", 65), ""), 422, "realtime_provider")
	apitest.WantProblem(t, h.post(path+"webhook", ""), 409, "gone")
	apitest.WantProblem(t, h.post("/network/99/motion/mqtt", ""), 404, "network 99")
	apitest.WantProblem(t, none.post(path+"mqtt", ""), 404, "configured: none")
}
