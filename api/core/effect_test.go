package core_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fuse"
)

// measured is ten live samples of the kitchen link that end now, as a guardian sends
// them.
func measured(h *home, mkai, msad float64) *motion.Matrix {
	const count = 10
	column := func(v float64) [][]float64 {
		row := make([]float64, count)
		for i := range row {
			row[i] = v
		}
		return [][]float64{row}
	}
	return &motion.Matrix{
		TS: h.engine.State.Now().Add(-count / 2), Interval: 500, Count: count, Links: []string{kitchenID}, MotionEnabled: 1,
		Values: motion.Figures{motion.MKAI: column(mkai), motion.LRaw: column(mkai), motion.Throughput: column(1), motion.MSAD: column(msad), motion.MConf: column(84.85)},
	}
}

// stored returns the points of the last minute that hold data, and those that hold
// motion.
func stored(h *home) (data, moving int) {
	h.T.Helper()
	now := int64(h.engine.State.Now())
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
		TS: h.engine.State.Now().Add(-300), Interval: 5000, Count: 4, MKAI: []float64{0.5, 0.5, 0.5, 0}, MSAD: []float64{150, 169.7, 170, 300},
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
		h.report(motion.History{TS: h.engine.State.Now().Add(-300), Interval: 5000, Count: 2, MKAI: []float64{0.5, 0.5}})
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

// senseHere sends raw channel state of the links of these leafs as the first network's master.
func senseHere(h *home, leafs ...motion.MAC) {
	h.T.Helper()
	address := netip.MustParseAddr("127.0.0.1")
	post := motion.Bootstrap{Radar: radarOf(guardianID, masterID, "GWA1000133", 0x10), LocationID: guardianID}
	admission, err := h.engine.Devices.Admit(h.T.Context(), post, motion.Credentials{Address: address})
	if err != nil {
		h.T.Fatal(err)
	}
	key, err := h.engine.Devices.Login(h.T.Context(), masterID, admission.RadarToken)
	if err != nil {
		h.T.Fatal(err)
	}
	h.engine.State.Connected(key, address)
	frame := csi.Frame{Noise: csi.NoiseUnknown, RSSI: -59, Data: make([]byte, 64)}
	for _, leaf := range leafs {
		batch := csi.Batch{Src: leaf, Dst: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}, Flags: csi.Amplitude, Channel: 11, Subcarriers: 64, Frames: []csi.Frame{frame}}
		if err := h.engine.Report(h.T.Context(), key, motion.RawCSI(csi.Append(nil, &batch))); err != nil {
			h.T.Fatal(err)
		}
	}
}

func TestSettingsWithoutEffectAreNamed(t *testing.T) {
	t.Parallel()
	const header = "X-Unsupported-Settings"
	h := newHome(t)
	named := func() string {
		t.Helper()
		text := ""
		for _, a := range []apitest.Answer{
			h.get(h.at("/sounding/settings")), h.patch(h.at("/sounding/settings"), `{"pet_mode":1}`),
			h.get(h.at("/config/guardian")), h.get(h.at("/config/radar")), h.patch(h.at("/config/radar"), `{"measurement":{"report":"periodic"}}`),
		} {
			if a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			text += a.Header.Get(header) + "; "
		}
		return text
	}
	if got := named(); got != "; ; ; ; ; " {
		t.Errorf("of a network that nobody senses: %s", got)
	}
	senseHere(h, kitchen)
	radar := "mesh_sounding.auto_disable, measurement.base_threshold, measurement.delta_count, measurement.report; "
	if got, want := named(), "pet_mode, mesh_auto_disable; pet_mode, mesh_auto_disable; motion_events.pet_mode; "+radar+radar; got != want {
		t.Errorf("of one that is sensed here: %s\nwant %s", got, want)
	}
	for i := range byte(fuse.PetLinks - 1) {
		senseHere(h, motion.MAC{2, 0xbb, 0, 0, 1, i})
	}
	if got, want := named(), "mesh_auto_disable; mesh_auto_disable; ; "+radar+radar; got != want {
		t.Errorf("of one with six links: %s\nwant %s", got, want)
	}
	links := kitchenClient(h)["links"].([]any)
	if len(links) != 1 || links[0].(map[string]any)["if_ch"] != 11.0 {
		t.Errorf("links %v", links)
	}
	other := newHome(t)
	other.report(measured(other, 0, 1))
	if a := other.get(other.at("/config/radar")); a.Header.Get(header) != "" {
		t.Errorf("of one with a guardian: %s", a.Header.Get(header))
	}
}

// While motion is paused no way leads to a setting that sounding settings and sounding
// clients hold; what they do not hold can be changed.
func TestPauseHoldsEveryWayToASetting(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	apitest.Want[any](t, h.patch(h.at("/meta"), `{"home":{"cooldown":40},"motion_paused":1}`), 200)
	before := string(h.get(h.at("/sounding/settings")).Body) + string(h.get(h.at("/sounding/clients")).Body)
	for _, c := range []struct{ method, path, body string }{
		{"PATCH", "/sounding/settings", `{"cooldown":43}`},
		{"PATCH", "/meta", `{"home":{"cooldown":44}}`},
		{"PATCH", "/meta?key=home", `{"sens":2}`},
		{"POST", "/meta", `{"motion_paused":1,"home":{"sens":2}}`},
		{"PATCH", "/meta", `{"motion_paused":0,"home":{"cooldown":44}}`},
		{"POST", "/meta", `{"guardian_env":"local"}`}, // without home its default is in force
		{"PATCH", "/config/guardian", `{"motion_events":{"cooldown":45}}`},
		{"PATCH", "/config/guardian?key=leafblower", `{"link_limit":3}`},
		{"POST", "/config/guardian", `{}`},
		{"PATCH", "/config/guardian", `{"device_events":{"enabled":1}}`},
		{"PATCH", "/config/radar", `{"sounding":{"mode":"deny"}}`},
		{"PATCH", "/config/radar", `{"sounding":{"clients":{"02:bb:00:00:00:31":{"sens":3}}}}`},
		{"POST", "/config/radar", `{"mesh_sounding":{"auto_disable":1}}`},
		{"POST", "/config/reset?keepMeta=motion_paused", ``},
	} {
		if a := h.As(h.all, c.method, h.at(c.path), c.body); a.Status != 409 {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, a.Status, a.Body)
		}
	}
	if after := string(h.get(h.at("/sounding/settings")).Body) + string(h.get(h.at("/sounding/clients")).Body); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
	for _, c := range []struct{ method, path, body string }{
		{"PATCH", "/meta", `{"dwm":{"groupId":"lab"},"location":{"02:bb:00:00:00:31":"Larder"}}`},
		{"PATCH", "/config/guardian", `{"motion_events":{"cooldown":40},"status":{"heartbeat_s":30}}`}, // as it is
		{"PATCH", "/config/radar", `{"log_level":"debug"}`},
		{"PATCH", "/meta", `{"motion_paused":0}`},
		{"PATCH", "/config/guardian", `{"motion_events":{"cooldown":46}}`},
		{"PATCH", "/meta", `{"motion_paused":1}`},
		{"POST", "/config/reset", ``},
	} {
		if a := h.As(h.all, c.method, h.at(c.path), c.body); a.Status != 200 {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, a.Status, a.Body)
		}
	}
}

func TestWhatNoSettingCanBeIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, c := range []struct{ method, path, body, place string }{
		{"PATCH", "/config/radar", `{"mesh_sounding":{"disabled":["x"]}}`, `"body.mesh_sounding.disabled[0]"`},
		{"POST", "/config/radar?key=mesh_sounding", `{"disabled":["` + masterID + `","csi-b-02aa00000210"]}`, `"body.disabled[1]"`},
		{"PATCH", "/meta", `{"":"x"}`, "a key is empty"},
		{"POST", "/meta", `{"dwm":{"":"x"}}`, `"body.dwm"`},
		{"PATCH", "/config/guardian", `{"vendor":{"":1}}`, "a key is empty"},
	} {
		apitest.WantProblem(t, h.As(h.all, c.method, h.at(c.path), c.body), 422, c.place)
	}
	apitest.WantJSON(t, h.patch(h.at("/config/radar?key=mesh_sounding"), `{"disabled":["`+masterID+`"]}`), `{"auto_disable":0,"disabled":["`+masterID+`"]}`)
	h.change(func(n *motion.Network) { // as an earlier version has stored them
		n.RadarConfig = motion.Document{"mesh_sounding": map[string]any{"disabled": []any{"gone"}}}
		n.Meta = motion.Document{"": "x"}
	})
	apitest.Want[any](t, h.patch(h.at("/config/radar"), `{"mesh_sounding":{"disabled":["gone","`+masterID+`"]}}`), 200)
	apitest.Want[any](t, h.patch(h.at("/meta"), `{"note":"x"}`), 200)
	apitest.WantJSON(t, h.patch(h.at("/meta"), `{"":null,"note":null}`), `{"location":{"02:bb:00:00:00:31":"Kitchen"},"friendly_name":{"02:bb:00:00:00:31":"Kitchen speaker"}}`)
}
