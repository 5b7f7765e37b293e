package remotewrite_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/remotewrite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const minute = 60

// house is a box with one network whose motion follows from the time: every tenth minute is without
// data.
type house struct {
	box    string
	mu     sync.Mutex
	now    motion.Time
	cursor motion.Time
	down   bool // no link measures
}

func (h *house) set(now motion.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = now
}

func (h *house) setDown() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = true
}

func (h *house) time() motion.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) sentTo() motion.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.cursor
}

// hasData reports whether the minute that begins at ts has data.
func hasData(ts motion.Time) bool { return ts.Second()/minute%10 != 0 }

// valueAt returns the motion of the minute that begins at ts.
func valueAt(ts motion.Time) float64 { return float64(ts.Second()/minute%100) / 100 }

func (h *house) minutes(_ context.Context, _ motion.NetworkID, from, to motion.Time) (rows []uplink.Minute, err error) {
	for ts := from; ts < to; ts += minute {
		row := uplink.Minute{TS: ts, Interval: minute, Places: []uplink.PlaceMinute{{Name: "Living room"}}}
		if hasData(ts) {
			value := valueAt(ts)
			row.Motion, row.Intensity, row.Places[0].Motion, row.Places[0].Intensity = &value, &value, &value, &value
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (h *house) topology(motion.NetworkID, bool) (motion.Topology, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return motion.Topology{
		Devices: []motion.TopologyDevice{
			{Name: "GWA1000133", Location: "Hall", Type: "MESH_ROOT", Online: true},
			{Name: "02bb00000031", Location: "Kitchen", Type: motion.LeafRole},
			{Name: "02bb00000032", Location: "Office", Type: motion.ClientRole}, // a leaf that is silent
			{Name: "02bb00000099", Type: motion.ClientRole, Online: true},
		},
		Links: []motion.TopologyLink{{LinkID: "GWA1000133.02bb00000031", RSSI: -51, Online: !h.down}, {LinkID: "GWA1000133.02bb00000032", RSSI: -60}},
	}, nil
}

// part returns the part that sends what the house has to a url.
func (h *house) part(t *testing.T, config uplink.Config) *remotewrite.Part {
	t.Helper()
	config.Name, config.Use = "series", []uplink.Use{uplink.History}
	if err := config.Validate(); err != nil {
		t.Fatal(err)
	}
	return remotewrite.New(remotewrite.Options{
		Uplink: uplink.Uplink{Config: config, Box: h.box},
		Source: remotewrite.Source{
			Networks: func(context.Context) ([]motion.NetworkID, error) { return []motion.NetworkID{1042}, nil },
			Minutes:  h.minutes, Topology: h.topology,
		},
		Cursor: func(context.Context) (motion.Time, error) { return h.sentTo(), nil },
		Keep: func(_ context.Context, at motion.Time) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.cursor = at
			return nil
		},
		Now: h.time,
		Log: slog.New(slog.DiscardHandler),
	})
}
