package core_test

import (
	"fmt"
	"net/http"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// at returns a path below the first network.
func (h *home) at(path string) string { return fmt.Sprintf("/network/%d%s", h.network, path) }

// patch changes with the key that opens everything.
func (h *home) patch(path, body string) apitest.Answer {
	h.T.Helper()
	return h.As(h.all, http.MethodPatch, path, body)
}

// kitchenClient returns the kitchen leaf as sounding sees it.
func kitchenClient(h *home) map[string]any {
	h.T.Helper()
	list := apitest.Want[struct{ Devices []map[string]any }](h.T, h.get(h.at("/sounding/clients")), 200)
	for _, d := range list.Devices {
		if d["mac"] == kitchen.String() {
			return d
		}
	}
	h.T.Fatalf("no kitchen: %v", list)
	return nil
}

func TestSoundingSettingsAreAsDocumented(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	defaults := `{"zone_priority_list":[],"motion_events_enabled":1,"motion_events_armed":1,"motion_history_enabled":1,"device_events":0,
		"mesh_auto_disable":0,"mesh_sounding_disabled":[],"motion_paused":0,"sounding_mode":"allow","leafblower_cutoff":0,"link_limit":8,"sensitivity":1,"pet_mode":0,"cooldown":120}`
	apitest.WantJSON(t, h.get(h.at("/sounding/settings")), defaults)
	apitest.WantJSON(t, h.patch(h.at("/sounding/settings/?update=true"), `{"zone_priority_list":["Kitchen"],"sensitivity":2,"cooldown":60,"leafblower_cutoff":-1.1}`),
		`{"zone_priority_list":["Kitchen"],"motion_events_enabled":1,"motion_events_armed":1,"motion_history_enabled":1,"device_events":0,
		"mesh_auto_disable":0,"mesh_sounding_disabled":[],"motion_paused":0,"sounding_mode":"allow","leafblower_cutoff":-1.1,"link_limit":8,"sensitivity":2,"pet_mode":0,"cooldown":60}`)
	apitest.WantJSON(t, h.get(h.at("/meta?key=home")), `{"sens":2,"cooldown":60,"sensitivity_level":"medium"}`)
	apitest.WantJSON(t, h.get(h.at("/config/guardian?key=leafblower")), `{"mode":"zone","cutoff":-1.1,"link_limit":8,"zone_priority_list":["Kitchen"]}`)
	apitest.WantProblem(t, h.patch(h.at("/sounding/settings"), `{"sensitivity":5,"pet_mode":2}`), 422, `"location":"body.pet_mode"`)
	apitest.WantProblem(t, h.patch(h.at("/sounding/settings"), `{"motion_events_enabled":0,"motion_events_armed":1}`), 422, "body.motion_events_armed")
	apitest.WantProblem(t, h.patch(h.at("/sounding/settings"), `[]`), 422, "body")
	apitest.Want[any](t, h.patch(h.at("/sounding/settings"), `{"motion_paused":1}`), 200)
	apitest.WantProblem(t, h.patch(h.at("/sounding/settings"), `{"cooldown":30}`), 409, "paused")
	apitest.Want[any](t, h.patch(h.at("/sounding/settings"), `{"motion_paused":0}`), 200)
}

func TestSoundingClientsAreAsDocumented(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	apitest.WantJSON(t, h.get(h.at("/sounding/clients")), fmt.Sprintf(`{"devices":[
		{"id":1,"device_id":%q,"is_node":true,"is_root":true,"is_extender":false,"friendly_name":"","location":"","is_online":true,"omot_version":"","sounding_mesh":"allow",
		 "sounding_warmup":null,"sounding_status":false,"sounding_status_score":-1,"sounding_status_reason":"N/A","sensitivity_mode":"global","sensitivity":1,"links":[]},
		{"mac":"02:bb:00:00:00:31","is_node":false,"is_extender":false,"friendly_name":"Kitchen speaker","location":"Kitchen","is_online":true,"sounding_mode":"allow",
		 "sounding_warmup":null,"sounding_status":true,"sounding_status_score":0,"sounding_status_reason":"N/A","sensitivity_mode":"global","sensitivity":1,
		 "device_info":{"mac":"02:bb:00:00:00:31","hostname":"kitchen-speaker","device_type":"","os":"","name":"","category":"","brand":"","model":"","modelNumber":"","ts":0},
		 "links":[{"src_id":1,"rssi":"-59","if_ch":0}]}]}`, masterID))
	changed := h.patch(h.at("/sounding/clients?update=true"), `{"devices":[{"id":1,"location":"Wohnzimmer","friendly_name":"Zugang 1"},
		{"mac":"02:BB:00:00:00:31","friendly_name":"कमरा","sensitivity_mode":"override","sensitivity":2}]}`)
	apitest.Want[any](t, changed, 200)
	if got := kitchenClient(h); got["friendly_name"] != "कमरा" || got["sensitivity_mode"] != "override" || got["sensitivity"] != 2.0 {
		t.Errorf("kitchen %v", got)
	}
	for name, body := range map[string]string{
		"no name":             `{"devices":[{"location":"Hall"}]}`,
		"unknown":             `{"devices":[{"mac":"02:bb:00:00:00:99"}]}`,
		"slash":               `{"devices":[{"id":1,"location":"a/b"}]}`,
		"no override":         `{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity_mode":"global","sensitivity":2}]}`,
		"mesh of a client":    `{"devices":[{"mac":"02:bb:00:00:00:31","sounding_mesh":"deny"}]}`,
		"foreign node":        `{"devices":[{"device_id":"csi-b-02aa00000210","location":"Hall"}]}`,
		"devices is no array": `{"devices":{}}`,
	} {
		apitest.WantProblem(t, h.patch(h.at("/sounding/clients"), body), 422, "body.devices")
		if t.Failed() {
			t.Fatalf("at %s", name)
		}
	}
	apitest.WantProblem(t, h.patch(h.at("/sounding/settings"), `{"pet_mode":1,"sensitivity":1}`), 422, "every client")
}

func TestMetaIsReplacedAndMerged(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	location := `{"02:bb:00:00:00:31":"Kitchen"}`
	names := `{"02:bb:00:00:00:31":"Kitchen speaker"}`
	apitest.WantJSON(t, h.get(h.at("/meta")), `{"location":`+location+`,"friendly_name":`+names+`}`)
	apitest.WantJSON(t, h.patch(h.at("/meta"), `{"dwm":{"groupId":"lab","systemName":"demo"},"neuron_env":null,"note":"x","motion_paused":0}`),
		`{"dwm":{"groupId":"lab","systemName":"demo"},"note":"x","motion_paused":0,"location":`+location+`,"friendly_name":`+names+`}`)
	apitest.WantJSON(t, h.patch(h.at("/meta?key=dwm"), `{"groupId":null}`), `{"systemName":"demo"}`)
	apitest.WantJSON(t, h.post(h.at("/meta?key=dwm"), `{"systemType":"t"}`), `{"systemType":"t"}`)
	apitest.WantJSON(t, h.patch(h.at("/meta?key=note"), `null`), `null`)
	apitest.WantProblem(t, h.get(h.at("/meta?key=note")), 404, "key")
	apitest.WantJSON(t, h.post(h.at("/meta?update=true"), `{"guardian_env":"local","neuron_env":null}`), `{"guardian_env":"local","neuron_env":null}`)
	apitest.WantJSON(t, h.get(h.at("/meta?key=location")), `{}`)
	found := apitest.Want[networkAnswer](t, h.get(fmt.Sprintf("/network/find/id/%d", h.network)), 200)
	if string(found.Meta) != `{"guardian_env":"local","neuron_env":null}` {
		t.Errorf("found with meta %s", found.Meta)
	}
	a := h.patch(h.at("/meta"), `{"home":{"sens":7},"other":1,"guardian_env":"cloud","location":{"x":"y"}}`)
	for _, place := range []string{"body.home.sens", "body.other", "body.guardian_env", "body.location.x"} {
		apitest.WantProblem(t, a, 422, place)
	}
}

func TestResetKeepsWhatMetaSaysOfTheFleet(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	kept := `{"dwm":{"groupId":"lab"},"guardian_env":"local","neuron_env":"n"}`
	apitest.Want[any](t, h.post(h.at("/meta"), kept[:len(kept)-1]+`,"note":"x"}`), 200)
	found := apitest.Want[networkAnswer](t, h.post(h.at("/config/reset"), ""), 200)
	apitest.WantJSON(t, h.get(h.at("/meta")), kept)
	if found.ID != h.network {
		t.Errorf("answered network %d", found.ID)
	}
}

func TestConfigurationIsReplacedMergedAndReset(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	rev := apitest.Want[map[string]any](t, h.post(h.at("/config/update"), ""), 200)
	if rev["propagated"] != true || rev["rev"] != 1.0 || rev["applied_rev"] != 0.0 {
		t.Errorf("update %v", rev)
	}
	merged := apitest.Want[map[string]any](t, h.patch(h.at("/config/guardian"), `{"motion_events":{"cooldown":10},"vendor":{"deep":[1,{"a":null}]}}`), 200)
	if merged["vendor"] == nil || merged["motion_events"].(map[string]any)["cooldown"] != 10.0 || merged["status"] == nil {
		t.Errorf("merged %v", merged)
	}
	apitest.WantJSON(t, h.patch(h.at("/config/guardian?key=motion_events"), `{"cooldown":null,"sens":2}`),
		`{"enabled":1,"armed":1,"density_window":8,"density_threshold":0.5,"cooldown":120,"sens":2,"pet_mode":0}`)
	apitest.Want[any](t, h.post(h.at("/config/radar?update=true"), `{"sounding":{"clients":{"02-BB-00-00-00-31":{"mode":"deny","own":1}}}}`), 200)
	if got := kitchenClient(h); got["sounding_mode"] != "deny" {
		t.Errorf("kitchen %v", got)
	}
	apitest.WantJSON(t, h.get(h.at("/config/radar?key=mesh_sounding")), `{"auto_disable":0,"disabled":[]}`)
	apitest.WantProblem(t, h.get(h.at("/config/radar?key=nothing")), 404, "nothing")
	apitest.WantProblem(t, h.post(h.at("/config/radar"), `{"sounding":{"rate_ms":0},"log_level":1}`), 422, "body.sounding.rate_ms")

	apitest.Want[any](t, h.post(h.at("/meta"), `{"dwm":{"groupId":"lab"}}`), 200)
	found := apitest.Want[networkAnswer](t, h.post(h.at("/config/reset?keepMeta="), ""), 200)
	if found.ID != h.network || string(found.Meta) != "{}" {
		t.Errorf("reset: %+v meta %s", found, found.Meta)
	}
	apitest.WantJSON(t, h.get(h.at("/topology?offline=true")), `{"ts":null,"devices":[],"links":[]}`)
	apitest.WantProblem(t, h.get(h.at("/status")), 404, "")
	if got := h.get(h.at("/config/guardian?key=vendor")); got.Status != 404 {
		t.Errorf("vendor is still there: %s", got.Body)
	}
}

func TestDeviceInfoIsAnsweredAsItWasSent(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	sent := `{"mac":"02:BB:00:00:00:31","hostname":"kitchen-speaker","device_type":"Smart speaker","os":"linux","name":"Speaker","category":"speaker","brand":"Acme","model":"S1","modelNumber":"S1-CA","ts":1764000000.5}`
	apitest.WantJSON(t, h.post(h.at("/deviceinfo"), sent), sent)
	topology := apitest.Want[motion.Topology](t, h.get(h.at("/topology")), 200)
	shown := false
	for _, d := range topology.Devices {
		info, _ := d.DeviceInfo.(map[string]any)
		shown = shown || info["modelNumber"] == "S1-CA" && info["ts"] == 1764000000.5 && info["mac"] == "02:bb:00:00:00:31"
	}
	if !shown {
		t.Errorf("topology %+v", topology)
	}
	apitest.WantProblem(t, h.post(h.at("/deviceinfo"), `{"mac":"00:00:00:00:00:00"}`), 422, "mac")
	apitest.WantProblem(t, h.post(h.at("/deviceinfo"), `{"model":"S1"}`), 422, "mac")
}
