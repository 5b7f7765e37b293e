package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

func TestLadderOfNetworks(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path, info := fmt.Sprintf("/networks/%d", h.home), fmt.Sprintf("/networks/info?network_id=%d", h.home)
	h.climb(http.MethodGet,
		step{name: "no token", path: path, status: 401},
		step{name: "stranger", who: h.nobody, path: path, status: 404, says: "is not known"},
		step{name: "foreign", who: h.neighbour, path: path, status: 404},
		step{name: "no id", who: h.member, path: "/networks/x", status: 404},
		step{name: "malformed", who: h.member, path: path + "?x=%zz", status: 400},
		step{name: "right", who: h.member, path: path, status: 200},
		step{name: "right, with a slash", who: h.owner, path: path + "/", status: 200},

		step{name: "list, no token", path: "/networks", status: 401},
		step{name: "list of nobody", who: h.nobody, path: "/networks", status: 200, says: `{"data":[]}`},
		step{name: "list, invalid", who: h.member, path: "/networks?id=x", status: 400},
		step{name: "list, foreign", who: h.neighbour, path: fmt.Sprintf("/networks?id=%d", h.home), status: 404},
		step{name: "list, by id", who: h.member, path: fmt.Sprintf("/networks?id=%d", h.home), status: 200},

		step{name: "info, no token", path: info, status: 401},
		step{name: "info, foreign", who: h.neighbour, path: info, status: 404},
		step{name: "info, malformed", who: h.member, path: info + "&x=%zz", status: 400},
		step{name: "info, invalid", who: h.member, path: "/networks/info?network_id=0", status: 422},
	)
	h.climb(http.MethodPut,
		step{name: "no token", path: path, body: `{}`, status: 401},
		step{name: "stranger", who: h.nobody, path: path, body: `{}`, status: 404},
		step{name: "member", who: h.member, path: path, body: `{}`, status: 403},
		step{name: "malformed", who: h.owner, path: path, body: `{"name"`, status: 400},
		step{name: "text", who: h.owner, path: path, body: `"name"`, status: 422},
		step{name: "right", who: h.owner, path: path, body: `{}`, status: 200},
	)
	h.climb(http.MethodDelete,
		step{name: "no token", path: path, status: 401},
		step{name: "stranger", who: h.nobody, path: path, status: 404},
		step{name: "foreign", who: h.neighbour, path: path, status: 404},
		step{name: "member", who: h.member, path: path, status: 403},
		step{name: "malformed", who: h.owner, path: path + "?x=%zz", status: 400},
	)
}

func TestNetworkRecordHasTheKnownShape(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	var one home.Home
	h.update(func(tx *store.Tx) (err error) {
		m, _, err := tx.MembershipOf(h.home, h.owner.ID)
		if err != nil {
			return err
		}
		m.IsPresent = true
		if err := tx.PutMembership(m); err != nil {
			return err
		}
		one, err = tx.Home(h.home)
		return err
	})
	created, _ := one.CreatedAt.MarshalText()
	record := fmt.Sprintf(`{
		"id": %d, "external_id": %d, "name": "Home", "address": null, "latitude": null, "longitude": null, "timezone": "UTC", "pet_size": "none",
		"building_type": null, "building_size": null, "live_enabled": true, "subscription_id": null, "scene_id": 4, "network_scene_config": %d,
		"owner_email": "jdoe@example.com", "user_count": 2, "present_count": 1, "claimed": true, "created_at": %q, "updated_at": %q}`,
		h.home, h.network, one.SceneConfigID, created, created)
	apitest.WantJSON(t, h.as(h.member, "GET", fmt.Sprintf("/networks/%d", h.home), ""), record)
	apitest.WantJSON(t, h.as(h.member, "GET", "/networks", ""), `{"data":[`+record+`]}`)
	state, err := h.engine.Inventory.NetworkState(h.network)
	if err != nil {
		t.Fatal(err)
	}
	apitest.WantJSON(t, h.as(h.member, "GET", "/networks/info", ""), fmt.Sprintf(
		`{"guardian_id":%q,"external_id":%d,"network_id":%d,"nodes":[{"id":%d,"deviceId":%q,"node_name":"GWA1000133"}]}`,
		guardianID, h.network, h.home, state.Nodes[0].ID, masterID))
}

func TestNetworkIsChangedInPart(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := fmt.Sprintf("/networks/%d", h.home)
	put := func(body string) map[string]any {
		return apitest.Want[map[string]any](t, h.as(h.owner, "PUT", path, body), 200)
	}
	put(`{"name":" Casa ","address":"1 Main St","latitude":43.4643,"longitude":"-80.5204","pet_size":"small","building_type":"house","building_size":"medium","live_enabled":false,"subscription_id":"s-1"}`)
	after := put(`{"data":{"timezone":"America/Toronto"}}`)
	for field, want := range map[string]any{
		"name": "Casa", "address": "1 Main St", "latitude": "43.4643", "longitude": "-80.5204", "timezone": "America/Toronto",
		"pet_size": "small", "building_type": "house", "building_size": "medium", "live_enabled": false, "subscription_id": "s-1", "scene_id": 4.0,
	} {
		if after[field] != want {
			t.Errorf("%s is %v, want %v", field, after[field], want)
		}
	}
	h.update(func(tx *store.Tx) error { // one store: Core shows the same zone
		settings, err := tx.ApplicationSettings(h.network)
		want := motion.DefaultApplicationSettings(h.network)
		want.Timezone = "America/Toronto"
		if settings != want {
			t.Errorf("settings %+v, want %+v", settings, want)
		}
		return err
	})
	whole := h.as(h.owner, "GET", path, "")
	if again := put(string(whole.Body)); again["name"] != "Casa" || again["user_count"] != 2.0 {
		t.Errorf("sent back as read: %v", again)
	}
	form := h.Send(h.owner.token, "PUT", path, "application/x-www-form-urlencoded", "name=Haus&latitude=-12.5&live_enabled=true&scene_id=1")
	if got := apitest.Want[map[string]any](t, form, 200); got["name"] != "Haus" || got["latitude"] != "-12.5" || got["live_enabled"] != true || got["scene_id"] != 1.0 {
		t.Errorf("as a form: %v", got)
	}
}

func TestChangeOfANetworkTellsAllMistakes(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := fmt.Sprintf("/networks/%d", h.home)
	a := h.as(h.owner, "PUT", path, `{"name":7,"timezone":"Mars/Olympus","latitude":91,"longitude":"east","pet_size":"huge","live_enabled":"yes","scene_id":2,"weather":1}`)
	for _, field := range []string{"name", "timezone", "latitude", "longitude", "pet_size", "live_enabled", "scene_id", "weather"} {
		if a.Status != 422 || !strings.Contains(string(a.Body), `"body.`+field) && !strings.Contains(string(a.Body), field) {
			t.Errorf("nothing about %s: %d %s", field, a.Status, a.Body)
		}
	}
	for name, body := range map[string]string{
		"zone": `{"timezone":"local"}`, "empty zone": `{"timezone":""}`, "far east": `{"longitude":180.01}`, "far south": `{"latitude":"-90.5"}`,
		"scene 3": `{"scene_id":3}`, "long name": `{"name":"` + strings.Repeat("x", 101) + `"}`,
	} {
		if a := h.as(h.owner, "PUT", path, body); a.Status != 422 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if a := h.as(h.owner, "GET", path, ""); !strings.Contains(string(a.Body), `"name":"Home"`) || !strings.Contains(string(a.Body), `"scene_id":4`) {
		t.Errorf("changed all the same: %s", a.Body)
	}
}

// Some programs send every field of a network, and words for those that they do not have.
func TestNullAndWordsForItClearAField(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := fmt.Sprintf("/networks/%d", h.home)
	full := `{"name":"Home","address":"1 Main St","latitude":43.4643,"longitude":"-80.5204","timezone":"America/Toronto","pet_size":"large","building_type":"house","building_size":"medium","subscription_id":"s-1"}`
	for _, word := range []string{"None", "null", "undefined", ""} {
		apitest.Want[map[string]any](t, h.as(h.owner, "PUT", path, full), 200)
		form := "name=Kept&latitude=" + word + "&longitude=" + word
		got := apitest.Want[map[string]any](t, h.Send(h.owner.token, "PUT", path, formMedia, form), 200)
		if got["name"] != "Kept" || got["latitude"] != nil || got["longitude"] != nil || got["address"] != "1 Main St" {
			t.Errorf("%q in a form: %v", word, got)
		}
	}
	apitest.Want[map[string]any](t, h.as(h.owner, "PUT", path, full), 200)
	got := apitest.Want[map[string]any](t, h.as(h.owner, "PUT", path,
		`{"name":null,"address":null,"latitude":null,"longitude":null,"timezone":null,"pet_size":null,"building_type":null,"building_size":null,"subscription_id":null}`), 200)
	for _, field := range []string{"name", "address", "latitude", "longitude", "building_type", "building_size", "subscription_id"} {
		if got[field] != nil {
			t.Errorf("%s is %v after null", field, got[field])
		}
	}
	if fresh := motion.DefaultApplicationSettings(1).Timezone; got["pet_size"] != "none" || got["timezone"] != fresh {
		t.Errorf("pet_size %v and timezone %v after null, want none and %s", got["pet_size"], got["timezone"], fresh)
	}
	whole := apitest.Want[map[string]any](t, h.as(h.owner, "GET", path, ""), 200)
	back, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	apitest.Want[map[string]any](t, h.as(h.owner, "PUT", path, string(back)), 200)
	for _, other := range []string{`{"id":77}`, `{"network_id":"77"}`, `{"external_id":77}`} {
		apitest.WantProblem(t, h.as(h.owner, "PUT", path, other), 422, "cannot be changed")
	}
}

func TestLocationsOfTheHouseholdAreRenamedAndRemoved(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for _, name := range []string{"Workshop", "Attic"} {
		apitest.Want[map[string]any](t, h.as(h.owner, "POST", "/default_locations", fmt.Sprintf(`{"name":%q}`, name)), 200)
	}
	h.climb(http.MethodPatch,
		step{name: "no token", path: "/default_locations/41", body: `{"name":"Studio"}`, status: 401},
		step{name: "another home's", who: h.neighbour, path: "/default_locations/41", body: `{"name":"Studio"}`, status: 404},
		step{name: "built in", who: h.owner, path: "/default_locations/1", body: `{"name":"Studio"}`, status: 404},
		step{name: "malformed", who: h.owner, path: "/default_locations/41", body: `{`, status: 400},
		step{name: "no device may carry it", who: h.owner, path: "/default_locations/41", body: `{"name":"a<b"}`, status: 422},
		step{name: "taken", who: h.owner, path: "/default_locations/41", body: `{"name":"attic"}`, status: 409},
		step{name: "right", who: h.member, path: "/default_locations/41", body: `{"name":" Studio "}`, status: 200, says: `{"id":41,"name":"Studio"`},
		step{name: "another case", who: h.member, path: "/default_locations/41", body: `{"name":"STUDIO"}`, status: 200, says: `"STUDIO"`},
	)
	h.climb(http.MethodDelete,
		step{name: "another home's", who: h.neighbour, path: "/default_locations/41", status: 404},
		step{name: "right", who: h.member, path: "/default_locations/41", status: 204},
		step{name: "again", who: h.member, path: "/default_locations/41", status: 404},
	)
	if a := h.as(h.member, "GET", "/default_locations", ""); strings.Contains(string(a.Body), "STUDIO") || !strings.Contains(string(a.Body), "Attic") {
		t.Errorf("%s", a.Body)
	}
}

func TestSceneOfANetworkIsChangedAsByScenes(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for range 2 {
		apitest.Want[map[string]any](t, h.as(h.owner, "PUT", fmt.Sprintf("/networks/%d", h.home), `{"scene_id":1}`), 200)
	}
	events := h.eventsOf(motion.SceneChangedToAwayEvent)
	if len(events) != 1 || events[0].Detail["reason"] != home.ByUser {
		t.Errorf("events %+v", events)
	}
}

func TestLocationsAreBuiltInOrAdded(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.climb(http.MethodPost,
		step{name: "no token", path: "/default_locations", body: `{"name":"Workshop"}`, status: 401},
		step{name: "stranger", who: h.nobody, path: "/default_locations", body: `{"name":"Workshop"}`, status: 404},
		step{name: "malformed", who: h.member, path: "/default_locations", body: `{`, status: 400},
		step{name: "invalid", who: h.member, path: "/default_locations", body: `{"name":""}`, status: 422},
		step{name: "blank", who: h.member, path: "/default_locations", body: `{"name":"  "}`, status: 422},
		step{name: "right", who: h.member, path: "/default_locations", body: fmt.Sprintf(`{"name":" Workshop","network_id":"%d"}`, h.home), status: 200, says: `{"id":41,"name":"Workshop"`},
		step{name: "no device may carry it", who: h.member, path: "/default_locations", body: `{"name":"<b>Attic</b>"}`, status: 422, says: "letters"},
		step{name: "again", who: h.owner, path: "/default_locations", body: `{"name":"WORKSHOP"}`, status: 409},
		step{name: "built in", who: h.owner, path: "/default_locations", body: `{"name":"kitchen"}`, status: 409},
		step{name: "of another home", who: h.neighbour, path: "/default_locations", body: `{"name":"Workshop"}`, status: 200, says: `"id":42`},
	)
	h.climb(http.MethodGet,
		step{name: "no token", path: "/default_locations", status: 401},
		step{name: "stranger", who: h.nobody, path: "/default_locations", status: 404},
		step{name: "malformed", who: h.member, path: "/default_locations?x=%zz", status: 400},
		step{name: "malformed", who: h.member, path: "/default_locations?network_id=x", status: 400},
	)
	apitest.WantJSON(t, h.as(h.member, "GET", "/default_locations", ""), fmt.Sprintf(`{"data":[
		{"id":1,"name":"Kitchen","network_id":null},{"id":2,"name":"Living room","network_id":null},{"id":3,"name":"Bedroom","network_id":null},
		{"id":4,"name":"Hallway","network_id":null},{"id":5,"name":"Bathroom","network_id":null},{"id":6,"name":"Office","network_id":null},
		{"id":7,"name":"Basement","network_id":null},{"id":8,"name":"Garage","network_id":null},{"id":41,"name":"Workshop","network_id":%d}]}`, h.home))
}
