package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

func TestSoundingSettingsLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path = "/sounding/settings"
	before := len(h.devices.of("config"))
	foreign := fmt.Sprintf("%s?network_id=%d", path, h.home)
	h.climb(http.MethodGet,
		step{"no token", person{}, path, "", 401, ""},
		step{"foreign", h.neighbour, foreign, "", 404, ""},
		step{"right", h.member, path + "/", "", 200, `"sounding_mode":"allow","leafblower_cutoff":0,"link_limit":8,"sensitivity":1,"pet_mode":0,"cooldown":120`},
	)
	h.climb(http.MethodPatch,
		step{"no token", person{}, path, `{}`, 401, ""},
		step{"foreign", h.neighbour, foreign, `{}`, 404, ""},
		step{"malformed", h.owner, path, `{`, 400, ""},
		step{"no object", h.owner, path, `[]`, 422, "body"},
		step{"mistakes", h.owner, path, `{"sensitivity":5,"mesh_sounding_disabled":[],"colour":1}`, 422, "body.colour"},
		step{"no network", h.owner, path, `{"network_id":null}`, 422, "body.network_id"},
		step{"armed needs enabled", h.owner, path, `{"motion_events_enabled":0,"motion_events_armed":1}`, 422, "body.motion_events_armed"},
		step{"pet mode", h.owner, path, `{"pet_mode":1,"sensitivity":2}`, 422, "body.pet_mode"},
		step{"right, not sent", h.member, path, fmt.Sprintf(`{"network_id":%d,"cooldown":60}`, h.home), 200, `"cooldown":60`},
	)
	if sent := h.devices.of("config")[before:]; len(sent) > 0 {
		t.Errorf("devices were sent %v without update", sent)
	}
	form := h.Send(h.member.token, http.MethodPatch, path+"/?update=true", formMedia, fmt.Sprintf("cooldown=61&sounding_mode=deny&network_id=%d", h.home))
	if got := h.guardianConfig(); form.Status != 200 || got.MotionEvents.Cooldown != 61 {
		t.Errorf("form %d %s: devices were sent %+v", form.Status, form.Body, got.MotionEvents)
	}
	h.climb(http.MethodPatch,
		step{"pause", h.owner, path, `{"motion_paused":1}`, 200, `"motion_paused":1`},
		step{"while paused", h.owner, path, `{"cooldown":62}`, 409, "paused"},
	)
}

func TestSoundingClientsLadder(t *testing.T) {
	t.Parallel()
	h, master, _ := newPlaced(t)
	const path = "/sounding/clients"
	foreign := fmt.Sprintf("%s?network_id=%d", path, h.home)
	h.climb(http.MethodGet,
		step{"no token", person{}, path, "", 401, ""},
		step{"foreign", h.neighbour, foreign, "", 404, ""},
		step{"right", h.member, path, "", 200, `"mac":"02:bb:00:00:00:31","is_node":false`},
	)
	h.climb(http.MethodPatch,
		step{"no token", person{}, path, `{"devices":[]}`, 401, ""},
		step{"foreign", h.neighbour, foreign, `{"devices":[]}`, 404, ""},
		step{"malformed", h.owner, path, `{"devices":`, 400, ""},
		step{"no list", h.owner, path, `{}`, 422, "body.devices"},
		step{"no network", h.owner, path, `{"network_id":null,"devices":[]}`, 422, "body.network_id"},
		step{"no name", h.owner, path, `{"devices":[{"location":"Hall"}]}`, 422, "body.devices[0]"},
		step{"no override", h.owner, path, `{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity":2}]}`, 422, "body.devices[0].sensitivity"},
		step{"right", h.member, path + "?update=true", fmt.Sprintf(`{"network_id":"%d","devices":[{"id":%d,"location":"Attic"},{"mac":"02:bb:00:00:00:31","sounding_mode":"deny"}]}`, h.home, master),
			200, `"sounding_mode":"deny"`},
	)
	if got := h.radarConfig().Sounding.Clients[kitchen.String()].Mode; got != "deny" {
		t.Errorf("devices were sent mode %q", got)
	}
}

func TestTopologyLadder(t *testing.T) {
	t.Parallel()
	h, _, _ := newPlaced(t)
	h.climb(http.MethodGet,
		step{"no token", person{}, "/topologies", "", 401, ""},
		step{"foreign", h.neighbour, fmt.Sprintf("/topologies?network_id=%d", h.home), "", 404, ""},
		step{"malformed", h.owner, "/topologies?offline=perhaps", "", 400, "query.offline"},
		step{"right", h.member, fmt.Sprintf("/topologies?network_id=%d&offline=true", h.home), "", 200, `"friendly_name":"Kitchen speaker"`},
		step{"own", h.neighbour, "/topologies?offline=true", "", 200, `"name":"GWB1000201"`},
	)
}

func TestStatusOfAPausedNetworkSaysThatNothingIsSensed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.reportStatus()
	apitest.Want[any](t, h.as(h.owner, "PUT", "/network_motion_config", `{"motion_paused":true}`), 200)
	h.climb(http.MethodGet, step{"paused", h.member, "/network_statuses", "", 200, `"motion_enabled":0`})
	apitest.Want[any](t, h.as(h.owner, "PUT", "/network_motion_config", `{"motion_paused":false}`), 200)
	h.climb(http.MethodGet, step{"goes on", h.member, "/network_statuses", "", 200, `"motion_enabled":1`})
}

func TestNetworkStatusLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.climb(http.MethodGet,
		step{"no token", person{}, "/network_statuses", "", 401, ""},
		step{"foreign", h.neighbour, fmt.Sprintf("/network_statuses?network_id=%d", h.home), "", 404, ""},
		step{"unknown", h.owner, "/network_statuses?network_id=99", "", 404, "is not known"},
		step{"right", h.member, "/network_statuses", "", 200, `"last_motion":null,"motion_tripped":null,"motion_enabled":1,"online":true`},
	)
}

func TestLastMotionBeginsWithTheClaim(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	at := h.engine.State.Now()
	tripped := 1
	h.report(motion.StatusReport{TS: at, MotionEnabled: 1, MotionTripped: &tripped, LastMotion: at.Add(-30), Radars: map[string]motion.Radar{"GWA1000133": radarOf(guardianID, masterID, "GWA1000133", 0x10)}})
	status := func() string {
		return string(h.as(h.owner, http.MethodGet, "/network_statuses", "").Body)
	}
	if got := status(); !strings.Contains(got, `"motion_tripped":1`) || strings.Contains(got, `"last_motion":null`) {
		t.Errorf("status %s, want motion 30 s ago", got)
	}
	h.claimedAfter(-10)
	if got := status(); !strings.Contains(got, `"last_motion":null,"motion_tripped":0`) {
		t.Errorf("status %s shows the motion of those who lived there before", got)
	}
	apitest.Want[any](t, h.as(h.owner, http.MethodGet, "/network_statuses/", ""), 200)
}
