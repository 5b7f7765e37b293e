package nodes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/firmware-sim/nodes"
	"sensegate/motion"
)

const upstreamOrigin = "https://espectre.dev"

// espectre runs a node in a house in which somebody walks a little later, and returns it and what gets from it.
func espectre(t *testing.T) (*nodes.ESPectre, func(path, origin string) *http.Response) {
	t.Helper()
	node, err := nodes.NewESPectre(nodes.ESPectreConfig{
		Listen: "127.0.0.1:0", MAC: motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, 0xac}, Router: router, Name: "Kitchen node",
	})
	if err != nil {
		t.Fatal(err)
	}
	house := vacant(t)
	now := motion.TimeOf(time.Now())
	if err := house.Walk("Kitchen", now.Add(3), now.Add(3600)); err != nil {
		t.Fatal(err)
	}
	ctx, unplug := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- node.Run(ctx, house.Radio(nodes.RadioConfig{Kind: motion.ESPectre, Rate: 100, Router: router}))
	}()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		unplug()
		client.CloseIdleConnections()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return node, func(path, origin string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+node.At()+"/espectre/v1"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
}

func TestESPectreNodeSaysWhoItIs(t *testing.T) {
	t.Parallel()
	node, get := espectre(t)
	read := func(path string) (fields map[string]any) {
		t.Helper()
		response := get(path, upstreamOrigin)
		if err := json.NewDecoder(response.Body).Decode(&fields); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %v", path, response.StatusCode, err)
		}
		return fields
	}
	if id := read("/device")["device_id"]; id != "3cf79180d3a0aca4" || id != node.DeviceID() { // the maker's own example
		t.Errorf("device_id %v", id)
	}
	wifi := read("/wifi")
	if wifi["bssid"] != router.String() || wifi["channel"] != 6.0 {
		t.Errorf("wifi %v", wifi)
	}
	for _, path := range []string{"/sensing", "/capabilities", "/health", "/diagnostics"} {
		if len(read(path)) == 0 {
			t.Errorf("%s is empty", path)
		}
	}
}

func TestESPectreNodeRefusesAsARealOne(t *testing.T) {
	t.Parallel()
	_, get := espectre(t)
	for _, test := range []struct {
		path, origin string
		want         int
	}{
		{"/device", "", http.StatusForbidden},
		{"/device", "http://127.0.0.1", http.StatusForbidden},
		{"/nothing", upstreamOrigin, http.StatusNotFound},
		{"/events", upstreamOrigin, http.StatusOK},
		{"/events", upstreamOrigin, http.StatusOK},
		{"/events", upstreamOrigin, http.StatusServiceUnavailable},
		{"/csi", upstreamOrigin, http.StatusOK},
		{"/csi", upstreamOrigin, http.StatusConflict},
	} {
		if got := get(test.path, test.origin).StatusCode; got != test.want {
			t.Errorf("%s from %q: %d, want %d", test.path, test.origin, got, test.want)
		}
	}
	for range 200 {
		if get("/device", upstreamOrigin).StatusCode == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("200 requests at once are answered")
}

func TestESPectreEventsTellOfMotionUntilChannelStateIsRead(t *testing.T) {
	t.Parallel()
	node, get := espectre(t)
	events := nodewire.NewESPectreEvents(get("/events", upstreamOrigin).Body)
	var uptime uint64
	seen := map[bool]bool{}
	for !seen[false] || !seen[true] {
		var m nodewire.ESPectreMotion
		switch err := events.Next(&m); {
		case err == nodewire.ErrOther:
		case err != nil:
			t.Fatal(err)
		case m.Uptime < uptime:
			t.Fatalf("uptime %d after %d", m.Uptime, uptime)
		default:
			uptime, seen[m.Motion] = m.Uptime, true
		}
	}
	stream := get("/csi", upstreamOrigin)
	records := nodewire.NewESPectreStream(stream.Body)
	for i := range uint32(250) {
		var f nodewire.Frame
		if err := records.Next(&f); err != nil || f.Subcarriers() != 64 || f.Channel != 6 || f.RSSI >= 0 || f.Noise != -94 {
			t.Fatalf("record %d: %+v: %v", i, f, err)
		}
	}
	if s := records.Session; fmt.Sprintf("%016x", s.DeviceID) != node.DeviceID() || s.Number != 250+records.Lost {
		t.Errorf("session %+v, %d lost", s, records.Lost)
	}
	// Within the 2.5 s of these records there were ten evaluations. What comes when the records end is the next one.
	_ = stream.Body.Close()
	var m nodewire.ESPectreMotion
	if err := events.Next(&m); err != nil && err != nodewire.ErrOther || err == nil && m.Uptime < uptime+1000 {
		t.Errorf("an event of %d ms after one of %d ms, while records were read: %v", m.Uptime, uptime, err)
	}
}
