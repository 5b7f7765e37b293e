package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/home"
	"sensegate/store"
)

// night is a rule that tells of motion from 23:00 to 06:00 at once.
const night = `{"alert_name":"Night","rrule":"DTSTART;TZID=Europe/Berlin:20260101T060000\nRRULE:FREQ=DAILY","monitor":{"monitor_mode":"SIMPLE","duration_minutes":420},
	"meta":{"sensegate":{"at_once":true}},"motion_actions":[{"action":"event","payload":{}},{"action":"fcm_push","user_ids":[],"payload":{"data":{"title":"Night"}}}]}`

// addAlert creates an alert of the first home by App Cloud and returns its uuid.
func (b *box) addAlert(body string) string {
	b.T.Helper()
	return apitest.Want[struct{ UUID string }](b.T, b.owner.askApp(http.MethodPost, "/universal-alert", body), 200).UUID
}

type shownAlert struct {
	Alert   alert.Rule
	Snoozed *float64 `json:"snoozed_until"`
	Runs    []struct{ Start, End float64 }
}

func TestAlertsOfAHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	id := b.addAlert(night)
	list := apitest.Want[struct {
		People []struct{ Name string }
		Alerts []shownAlert
	}](t, b.member.ask(http.MethodGet, "/alerts", ""), 200)
	if len(list.Alerts) != 1 || list.Alerts[0].Alert.UUID != id || list.Alerts[0].Alert.NetworkID != motion.NetworkID(b.home) || len(list.Alerts[0].Runs) != 1 {
		t.Errorf("%+v", list.Alerts)
	}
	if len(list.People) != 2 || list.People[0].Name != "mum" {
		t.Errorf("people %+v, want the caller first", list.People)
	}
}

func TestPreviewOfARuleThatIsNotStored(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := apitest.Want[struct {
		Timezone string
		Runs     []struct{ Start, End float64 }
		Told     []float64
	}](t, b.member.ask(http.MethodPost, "/alerts/preview", night), 200)
	if p.Timezone != "Europe/Berlin" || len(p.Runs) != 5 || p.Told == nil || len(p.Told) != 0 {
		t.Errorf("%+v", p)
	}
	apitest.WantProblem(t, b.member.ask(http.MethodPost, "/alerts/preview", `{"rrule":"FREQ=DAILY"}`), 422, "body.monitor")
	apitest.WantProblem(t, b.member.ask(http.MethodPost, "/alerts/preview", `[`), 400, "")
	stranger := fmt.Sprintf(`"no_motion_actions":[{"action":"fcm_push","user_ids":[%d],"payload":{"data":{}}}],`, b.neighbour.ID)
	apitest.WantProblem(t, b.member.ask(http.MethodPost, "/alerts/preview", strings.Replace(night, "{", "{"+stranger, 1)), 422, "no member")
	if list := apitest.Want[struct{ Alerts []shownAlert }](t, b.member.ask(http.MethodGet, "/alerts", ""), 200); len(list.Alerts) != 0 {
		t.Errorf("the preview stored %+v", list)
	}
}

func TestSnooze(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	path := "/alerts/" + b.addAlert(night) + "/snooze"
	snooze := func(until float64) string { return fmt.Sprintf(`{"until":%f}`, until) }
	now := float64(time.Now().Unix())
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, path, snooze(now+60)), 404, "")
	apitest.WantProblem(t, b.member.ask(http.MethodPost, path, snooze(now+8*24*3600)), 422, "seven days")
	apitest.WantProblem(t, b.member.ask(http.MethodPost, "/alerts/x/snooze", snooze(0)), 422, "")
	if a := apitest.Want[shownAlert](t, b.member.ask(http.MethodPost, path, snooze(now+3600)), 200); a.Snoozed == nil || *a.Snoozed != now+3600 || !a.Alert.Enabled {
		t.Errorf("%+v", a)
	}
	if a := apitest.Want[shownAlert](t, b.owner.ask(http.MethodPost, path, snooze(0)), 200); a.Snoozed != nil {
		t.Errorf("ended: %+v", a)
	}
}

type shownNotices struct {
	Notices []struct {
		ID, Kind, Alert    string
		TS                 float64
		Values             map[string]string
		Trial, Own, Unread bool
	}
	Unread int
	More   bool
}

func (p *tab) inbox(query string) shownNotices {
	p.box.T.Helper()
	return apitest.Want[shownNotices](p.box.T, p.ask(http.MethodGet, "/notices"+query, ""), 200)
}

func TestTrialReachesItsCallerAlone(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.forget()
	id := b.addAlert(night)
	path := "/alerts/" + id + "/try"
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, path, ""), 404, "")
	b.member.done(http.MethodPost, path, "")
	got := b.member.inbox("")
	if len(got.Notices) != 1 || !got.Notices[0].Trial || !got.Notices[0].Unread || got.Notices[0].Alert != id || got.Notices[0].Values["title"] != "Night" {
		t.Errorf("inbox %+v", got)
	}
	if others := b.owner.inbox(""); len(others.Notices) != 0 {
		t.Errorf("the other sees %+v", others)
	}
	if events := b.owner.askApp(http.MethodGet, "/events", ""); strings.Contains(string(events.Body), "CustomAlert") {
		t.Errorf("a trial is no event: %s", events.Body)
	}
	b.update(func(tx *store.Tx) error {
		pushes, err := tx.Pushes(b.network)
		if len(pushes) != 1 || fmt.Sprint(pushes[0].UserIDs) != fmt.Sprint([]home.UserID{b.member.ID}) || fmt.Sprint(pushes[0].Payload) != "map[data:map[title:Trial: Night]]" {
			t.Errorf("pushes %+v", pushes)
		}
		return err
	})
	for range 4 {
		b.member.done(http.MethodPost, path, "")
	}
	if a := b.member.ask(http.MethodPost, path, ""); a.Status != 429 || a.Header.Get("Retry-After") == "" {
		t.Errorf("the sixth: %d %s", a.Status, a.Body)
	}
}

// forget removes the events that came with the devices.
func (b *box) forget() {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		_, err := tx.DeleteEventsBefore(tx.Now(), 100)
		return err
	})
}

// raise stores an event of the first home so many seconds ago.
func (b *box) raise(kind string, ago motion.Seconds, data motion.Document) {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		_, _, err := tx.AddEvent(motion.Event{Event: kind, NetworkID: b.network, TS: tx.Now().Add(-ago), Data: data, LocName: "Kitchen"}, "")
		return err
	})
}

func TestInboxOfAMember(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.forget()
	b.update(func(tx *store.Tx) error {
		memberships, err := tx.MembershipsOfHome(b.home)
		for _, m := range memberships {
			m.CreatedAt = tx.Now().Add(-7200).Stamp()
			if err == nil {
				err = tx.PutMembership(m)
			}
		}
		return err
	})
	b.raise(motion.ClockSetEvent, 4000, nil) // before the home was claimed
	b.raise(motion.MotionDetectedEvent, 600, nil)
	b.raise(motion.SceneChangedToAwayEvent, 500, motion.Document{"user": map[string]any{"id": int64(b.member.ID)}})
	b.raise(motion.MotionStoppedEvent, 480, nil)
	b.raise(motion.CustomAlertEvent, 400, motion.Document{"title": "For both", "uuid": "u", "user": map[string]any{"id": int64(b.owner.ID)}}) // a rule names nobody as its cause
	b.raise(motion.CustomAlertEvent, 300, motion.Document{"title": "For mum", "users": []any{int64(b.member.ID)}})
	kinds := func(n shownNotices) (list []string) {
		for _, one := range n.Notices {
			list = append(list, one.Kind+one.Values["title"])
		}
		return list
	}
	mum, owner := b.member.inbox(""), b.owner.inbox("")
	if fmt.Sprint(kinds(mum)) != "[CustomAlertEventFor mum CustomAlertEventFor both SceneChangedToAwayEvent]" || mum.Unread != 2 || !mum.Notices[2].Own || mum.Notices[2].Values["by"] != "mum" {
		t.Errorf("mum: %+v", mum)
	}
	if fmt.Sprint(kinds(owner)) != "[CustomAlertEventFor both SceneChangedToAwayEvent]" || owner.Unread != 2 {
		t.Errorf("owner: %+v", owner)
	}
	if empty := b.neighbour.inbox(""); len(empty.Notices) != 0 {
		t.Errorf("neighbour: %+v", empty)
	}
	first := b.member.inbox("?last=1")
	if !first.More || len(first.Notices) != 1 {
		t.Errorf("first page %+v", first)
	}
	if rest := b.member.inbox(fmt.Sprintf("?before=%f", first.Notices[0].TS)); rest.More || fmt.Sprint(kinds(rest)) != "[CustomAlertEventFor both SceneChangedToAwayEvent]" {
		t.Errorf("second page %+v", rest)
	}
	read := func(to float64) int {
		t.Helper()
		return apitest.Want[struct{ Unread int }](t, b.member.ask(http.MethodPatch, "/notices", fmt.Sprintf(`{"read_to":%f}`, to)), 200).Unread
	}
	if n := read(mum.Notices[1].TS); n != 1 {
		t.Errorf("read to the second: %d unread, want 1", n)
	}
	if n := read(1); n != 1 {
		t.Errorf("the mark went back: %d unread", n)
	}
	if n := read(4e9); n != 0 {
		t.Errorf("read to the future: %d unread", n)
	}
	apitest.WantProblem(t, b.member.ask(http.MethodPatch, "/notices", `{}`), 422, "read_to")
	b.member.done(http.MethodPost, "/alerts/"+b.addAlert(night)+"/try", "")
	if n := b.member.inbox("").Unread; n != 1 {
		t.Errorf("after a mark in the future %d are unread, want what came since", n)
	}
	if n := apitest.Want[struct{ Unread int }](t, b.owner.ask(http.MethodGet, "/overview", ""), 200).Unread; n != 2 {
		t.Errorf("the overview of the other says %d unread, want 2", n)
	}
}

// TestMotionIsANoticeWhileAway: with motion armed.
func TestMotionIsANoticeWhileAway(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	scene := func(to int) {
		apitest.Want[any](t, b.owner.askApp(http.MethodPut, "/scenes", fmt.Sprintf(`{"scene_id":%d}`, to)), 200)
	}
	b.raise(motion.MotionDetectedEvent, 0, nil)
	scene(1)
	b.raise(motion.MotionDetectedEvent, 0, nil)
	scene(4)
	b.raise(motion.MotionDetectedEvent, 0, nil)
	moved := 0
	for _, n := range b.member.inbox("").Notices {
		if n.Kind == motion.MotionDetectedEvent {
			moved++
		}
	}
	if moved != 1 {
		t.Errorf("%d times motion, want that while away", moved)
	}
}
