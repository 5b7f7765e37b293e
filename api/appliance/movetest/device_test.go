package movetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/broker/wire"
	"sensegate/motion"
)

// retry is how long a device waits before it asks again.
const retry = 100 * time.Millisecond

// counter is the master of a network that sends one event after the other, each until it is acknowledged.
type counter struct {
	t          *testing.T
	guardianID string
	deviceID   string
	gatekeeper string // of the product that it was told about first

	token string // of its guardian's last session
	ids   atomic.Uint32

	mu           sync.Mutex
	acknowledged map[string]string // by the uuid of an event: the address of the broker that did
	sessions     []string          // addresses of brokers, in the order of sessions
	networks     []motion.NetworkID
}

// newCounter returns a device of a network of its own.
func newCounter(t *testing.T, p *product) *counter {
	return &counter{
		t: t, guardianID: "b52f00c2d97b4e5580136c2e", deviceID: "csi-a-02aa00000990",
		gatekeeper: "http://" + p.HTTP + "/gatekeeper", acknowledged: map[string]string{},
	}
}

// post posts to the gatekeeper and follows where that sends it.
func (c *counter) post(ctx context.Context, to string) (answer wire.BootstrapAnswer, err error) {
	record := motion.Bootstrap{LocationID: c.guardianID, Radar: motion.Radar{
		DeviceID: c.deviceID, NodeName: "GWA1000990", LocationID: c.guardianID, RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 9, 0x12},
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(string(wire.EncodeBootstrap(record))))
	if err != nil {
		return answer, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	if err == nil && answer.Redirect != "" && to == c.gatekeeper {
		return c.post(ctx, answer.Redirect)
	}
	return answer, err
}

// session posts and connects until a broker lets the guardian in.
func (c *counter) session(ctx context.Context) (*box.Device, string, error) {
	for ctx.Err() == nil {
		answer, err := c.post(ctx, c.gatekeeper)
		if err == nil && answer.LocalConfig != nil {
			config := answer.LocalConfig.Guardian
			at := fmt.Sprintf("%s:%d", config.MQServer, config.MQPort)
			c.token = config.MQToken
			device, err := box.Connect(ctx, at, motion.DeviceKey{Kind: motion.Guardian, ID: c.guardianID}, config.MQToken, &c.ids)
			if err == nil {
				c.mu.Lock()
				c.sessions, c.networks = append(c.sessions, at), append(c.networks, config.NetworkID)
				c.mu.Unlock()
				return device, at, nil
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
	}
	return nil, "", ctx.Err()
}

// run sends events until ctx ends.
func (c *counter) run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; {
		device, at, err := c.session(ctx)
		if err != nil {
			return
		}
		for err == nil {
			uuid := fmt.Sprintf("0192a000-0000-7000-8000-%012d", n)
			event := motion.Event{Event: motion.MotionDetectedEvent, Category: motion.CategoryMotion, TS: motion.TimeOf(time.Now()), Detail: motion.Document{"counted": uuid}}
			if _, err = device.Publish(ctx, 1, motion.EventReport{UUID: uuid, Event: event}); err == nil {
				c.mu.Lock()
				c.acknowledged[uuid] = at
				c.mu.Unlock()
				n++
			}
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(20 * time.Millisecond):
			}
		}
		if !errors.Is(err, box.ErrGone) && ctx.Err() == nil {
			c.t.Logf("session at %s: %v", at, err)
		}
		device.Close()
	}
}

// count returns how many events a broker has acknowledged, "" = all, and the network that the device
// was let into last.
func (c *counter) count(at string) (n int, network motion.NetworkID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, by := range c.acknowledged {
		if at == "" || by == at {
			n++
		}
	}
	if len(c.networks) > 0 {
		network = c.networks[len(c.networks)-1]
	}
	return n, network
}

// lost returns the events acknowledged until now that a network of a product does not have, and how many
// it has more than once.
func (c *counter) lost(p *product, network motion.NetworkID) (lost []string, doubles int) {
	c.t.Helper()
	c.mu.Lock()
	acknowledged := slices.Collect(maps.Keys(c.acknowledged))
	c.mu.Unlock()
	seen := map[string]int{}
	for _, e := range p.events(network) {
		uuid, _ := e.Detail["counted"].(string)
		seen[uuid]++
	}
	for _, uuid := range acknowledged {
		switch n := seen[uuid]; {
		case n == 0:
			lost = append(lost, uuid)
		case n > 1:
			doubles++
		}
	}
	return lost, doubles
}

// eventually waits until something is so, as long as anything may take on a busy machine.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(retry) {
		if time.Since(began) > box.Patience {
			t.Fatalf("%s: not after %s", what, box.Patience)
		}
	}
}
