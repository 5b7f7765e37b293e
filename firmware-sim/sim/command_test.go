package sim

import (
	"log/slog"
	"testing"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// FuzzCommand checks that no command can take a device down, and that whatever
// configuration it leaves behind can be worked with.
func FuzzCommand(f *testing.F) {
	for name, payload := range map[string]string{
		wire.CommandConfig:     `{"rev":12,"guardian_config":{"motion_events":{"density_window":-3}},"radar_config":{"sounding":{"clients":null}},"meta":{"motion_paused":0}}`,
		wire.CommandLive:       `{"enable":1,"interval":500,"timeout_s":60}`,
		wire.CommandDeviceInfo: `{"mac":"02:bb:00:00:00:31"}`,
		wire.CommandManage:     `{"id":901,"command":"config","args":{}}`,
		wire.CommandReset:      `{}`,
		"dance":                `null`,
	} {
		f.Add(name, []byte(payload))
	}
	gate, err := newGatekeeper("http://127.0.0.1:1/gatekeeper", "", slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		home := NewHome(0)
		fleet := newFleet(&home, gate, true, time.Now, slog.New(slog.DiscardHandler))
		fleet.boxes[0].command(fleet.guardian, name, payload)
		w := newWorld(1, home, OpeningScene(home, noon))
		lead := newGuardian(w, fleet.guardian, fleet.settings, true, noon)
		for at := noon; at < noon.Add(6); at = at.Add(sampleStep) {
			lead.step(t.Context(), at, 1042)
		}
		if now := fleet.settings.take(time.Now()); now.guardian.Status.IntervalS > 0 {
			report := motion.StatusReport{TS: noon, GuardianID: home.GuardianID, Rev: now.rev}
			fullStatus(&report, &home, w.links, w.up(noon), noon)
			if _, _, _, err := wire.Encode(report); err != nil {
				t.Errorf("status: %v", err)
			}
		}
	})
}
