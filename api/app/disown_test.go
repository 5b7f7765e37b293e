package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
	rules "sensegate/motion/household"
	"sensegate/store"
	"sensegate/store/storetest"
)

// furnish gives the first home one of everything that names somebody or something.
func (h *household) furnish() {
	h.T.Helper()
	h.reportStatus()
	for _, call := range []struct {
		who                person
		method, path, body string
	}{
		{h.owner, "PUT", fmt.Sprintf("/networks/%d", h.home), `{"name":"Villa Rosenduft","address":"Fliederweg 7","latitude":43.4643,"scene_id":1}`},
		{h.owner, "PATCH", "/meta", `{"network":{"note":"Rosenduft"},"user":{"note":"Rosenduft"}}`},
		{h.owner, "POST", "/default_locations", `{"name":"Rosengarten"}`},
		{h.owner, "POST", "/member_invites", `{"emails":["guest@example.com"]}`},
		{h.owner, "POST", "/mobile_devices", `{"token":"owners-phone","platform":"ios","name":"Phone"}`},
		{h.member, "POST", "/mobile_devices", `{"token":"members-phone","platform":"ios","name":"Phone"}`},
		{h.member, "POST", "/user_presences", fmt.Sprintf(`{"network_id":%d,"event":"enter"}`, h.home)},
		{h.member, "PATCH", "/user/meta", `{"note":"of mum"}`},
	} {
		if a := h.as(call.who, call.method, call.path, call.body); a.Status >= 300 {
			h.T.Fatalf("%s %s: %d %s", call.method, call.path, a.Status, a.Body)
		}
	}
	if _, err := h.engine.Events.CreateEvent(h.T.Context(), motion.Event{NetworkID: h.network, Category: motion.CategorySystem, Event: motion.MemberJoinedEvent, TS: h.engine.State.Now()}); err != nil {
		h.T.Fatal(err)
	}
	if err := h.engine.Flush(h.T.Context()); err != nil {
		h.T.Fatal(err)
	}
}

// ofTheHome is what names the first home, ofPeople what names its two people.
func (h *household) ofTheHome() []string {
	needles := []string{guardianID, masterID, "GWA1000133", "Rosenduft", "Fliederweg", "43.4643", "Rosengarten", "guest@example.com"}
	radar := radarOf(guardianID, masterID, "GWA1000133", 0x10)
	for _, mac := range []motion.MAC{kitchen, radar.APBSSID2GHz, radar.APBSSID5GHz, radar.MeshBSSID, radar.Interfaces[0].MAC} {
		needles = append(needles, mac.String(), mac.Name(), string(mac[:]))
	}
	return needles
}

func ofPerson(p person) []string { return []string{p.Email, p.Sub, `"` + p.FirstName + `"`} }

func TestDisownedNetworkLeavesNoTrace(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.furnish()
	needles := append(append(h.ofTheHome(), ofPerson(h.owner)...), ofPerson(h.member)...)
	needles = append(needles, "owners-phone", "members-phone", "of mum")
	for _, needle := range []string{guardianID, "Rosenduft", "Fliederweg", "43.4643", "Rosengarten", "guest@example.com", h.owner.Sub, h.member.Email, "members-phone", "of mum", kitchen.String()} {
		if len(storetest.Scan(t, h.db, needle)) == 0 {
			t.Fatalf("%q is not stored: the scan sees nothing", needle)
		}
	}
	if a := h.as(h.owner, "DELETE", fmt.Sprintf("/networks/%d", h.home), ""); a.Status != 204 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if err := h.engine.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, found := range storetest.Scan(t, h.db, needles...) {
		t.Error(found)
	}
	if err := h.db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(h.db.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, needle := range needles {
		if bytes.Contains(raw, []byte(needle)) {
			t.Errorf("%q stands in the raw file", needle)
		}
	}
	for _, p := range []person{h.owner, h.member} {
		apitest.WantProblem(t, h.as(p, "GET", "/networks", ""), 401, "session")
	}
	if a := h.as(h.neighbour, "GET", "/networks", ""); !strings.Contains(string(a.Body), h.neighbour.Email) {
		t.Errorf("the neighbour's: %s", a.Body)
	}
}

func TestMembersOfAnotherHomeSurviveADisowning(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.join(h.member, h.other, home.MemberRole)
	if a := h.as(h.owner, "DELETE", fmt.Sprintf("/networks/%d", h.home), ""); a.Status != 204 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := h.as(h.member, "GET", "/networks", ""); a.Status != 200 || strings.Count(string(a.Body), `"external_id"`) != 1 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	apitest.WantProblem(t, h.as(h.member, "GET", fmt.Sprintf("/networks/%d", h.home), ""), 404, "is not known")
}

// live opens the live motion of the first home.
func (h *household) live(p person) *websocket.Conn {
	h.T.Helper()
	ws, response, err := websocket.DefaultDialer.Dial(fmt.Sprintf("ws://%s/api/v1/motions?network_id=%d&token=%s", h.Address, h.home, p.token), nil)
	if err != nil {
		h.T.Fatal(err)
	}
	response.Body.Close()
	h.T.Cleanup(func() { ws.Close() })
	return ws
}

// wantClosed wants a live connection to be closed with code: 4404 as that of a network
// that is not there, or not for the viewer; 4401 as that of an ended account.
func wantClosed(t *testing.T, ws *websocket.Conn, code int) {
	t.Helper()
	ws.SetReadDeadline(time.Now().Add(20 * time.Second)) // before the next ping, which looks again anyway
	for {
		_, _, err := ws.ReadMessage()
		if err == nil {
			continue
		}
		if !websocket.IsCloseError(err, code) {
			t.Errorf("%v, want %d", err, code)
		}
		return
	}
}

func TestWhoIsRemovedSeesNothingMore(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	removed, stays := h.live(h.member), h.live(h.owner)
	if a := h.as(h.owner, "DELETE", fmt.Sprintf("/network_memberships/%d", h.membershipOf(h.member, h.home).ID), ""); a.Status != 204 {
		t.Fatal(a.Status)
	}
	wantClosed(t, removed, 4404)
	h.join(h.owner, h.other, home.MemberRole)
	h.as(h.owner, "DELETE", fmt.Sprintf("/networks/%d", h.home), "")
	wantClosed(t, stays, 4404)
}

// An account that ends takes memberships, and perhaps the network, along: its end is
// told first.
func TestEndOfAnAccountIsToldBeforeWhatItTakesAlong(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*household) (path string){
		"deleted": func(h *household) string { return fmt.Sprintf("/users/%d", h.owner.ID) },
		"deleted with its networks": func(h *household) string {
			h.join(h.owner, h.other, home.MemberRole) // so that the account outlives the network
			return fmt.Sprintf("/users/%d?delete_claimed_network=true", h.owner.ID)
		},
		"gone with its only network": func(h *household) string { return fmt.Sprintf("/networks/%d", h.home) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			path := end(h)
			watches := h.live(h.owner)
			if a := h.as(h.owner, "DELETE", path, ""); a.Status != 204 {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			wantClosed(t, watches, 4401)
		})
	}
}

// A request meets the end of its account at any moment; it never hears of a missing
// membership.
func TestRequestBesideTheEndOfItsAccountIsAnsweredWithThat(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			for {
				a := h.as(h.member, "GET", "/zone_priority", "")
				if a.Status == 200 {
					continue
				}
				if a.Status != 401 {
					t.Errorf("%d %s, want 401", a.Status, a.Body)
				}
				return
			}
		})
	}
	if err := h.parts.Household.DeleteUser(t.Context(), h.member.ID, rules.Leaving{}); err != nil {
		t.Error(err)
	}
	asking.Wait()
}

func TestDeletedAccountLeavesNoTrace(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.furnish()
	for name, c := range map[string]struct {
		who     person
		needles []string
	}{
		"member": {h.member, append(ofPerson(h.member), "members-phone", "of mum")},
		"owner":  {h.owner, append(ofPerson(h.owner), "owners-phone")},
	} {
		if err := h.parts.Household.DeleteUser(t.Context(), c.who.ID, rules.Leaving{}); err != nil {
			t.Fatal(err)
		}
		for _, found := range storetest.Scan(t, h.db, c.needles...) {
			t.Errorf("%s: %s", name, found)
		}
		for _, found := range storetest.Scan(t, h.db, fmt.Sprintf(`"user":{"id":%d}`, c.who.ID)) {
			t.Errorf("%s: %s", name, found)
		}
	}
	for _, found := range storetest.Scan(t, h.db, "Rosenduft", "Fliederweg", "Rosengarten", "guest@example.com") {
		t.Errorf("the home that nobody lives in: %s", found)
	}
	if err := h.engine.State.Known(h.network); err != nil {
		t.Errorf("the network in Core: %v", err)
	}
	if removed := h.eventsOf(motion.MemberRemovedEvent); len(removed) > 1 {
		t.Errorf("events %+v", removed)
	}
}

func TestDeletedAccountCanTakeItsNetworksAlong(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.join(h.owner, h.other, home.MemberRole)
	if err := h.parts.Household.DeleteUser(t.Context(), h.owner.ID, rules.Leaving{Disown: true}); err != nil {
		t.Fatal(err)
	}
	if h.engine.State.Known(h.network) == nil || h.engine.State.Known(h.abroad) != nil {
		t.Error("want the own network deleted and the other kept")
	}
	h.update(func(tx *store.Tx) error {
		events, err := tx.Events(store.EventQuery{Network: h.abroad, Kinds: []string{motion.MemberRemovedEvent}, Last: 10})
		raw, _ := json.Marshal(events)
		if len(events) != 1 || strings.Contains(string(raw), h.owner.Sub) {
			t.Errorf("events %s", raw)
		}
		return err
	})
	if err := h.parts.Household.DeleteUser(context.Background(), h.neighbour.ID, rules.Leaving{Disown: true}); err != nil {
		t.Errorf("the neighbour, whose account goes with the network: %v", err)
	}
	if a := h.as(h.neighbour, http.MethodGet, "/networks", ""); a.Status != 401 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
