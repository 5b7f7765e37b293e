package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
)

func TestCallerOfSeveralNetworksNamesOne(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.join(h.member, h.other, home.MemberRole)
	const path = "/network_statuses"
	apitest.WantProblem(t, h.as(h.member, http.MethodGet, path, ""), 422, "network_id: is needed")
	for _, id := range []home.ID{h.home, h.other} {
		status := apitest.Want[map[string]any](t, h.as(h.member, http.MethodGet, fmt.Sprintf("%s?network_id=%d", path, id), ""), 200)
		if status["network_id"] != float64(id) {
			t.Errorf("network %v, want %d", status["network_id"], id)
		}
	}
	apitest.WantProblem(t, h.as(h.member, http.MethodPut, "/scenes", `{"scene_id":4}`), 422, "network_id: is needed")
	apitest.Want[any](t, h.as(h.member, http.MethodPut, "/scenes", fmt.Sprintf(`{"scene_id":4,"network_id":%d}`, h.other)), 200)
	only := apitest.Want[map[string]any](t, h.as(h.owner, http.MethodGet, path, ""), 200)
	if only["network_id"] != float64(h.home) {
		t.Errorf("network %v, want the owner's only one", only["network_id"])
	}
}
