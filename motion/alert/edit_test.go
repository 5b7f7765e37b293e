package alert_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
)

// example is the record of payloads.md 4.10.
const example = `{
  "id": "2255", "uuid": "eecc4727-707d-48f2-b5e4-3c6aa6745aec", "external_id": 1042, "network_id": 1042, "enabled": true, "alert_name": "Rise and shine",
  "rrule": "DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU", "timezone": "America/Toronto", "target": "2025-11-25T13:00:00.000+00:00",
  "monitor": {"monitor_mode": "INACTIVITY", "duration_minutes": 120, "inactive_minutes": 30, "repeat_monitoring": true},
  "meta": {"alert_type": "RISE_AND_SHINE_PRESET"}, "analytics_tag": "riseAndShinePreset",
  "no_motion_actions": [{"action": "fcm_push", "user_ids": [5, 9], "payload": {"apns": {"headers": {"apns-push-type": "alert"}}, "data": {"title": "Rise and shine"}}}],
  "motion_actions": [], "no_history_actions": [],
  "created_at": "2025-11-24T12:00:00.000Z", "updated_at": "2025-11-24T13:00:01.000Z"
}`

// sent is what a client sends to make it.
const sent = `{
  "enabled": true, "alert_name": "Rise and shine",
  "rrule": "DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU",
  "monitor": {"monitor_mode": "INACTIVITY", "duration_minutes": 120, "inactive_minutes": 30},
  "meta": {"alert_type": "RISE_AND_SHINE_PRESET"}, "analytics_tag": "riseAndShinePreset",
  "no_motion_actions": [{"action": "fcm_push", "user_ids": [5, 9], "payload": {"apns": {"headers": {"apns-push-type": "alert"}}, "data": {"title": "Rise and shine"}}}]
}`

func edit(t testing.TB, text string) alert.Edit {
	t.Helper()
	var e alert.Edit
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func create(t testing.TB, text, now string) alert.Job {
	t.Helper()
	j, err := alert.New(edit(t, text), at(now))
	if err != nil {
		t.Fatalf("%s: %+v", text, err)
	}
	j.Rule.ID, j.Rule.UUID, j.Rule.ExternalID, j.Rule.NetworkID = "2255", "eecc4727-707d-48f2-b5e4-3c6aa6745aec", 1042, 1042
	j.State.JobID = "14"
	return j
}

func TestNewRuleIsTheDocumentedRecord(t *testing.T) {
	t.Parallel()
	j := create(t, sent, "2025-11-24T12:00:00Z")
	j, err := j.Patch(edit(t, `{"enabled":true,"rrule":"DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"}`), at("2025-11-24T12:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	j, _, err = j.Step(at("2025-11-24T13:00:03Z"), func(_, _ time.Time) ([]alert.Second, bool) { return minutes("120m"), false })
	if err != nil {
		t.Fatal(err)
	}
	j.Rule.UpdatedAt = motion.StampOf(at("2025-11-24T13:00:01Z"))
	raw, err := json.MarshalIndent(j.Rule, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generic(t, example), generic(t, string(raw))); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	var back alert.Rule
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(j.Rule, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func generic(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestSmallestRuleHasDefaults(t *testing.T) {
	t.Parallel()
	j := create(t, `{"rrule":"DTSTART:20260101T080000Z\nRRULE:FREQ=DAILY;COUNT=1","monitor":{"monitor_mode":"NONE"},"motion_actions":[{"action":"fcm_push","payload":{"data":{}}},{"action":"event"}]}`, "2025-12-31T00:00:00Z")
	raw, err := json.Marshal(j.Rule)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"enabled":true,"alert_name":""`, `"timezone":"UTC","target":"2026-01-01T08:00:00.000+00:00"`,
		`"monitor":{"monitor_mode":"NONE","duration_minutes":0,"inactive_minutes":0,"repeat_monitoring":true},"meta":{},"analytics_tag":""`,
		`"no_motion_actions":[],"motion_actions":[{"action":"fcm_push","user_ids":[],"payload":{"data":{}}},{"action":"event","payload":{}}],"no_history_actions":[]`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("got %s, want %s in it", raw, want)
		}
	}
}

func TestAllMistakesAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 201)
	_, err := alert.New(edit(t, `{"alert_name":"`+long+`","analytics_tag":"`+long+`","rrule":"DTSTART:x",
		"monitor":{"monitor_mode":"SOMETIMES","duration_minutes":10081,"inactive_minutes":-1},"meta":{"x":"`+strings.Repeat("x", 4096)+`"},
		"no_motion_actions":[{"action":"shout"},{"action":"fcm_push","user_ids":[0]}],
		"motion_actions":[{"action":"event","user_ids":[1],"payload":{"_consumer":1,"data":[],"title":"x"}}],
		"no_history_actions":[`+strings.Repeat(`{},`, 20)+`{}]}`), at("2026-01-01T00:00:00Z"))
	want := []string{
		"body.alert_name", "body.analytics_tag", "body.meta", "body.monitor.duration_minutes", "body.monitor.inactive_minutes",
		"body.monitor.monitor_mode", "body.motion_actions[0].payload._consumer", "body.motion_actions[0].payload.data",
		"body.motion_actions[0].payload.title", "body.motion_actions[0].user_ids", "body.no_history_actions",
		"body.no_motion_actions[0].action", "body.no_motion_actions[1].payload", "body.no_motion_actions[1].user_ids[0]", "body.rrule",
	}
	if diff := cmp.Diff(want, locations(t, err)); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

func TestMistakesOfOneRule(t *testing.T) {
	t.Parallel()
	const rrule = `"rrule":"DTSTART:20260101T080000Z"`
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"empty body":                {`{}`, []string{"body.monitor", "body.rrule"}},
		"simple without a period":   {`{` + rrule + `,"monitor":{"monitor_mode":"SIMPLE"}}`, []string{"body.monitor.duration_minutes"}},
		"inactivity without length": {`{` + rrule + `,"monitor":{"monitor_mode":"INACTIVITY","duration_minutes":60}}`, []string{"body.monitor.inactive_minutes"}},
		"longer than the period":    {`{` + rrule + `,"monitor":{"monitor_mode":"INACTIVITY","duration_minutes":60,"inactive_minutes":61}}`, []string{"body.monitor.inactive_minutes"}},
		"nothing in the future":     {`{"rrule":"DTSTART:20250101T080000Z\nRRULE:FREQ=DAILY;COUNT=9","monitor":{"monitor_mode":"NONE"}}`, []string{"body.rrule"}},
		"never":                     {`{"rrule":"DTSTART:20250101T080000Z\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30","monitor":{"monitor_mode":"NONE"}}`, []string{"body.rrule"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := alert.New(edit(t, c.body), at("2025-12-31T00:00:00Z"))
			if got := locations(t, err); !slices.Equal(got, c.want) {
				t.Errorf("%s: got %v, want %v", c.body, got, c.want)
			}
		})
	}
}

func TestPatchKeepsWhatWasNotSent(t *testing.T) {
	t.Parallel()
	j := create(t, sent, "2025-11-24T12:00:00Z")
	got, err := j.Patch(edit(t, `{"enabled":true,"alert_name":"Morning","uuid":"`+j.Rule.UUID+`","external_id":1042,"no_motion_actions":[]}`), at("2025-11-24T12:30:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	want := j.Rule
	want.AlertName, want.NoMotion, want.UpdatedAt = "Morning", []alert.Action{}, motion.StampOf(at("2025-11-24T12:30:00Z"))
	if diff := cmp.Diff(want, got.Rule); diff != "" {
		t.Errorf("rule (-want +got):\n%s", diff)
	}
}

func TestPatchRefusesIdentity(t *testing.T) {
	t.Parallel()
	j := create(t, sent, "2025-11-24T12:00:00Z")
	got, err := j.Patch(edit(t, `{"uuid":"other","external_id":7,"alert_name":"x"}`), at("2025-11-24T12:30:00Z"))
	want := []string{"body.enabled", "body.external_id", "body.uuid"}
	if diff := cmp.Diff(want, locations(t, err)); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(j, got); diff != "" {
		t.Errorf("a refused change changed the job:\n%s", diff)
	}
}

func TestEventNamesItsAlert(t *testing.T) {
	t.Parallel()
	j := create(t, sent, "2025-11-24T12:00:00Z")
	action := alert.Action{Action: alert.Event, Payload: map[string]any{"_consumer": "care", "data": map[string]any{"title": "Up?", "id": 3.0}}}
	consumer, data := action.CustomEvent(j.Rule)
	want := map[string]any{"title": "Up?", "id": 3.0, "uuid": j.Rule.UUID}
	if diff := cmp.Diff(want, map[string]any(data)); diff != "" || consumer != "care" {
		t.Errorf("got %q and (-want +got):\n%s", consumer, diff)
	}
}

// locations returns the sorted places of the mistakes of an invalid input.
func locations(t *testing.T, err error) []string {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid {
		t.Fatalf("got %v, want an invalid input", err)
	}
	var list []string
	for _, d := range f.Details {
		list = append(list, d.Location)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
