package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/store"
)

// createEvent creates an event of the first network from the given members.
func (h *home) createEvent(members string) motion.Event {
	h.T.Helper()
	if !strings.Contains(members, `"ts"`) {
		members += `,"ts":1764000000.5`
	}
	body := fmt.Sprintf(`{"network_id":%d,%s}`, h.network, members)
	return apitest.Want[motion.Event](h.T, h.post(fmt.Sprintf("/network/%d/events/create", h.network), body), 200)
}

// motionPair creates a detected and a stopped event.
func (h *home) motionPair(at, until float64) (detected, stopped motion.Event) {
	h.T.Helper()
	detected = h.createEvent(fmt.Sprintf(`"category":"Motion","event":"MotionDetectedEvent","link_id":%q,"ts":%f`, kitchenID, at))
	stopped = h.createEvent(fmt.Sprintf(`"category":"Motion","event":"MotionStoppedEvent","link_id":%q,"ts":%f,"evt_detected_ts":%f`, kitchenID, until, at))
	return detected, stopped
}

// history returns the events of a query; unless it says from when to when, those before
// the devices of the fixture were adopted.
func (h *home) history(query string) []motion.Event {
	h.T.Helper()
	if !strings.Contains(query, "from=") && !strings.Contains(query, "to=") {
		query = "?to=1770000000&" + strings.TrimPrefix(query, "?")
	}
	return apitest.Want[[]motion.Event](h.T, h.get(fmt.Sprintf("/network/%d/events/history%s", h.network, query)), 200)
}

func TestCreatedEventIsStoredAsItIsReturned(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	created := h.post(fmt.Sprintf("/network/%d/events/create", h.network), fmt.Sprintf(
		`{"ts":1764000000.5,"network_id":%d,"category":"Motion","event":"MotionDetectedEvent","deviceId":%q,"link_id":%q,"tag":"Human"}`,
		h.network, masterID, kitchenID))
	event := apitest.Want[motion.Event](t, created, 200)
	apitest.WantJSON(t, created, fmt.Sprintf(`{"_id":%q,"category":"Motion","event":"MotionDetectedEvent","network_id":%d,"guardian_id":%q,
		"ts":1764000000.5,"link_id":%q,"link_dst_name":"GWA1000133","link_src_name":"02bb00000031","tag":"          ",
		"node_id":1,"node_name":"GWA1000133","deviceId":%q,"armed":1}`, event.ID, h.network, guardianID, kitchenID, masterID))
	if len(event.ID) != 36 || event.ID[14] != '7' {
		t.Errorf("_id %q is no UUIDv7", event.ID)
	}
	stored := h.get(fmt.Sprintf("/network/%d/events/history?filter=Motion", h.network))
	apitest.WantJSON(t, stored, "["+string(created.Body)+"]")
}

func TestCategoriesOfCreationComeBackAsSystem(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, category := range []string{"User", "Device", "Internal"} {
		e := h.createEvent(fmt.Sprintf(`"category":%q,"event":"MemberArrivedEvent","detail":{"a":1}`, category))
		if e.Category != "System" || e.Detail["category"] != category || e.Detail["a"] != 1.0 || e.Armed != nil {
			t.Errorf("%s: %+v", category, e)
		}
	}
	if e := h.createEvent(`"category":"Link","event":"LinkCreatedEvent"`); e.Category != "Link" || e.Detail != nil {
		t.Errorf("%+v", e)
	}
}

func TestUnarmedMotionEventIsNotStored(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.change(func(n *motion.Network) {
		n.GuardianConfig = motion.Document{"motion_events": map[string]any{"armed": 0}}
	})
	e := h.createEvent(`"category":"Motion","event":"MotionDetectedEvent"`)
	if e.ID != "" || e.Armed == nil || *e.Armed != 0 || e.TS != 1764000000.5 {
		t.Errorf("%+v", e)
	}
	if link := h.createEvent(`"category":"Link","event":"LinkCreatedEvent"`); link.ID == "" {
		t.Error("armed concerns motion events alone")
	}
	if list := h.history(""); len(list) != 1 || list[0].Category != "Link" {
		t.Errorf("stored %+v", list)
	}
}

func TestCreateRefusesWhatIsAgainstARule(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	path := fmt.Sprintf("/network/%d/events/create", h.network)
	good := func(change ...string) string {
		fields := map[string]string{"ts": "1764000000.5", "network_id": fmt.Sprint(h.network), "category": `"Network"`, "event": `"LinkCreatedEvent"`}
		fields[change[0]] = change[1]
		var members []string
		for name, value := range fields {
			if value != "" {
				members = append(members, fmt.Sprintf("%q:%s", name, value))
			}
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"other network":       {good("network_id", fmt.Sprint(h.other)), 422, "body.network_id"},
		"no network":          {good("network_id", ""), 422, "network_id"},
		"no ts":               {good("ts", ""), 422, "ts"},
		"ts 0":                {good("ts", "0"), 422, "body.ts"},
		"milliseconds":        {good("ts", "1764000000500"), 422, "body.ts"},
		"ts as text":          {good("ts", `"now"`), 422, "body.ts"},
		"no category":         {good("category", ""), 422, "category"},
		"three days ahead":    {good("ts", fmt.Sprint(int64(h.engine.State.Now())+3*86400)), 422, "body.ts"},
		"motion as a link":    {strings.Replace(good("event", `"MotionDetectedEvent"`), "Network", "Link", 1), 422, "body.category"},
		"link as motion":      {good("category", `"Motion"`), 422, "body.category"},
		"too long":            {good("detail", `{"x":"`+strings.Repeat("x", 17<<10)+`"}`), 422, "16384 bytes"},
		"stopped before":      {good("evt_detected_ts", "1764000001"), 422, "body.evt_detected_ts"},
		"other kind":          {good("event", `"SceneChangedToAwayEvent"`), 422, "body.event"},
		"foreign guardian":    {good("guardian_id", `"b52f00c2d97b4e5580136c2e"`), 422, "guardian_id"},
		"half a link":         {good("link_id", `"GWA1000133"`), 422, "body.link_id"},
		"unknown field":       {good("colour", `"red"`), 422, "body"},
		"not an object":       {"[]", 422, "body"},
		"no JSON":             {"{", 400, "JSON"},
		"detail is no object": {good("detail", "7"), 422, "body.detail"},
	} {
		t.Run(name, func(t *testing.T) { apitest.WantProblem(t, h.post(path, c.body), c.status, c.says) })
	}
	apitest.WantProblem(t, h.post(path, ""), 400, "")
	all := h.post(path, `{"ts":0,"network_id":1,"category":"x","event":"y"}`)
	for _, place := range []string{"body.ts", "body.category", "body.event"} {
		apitest.WantProblem(t, all, 422, place)
	}
	if e := h.createEvent(fmt.Sprintf(`"category":"System","event":"MemberLeftEvent","guardian_id":%q`, masterID)); e.GuardianID != guardianID {
		t.Errorf("guardian %q", e.GuardianID)
	}
	if list := h.history(""); len(list) != 1 {
		t.Errorf("%d events stored", len(list))
	}
}

func TestKindsOfCreationAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	kinds := newClient(t).Doc.Components.Schemas["NewEvent"].Value.Properties["event"].Value.Enum
	want := "[MotionDetectedEvent MotionStoppedEvent LinkConnectedEvent LinkDisconnectedEvent LinkLowThroughputEvent LinkCreatedEvent " +
		"MemberArrivedEvent MemberLeftEvent MemberJoinedEvent MemberRemovedEvent]"
	if fmt.Sprint(kinds) != want {
		t.Errorf("kinds %v, want %s", kinds, want)
	}
}

func TestHistoryPagesBothWays(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const start = 1764000000.25
	for i := range 12 {
		h.createEvent(fmt.Sprintf(`"category":"Link","event":"LinkCreatedEvent","ts":%f`, start+float64(i)))
	}
	at := func(events []motion.Event) (seconds []int) {
		for _, e := range events {
			seconds = append(seconds, int(float64(e.TS)-start))
		}
		return seconds
	}
	for query, expected := range map[string]string{
		"":                                     "[11 10 9 8 7 6 5 4 3 2]",
		"?last=3":                              "[11 10 9]",
		"?last=3&sort=true":                    "[9 10 11]",
		"?last=3&sort":                         "[9 10 11]",
		"?last=1000":                           "[11 10 9 8 7 6 5 4 3 2 1 0]",
		"?from=1764000002.25&last=3":           "[5 4 3]",
		"?from=1764000002.25&last=3&sort=true": "[3 4 5]",
		"?to=1764000002.25":                    "[1 0]",
		"?from=1764000002.25&to=1764000006.25": "[5 4 3]",
		"?from=1764000002.24&to=1764000006.26&sort=true": "[2 3 4 5 6]",
		"?from=1764000011.25&filter=Link":                "[]",
		"?from=0&last=2":                                 "[1 0]",
	} {
		if got := fmt.Sprint(at(h.history(query))); got != expected {
			t.Errorf("%q: %s, want %s", query, got, expected)
		}
	}
	apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/events/history?filter=Link", h.other)), `[]`)
	apitest.WantProblem(t, h.get("/network/99/events/history"), 404, "network 99")
	apitest.WantProblem(t, h.get(fmt.Sprintf("/network/%d/events/history?from=soon", h.network)), 400, "query.from")
}

// follow pages by the Link headers of the answers, from a path with a query on.
func follow[T any](h *home, path string) (pages [][]T) {
	h.T.Helper()
	place, _, _ := strings.Cut(path, "?")
	for range 100 {
		a := h.get(path)
		pages = append(pages, apitest.Want[[]T](h.T, a, 200))
		link := a.Header.Get("Link")
		if link == "" {
			return pages
		}
		query, ok := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if !ok || strings.Contains(query, "token") {
			h.T.Fatalf("link %q", link)
		}
		path = place + query
	}
	h.T.Fatal("pages without end")
	return nil
}

// TestPagesLoseNoneOfManyEventsOfOneTime pages through events that were raised at one time,
// as a status report with many new links raises them.
func TestPagesLoseNoneOfManyEventsOfOneTime(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var ids []string
	for range 34 {
		ids = append(ids, h.createEvent(`"category":"Link","event":"LinkCreatedEvent"`).ID)
	}
	path := fmt.Sprintf("/network/%d/events/history", h.network)
	for query, newestFirst := range map[string]bool{
		"?filter=Link&to=1770000000": true, "?filter=Link&to=1770000000&last=7&sort=true": true, "?filter=Link&from=1": false,
		"?filter=Link&from=1&sort=true&last=17": false, "?filter=Link&from=1&to=1770000000&last=33": true,
	} {
		var seen []string
		for _, page := range follow[motion.Event](h, path+query) {
			slices.SortFunc(page, func(a, b motion.Event) int { return strings.Compare(a.ID, b.ID) })
			if newestFirst {
				slices.Reverse(page)
			}
			for _, e := range page {
				seen = append(seen, e.ID)
			}
		}
		want := slices.Clone(ids)
		if newestFirst {
			slices.Reverse(want)
		}
		if fmt.Sprint(seen) != fmt.Sprint(want) {
			t.Errorf("%s: %d events, want %d in order", query, len(seen), len(want))
		}
	}
	for i := range 11 {
		h.motionPair(1764000100+float64(i), 1764000150+float64(i))
	}
	for _, query := range []string{"?last=4", "?last=4&from=1", "?last=11&sort=true"} {
		seen := map[string]bool{}
		for _, page := range follow[motion.EventPair](h, fmt.Sprintf("/network/%d/events/pairs%s", h.network, query)) {
			for _, pair := range page {
				seen[pair.ID] = true
			}
		}
		if len(seen) != 11 {
			t.Errorf("%s: %d pairs, want 11", query, len(seen))
		}
	}
	a := h.get(path + "?last=1&token=abc&access_token=abc&to=1770000000")
	if link := a.Header.Get("Link"); strings.Contains(link, "abc") || !strings.Contains(link, "after=") {
		t.Errorf("link %q", link)
	}
	apitest.WantProblem(t, h.get(path+"?after=01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11"), 422, "query.after")
	apitest.WantProblem(t, h.get(path+"?after=nonsense"), 422, "query.after")
	apitest.WantProblem(t, h.get(fmt.Sprintf("/network/%d/events/history?after=%s", h.other, ids[0])), 422, "query.after")
	apitest.WantProblem(t, h.get(path+"?from=1764000002&to=1764000001"), 422, "query.from")
}

func TestHistoryIsFilteredByCategoryAndKind(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.motionPair(1764000000.5, 1764000121)
	h.createEvent(`"category":"Link","event":"LinkConnectedEvent"`)
	h.createEvent(`"category":"User","event":"MemberLeftEvent"`)
	for query, count := range map[string]int{
		"": 4, "?filter=Motion": 2, "?filter=Motion,Link": 3, "?filter=Link,%20System": 2, "?filter=Network": 0,
		"?event_types=MotionStoppedEvent": 1, "?event_types=MotionStoppedEvent,MemberLeftEvent": 2, "?event_types=DeviceRemoved": 0,
		"?filter=Motion&event_types=MemberLeftEvent": 0,
	} {
		if got := len(h.history(query)); got != count {
			t.Errorf("%q: %d events, want %d", query, got, count)
		}
	}
	apitest.WantProblem(t, h.get(fmt.Sprintf("/network/%d/events/history?event_types=a%%20b", h.network)), 422, "query.event_types")
	apitest.WantProblem(t, h.get(fmt.Sprintf("/network/%d/events/history?filter=Motion,motion", h.network)), 422, "query.filter")
}

func TestTagIsCutAndPadded(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	event := h.createEvent(`"category":"Network","event":"LinkCreatedEvent"`)
	path := fmt.Sprintf("/network/%d/events/tag?eventid=", h.network)
	for tag, stored := range map[string]string{"Human": "Human     ", "Grandmother": "Grandmothe", "%C3%96tzi": "Ötzi      "} {
		tagged := apitest.Want[motion.Event](t, h.post(path+event.ID+"&tag="+tag, ""), 200)
		if tagged.Tag != stored || tagged.ID != event.ID {
			t.Errorf("tag %s: %+v", tag, tagged)
		}
		if got := h.history("")[0].Tag; got != stored {
			t.Errorf("stored tag %q, want %q", got, stored)
		}
	}
	apitest.WantProblem(t, h.post(path+"01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11&tag=Human", ""), 404, "")
	apitest.WantProblem(t, h.post(path+"nonsense&tag=Human", ""), 404, "")
	apitest.WantProblem(t, h.post(path+event.ID, ""), 422, "query.tag")
	apitest.WantProblem(t, h.post(fmt.Sprintf("/network/%d/events/tag?eventid=%s&tag=Pet", h.other, event.ID), ""), 404, "")
}

func TestPairsJoinDetectedAndStopped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	detected, stopped := h.motionPair(1764000000.5, 1764000121)
	h.createEvent(`"category":"Motion","event":"MotionDetectedEvent","ts":1764000300`) // still open
	path := fmt.Sprintf("/network/%d/events/pairs", h.network)
	a := h.get(path)
	pairs := apitest.Want[[]motion.EventPair](t, a, 200)
	if len(pairs) != 1 || h.engine.State.Now().Since(pairs[0].TS) > 60 {
		t.Fatalf("%s", a.Body)
	}
	ts, _, _ := strings.Cut(strings.SplitN(string(a.Body), `"ts":`, 2)[1], ",")
	apitest.WantJSON(t, a, fmt.Sprintf(`[{"_id":"%s.%s","event":"MotionEventPair","ts":%s,"guardian_id":%q,"network_id":%d,"link_id":%q,
		"link_dst_name":"GWA1000133","link_src_name":"02bb00000031","loc_name":"","intensity_window":[],
		"evt_detected_ts":1764000000.5,"evt_stopped_ts":1764000121,"tag":"          "}]`,
		stopped.ID, detected.ID, ts, guardianID, h.network, kitchenID))
	later, _ := h.motionPair(1764000400, 1764000500)
	for query, count := range map[string]int{"?from=1764000121": 1, "?to=1764000500": 1, "?last=1": 1, "?from=1&last=5&sort=true": 2} {
		if got := apitest.Want[[]motion.EventPair](t, h.get(path+query), 200); len(got) != count {
			t.Errorf("%s: %d pairs, want %d", query, len(got), count)
		}
	}
	if got := apitest.Want[[]motion.EventPair](t, h.get(path+"?last=1"), 200); !strings.HasSuffix(got[0].ID, later.ID) {
		t.Errorf("the newest pair is %s", got[0].ID)
	}
}

func TestReportedEventKeepsItsDetails(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	now := h.engine.State.Now()
	err := h.engine.Sensing.Import(t.Context(), h.network, nil, []motion.Event{{
		Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, TS: now.Add(-5), LinkID: kitchenID,
		Loc: []motion.EventLoc{{MAC: kitchen.String(), Confidence: 0.82}}, IntensityWindow: []float64{0.3, 0.56},
	}})
	if err != nil {
		t.Fatal(err)
	}
	list := h.history("?filter=Motion&from=1")
	if len(list) != 1 || list[0].LocName != "Kitchen" || list[0].Loc[0].FriendlyName != "Kitchen speaker" || len(list[0].IntensityWindow) != 2 {
		t.Errorf("%+v", list)
	}
	err = h.db.View(t.Context(), func(tx *store.Tx) error { _, err := tx.Event(h.network, list[0].ID); return err })
	if err != nil {
		t.Error(err)
	}
}
