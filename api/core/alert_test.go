package core_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/engine/alerting"
	"sensegate/store"
)

const alertPath = "/api/v1/universal-alert?network_id=%[1]d"

// riseAndShine is the alert of payloads.md 4.10.
const riseAndShine = `{
	"enabled": true, "alert_name": "Rise and shine", "rrule": "DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU",
	"monitor": {"monitor_mode": "INACTIVITY", "duration_minutes": 120, "inactive_minutes": 30, "repeat_monitoring": true},
	"meta": {"alert_type": "RISE_AND_SHINE_PRESET"}, "analytics_tag": "riseAndShinePreset",
	"no_motion_actions": [{"action": "fcm_push", "user_ids": [5, 9], "payload": {"data": {"title": "Rise and shine", "body": "No motion yet today", "click_action": "CustomAlertEvent", "sound": "default"}, "apns": {"headers": {"apns-push-type": "alert"}, "payload": {"aps": {"alert": {"title": "Rise and shine", "body": "No motion yet today"}, "sound": "default", "category": "CustomAlertEvent"}}}}}],
	"motion_actions": []
}`

// alertPath returns the path of an operation on the alerts of the first network.
func (h *home) alertPath(below string) string {
	return fmt.Sprintf("/api/v1/universal-alert%s?network_id=%d", below, h.network)
}

// patchAlert changes one with the key that opens everything.
func (h *home) patchAlert(below, body string) apitest.Answer {
	h.T.Helper()
	return h.As(h.all, http.MethodPatch, h.alertPath(below), body)
}

// createAlert makes an alert in the first network.
func (h *home) createAlert(body string) alert.Rule {
	h.T.Helper()
	return apitest.Want[alert.Rule](h.T, h.post(h.alertPath(""), body), 200)
}

func TestAlertIsReturnedAsDocumented(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	before := time.Now()
	made := h.createAlert(riseAndShine)
	zone, err := time.LoadLocation("America/Toronto")
	if err != nil {
		t.Fatal(err)
	}
	target := made.Target.Std().In(zone)
	if target.Format("15:04:05") != "08:00:00" || target.Before(before) || target.After(before.Add(25*time.Hour)) {
		t.Errorf("target %v", target)
	}
	utc := func(s motion.Stamp) string { return s.Std().Format("2006-01-02T15:04:05.000Z") }
	exact := fmt.Sprintf(`{"id": "1", "uuid": %q, "external_id": %[2]d, "network_id": %[2]d, "timezone": "America/Toronto",
		"target": %[3]q, "created_at": %[4]q, "updated_at": %[4]q, "no_history_actions": [], %[5]s`,
		made.UUID, h.network, made.Target.Std().Format("2006-01-02T15:04:05.000+00:00"), utc(made.CreatedAt), strings.TrimSpace(riseAndShine)[1:])
	apitest.WantJSON(t, h.get(h.alertPath("/"+made.UUID)), exact)
	apitest.WantJSON(t, h.get(h.alertPath("/"+strings.ToUpper(made.UUID))), exact)
	apitest.WantJSON(t, h.get(h.alertPath("")), "["+exact+"]")
	apitest.WantJSON(t, h.get(fmt.Sprintf("/api/v1/universal-alert?network_id=%d", h.other)), "[]")
	apitest.WantJSON(t, h.As(h.all, http.MethodDelete, h.alertPath("/"+made.UUID), ""), exact)
	apitest.WantJSON(t, h.get(h.alertPath("")), "[]")
	apitest.WantProblem(t, h.get(h.alertPath("/"+made.UUID)), 404, "not found")
}

func TestAlertStatusIsTheQueuesView(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	made := h.createAlert(riseAndShine)
	rule, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	list := apitest.Want[[]alerting.AlertStatus](t, h.get(h.alertPath("/status")), 200)
	if len(list) != 1 {
		t.Fatalf("%d statuses", len(list))
	}
	apitest.WantJSON(t, h.get(h.alertPath("/status")), fmt.Sprintf(`[{"id": "1", "name": "universal-alert", "state": "delayed",
		"timestamp": %d, "delay_ms": %d, "attempts_made": 0, "processed_on": null, "finished_on": null, "failed_reason": null, "history": [], "data": %s}]`,
		int64(made.CreatedAt), int64(made.Target)-int64(made.CreatedAt), rule))
	apitest.Want[alert.Rule](t, h.patchAlert("/"+made.UUID, `{"enabled":false}`), 200)
	list = apitest.Want[[]alerting.AlertStatus](t, h.get(h.alertPath("/status")), 200)
	if len(list) != 1 || list[0].State != alert.Paused || list[0].ID == "1" || list[0].Data.ID != "1" {
		t.Errorf("after a change: %+v, want a new paused job of the same alert", list)
	}
}

func TestAlertListsEveryMistake(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, c := range []struct{ body, says string }{
		{`{"enabled":true}`, `"body.monitor"`},
		{`{"enabled":true}`, `"body.rrule"`},
		{`{"rrule":"DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=1","monitor":{"monitor_mode":"NONE"}}`, "no occurrence left"},
		{`{"rrule":"DTSTART:20200101T000000Z","monitor":{"monitor_mode":"INACTIVITY","duration_minutes":30}}`, `"body.monitor.inactive_minutes"`},
		{`{"rrule":"DTSTART:20200101T000000Z","monitor":{"monitor_mode":"WEATHER"}}`, `"body.monitor.monitor_mode"`},
		{`{"rrule":"DTSTART:20200101T000000Z","monitor":{"monitor_mode":"NONE"},"motion_actions":[{"action":"fcm_push","payload":{}}]}`, `"body.motion_actions[0].payload"`},
		{`{"rrule":"DTSTART:20200101T000000Z","monitor":{"monitor_mode":"NONE"},"id":"7"}`, `"body.id"`},
	} {
		apitest.WantProblem(t, h.post(h.alertPath(""), c.body), 422, c.says)
	}
	if list := apitest.Want[[]alert.Rule](t, h.get(h.alertPath("")), 200); len(list) != 0 {
		t.Errorf("%d alerts after mistakes", len(list))
	}
}

func TestAlertChangesOnlyWhatMayChange(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	made := h.createAlert(riseAndShine)
	same := fmt.Sprintf(`{"enabled":true,"uuid":%q,"external_id":%d,"alert_name":"Morning"}`, made.UUID, h.network)
	changed := apitest.Want[alert.Rule](t, h.patchAlert("/"+made.UUID, same), 200)
	if changed.AlertName != "Morning" || changed.Target != made.Target || changed.Monitor != made.Monitor || changed.UUID != made.UUID {
		t.Errorf("changed %+v", changed)
	}
	for _, c := range []struct{ body, says string }{
		{`{"alert_name":"x"}`, `"body.enabled"`},
		{`{"enabled":true,"uuid":"00000000-0000-4000-8000-000000000000"}`, `"body.uuid"`},
		{`{"enabled":true,"external_id":77}`, `"body.external_id"`},
		{`{"enabled":true,"rrule":"DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=1"}`, `"body.rrule"`},
	} {
		apitest.WantProblem(t, h.patchAlert("/"+made.UUID, c.body), 422, c.says)
	}
	if got := apitest.Want[alert.Rule](t, h.get(h.alertPath("/"+made.UUID)), 200); got.AlertName != "Morning" || !got.Enabled {
		t.Errorf("after mistakes: %+v", got)
	}
}

func TestAlertOfAnotherNetworkIsUnknown(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	made := h.createAlert(riseAndShine)
	bound := h.key("bound", h.other, auth.Scopes()...)
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPatch} {
		body := ""
		if method == http.MethodPatch {
			body = `{"enabled":false}`
		}
		apitest.WantProblem(t, h.As(h.all, method, fmt.Sprintf("/api/v1/universal-alert/%s?network_id=%d", made.UUID, h.other), body), 404, "not found")
		apitest.WantProblem(t, h.As(bound, method, h.alertPath("/"+made.UUID), body), 404, "not known")
		apitest.WantProblem(t, h.As(h.all, method, "/api/v1/universal-alert/"+made.UUID+"?network_id=99", body), 404, "not known")
	}
	if got := apitest.Want[alert.Rule](t, h.get(h.alertPath("/"+made.UUID)), 200); !got.Enabled {
		t.Error("it was changed")
	}
}

func TestBulkSwitchesAllAlertsOrNone(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	a, b := h.createAlert(riseAndShine), h.createAlert(riseAndShine)
	bulk := func(body string) apitest.Answer {
		return h.As(h.all, http.MethodPatch, fmt.Sprintf("/api/v1/universal-alert-bulk?network_id=%d", h.network), body)
	}
	enabled := func() (states [2]bool) {
		for i, made := range []alert.Rule{a, b} {
			states[i] = apitest.Want[alert.Rule](t, h.get(h.alertPath("/"+made.UUID)), 200).Enabled
		}
		return states
	}
	list := apitest.Want[[]alert.Rule](t, bulk(fmt.Sprintf(`{"enabled":false,"uuids":[%q,%q]}`, b.UUID, a.UUID)), 200)
	if len(list) != 2 || list[0].UUID != b.UUID || list[0].Enabled || list[1].Enabled || enabled() != [2]bool{} {
		t.Errorf("switched off: %+v", list)
	}
	const unknown = "00000000-0000-4000-8000-000000000000"
	apitest.WantProblem(t, bulk(fmt.Sprintf(`{"enabled":true,"uuids":[%q,%q]}`, a.UUID, unknown)), 404, unknown)
	h.finish(b)
	apitest.WantProblem(t, bulk(fmt.Sprintf(`{"alerts":[{"uuid":%q,"enabled":true},{"uuid":%q,"enabled":true}]}`, a.UUID, b.UUID)), 422, `"body.alerts[1].uuid"`)
	if enabled() != [2]bool{} {
		t.Error("some were switched on")
	}
	list = apitest.Want[[]alert.Rule](t, bulk(fmt.Sprintf(`{"alerts":[{"uuid":%q,"enabled":true}]}`, a.UUID)), 200)
	if len(list) != 1 || enabled() != [2]bool{true, false} {
		t.Errorf("switched on: %+v", list)
	}
	for body, says := range map[string]string{
		`{}`:                                  "body.uuids",
		`{"uuids":null}`:                      "body.uuids",
		fmt.Sprintf(`{"uuids":[%q]}`, a.UUID): "body.enabled",
		fmt.Sprintf(`{"enabled":true,"uuids":[%q,%q]}`, a.UUID, strings.ToUpper(a.UUID)): "named twice",
		fmt.Sprintf(`{"enabled":true,"alerts":[{"uuid":%q,"enabled":true}]}`, a.UUID):    "body.enabled",
		fmt.Sprintf(`{"uuids":[%q],"alerts":[{"uuid":%[1]q,"enabled":true}]}`, a.UUID):   "body.alerts",
		`{"enabled":true,"uuids":["x"]}`:                                                 "body.uuids[0]",
	} {
		apitest.WantProblem(t, bulk(body), 422, says)
	}
}

// finish makes an alert one whose last occurrence has been.
func (h *home) finish(rule alert.Rule) {
	h.T.Helper()
	err := h.db.Update(h.T.Context(), func(tx *store.Tx) error {
		a, err := tx.Alert(store.AlertKey{Network: h.network, UUID: rule.UUID})
		if err != nil {
			return err
		}
		a.Rule.RRule, a.Rule.Enabled, a.State.Done = "DTSTART:20200101T000000Z\nRRULE:FREQ=DAILY;COUNT=1", false, true
		_, err = tx.PutAlert(a)
		return err
	})
	if err != nil {
		h.T.Fatal(err)
	}
}

func TestNetworkHasAtMostAHundredAlerts(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for range 100 {
		h.createAlert(riseAndShine)
	}
	apitest.WantProblem(t, h.post(h.alertPath(""), riseAndShine), 409, "at most 100")
}
