package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	"sensegate/store"
)

// removeHome makes the first network one that only Core knows.
func (h *household) removeHome() {
	h.T.Helper()
	h.update(func(tx *store.Tx) error { return tx.DeleteHome(h.home) })
}

// found is the answer of a search.
type found struct {
	ID         home.ID
	ExternalID int `json:"external_id"`
	Name       *string
	Claimed    bool
	UserCount  int `json:"user_count"`
	Created    bool
}

func TestLadderOfSearches(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for path, c := range map[string]struct{ right, unknown, invalid string }{
		"/searches": {`{"bssid":"02:AA:00:00:01:12"}`, `{"bssid":"02:aa:00:00:09:12"}`, `{"bssid":"02:aa:00:00:01"}`},
		"/find":     {`{"guardian_id":"` + guardianID + `"}`, `{"guardian_id":"a41f"}`, `{"guardian_id":""}`},
	} {
		h.climb(http.MethodPost,
			step{name: "no token", path: path, body: c.right, status: 401},
			step{name: "malformed", who: h.nobody, path: path, body: `{"`, status: 400},
			step{name: "invalid", who: h.nobody, path: path, body: c.invalid, status: 422, says: "body."},
			step{name: "another field too", who: h.nobody, path: path, body: `{"nothing":1}`, status: 422},
			step{name: "unknown to Core", who: h.owner, path: path, body: c.unknown, status: 404},
			step{name: "right", who: h.nobody, path: path, body: c.right, status: 200},
			step{name: "wrapped, with a slash", who: h.nobody, path: path + "/", body: `{"data":` + c.right + `}`, status: 200},
		)
	}
	if a := h.Send(h.nobody.token, "POST", "/searches", "application/x-www-form-urlencoded", "bssid=02%3Aaa%3A00%3A00%3A01%3A13"); a.Status != 200 {
		t.Errorf("form: %d %s", a.Status, a.Body)
	}
}

func TestNetworkThatCoreAloneKnowsIsCreatedOnce(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.removeHome()
	first := apitest.Want[found](t, h.as(h.nobody, "POST", "/searches", `{"bssid":"02:aa:00:00:01:13"}`), 200)
	if !first.Created || first.Claimed || first.ExternalID != int(h.network) || first.Name != nil || first.UserCount != 0 {
		t.Errorf("first %+v", first)
	}
	for path, body := range map[string]string{"/searches": `{"bssid":"02:aa:00:00:01:14"}`, "/find": `{"guardian_id":"` + guardianID + `"}`} {
		again := apitest.Want[found](t, h.as(h.neighbour, "POST", path, body), 200)
		if again.Created || again.ID != first.ID {
			t.Errorf("%s again: %+v, want id %d", path, again, first.ID)
		}
	}
}

func TestStrangersAreToldNothingOfAHousehold(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	body := `{"guardian_id":"` + guardianID + `"}`
	apitest.WantJSON(t, h.as(h.nobody, "POST", "/find", body),
		fmt.Sprintf(`{"id":%d,"external_id":%d,"name":null,"claimed":true,"user_count":0,"created":false}`, h.home, h.network))
	apitest.WantJSON(t, h.as(h.member, "POST", "/find", body),
		fmt.Sprintf(`{"id":%d,"external_id":%d,"name":"Home","claimed":true,"user_count":2,"created":false}`, h.home, h.network))
}
