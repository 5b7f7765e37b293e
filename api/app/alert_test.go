package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/alert"
	"sensegate/motion/home"
	"sensegate/store"
)

const alertPath = "/universal-alert"

// riseAndShine is the alert of payloads.md 4.10 for some users.
func riseAndShine(users string) string {
	return fmt.Sprintf(`{"enabled":true,"alert_name":"Rise and shine","rrule":"DTSTART;TZID=America/Toronto:20251124T080000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU",
		"monitor":{"monitor_mode":"INACTIVITY","duration_minutes":120,"inactive_minutes":30,"repeat_monitoring":true},"meta":{"alert_type":"RISE_AND_SHINE_PRESET"},"analytics_tag":"riseAndShinePreset",
		"no_motion_actions":[{"action":"fcm_push","user_ids":[%s],"payload":{"data":{"title":"Rise and shine"}}}],"motion_actions":[]}`, users)
}

// createAlert makes an alert in the first home.
func (h *household) createAlert() alert.Rule {
	h.T.Helper()
	return apitest.Want[alert.Rule](h.T, h.as(h.member, http.MethodPost, alertPath, riseAndShine(fmt.Sprint(h.owner.ID))), 200)
}

// rehome gives the network of the first home a home whose id is not its own.
func (h *household) rehome() {
	h.T.Helper()
	h.update(func(tx *store.Tx) error { return tx.DeleteHome(h.home) })
	h.home = h.newHome(h.network)
	h.join(h.owner, h.home, home.OwnerRole)
	h.join(h.member, h.home, home.MemberRole)
	if uint32(h.home) == uint32(h.network) {
		h.T.Fatalf("both are %d", h.home)
	}
}

func TestAlertLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	of := fmt.Sprintf("?network_id=%d", h.home)
	made := h.createAlert()
	for _, c := range []struct{ method, path, body, malformed, invalid string }{
		{http.MethodGet, alertPath, "", "", ""},
		{http.MethodPost, alertPath, riseAndShine(""), `{"rrule":`, `{"rrule":"FREQ=NEVER","monitor":{"monitor_mode":"SOMETIMES"}}`},
		{http.MethodGet, alertPath + "/status", "", "", ""},
		{http.MethodGet, alertPath + "/" + made.UUID, "", "", ""},
		{http.MethodPatch, alertPath + "/" + made.UUID, `{"enabled":false}`, `{`, `{"alert_name":"x"}`},
		{http.MethodPatch, "/universal-alert-bulk", fmt.Sprintf(`{"enabled":true,"uuids":[%q]}`, made.UUID), `[`, `{"enabled":true}`},
		{http.MethodDelete, alertPath + "/" + made.UUID, "", "", ""},
	} {
		steps := []step{
			{"no token", person{}, c.path + of, c.body, 401, ""},
			{"no network", h.nobody, c.path, c.body, 404, ""},
			{"foreign network", h.neighbour, c.path + of, c.body, 404, ""},
			{"malformed query", h.member, c.path + "?network_id=%zz", c.body, 400, ""},
			{"invalid network", h.member, c.path + "?network_id=0", c.body, 422, "network_id"},
			{"right", h.member, c.path + of, c.body, 200, ""},
		}
		if c.malformed != "" {
			steps = append(steps, step{"malformed", h.member, c.path, c.malformed, 400, ""}, step{"invalid", h.owner, c.path, c.invalid, 422, "body"})
		}
		h.climb(c.method, steps...)
	}
	h.climb(http.MethodGet,
		step{"no uuid", h.member, alertPath + "/tea", "", 422, "path.uuid"},
		step{"deleted", h.member, alertPath + "/" + made.UUID, "", 404, "not found"},
	)
}

func TestAlertHasBothIdsOfItsNetwork(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.rehome()
	rules := map[string]alert.Rule{"made": h.createAlert()}
	path := alertPath + "/" + strings.ToUpper(rules["made"].UUID)
	rules["read"] = apitest.Want[alert.Rule](t, h.as(h.owner, http.MethodGet, path, ""), 200)
	rules["listed"] = apitest.Want[[]alert.Rule](t, h.as(h.owner, http.MethodGet, alertPath, ""), 200)[0]
	rules["queued"] = apitest.Want[[]struct{ Data alert.Rule }](t, h.as(h.owner, http.MethodGet, alertPath+"/status", ""), 200)[0].Data
	rules["changed"] = apitest.Want[alert.Rule](t, h.as(h.owner, http.MethodPatch, path, fmt.Sprintf(`{"enabled":true,"network_id":"%d","external_id":%d}`, h.home, h.network)), 200)
	rules["switched"] = apitest.Want[[]alert.Rule](t, h.as(h.member, http.MethodPatch, "/universal-alert-bulk",
		fmt.Sprintf(`{"network_id":%d,"alerts":[{"uuid":%q,"enabled":false}]}`, h.home, rules["made"].UUID)), 200)[0]
	rules["deleted"] = apitest.Want[alert.Rule](t, h.as(h.member, http.MethodDelete, path, ""), 200)
	for how, r := range rules {
		if uint32(r.NetworkID) != uint32(h.home) || r.ExternalID != h.network || r.UUID != rules["made"].UUID {
			t.Errorf("%s: %+v, want network %d, external id %d", how, r, h.home, h.network)
		}
	}
}

func TestAlertPushesToMembersAlone(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	users := fmt.Sprintf("%d,%d,%d", h.owner.ID, h.neighbour.ID, 4711)
	wrong := func(a apitest.Answer, more ...string) {
		t.Helper()
		for _, says := range append(more, "body.no_motion_actions[0].user_ids[1]", "body.no_motion_actions[0].user_ids[2]", "no member of the network: name members, or leave user_ids out") {
			apitest.WantProblem(t, a, 422, says)
		}
		if strings.Contains(string(a.Body), "user_ids[0]") {
			t.Errorf("the owner is refused: %s", a.Body)
		}
	}
	wrong(h.as(h.member, http.MethodPost, alertPath, riseAndShine(users)))
	badRule := strings.Replace(riseAndShine(users), "FREQ=WEEKLY", "FREQ=NEVER", 1)
	wrong(h.as(h.member, http.MethodPost, alertPath, badRule), "body.rrule")
	if got := apitest.Want[[]alert.Rule](t, h.as(h.member, http.MethodGet, alertPath, ""), 200); len(got) != 0 {
		t.Errorf("made %+v", got)
	}
	made := h.createAlert()
	wrong(h.as(h.member, http.MethodPatch, alertPath+"/"+made.UUID, riseAndShine(users)))
	wrong(h.as(h.member, http.MethodPatch, alertPath+"/"+made.UUID, badRule), "body.rrule")
	apitest.Want[alert.Rule](t, h.as(h.member, http.MethodPatch, alertPath+"/"+made.UUID, riseAndShine(fmt.Sprintf("%d,%d", h.owner.ID, h.member.ID))), 200)
}

func TestAlertOfAnotherNetworkIsNotFound(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	made := h.createAlert()
	const unknown = "01976b40-0d4e-7c11-9f02-77aa10c2e0b1"
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPatch} {
		body := ""
		if method == http.MethodPatch {
			body = `{"enabled":false}`
		}
		foreign := h.as(h.neighbour, method, alertPath+"/"+made.UUID, body)
		absent := h.as(h.neighbour, method, alertPath+"/"+unknown, body)
		if foreign.Status != 404 || strings.ReplaceAll(string(foreign.Body), made.UUID, unknown) != string(absent.Body) {
			t.Errorf("%s: %d %s, want %s", method, foreign.Status, foreign.Body, absent.Body)
		}
	}
	bulk := fmt.Sprintf(`{"enabled":false,"uuids":[%q]}`, made.UUID)
	apitest.WantProblem(t, h.as(h.neighbour, http.MethodPatch, "/universal-alert-bulk", bulk), 404, "not found")
}
