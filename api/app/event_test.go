package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

const kitchenLink = "GWA1000133.02bb00000031"

// eventAnswer is an event as the apps get it.
type eventAnswer struct {
	ID        string         `json:"id"`
	NetworkID home.ID        `json:"network_id"`
	Timestamp motion.Time    `json:"timestamp"`
	EventType string         `json:"event_type"`
	Text      string         `json:"text"`
	Tag       string         `json:"tag"`
	Data      map[string]any `json:"data"`
}

// raise stores an event of the first home, so many seconds after now.
func (h *household) raise(after motion.Seconds, e motion.Event) motion.Event {
	h.T.Helper()
	e.NetworkID, e.TS = h.network, h.engine.State.Now().Add(after)
	stored, err := h.engine.Events.CreateEvent(h.T.Context(), e)
	if err != nil {
		h.T.Fatal(err)
	}
	return stored
}

// detect stores a detection in the kitchen of the first home.
func (h *household) detect(after motion.Seconds) motion.Event {
	h.T.Helper()
	return h.raise(after, motion.Event{Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, LinkID: kitchenLink, LocName: "Kitchen"})
}

// claimedAfter has the first home last claimed so many seconds after now.
func (h *household) claimedAfter(after motion.Seconds) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		one, err := tx.Home(h.home)
		if err != nil {
			return err
		}
		one.ClaimedAt = tx.Now().Add(after)
		return tx.PutHome(one)
	})
}

func TestEventLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	e := h.detect(-60)
	path := fmt.Sprintf("/events?network_id=%d", h.home)
	h.climb(http.MethodGet,
		step{"no token", person{}, path, "", 401, "unauthorized"},
		step{"no network", h.nobody, "/events", "", 404, ""},
		step{"foreign network", h.neighbour, path, "", 404, ""},
		step{"malformed", h.member, "/events?last=%zz", "", 400, ""},
		step{"last too large", h.member, "/events?last=401", "", 422, "query.last"},
		step{"no category", h.member, "/events?filter=Motion,Party", "", 422, "Party"},
		step{"right", h.member, "/events/", "", 200, e.ID},
		step{"right, with everything", h.owner, path + "&from=1.5&to=9999999999.5&last=400&filter=Motion,%20Link", "", 200, e.ID},
	)
	body := fmt.Sprintf(`{"network_id":%d,"eventid":%q,"tag":"Human"}`, h.home, e.ID)
	h.climb(http.MethodPost,
		step{"no token", person{}, "/event_tag", body, 401, ""},
		step{"no network", h.nobody, "/event_tag", `{"eventid":"x","tag":"Pet"}`, 404, ""},
		step{"foreign network", h.neighbour, "/event_tag", body, 404, ""},
		step{"malformed", h.member, "/event_tag", `{"eventid":`, 400, ""},
		step{"wrong in every way", h.member, "/event_tag", `{"tag":"Cat"}`, 422, "eventid"},
		step{"wrong in every way", h.member, "/event_tag", `{"tag":"Cat"}`, 422, "body.tag"},
		step{"unknown event", h.member, "/event_tag", `{"eventid":"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301","tag":"Pet"}`, 404, "not found"},
		step{"right", h.member, "/event_tag", body, 200, `"Human     "`},
		step{"right, network as text, wrapped", h.owner, "/event_tag", fmt.Sprintf(`{"data":{"network_id":"%d","eventid":%q,"tag":"False"}}`, h.home, e.ID), 200, `"False     "`},
	)
	form := fmt.Sprintf("network_id=%d&eventid=%s&tag=Pet", h.home, e.ID)
	a := h.Send(h.member.token, http.MethodPost, "/event_tag", "application/x-www-form-urlencoded", form)
	if got := apitest.Want[eventAnswer](t, a, 200); got.Tag != "Pet       " {
		t.Errorf("form: %+v", got)
	}
}

func TestEventIsShownAsDocumented(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	e := h.detect(-60)
	exact := fmt.Sprintf(`{"id":%q,"guardian_id":%q,"network_id":%d,"timestamp":%v,"event_type":"MotionDetectedEvent","event_category":"Motion",
		"link_id":"GWA1000133.02bb00000031","icon_url":"","text":"Motion in Kitchen","tag":"%%s","data":{"loc_name":"Kitchen"}}`, e.ID, guardianID, h.home, fmt.Sprintf("%.6f", float64(e.TS)))
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, "/events?filter=Motion", ""), "["+fmt.Sprintf(exact, "          ")+"]")
	tag := fmt.Sprintf(`{"eventid":%q,"tag":"Human"}`, e.ID)
	apitest.WantJSON(t, h.as(h.member, http.MethodPost, "/event_tag", tag), fmt.Sprintf(exact, "Human     "))
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, "/events?filter=Motion", ""), "["+fmt.Sprintf(exact, "Human     ")+"]")
}

func TestEventsSayInWordsWhatHappened(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.reportStatus()
	document := func(pairs ...string) motion.Document {
		d := motion.Document{}
		for i := 0; i < len(pairs); i += 2 {
			d[pairs[i]] = pairs[i+1]
		}
		return d
	}
	for i, c := range []struct {
		event motion.Event
		text  string
	}{
		{motion.Event{Category: "Motion", Event: motion.MotionDetectedEvent}, "Motion detected"},
		{motion.Event{Category: "Motion", Event: motion.MotionStoppedEvent, LocName: "Kitchen", DetectedTS: 1}, "Motion stopped in Kitchen"},
		{motion.Event{Category: "Link", Event: motion.LinkConnectedEvent, LinkID: kitchenLink}, "Kitchen speaker connected"},
		{motion.Event{Category: "Link", Event: motion.LinkDisconnectedEvent, LinkID: "GWA1000133.02bb00000099"}, "02bb00000099 disconnected"},
		{motion.Event{Category: "Link", Event: motion.LinkLowThroughputEvent, LinkID: kitchenLink}, "Weak sensing link to Kitchen speaker"},
		{motion.Event{Category: "Link", Event: motion.LinkCreatedEvent}, "New sensing link to A device"},
		{motion.Event{Category: "System", Event: motion.MemberArrivedEvent, Data: document("first_name", "J", "last_name", "Doe")}, "J Doe arrived"},
		{motion.Event{Category: "System", Event: motion.MemberLeftEvent}, "A member left"},
		{motion.Event{Category: "System", Event: motion.MemberJoinedEvent, Data: document("first_name", "J")}, "J joined the household"},
		{motion.Event{Category: "System", Event: motion.DeviceAdoptedEvent, NodeName: "GWA1000133"}, "GWA1000133 was let in as a new device"},
		{motion.Event{Category: "System", Event: motion.DeviceReturnedEvent, DeviceID: "csi-x"}, "csi-x came back"},
		{motion.Event{Category: "System", Event: motion.DeviceReplacedEvent, DeviceID: "csi-x", Detail: document("replaced", "csi-y")}, "csi-x took the place of csi-y"},
		{motion.Event{Category: "System", Event: motion.DeviceRefusedEvent, DeviceID: "csi-x", Detail: document("reason", "waiting")}, "csi-x was not let in: waiting"},
		{motion.Event{Category: "System", Event: motion.DeviceRefusedEvent, Detail: motion.Document{"more": 7}}, "7 more requests of devices were refused"},
		{motion.Event{Category: "System", Event: motion.DatabaseRecoveredEvent}, "Damaged database replaced by a backup"},
		{motion.Event{Category: "System", Event: motion.DatabaseRecoveredEvent, Detail: motion.Document{"lost": "2 of leafs"}}, "Damaged records of the database lost"},
		{motion.Event{Category: "System", Event: motion.DatabaseRecoveredEvent, Detail: motion.Document{"restored": "2 of leafs", "backup": "b"}}, "Damaged records of the database replaced from a backup"},
		{motion.Event{Category: "System", Event: motion.ClockSetEvent, Detail: motion.Document{"by_s": 3600}}, "Clock of the appliance set"},
		{motion.Event{Category: "System", Event: motion.SceneChangedToAwayEvent, Detail: motion.Document{"scene_id": 1}}, "Scene changed to away"},
		{motion.Event{Category: "System", Event: motion.CustomAlertEvent, Data: document("title", "Tea")}, "Tea"},
		{motion.Event{Category: "System", Event: motion.IntegrationsConfigChangedEvent}, "Integrations config changed"},
		{motion.Event{Category: "System", Event: motion.DeviceRemoved}, "Device removed"},
	} {
		e := h.raise(motion.Seconds(i+1), c.event)
		got := apitest.Want[[]eventAnswer](t, h.as(h.member, http.MethodGet, "/events?last=1", ""), 200)
		if len(got) != 1 || got[0].ID != e.ID || got[0].Text != c.text {
			t.Errorf("%s: %+v, want %q", c.event.Event, got, c.text)
		}
	}
	all := apitest.Want[[]eventAnswer](t, h.as(h.member, http.MethodGet, "/events?last=0", ""), 200)
	for _, e := range all {
		switch e.EventType {
		case motion.MotionStoppedEvent:
			if e.Data["loc_name"] != "Kitchen" || e.Data["evt_detected_ts"] != 1.0 {
				t.Errorf("stopped: %+v", e)
			}
		case motion.SceneChangedToAwayEvent:
			if e.Data["scene_id"] != 1.0 || e.Data["loc_name"] != nil {
				t.Errorf("scene: %+v", e)
			}
		}
	}
}

func TestEventsArePagedBothWays(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	var ids []string
	var times []motion.Time
	for i := range 12 {
		e := h.detect(motion.Seconds(i - 60))
		ids, times = append(ids, e.ID), append(times, e.TS)
	}
	for _, c := range []struct {
		name, query string
		want        []string // oldest first, as they stand in ids
	}{
		{"ten by default", "?filter=Motion", ids[2:]},
		{"back from one", fmt.Sprintf("?last=3&to=%.6f", float64(times[9])), ids[6:9]},
		{"forward from one", fmt.Sprintf("?last=3&from=%.6f", float64(times[2])), ids[3:6]},
		{"between two", fmt.Sprintf("?from=%.6f&to=%.6f", float64(times[2]), float64(times[5])), ids[3:5]},
		{"all", "?last=0&filter=Motion", ids},
		{"of another category", "?filter=Link", nil},
	} {
		got := apitest.Want[[]eventAnswer](t, h.as(h.member, http.MethodGet, "/events"+c.query, ""), 200)
		ok := len(got) == len(c.want)
		for i := range got {
			ok = ok && got[i].ID == c.want[len(c.want)-1-i]
		}
		if !ok {
			t.Errorf("%s: %+v, want %v", c.name, got, c.want)
		}
	}
	for query, start := range map[string]int{"?filter=Motion&last=5": 12, "?filter=Motion&last=5&from=1": 0} {
		left := 12
		for next := query; next != ""; {
			a := h.as(h.member, http.MethodGet, "/events"+next, "")
			page := apitest.Want[[]eventAnswer](t, a, 200)
			left -= len(page)
			first := left // in ids
			if start == 0 {
				first = 12 - left - len(page)
			}
			for i, e := range page {
				if want := ids[first+len(page)-1-i]; e.ID != want {
					t.Errorf("%s: %s, want %s", next, e.ID, want)
				}
			}
			next = strings.TrimSuffix(strings.TrimPrefix(a.Header.Get("Link"), "<"), `>; rel="next"`)
		}
		if left != 0 {
			t.Errorf("%s: %d events not seen", query, left)
		}
	}
	apitest.WantProblem(t, h.as(h.member, http.MethodGet, "/events?from=2&to=1", ""), 422, "query.from")
}

func TestOnlyDetectionsAreTagged(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	stopped := h.raise(-10, motion.Event{Category: motion.CategoryMotion, Event: motion.MotionStoppedEvent})
	a := h.as(h.member, http.MethodPost, "/event_tag", fmt.Sprintf(`{"eventid":%q,"tag":"Human"}`, stopped.ID))
	apitest.WantProblem(t, a, 422, "body.eventid")
}

func TestNextHouseholdSeesNoEventOfTheFirst(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	before, after := h.detect(-1800), h.detect(-600)
	h.claimedAfter(-1200)
	for _, query := range []string{"", "&from=1", "&last=400&to=9999999999", "&from=0&to=9999999999"} {
		got := apitest.Want[[]eventAnswer](t, h.as(h.owner, http.MethodGet, "/events?filter=Motion"+query, ""), 200)
		if len(got) != 1 || got[0].ID != after.ID {
			t.Errorf("%s: %+v, want %s alone", query, got, after.ID)
		}
	}
	tag := func(id string) apitest.Answer {
		return h.as(h.owner, http.MethodPost, "/event_tag", fmt.Sprintf(`{"eventid":%q,"tag":"Human"}`, id))
	}
	apitest.WantProblem(t, h.as(h.owner, http.MethodGet, "/events?after="+before.ID, ""), 422, "query.after")
	apitest.WantProblem(t, tag(before.ID), 404, fmt.Sprintf("event \\\"%s\\\": not found", before.ID))
	unknown := "01976b3d-1c44-7a0e-9d0b-5f0e8a77c301"
	apitest.WantProblem(t, tag(unknown), 404, fmt.Sprintf("event \\\"%s\\\": not found", unknown))
	apitest.Want[eventAnswer](t, tag(after.ID), 200)
}
