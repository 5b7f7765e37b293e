package app_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
)

// report says a person is at home, or away, a second after the last time.
func (h *household) say(p person, what string) map[string]any {
	h.T.Helper()
	return apitest.Want[map[string]any](h.T, h.as(p, http.MethodPost, "/user_presences", fmt.Sprintf(`{"network_id":%d,%s}`, h.home, what)), 200)
}

// wantReply checks an answer to a report of the first home.
func (h *household) wantReply(got map[string]any, p person, present bool, count, scene int, changed bool) {
	h.T.Helper()
	want := map[string]any{
		"network_id": float64(h.home), "user_id": float64(p.ID), "is_present": present,
		"present_count": float64(count), "scene_id": float64(scene), "scene_changed": changed,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		h.T.Errorf("reply %v, want %v", got, want)
	}
}

func TestPresenceLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path = "/user_presences"
	at := fmt.Sprintf(`{"network_id":%d,`, h.home)
	h.climb(http.MethodPost,
		step{"no token", person{}, path, at + `"event":"enter"}`, 401, ""},
		step{"stranger", h.nobody, path, at + `"event":"enter"}`, 404, "is not known"},
		step{"foreign", h.neighbour, path, at + `"event":"enter"}`, 404, "is not known"},
		step{"unknown", h.neighbour, path, `{"network_id":99,"event":"enter"}`, 404, "is not known"},
		step{"malformed", h.owner, path, `{"event":`, 400, ""},
		step{"neither", h.owner, path, at + `"ts":1}`, 422, "body.event"},
		step{"contradiction", h.owner, path, at + `"event":"enter","is_present":false}`, 422, "body.is_present"},
		step{"another word", h.owner, path, at + `"event":"dwell"}`, 422, "body.event"},
		step{"off the map", h.owner, path, at + `"event":"enter","latitude":91,"longitude":"-181","accuracy":-1}`, 422, "body.accuracy"},
		step{"right", h.member, path, at + `"event":"enter","is_present":true,"latitude":43.4643,"longitude":"-80.5204","accuracy":65.0,"ts":1764000000.0}`, 200, `"present_count":1`},
		step{"nobody's device", h.owner, path, at + `"event":"enter","device_id":9999}`, 422, "device_id"},
		step{"another's device", h.owner, path, at + fmt.Sprintf(`"event":"enter","device_id":%d}`, h.register(h.member, phone).ID), 422, "device_id"},
		step{"no device", h.owner, path, at + `"event":"enter","device_id":-1}`, 422, "device_id"},
	)
	form := h.Send(h.owner.token, http.MethodPost, path, formMedia, fmt.Sprintf("network_id=%d&is_present=true&latitude=43.4", h.home))
	h.wantReply(apitest.Want[map[string]any](t, form, 200), h.owner, true, 2, 4, false)
}

func TestBulkPresenceLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path = "/bulk_user_presences"
	report := func(id home.ID, what string) string { return fmt.Sprintf(`{"network_id":%d,%s}`, id, what) }
	list := func(reports ...string) string {
		text := ""
		for i, r := range reports {
			if i > 0 {
				text += ","
			}
			text += r
		}
		return `{"user_presences":[` + text + `]}`
	}
	enter := report(h.home, `"event":"enter"`)
	h.climb(http.MethodPost,
		step{"no token", person{}, path, list(enter), 401, ""},
		step{"malformed", h.owner, path, `{`, 400, ""},
		step{"empty", h.owner, path, list(), 422, "user_presences"},
		step{"another word", h.owner, path, list(report(h.home, `"event":"dwell"`)), 422, "user_presences[0].event"},
	)
	phone := h.register(h.member, phone).ID
	for name, c := range map[string]struct {
		who    person
		item   string
		status int
		says   string
	}{
		"stranger":         {h.nobody, enter, 404, "is not known"},
		"foreign":          {h.owner, report(h.other, `"event":"enter"`), 404, fmt.Sprintf("network %d is not known", h.other)},
		"without network":  {h.owner, `{"event":"enter"}`, 422, "network_id: is required"},
		"contradiction":    {h.owner, report(h.home, `"event":"exit","is_present":true`), 422, "is_present"},
		"another's device": {h.owner, report(h.home, fmt.Sprintf(`"event":"enter","device_id":%d`, phone)), 422, "device_id"},
	} {
		type refusal struct {
			Network home.ID `json:"network_id"`
			Present *bool   `json:"is_present"`
			Error   *struct {
				Status int
				Detail string
			}
		}
		a := h.as(c.who, http.MethodPost, path, list(c.item))
		replies := apitest.Want[map[string][]refusal](t, a, 200)["user_presences"]
		if len(replies) != 1 || replies[0].Error == nil || replies[0].Error.Status != c.status || !strings.Contains(replies[0].Error.Detail, c.says) || replies[0].Present != nil {
			t.Errorf("%s: %s, want %d with %q", name, a.Body, c.status, c.says)
		}
	}
	if events := h.events(motion.MemberArrivedEvent, motion.MemberLeftEvent); len(events) > 0 {
		t.Errorf("refused reports have raised %+v", events)
	}
	h.join(h.owner, h.other, home.MemberRole)
	a := h.as(h.owner, http.MethodPost, path, list(enter, report(99, `"event":"enter"`), report(h.other, `"is_present":"true"`)))
	replies := apitest.Want[map[string][]map[string]any](t, a, 200)["user_presences"]
	if len(replies) != 3 || replies[0]["network_id"] != float64(h.home) || replies[1]["network_id"] != 99.0 || replies[2]["network_id"] != float64(h.other) {
		t.Fatalf("replies %v", replies)
	}
	h.wantReply(replies[0], h.owner, true, 1, 4, false)
	if replies[1]["error"] == nil || replies[2]["is_present"] != true {
		t.Errorf("replies %v", replies)
	}
}

func TestNewestReportOfABulkCountsAndAnOlderOneIsIgnored(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	now := float64(h.engine.State.Now())
	item := func(event string, ago float64) string {
		return fmt.Sprintf(`{"network_id":%d,"event":%q,"ts":%f}`, h.home, event, now-ago)
	}
	a := h.as(h.owner, http.MethodPost, "/bulk_user_presences", `{"user_presences":[`+item("enter", 10)+","+item("exit", 60)+`]}`)
	for _, reply := range apitest.Want[map[string][]map[string]any](t, a, 200)["user_presences"] {
		h.wantReply(reply, h.owner, true, 1, 4, false)
	}
	h.wantReply(h.say(h.owner, fmt.Sprintf(`"event":"exit","ts":%f`, now-30)), h.owner, true, 1, 4, false)
	h.wantReply(h.say(h.owner, fmt.Sprintf(`"event":"exit","ts":%f`, now-5)), h.owner, false, 0, 4, false)
	events := h.events(motion.MemberArrivedEvent, motion.MemberLeftEvent)
	if len(events) != 2 || events[0].Event != motion.MemberArrivedEvent || events[1].Event != motion.MemberLeftEvent {
		t.Fatalf("events %+v, want arrived and left", events)
	}
	arrived := events[0]
	if arrived.Category != motion.CategorySystem || arrived.Detail != nil || fmt.Sprint(arrived.Data) !=
		fmt.Sprintf("map[first_name:jdoe id:%d last_name:Doe sub:sub-jdoe@example.com user:map[]]", h.owner.ID) {
		t.Errorf("arrived: %+v", arrived)
	}
}

func TestReportOfAWrongClockIsTakenAsOfNow(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.wantReply(h.say(h.owner, `"event":"enter","ts":1764000000000`), h.owner, true, 1, 4, false)
	if events := h.events(motion.MemberArrivedEvent); len(events) != 1 || events[0].Detail["clock"] != "server" {
		t.Errorf("events %+v, want one that says whose clock", events)
	}
	h.wantReply(h.say(h.owner, `"event":"leave","ts":0`), h.owner, false, 0, 4, false)
}

func TestSceneFollowsTheMembersWhenEnabled(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	apitest.Want[any](t, h.as(h.owner, http.MethodPut, h.configPath(), `{"auto_switching_enabled":true,"auto_arm":true}`), 200)
	h.wantReply(h.say(h.owner, `"event":"enter"`), h.owner, true, 1, 4, false)
	h.wantReply(h.say(h.member, `"event":"enter"`), h.member, true, 2, 4, false)
	h.wantReply(h.say(h.owner, `"event":"exit"`), h.owner, false, 1, 4, false)
	h.wantReply(h.say(h.owner, `"event":"exit"`), h.owner, false, 1, 4, false)
	h.wantReply(h.say(h.member, `"event":"leave"`), h.member, false, 0, 1, true)
	if got := h.guardianConfig().MotionEvents.Armed; got != 1 {
		t.Errorf("devices were sent armed %d for an empty home", got)
	}
	h.wantReply(h.say(h.owner, `"is_present":true`), h.owner, true, 1, 4, true)
	if got := h.guardianConfig().MotionEvents.Armed; got != 0 {
		t.Errorf("devices were sent armed %d for a home with people", got)
	}
	events := h.events(motion.SceneChangedToAwayEvent, motion.SceneChangedToHomeEvent)
	if len(events) != 2 || events[0].Detail["reason"] != "geofence" || fmt.Sprint(events[0].Data["user"]) != fmt.Sprintf("map[id:%d]", h.member.ID) {
		t.Errorf("scene events %+v", events)
	}
}

func TestUserIsPresentWhileOneOfTheirDevicesIs(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	apitest.Want[any](t, h.as(h.owner, http.MethodPut, h.configPath(), `{"auto_switching_enabled":true}`), 200)
	phone, tablet := h.register(h.owner, phone).ID, h.register(h.owner, `{"token":"a tablet"}`).ID
	from := func(device home.MobileID, event string) map[string]any {
		return h.say(h.owner, fmt.Sprintf(`"event":%q,"device_id":%d`, event, device))
	}
	h.wantReply(from(phone, "enter"), h.owner, true, 1, 4, false)
	h.wantReply(from(tablet, "enter"), h.owner, true, 1, 4, false)
	h.wantReply(from(phone, "exit"), h.owner, true, 1, 4, false)
	h.wantReply(from(tablet, "exit"), h.owner, false, 0, 1, true)
	h.wantReply(h.say(h.owner, `"event":"enter"`), h.owner, true, 1, 4, true)
	h.wantReply(from(phone, "exit"), h.owner, true, 1, 4, false)
	if a := h.as(h.owner, http.MethodDelete, fmt.Sprintf("/mobile_devices/%d", tablet), ""); a.Status != 204 {
		t.Fatal(a.Status)
	}
	own := apitest.Want[map[string]any](t, h.as(h.owner, http.MethodGet, fmt.Sprintf("/networks/%d", h.home), ""), 200)
	if own["present_count"] != 0.0 || own["scene_id"] != 1.0 {
		t.Errorf("after the last device that was there has gone: %v", own)
	}
	if events := h.events(motion.MemberLeftEvent); len(events) != 2 {
		t.Errorf("events %+v", events)
	}
}

func TestDeviceThatLoggedOutIsNotPresent(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	id := h.register(h.member, phone).ID
	h.wantReply(h.say(h.member, fmt.Sprintf(`"event":"enter","device_id":%d`, id)), h.member, true, 1, 4, false)
	if a := h.as(h.member, http.MethodPost, "/logout", ""); a.Status != 204 {
		t.Fatal(a.Status)
	}
	if m := h.membershipOf(h.member, h.home); m.IsPresent {
		t.Errorf("still present: %+v", m)
	}
	if events := h.events(motion.MemberLeftEvent); len(events) != 1 {
		t.Errorf("events %+v, want that they left", events)
	}
}

func TestCoordinatesAreNotKept(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.say(h.owner, `"event":"enter","latitude":43.12345678,"longitude":-80.87654321,"accuracy":65.4321`)
	apitest.Want[any](t, h.as(h.owner, http.MethodPost, "/bulk_user_presences",
		fmt.Sprintf(`{"user_presences":[{"network_id":%d,"event":"exit","latitude":"43.12345678","longitude":"-80.87654321"}]}`, h.home)), 200)
	raw, err := os.ReadFile(h.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(raw, []byte(motion.MemberLeftEvent)) {
		t.Fatal("the event is not in the file: the search would find nothing")
	}
	for _, secret := range []string{"43.1234", "80.8765", "65.43"} {
		if bytes.Contains(raw, []byte(secret)) {
			t.Errorf("%s is in the database", secret)
		}
	}
}
