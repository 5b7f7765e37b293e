package core_test

import (
	"fmt"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// measured is ten live samples of the kitchen link that end now, as a guardian sends
// them.
func measured(h *home, mkai, msad float64) motion.Matrix {
	const count = 10
	column := func(v float64) [][]float64 {
		row := make([]float64, count)
		for i := range row {
			row[i] = v
		}
		return [][]float64{row}
	}
	return motion.Matrix{
		TS: h.engine.Now().Add(-count / 2), Interval: 500, Count: count, Links: []string{kitchenID}, MotionEnabled: 1,
		Values: map[string][][]float64{"mkai": column(mkai), "lraw": column(mkai), "throughput": column(1), "msad": column(msad), "mconf": column(84.85)},
	}
}

// stored returns the points of the last minute that hold data, and those that hold
// motion.
func stored(h *home) (data, moving int) {
	h.T.Helper()
	now := int64(h.engine.Now())
	points := apitest.Want[[][2]*float64](h.T, h.get(h.at(fmt.Sprintf("/motion/history/intensity?from=%d&to=%d&bucket=5", now-600, now+5))), 200)
	for _, p := range points {
		if p[0] != nil {
			data++
		}
		if p[0] != nil && *p[0] > 0 {
			moving++
		}
	}
	return data, moving
}

// detections returns how many times motion was detected.
func detections(h *home) int {
	h.T.Helper()
	h.createEvent(`"category":"Link","event":"LinkConnectedEvent"`) // it is stored after all that were raised before
	return len(apitest.Want[[]motion.Event](h.T, h.get(h.at("/events/history?event_types=MotionDetectedEvent")), 200))
}

func TestSettingsDecideAboutTheFiguresOfAGuardian(t *testing.T) {
	t.Parallel()
	own := `{"devices":[{"mac":"02:bb:00:00:00:31",%s}]}`
	for name, c := range map[string]struct {
		settings, clients, radar string
		data, moves              bool
	}{
		"high":                          {data: true, moves: true},
		"very low":                      {settings: `{"sensitivity":4}`, data: true},
		"this leaf very low":            {clients: `"sensitivity_mode":"override","sensitivity":4`, data: true},
		"very low, this leaf high":      {settings: `{"sensitivity":4}`, clients: `"sensitivity_mode":"override","sensitivity":1`, data: true, moves: true},
		"a threshold that is higher":    {radar: `{"measurement":{"base_threshold":151}}`, data: true},
		"this leaf denied":              {clients: `"sounding_mode":"deny"`},
		"all denied":                    {settings: `{"sounding_mode":"deny"}`},
		"all denied, this leaf allowed": {settings: `{"sounding_mode":"deny"}`, clients: `"sounding_mode":"allow"`, data: true, moves: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.reportStatus()
			if c.settings != "" {
				apitest.Want[any](t, h.patch(h.at("/sounding/settings"), c.settings), 200)
			}
			if c.clients != "" {
				apitest.Want[any](t, h.patch(h.at("/sounding/clients"), fmt.Sprintf(own, c.clients)), 200)
			}
			if c.radar != "" {
				apitest.Want[any](t, h.patch(h.at("/config/radar"), c.radar), 200)
			}
			h.report(measured(h, 0.5, 150))
			data, moving := stored(h)
			if found := detections(h); data > 0 != c.data || moving > 0 != c.moves || found > 0 != c.moves {
				t.Errorf("%d points with data, %d with motion, %d detections", data, moving, found)
			}
			if client := kitchenClient(h); strings.Contains(name, "denied") && !c.data && (client["sounding_status"] != false || client["sounding_status_reason"] != "DENIED") {
				t.Errorf("client %v", client)
			}
		})
	}
}

func TestHistoryReportedLaterIsHeldAgainstTheSensitivity(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	apitest.Want[any](t, h.patch(h.at("/sounding/settings"), `{"sensitivity":2}`), 200)
	h.report(motion.History{
		TS: h.engine.Now().Add(-300), Interval: 5000, Count: 4, MKAI: []float64{0.5, 0.5, 0.5, 0}, MSAD: []float64{150, 169.7, 170, 300},
	})
	if data, moving := stored(h); data < 4 || moving < 1 || moving > 2 { // a sample of 5 s lies in two points at most
		t.Errorf("%d points with data, %d with motion", data, moving)
	}
}

func TestHistoryThatIsSwitchedOffIsNotStored(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	apitest.Want[any](t, h.patch(h.at("/sounding/settings"), `{"motion_history_enabled":0}`), 200)
	report := func() {
		h.report(measured(h, 0.5, 150))
		h.report(motion.History{TS: h.engine.Now().Add(-300), Interval: 5000, Count: 2, MKAI: []float64{0.5, 0.5}})
	}
	report()
	if data, _ := stored(h); data != 0 || detections(h) != 1 {
		t.Errorf("%d points with data, %d detections", data, detections(h))
	}
	apitest.Want[any](t, h.patch(h.at("/sounding/settings"), `{"motion_history_enabled":1}`), 200)
	report()
	if data, _ := stored(h); data == 0 {
		t.Error("no points after it was switched on again")
	}
}
