package abusetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sensegate/api/appliance/box"
	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/store"
	"sensegate/store/storetest"
)

// homes is how many networks a house has, each with one guardian that publishes.
const homes = 20

// house is a state directory with paired devices, and the product that runs on it.
type house struct {
	t       *testing.T
	product string
	dir     string
	key     string // of Core
	tokens  []wire.LocalConfig
	client  http.Client
	ids     atomic.Uint32 // of MQTT packets
	process *box.Process
}

// furnish starts a product on a new state directory, pairs its devices and makes a key.
func furnish(t *testing.T, product string, environment ...string) *house {
	t.Helper()
	h := &house{t: t, product: product, dir: t.TempDir(), client: http.Client{Timeout: box.Patience}}
	t.Cleanup(h.client.CloseIdleConnections)
	h.start(environment...)
	h.key, _, _ = strings.Cut(box.Administer(t, product, h.dir, "apikey", "create", "abuse", "-write"), "\n")
	for i := range homes {
		h.tokens = append(h.tokens, h.pair(i))
	}
	return h
}

// start starts the product.
func (h *house) start(environment ...string) {
	h.t.Helper()
	h.process = box.Start(h.t, box.Setup{Dir: h.dir, Line: []string{h.product}, Environment: environment})
}

// post is what the master of a home posts to the gatekeeper.
func post(home int) motion.Bootstrap {
	location := fmt.Sprintf("a41f00c2d97b4e558013%04x", home)
	return motion.Bootstrap{LocationID: location, Radar: motion.Radar{
		DeviceID: fmt.Sprintf("csi-a-02aa0000%04x", home), NodeName: fmt.Sprintf("GWA100%04d", home), LocationID: location,
		RootMode: motion.RootModeMaster, APBSSID2GHz: motion.MAC{2, 0xaa, 0, byte(home >> 8), byte(home), 0x12},
	}}
}

// pair admits the devices of a home.
func (h *house) pair(home int) wire.LocalConfig {
	h.t.Helper()
	_, raw := h.request(http.MethodPost, "/gatekeeper", "", string(wire.EncodeBootstrap(post(home))))
	var answer wire.BootstrapAnswer
	if err := json.Unmarshal(raw, &answer); err != nil || answer.LocalConfig == nil || answer.LocalConfig.Guardian == nil {
		h.t.Fatalf("the gatekeeper does not let the device in: %v: %s", err, raw)
	}
	return *answer.LocalConfig
}

// request makes a request with a credential, unless that is empty.
func (h *house) request(method, path, credential, body string) (status int, answer []byte) {
	h.t.Helper()
	status, answer, err := h.try(h.t.Context(), method, path, credential, body)
	if err != nil {
		h.t.Fatal(err)
	}
	return status, answer
}

// try is request for a product that may end before it answers.
func (h *house) try(ctx context.Context, method, path, credential, body string) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+h.process.HTTP+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if credential != "" {
		request.Header.Set("Authorization", credential)
	}
	response, err := h.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

// metric returns a value of /metrics, 0 when it is not there.
func (h *house) metric(name string) (value int) {
	h.t.Helper()
	_, raw := h.request(http.MethodGet, "/metrics", h.key, "")
	if _, after, found := bytes.Cut(raw, []byte("\n"+name+" ")); found {
		if _, err := fmt.Sscan(string(after), &value); err != nil {
			h.t.Fatal(err)
		}
	}
	return value
}

// connect opens the sessions of all guardians.
func (h *house) connect(ctx context.Context) []*box.Device {
	h.t.Helper()
	devices := make([]*box.Device, len(h.tokens))
	for i, local := range h.tokens {
		key := motion.DeviceKey{Kind: motion.Guardian, ID: local.Guardian.GuardianID}
		var err error
		if devices[i], err = box.Connect(ctx, h.process.MQTT, key, local.Guardian.MQToken, &h.ids); err != nil {
			h.t.Fatal(err)
		}
	}
	return devices
}

// wantStored wants each event that was acknowledged to be in the database once, in
// which the store finds nothing wrong. The product must not run.
func (h *house) wantStored(acknowledged []string) {
	h.t.Helper()
	db, err := store.Open(store.Options{Path: filepath.Join(h.dir, box.Database)})
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	if err := db.Check(h.t.Context()); err != nil {
		h.t.Error(err)
	}
	times := map[string]int{}
	err = db.View(h.t.Context(), func(tx *store.Tx) error {
		for _, local := range h.tokens {
			events, err := storetest.Events(tx, local.Guardian.NetworkID)
			if err != nil {
				return err
			}
			for _, e := range events {
				times[e.Event]++
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, event := range acknowledged {
		if times[event] != 1 {
			h.t.Errorf("%s was acknowledged, and is stored %d times", event, times[event])
		}
	}
	if len(acknowledged) == 0 {
		h.t.Error("nothing was acknowledged")
	}
}
