package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/store"
)

const formMedia = "application/x-www-form-urlencoded"

// configPath returns the path of the first home's scene configuration.
func (h *household) configPath() (path string) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		one, err := tx.Home(h.home)
		path = fmt.Sprintf("/network_scene_configs/%d", one.SceneConfigID)
		return err
	})
	return path
}

// events returns the stored events of the kinds of the first network, oldest first.
func (h *household) events(kinds ...string) (list []motion.Event) {
	h.T.Helper()
	h.update(func(tx *store.Tx) (err error) {
		list, err = tx.Events(store.EventQuery{Network: h.network, Last: 1000, Kinds: kinds, Ascending: true})
		return err
	})
	return list
}

// guardianConfig returns the last configuration that devices were sent.
func (h *household) guardianConfig() motion.GuardianConfig {
	h.T.Helper()
	sent := h.devices.of("config")
	if len(sent) == 0 {
		h.T.Fatal("no configuration was sent")
	}
	var n struct {
		Guardian motion.GuardianConfig `json:"guardian_config"`
	}
	return parsed(h.T, sent[len(sent)-1], n).Guardian
}

func TestSceneConfigLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := h.configPath()
	h.climb(http.MethodGet,
		step{"no token", person{}, path, "", 401, ""},
		step{"stranger", h.nobody, path, "", 404, "is not known"},
		step{"neighbour", h.neighbour, path, "", 404, "is not known"},
		step{"unknown", h.owner, "/network_scene_configs/99", "", 404, "is not known"},
		step{"no id", h.owner, "/network_scene_configs/x", "", 404, "is not known"},
		step{"right", h.member, path, "", 200, `"auto_arm":false`},
	)
	h.climb(http.MethodPut,
		step{"no token", person{}, path, `{}`, 401, ""},
		step{"neighbour", h.neighbour, path, `{"auto_arm":true}`, 404, ""},
		step{"malformed", h.owner, path, `{`, 400, ""},
		step{"range", h.owner, path, `{"excessive_motion_seconds":0,"auto_arm":1,"guardian_weekday_end_time_hours":24}`, 422, "body.guardian_weekday_end_time_hours"},
		step{"unknown field", h.owner, path, `{"guardian":true}`, 422, "body.guardian"},
		step{"right", h.member, path, `{"excessive_motion_seconds":60}`, 200, `"excessive_motion_seconds":60`},
		step{"right, as data", h.member, path, `{"data":{"excessive_motion_seconds":61}}`, 200, `"excessive_motion_seconds":61`},
	)
	all := h.as(h.owner, http.MethodPut, path, `{"excessive_motion_seconds":0,"auto_arm":1,"guardian_weekday_end_time_hours":24}`)
	for _, place := range []string{"excessive_motion_seconds", "auto_arm", "guardian_weekday_end_time_hours"} {
		apitest.WantProblem(t, all, 422, `"location":"body.`+place)
	}
}

func TestSceneConfigBeginsWithDefaultsAndIsChangedInPart(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := h.configPath()
	before := apitest.Want[map[string]any](t, h.as(h.owner, http.MethodGet, path, ""), 200)
	want := map[string]any{
		"network_id": float64(h.home), "excessive_motion_enabled": true, "excessive_motion_seconds": 600.0,
		"auto_switching_enabled": false, "guardian_enabled": false, "auto_arm": false,
		"guardian_weekday_start_time_hours": 6.0, "guardian_weekday_end_time_hours": 8.0,
		"guardian_weekend_start_time_hours": 7.0, "guardian_weekend_end_time_hours": 9.0,
	}
	for key, value := range want {
		if before[key] != value {
			t.Errorf("%s is %v, want %v", key, before[key], value)
		}
	}
	form := url.Values{"guardian_enabled": {"true"}, "guardian_weekday_start_time_minutes": {"30"}}
	after := apitest.Want[map[string]any](t, h.Send(h.owner.token, http.MethodPut, path, formMedia, form.Encode()), 200)
	before["guardian_enabled"], before["guardian_weekday_start_time_minutes"], before["updated_at"] = true, 30.0, after["updated_at"]
	if got, want := fmt.Sprint(after), fmt.Sprint(before); got != want {
		t.Errorf("changed to\n%s\nwant\n%s", got, want)
	}
	whole := h.as(h.owner, http.MethodGet, path, "")
	again := apitest.Want[map[string]any](t, h.as(h.owner, http.MethodPut, path, string(whole.Body)), 200)
	if again["id"] != after["id"] || again["created_at"] != after["created_at"] {
		t.Errorf("sent back whole: %v", again)
	}
}

func TestScenesLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	at := fmt.Sprintf("/scenes?network_id=%d", h.home)
	h.climb(http.MethodGet,
		step{"no token", person{}, "/scenes", "", 401, ""},
		step{"stranger", h.nobody, "/scenes", "", 404, ""},
		step{"foreign", h.neighbour, at, "", 404, ""},
		step{"right", h.member, at, "", 200, `{"data":[{"id":1,"name":"away","active":false},{"id":4,"name":"home","active":true}]}`},
	)
	h.climb(http.MethodPut,
		step{"no token", person{}, "/scenes", `{"scene_id":1}`, 401, ""},
		step{"foreign", h.neighbour, "/scenes", fmt.Sprintf(`{"scene_id":1,"network_id":%d}`, h.home), 404, ""},
		step{"malformed", h.owner, "/scenes", `{"scene_id":`, 400, ""},
		step{"another code", h.owner, "/scenes", `{"scene_id":2}`, 422, "body.scene_id"},
		step{"none", h.owner, "/scenes", `{}`, 422, "scene_id"},
		step{"right", h.member, "/scenes/", fmt.Sprintf(`{"scene_id":1,"network_id":"%d"}`, h.home), 200, `{"id":1,"name":"away","active":true}`},
	)
	h.climb(http.MethodGet, step{"changed", h.owner, "/scenes", "", 200, `{"id":1,"name":"away","active":true}`})
}

func TestSceneChangeRaisesItsEventOnce(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	before := len(h.devices.of("config"))
	for _, code := range []string{"1", "1", "4"} {
		form := url.Values{"scene_id": {code}, "network_id": {fmt.Sprint(h.home)}}.Encode()
		if a := h.Send(h.member.token, http.MethodPut, "/scenes", formMedia, form); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	events := h.events(motion.SceneChangedToAwayEvent, motion.SceneChangedToHomeEvent)
	if len(events) != 2 || events[0].Event != motion.SceneChangedToAwayEvent || events[1].Event != motion.SceneChangedToHomeEvent {
		t.Fatalf("events %+v, want away and home", events)
	}
	away := events[0]
	user := fmt.Sprint(h.member.ID)
	if away.Category != motion.CategorySystem || away.GuardianID != guardianID || fmt.Sprint(away.Data) != "map[id:1 title:away user:map[id:"+user+"]]" ||
		fmt.Sprint(away.Detail) != "map[previous_scene_id:4 reason:user scene_id:1]" {
		t.Errorf("away: %+v", away)
	}
	if sent := h.devices.of("config")[before:]; len(sent) > 0 {
		t.Errorf("devices were sent %v without auto_arm", sent)
	}
}

func TestArmingFollowsTheSceneOnlyWithAutoArm(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	armed := func(want int) {
		t.Helper()
		s, err := h.engine.Inventory.SoundingSettings(h.network)
		if err != nil || int(s.MotionEventsArmed) != want {
			t.Fatalf("armed %d %v, want %d", s.MotionEventsArmed, err, want)
		}
	}
	put := func(path, body string) {
		t.Helper()
		apitest.Want[any](t, h.as(h.owner, http.MethodPut, path, body), 200)
	}
	put("/scenes", `{"scene_id":1}`)
	put("/scenes", `{"scene_id":4}`)
	armed(1)
	put(h.configPath(), `{"auto_arm":true}`)
	armed(0)
	if got := h.guardianConfig(); got.MotionEvents.Armed != 0 {
		t.Errorf("devices were sent %+v", got.MotionEvents)
	}
	put("/scenes", `{"scene_id":1}`)
	armed(1)
	if got := h.guardianConfig(); got.MotionEvents.Armed != 1 {
		t.Errorf("devices were sent %+v", got.MotionEvents)
	}
	put("/network_motion_config", `{"motion_paused":true}`)
	put("/scenes", `{"scene_id":4}`) // a pause does not hold the scene up
	armed(0)
	put("/network_motion_config", `{"motion_paused":false}`)
	apitest.Want[any](t, h.as(h.owner, http.MethodPatch, "/sounding/settings", `{"motion_events_enabled":0}`), 200)
	put("/scenes", `{"scene_id":1}`) // cannot be armed
	armed(0)
}

func TestMotionConfigLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path = "/network_motion_config"
	foreign := fmt.Sprintf("%s?network_id=%d", path, h.home)
	h.climb(http.MethodGet,
		step{"no token", person{}, path, "", 401, ""},
		step{"stranger", h.nobody, path, "", 404, ""},
		step{"foreign", h.neighbour, foreign, "", 404, ""},
		step{"malformed", h.owner, path + "?network_id=x", "", 400, "network_id"},
		step{"right", h.member, path, "", 200, `"sens":1,"sensitivity_level":"high","cooldown":120,"pet_mode":false,"motion_paused":false`},
	)
	h.climb(http.MethodPut,
		step{"no token", person{}, path, `{}`, 401, ""},
		step{"foreign", h.neighbour, foreign, `{}`, 404, ""},
		step{"malformed", h.owner, path, `[`, 400, ""},
		step{"ranges", h.owner, path, `{"sens":5,"cooldown":-1,"sensitivity_level":"loud"}`, 422, "body.cooldown"},
		step{"contradiction", h.owner, path, `{"sens":1,"sensitivity_level":"low"}`, 422, "body.sensitivity_level"},
		step{"pet mode", h.owner, path, `{"sens":2,"pet_mode":true}`, 422, "body.pet_mode"},
		step{"right", h.member, path, `{"sensitivity_level":"very_low","cooldown":30}`, 200, `"sens":4,"sensitivity_level":"very_low","cooldown":30`},
		step{"pause", h.member, path, `{"motion_paused":true}`, 200, `"motion_paused":true`},
		step{"while paused", h.member, path, `{"cooldown":31}`, 409, "paused"},
		step{"end of the pause", h.member, path, `{"motion_paused":false,"sens":1,"sensitivity_level":"high"}`, 409, "paused"},
		step{"end of the pause alone", h.member, path, `{"motion_paused":false}`, 200, `"motion_paused":false`},
	)
	if got := h.guardianConfig().MotionEvents; got.Sens != 4 || got.Cooldown != 30 {
		t.Errorf("devices were sent %+v", got)
	}
	settings := h.as(h.owner, http.MethodGet, "/sounding/settings/", "")
	if !strings.Contains(string(settings.Body), `"sensitivity":4`) || !strings.Contains(string(settings.Body), `"cooldown":30`) {
		t.Errorf("sounding settings %s: want one store", settings.Body)
	}
	form := url.Values{"pet_mode": {"true"}, "sens": {"1"}}.Encode()
	a := h.Send(h.owner.token, http.MethodPut, path, formMedia, form)
	if a.Status != 200 || !strings.Contains(string(a.Body), `"pet_mode":true`) {
		t.Errorf("form: %d %s", a.Status, a.Body)
	}
}
