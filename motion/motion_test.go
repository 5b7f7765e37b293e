package motion_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/motion"
)

func TestMACIsReadInEverySpelling(t *testing.T) {
	t.Parallel()
	want := motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	for _, text := range []string{"02:bb:00:00:00:31", "02-BB-00-00-00-31", "02bb00000031", "02BB00000031"} {
		if got, err := motion.ParseMAC(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if want.String() != "02:bb:00:00:00:31" || want.Name() != "02bb00000031" || (motion.MAC{}).String() != "" {
		t.Errorf("written as %q, named %q", want.String(), want.Name())
	}
	for _, text := range []string{"", "02:bb:00:00:00", "02.bb.00.00.00.31", "02:bb:00:00:00:3x", "02bb0000003", "02:bb-00:00:00:31"} {
		if got, err := motion.ParseMAC(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestMACSurvivesJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := motion.MAC(rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, "mac"))
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got motion.MAC
		if err := json.Unmarshal(raw, &got); err != nil || got != want {
			t.Fatalf("%s: %v, %v", raw, got, err)
		}
	})
}

func TestTimeKeepsMicroseconds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		µs := rapid.Int64Range(0, 4e15).Draw(t, "µs")
		at := motion.FromMicros(µs)
		if at.Micros() != µs || motion.TimeOf(at.Std()) != at {
			t.Fatalf("%d µs became %d", µs, at.Micros())
		}
	})
	if s := motion.TimeOf(time.Unix(1764000000, 5e8)); s != 1764000000.5 || s.Second() != 1764000000 {
		t.Errorf("1764000000.5 became %v, second %d", float64(s), s.Second())
	}
}

func TestTagIsCutAndPaddedToTen(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"": "          ", "Human": "Human     ", "0123456789abc": "0123456789", "Küche": "Küche     ",
	} {
		if got := motion.PadTag(tag); got != want {
			t.Errorf("%q became %q, want %q", tag, got, want)
		}
	}
}

func TestOldLinkIDIsRecognised(t *testing.T) {
	t.Parallel()
	if !motion.IsOldLinkID("0A0112-000031") {
		t.Error("0A0112-000031 does not pass for an old link id")
	}
	for _, id := range []string{"", "GWA1000133.02bb00000031", "0a0112-00003", "0a011g-000031", "0a0112-00003x", "0a0112.000031"} {
		if motion.IsOldLinkID(id) {
			t.Errorf("%q passes for an old link id", id)
		}
	}
}

func TestConfigurationIsWhatWasSetOverTheDefaults(t *testing.T) {
	t.Parallel()
	n := motion.Network{GuardianConfig: motion.Document{
		"motion_events": map[string]any{"cooldown": 15.0, "unknown": "kept"}, "vendor": "kept too",
	}}
	want := motion.DefaultGuardianConfig()
	want.MotionEvents.Cooldown = 15
	if got := n.Guardian(); !reflect.DeepEqual(got, want) {
		t.Errorf("in force %+v, want %+v", got, want)
	}
	full := motion.WithDefaults(n.Guardian(), n.GuardianConfig)
	events, _ := full["motion_events"].(map[string]any)
	if full["vendor"] != "kept too" || events["unknown"] != "kept" || events["cooldown"] != 15.0 || events["armed"] != 1.0 {
		t.Errorf("shown as %v", full)
	}
	if _, changed := n.GuardianConfig["status"]; changed {
		t.Error("the stored document was changed")
	}
	if got := motion.WithDefaults(motion.DefaultRadarConfig(), nil); got["log_level"] != "info" {
		t.Errorf("without a document: %v", got)
	}
}
