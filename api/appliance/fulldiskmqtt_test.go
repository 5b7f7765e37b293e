package appliance

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/motion"
)

// TestNothingIsAcknowledgedWhileTheDiskIsFull has a guardian publish over MQTT while
// there is no room: its connection ends without a PUBACK, so that it sends again, and
// that is taken once there is room, without a restart.
func TestNothingIsAcknowledgedWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	r, disk, key := serveOnSmallDisk(t)
	g := r.guardian()
	if err := g.publish("AcknowledgedBefore"); err != nil {
		t.Fatal(err)
	}
	for i, left := range []int64{int64(2 * mebibyte), 0} {
		balloon := fill(t, disk, left)
		r.becomes(http.StatusServiceUnavailable)
		name := fmt.Sprint("Withheld", i)
		if err := g.publish(name); !errors.Is(err, box.ErrGone) {
			t.Errorf("with %d bytes left the event is answered: %v, want the end of the connection", left, err)
		}
		if err := os.Remove(balloon); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		r.becomes(http.StatusOK) // within 10 s
		g.connect()
		if err := g.publish(name); err != nil {
			t.Errorf("sent again: %v", err)
		}
		t.Logf("with %d bytes left nothing is acknowledged; acknowledged again %v after there was room", left, time.Since(began))
	}
	g.device.Close()
	_, _, text := r.answer(http.MethodGet, fmt.Sprintf("/core/network/%d/events/history", g.network), key, "")
	var history []motion.Event
	if err := json.Unmarshal([]byte(text), &history); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	times := map[string]int{}
	for _, e := range history {
		times[e.Event]++
	}
	for _, name := range []string{"AcknowledgedBefore", "Withheld0", "Withheld1"} {
		if times[name] != 1 {
			t.Errorf("%s is stored %d times: %s", name, times[name], text)
		}
	}
}

// guardian is a paired guardian at the MQTT door.
type guardian struct {
	running
	network motion.NetworkID
	key     motion.DeviceKey
	token   string
	ids     atomic.Uint32
	device  *box.Device
}

// guardian pairs one and connects it.
func (r running) guardian() *guardian {
	r.t.Helper()
	radar := motion.Radar{
		DeviceID: "csi-a-02aa00000110", NodeName: "GWA1000133", LocationID: "a41f00c2d97b4e5580136c2e", RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, 0x12},
	}
	own := motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")}
	a, err := r.engine.Devices.Admit(r.t.Context(), motion.Bootstrap{Radar: radar, LocationID: radar.LocationID}, own)
	if err != nil || a.GuardianToken == "" {
		r.t.Fatalf("%+v, %v", a, err)
	}
	g := &guardian{running: r, network: a.Network, token: a.GuardianToken}
	g.key = motion.DeviceKey{Kind: motion.Guardian, ID: a.GuardianID}
	g.connect()
	return g
}

// connect opens a new session.
func (g *guardian) connect() {
	g.t.Helper()
	var err error
	if g.device, err = box.Connect(g.t.Context(), g.broker.Addr().String(), g.key, g.token, &g.ids); err != nil {
		g.t.Fatal(err)
	}
}

// publish raises an event, always with the same uuid for the same name, and returns
// nil once it is acknowledged.
func (g *guardian) publish(name string) error {
	event := motion.Event{Category: motion.CategorySystem, Event: name, TS: motion.TimeOf(time.Now())}
	uuid := fmt.Sprintf("c4a54000-0000-7000-8000-%012x", name[len(name)-1])
	_, err := g.device.Publish(g.t.Context(), 1, motion.EventReport{Event: event, UUID: uuid})
	return err
}
