package setting_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
	"sensegate/motion/shape"
)

// decoded returns JSON as a request brings it.
func decoded(t testing.TB, raw string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &value); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return value
}

// document returns a document from JSON.
func document(t testing.TB, raw string) motion.Document {
	t.Helper()
	object, _ := decoded(t, raw).(map[string]any)
	return object
}

// edit returns an edit of a document, or of the value at a key of it.
func edit(t testing.TB, key, raw string) setting.Edit {
	t.Helper()
	body, _ := decoded(t, raw).(map[string]any)
	if key != "" {
		body = motion.Document{key: decoded(t, raw)}
	}
	return setting.Edit{Key: key, Body: body}
}

// sound changes sounding settings as a request asks for it.
func sound(t testing.TB, n motion.Network, raw string) (motion.Network, error) {
	t.Helper()
	var found fault.Details
	change := shape.Read[setting.SoundingChange](&found, "body", decoded(t, raw))
	return setting.EditSounding(n, change, found)
}

// same compares a document with JSON.
func same(t testing.TB, what string, got any, want string) {
	t.Helper()
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decoded(t, want), decoded(t, string(raw))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// places returns where a request has mistakes.
func places(t testing.TB, err error) []string {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Invalid {
		t.Fatalf("error %v, want Invalid", err)
	}
	var list []string
	for _, d := range f.Details {
		list = append(list, d.Location)
	}
	slices.Sort(list)
	return list
}

func TestPatchIsAMergeAndPostReplaces(t *testing.T) {
	t.Parallel()
	n := motion.Network{GuardianConfig: document(t, `{"motion_events":{"sens":2,"cooldown":60},"vendor":{"a":1,"b":[1,2]}}`)}
	for name, c := range map[string]struct {
		edit setting.Edit
		body string
		want string
	}{
		"merge":             {setting.Edit{}, `{"motion_events":{"cooldown":null,"armed":0},"vendor":{"b":null}}`, `{"motion_events":{"sens":2,"armed":0},"vendor":{"a":1}}`},
		"merge of a key":    {setting.Edit{Key: "vendor"}, `{"c":"x"}`, `{"motion_events":{"sens":2,"cooldown":60},"vendor":{"a":1,"b":[1,2],"c":"x"}}`},
		"deletion of a key": {setting.Edit{Key: "vendor"}, `null`, `{"motion_events":{"sens":2,"cooldown":60}}`},
		"replace":           {setting.Edit{Replace: true}, `{"status":{"interval_s":60}}`, `{"status":{"interval_s":60}}`},
		"replace a key":     {setting.Edit{Replace: true, Key: "motion_events"}, `{"sens":3}`, `{"motion_events":{"sens":3},"vendor":{"a":1,"b":[1,2]}}`},
	} {
		c.edit.Body = edit(t, c.edit.Key, c.body).Body
		after, err := setting.Guardian(n, c.edit)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, after.GuardianConfig, c.want)
	}
	same(t, "the document that was given", n.GuardianConfig, `{"motion_events":{"sens":2,"cooldown":60},"vendor":{"a":1,"b":[1,2]}}`)
}

func TestEveryMistakeOfADocumentIsTold(t *testing.T) {
	t.Parallel()
	guardian := edit(t, "", `{"motion_events":{"sens":5,"cooldown":-1,"armed":true,"density_threshold":2},"status":{"heartbeat_s":90},
		"leafblower":{"zone_priority_list":["a","a",1,""],"mode":"fast"},"live_motion":7,"unknown":{"kept":true}}`)
	_, err := setting.Guardian(motion.Network{}, guardian)
	want := []string{"body.leafblower.mode", "body.leafblower.zone_priority_list[1]", "body.leafblower.zone_priority_list[2]", "body.leafblower.zone_priority_list[3]",
		"body.live_motion", "body.motion_events.armed", "body.motion_events.cooldown", "body.motion_events.density_threshold", "body.motion_events.sens", "body.status.heartbeat_s"}
	if diff := cmp.Diff(want, places(t, err)); diff != "" {
		t.Errorf("guardian (-want +got):\n%s", diff)
	}
	radar := edit(t, "sounding", `{"mode":"maybe","clients":{"02:BB:00:00:00:31":{"sens":9},"kitchen":{},"02bb00000031":{}},"rate_ms":1.5}`)
	_, err = setting.Radar(motion.Network{}, radar)
	want = []string{"body.clients.02:bb:00:00:00:31.sens", "body.clients.02bb00000031", "body.clients.kitchen", "body.mode", "body.rate_ms"}
	if diff := cmp.Diff(want, places(t, err)); diff != "" {
		t.Errorf("radar (-want +got):\n%s", diff)
	}
	_, err = setting.Meta{}.Edit(edit(t, "", `{"dwm":{"groupId":1},"home":{"sens":0,"light":1,"sensitivity_level":"loud"},"location":{"x":"Kitchen","02:bb:00:00:00:31":"a/b"},
		"neuron_env":null,"mqSecureRadarPort":0,"motion_paused":"1","guardian_env":"cloud","gatekeeper_redirect":"gate","note":"right","other":7}`))
	want = []string{"body.dwm.groupId", "body.gatekeeper_redirect", "body.guardian_env", "body.home.light", "body.home.sens", "body.home.sensitivity_level",
		"body.location.02:bb:00:00:00:31", "body.location.x", "body.motion_paused", "body.mqSecureRadarPort", "body.other"}
	if diff := cmp.Diff(want, places(t, err)); diff != "" {
		t.Errorf("meta (-want +got):\n%s", diff)
	}
}

func TestAddressesAreKeptInOneForm(t *testing.T) {
	t.Parallel()
	n := motion.Network{RadarConfig: document(t, `{"sounding":{"clients":{"02:bb:00:00:00:31":{"mode":"deny"}}}}`)}
	n, err := setting.Radar(n, edit(t, "", `{"sounding":{"clients":{"02-BB-00-00-00-31":{"sens":2}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "clients", n.RadarConfig, `{"sounding":{"clients":{"02:bb:00:00:00:31":{"mode":"deny","sens":2}}}}`)
}

func TestModeOfTheLeafBlowerFollowsTheZones(t *testing.T) {
	t.Parallel()
	n, err := setting.Guardian(motion.Network{}, edit(t, "", `{"leafblower":{"zone_priority_list":["Kitchen"],"mode":"legacy"}}`))
	if err != nil || n.Guardian().Leafblower.Mode != "zone" {
		t.Errorf("mode %q, %v", n.Guardian().Leafblower.Mode, err)
	}
	n, err = sound(t, n, `{"zone_priority_list":[]}`)
	if err != nil || n.Guardian().Leafblower.Mode != "legacy" {
		t.Errorf("without zones: mode %q, %v", n.Guardian().Leafblower.Mode, err)
	}
}

func TestHomeIsAViewOfTheGuardianConfiguration(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, config, home string
	}{
		"sens":                  {`{"home":{"sens":2}}`, `{"motion_events":{"sens":2,"pet_mode":0}}`, `{"sens":2,"cooldown":120,"sensitivity_level":"medium"}`},
		"level alone":           {`{"home":{"sensitivity_level":"very_low"}}`, `{"motion_events":{"sens":4,"pet_mode":0}}`, `{"sens":4,"cooldown":120,"sensitivity_level":"very_low"}`},
		"sens over a level":     {`{"home":{"sens":3,"sensitivity_level":"low","cooldown":30}}`, `{"motion_events":{"sens":3,"cooldown":30,"pet_mode":0}}`, `{"sens":3,"cooldown":30,"sensitivity_level":"low"}`},
		"something else":        {`{"guardian_env":"local"}`, `{"motion_events":{"pet_mode":0}}`, `null`},
		"home is taken away":    {`{"home":null}`, `{"motion_events":{"pet_mode":0}}`, `null`},
		"the cooldown is reset": {`{"home":{"cooldown":null,"sens":1}}`, `{"motion_events":{"sens":1,"pet_mode":0}}`, `{"sens":1,"cooldown":120,"sensitivity_level":"high"}`},
	} {
		before := setting.Meta{Network: motion.Network{GuardianConfig: document(t, `{"motion_events":{"pet_mode":0}}`)}}
		after, err := before.Edit(edit(t, "", c.body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, name, after.Network.GuardianConfig, c.config)
		same(t, name+": home", after.View()["home"], c.home)
		if after.Network.Meta["home"] != nil {
			t.Errorf("%s: home is kept twice", name)
		}
	}
	_, err := setting.Meta{}.Edit(edit(t, "home", `{"sens":1,"sensitivity_level":"low"}`))
	if got := places(t, err); !slices.Equal(got, []string{"body.sensitivity_level"}) {
		t.Errorf("a level that is not that of sens: %v", got)
	}
}

func TestArmedNeedsEnabled(t *testing.T) {
	t.Parallel()
	disabled := motion.Network{GuardianConfig: document(t, `{"motion_events":{"enabled":0}}`)}
	for body, wrong := range map[string]bool{
		`{"motion_events_armed":1}`: true, `{"motion_events_armed":1,"motion_events_enabled":0}`: true,
		`{"motion_events_armed":1,"motion_events_enabled":1}`: false, `{"motion_events_armed":0}`: false, `{"cooldown":30}`: false,
	} {
		if _, err := sound(t, disabled, body); (err != nil) != wrong {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := setting.Guardian(disabled, edit(t, "motion_events", `{"armed":1}`)); err == nil {
		t.Error("the guardian configuration lets armed stand without enabled")
	}
}

func TestPetModeNeedsSensitivityOneAndGlobalClients(t *testing.T) {
	t.Parallel()
	override := motion.Network{RadarConfig: document(t, `{"sounding":{"clients":{"02:bb:00:00:00:31":{"sens":1}}}}`)}
	pets := motion.Network{GuardianConfig: document(t, `{"motion_events":{"pet_mode":1}}`)}
	for name, err := range map[string]error{
		"beside an override":       second(sound(t, override, `{"pet_mode":1}`)),
		"with another sensitivity": second(sound(t, motion.Network{}, `{"pet_mode":1,"sensitivity":2}`)),
		"sensitivity afterwards":   second(sound(t, pets, `{"sensitivity":2}`)),
		"by meta":                  second(setting.Meta{Network: pets}.Edit(edit(t, "", `{"home":{"sens":2}}`))),
		"by the guardian document": second(setting.Guardian(pets, edit(t, "", `{"motion_events":{"sens":2}}`))),
		"by the radar document":    second(setting.Radar(pets, edit(t, "", `{"sounding":{"clients":{"02:bb:00:00:00:31":{"sens":1}}}}`))),
	} {
		if fault.KindOf(err) != fault.Invalid || len(places(t, err)) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sound(t, motion.Network{}, `{"pet_mode":1,"sensitivity":1}`); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

// second returns the error of two results.
func second[T any](_ T, err error) error { return err }

func TestPausedNetworkTakesOnlyTheEndOfThePause(t *testing.T) {
	t.Parallel()
	paused := motion.Network{Meta: document(t, `{"motion_paused":1}`)}
	for body, refused := range map[string]bool{
		`{"motion_paused":0}`: false, `{"motion_paused":1}`: false, `{}`: false, `{"motion_paused":0,"sensitivity":1}`: false,
		`{"cooldown":30}`: true, `{"motion_paused":1,"cooldown":30}`: true, `{"motion_paused":0,"cooldown":30}`: true,
	} {
		_, err := sound(t, paused, body)
		if (fault.KindOf(err) == fault.Conflict) != refused || !refused && err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestEveryMistakeOfSoundingSettingsIsTold(t *testing.T) {
	t.Parallel()
	_, err := sound(t, motion.Network{}, `{"sensitivity":5,"leafblower_cutoff":-2,"mesh_sounding_disabled":[],"motion_paused":null,"sounding_mode":1,
		"zone_priority_list":["a","a"],"motion_events_armed":1,"motion_events_enabled":0,"link_limit":0,"colour":"red"}`)
	want := []string{"body.colour", "body.leafblower_cutoff", "body.link_limit", "body.mesh_sounding_disabled", "body.motion_events_armed", "body.motion_paused",
		"body.sensitivity", "body.sounding_mode", "body.zone_priority_list[1]"}
	if diff := cmp.Diff(want, places(t, err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSoundingSettingsAreAView(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		toggle := rapid.IntRange(0, 1)
		asked := map[string]any{
			"zone_priority_list": []any{}, "motion_events_enabled": 1.0,
			"motion_events_armed":    float64(toggle.Draw(t, "armed")),
			"motion_history_enabled": float64(toggle.Draw(t, "history")), "device_events": float64(toggle.Draw(t, "device events")),
			"mesh_auto_disable": float64(toggle.Draw(t, "mesh")), "motion_paused": float64(toggle.Draw(t, "paused")),
			"sounding_mode":     rapid.SampledFrom([]string{"allow", "deny"}).Draw(t, "mode"),
			"leafblower_cutoff": rapid.Float64Range(-1.1, 1).Draw(t, "cutoff"), "link_limit": float64(rapid.IntRange(1, 120).Draw(t, "limit")),
			"sensitivity": float64(rapid.IntRange(1, 4).Draw(t, "sensitivity")), "pet_mode": 0.0,
			"cooldown": float64(rapid.IntRange(0, 86400).Draw(t, "cooldown")),
		}
		var found fault.Details
		change := shape.Read[setting.SoundingChange](&found, "body", asked)
		after, err := setting.EditSounding(motion.Network{}, change, found)
		if err != nil {
			t.Fatal(err)
		}
		view, err := setting.SoundingOf(after)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(view)
		var got map[string]any
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		delete(got, "mesh_sounding_disabled")
		if diff := cmp.Diff(asked, got); diff != "" {
			t.Fatalf("(-asked +view):\n%s", diff)
		}
		if home := setting.Home(after.Guardian().MotionEvents); home["sens"] != int(asked["sensitivity"].(float64)) {
			t.Fatalf("home %v", home)
		}
	})
}

// fieldOf returns the field of a struct that JSON knows by a name.
func fieldOf(t testing.TB, of reflect.Type, name string) reflect.StructField {
	t.Helper()
	for f := range of.Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return f
		}
	}
	t.Fatalf("%v has no %s", of, name)
	return reflect.StructField{}
}

func TestSoundingSettingHasTheRangeOfWhereItIsKept(t *testing.T) {
	t.Parallel()
	documents := map[string]reflect.Type{"guardian": reflect.TypeFor[motion.GuardianConfig](), "radar": reflect.TypeFor[motion.RadarConfig]()}
	for shown := range reflect.TypeFor[setting.SoundingSettings]().Fields() {
		path := strings.Split(shown.Tag.Get("kept"), ".")
		document, ok := documents[path[0]]
		if !ok {
			continue // meta, whose keys have no type
		}
		kept := fieldOf(t, fieldOf(t, document, path[1]).Type, path[2])
		views := []reflect.StructField{shown}
		if shown.Tag.Get("readOnly") == "" {
			views = append(views, fieldOf(t, reflect.TypeFor[setting.SoundingChange](), shown.Tag.Get("json")))
		}
		for _, view := range views {
			for _, bound := range []string{"minimum", "maximum", "enum"} {
				if view.Tag.Get(bound) != kept.Tag.Get(bound) {
					t.Errorf("%s has %s %q, and %q where it is kept", shown.Name, bound, view.Tag.Get(bound), kept.Tag.Get(bound))
				}
			}
		}
	}
}

func TestDocumentsAreBounded(t *testing.T) {
	t.Parallel()
	n := motion.Network{GuardianConfig: motion.Document{"a": strings.Repeat("x", 40_000)}}
	if _, err := setting.Guardian(n, setting.Edit{Body: motion.Document{"b": strings.Repeat("x", 10_000)}}); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("two halves make a document that is too large: %v", err)
	}
}

func TestModeOfALeafIsSetAndTakenBack(t *testing.T) {
	t.Parallel()
	mac := motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	n := motion.Network{RadarConfig: motion.Document{"vendor": 1.0}}
	var m fault.Details
	for _, mode := range []string{setting.Allow, setting.Deny, ""} {
		set := setting.SetMode(&m, n, "body.auto", mac, mode)
		if got := setting.Client(set.Radar(), mac).Mode; got != mode {
			t.Errorf("mode %q, want %q", got, mode)
		}
		back := setting.SetMode(&m, set, "body.auto", mac, "")
		if left := back.Radar().Sounding.Clients; len(left) > 0 || back.RadarConfig["vendor"] != 1.0 {
			t.Errorf("left %v of %v", left, back.RadarConfig)
		}
	}
	if err := m.Err(); err != nil {
		t.Error(err)
	}
}

func FuzzEdit(f *testing.F) {
	f.Add("", false, []byte(`{"motion_events":{"sens":2},"sounding":{"clients":{"02:bb:00:00:00:31":{"sens":1}}}}`))
	f.Add("home", true, []byte(`{"sensitivity_level":"low"}`))
	f.Add("location", false, []byte(`{"02:bb:00:00:00:31":null}`))
	f.Fuzz(func(t *testing.T, key string, replace bool, raw []byte) {
		var body any
		if json.Unmarshal(raw, &body) != nil {
			return
		}
		edit := edit(t, key, string(raw))
		edit.Replace = replace
		if n, err := setting.Guardian(motion.Network{}, edit); err == nil && n.Guardian().MotionEvents.Sens < 1 {
			t.Errorf("sens %d in force", n.Guardian().MotionEvents.Sens)
		}
		if n, err := setting.Radar(motion.Network{}, edit); err == nil {
			for mac, client := range n.Radar().Sounding.Clients {
				if parsed, err := motion.ParseMAC(mac); err != nil || parsed.String() != mac || client.Sens < 0 || client.Sens > 4 {
					t.Errorf("client %q %+v", mac, client)
				}
			}
		}
		if after, err := (setting.Meta{}).Edit(edit); err == nil {
			for _, key := range []string{"home", "location", "friendly_name"} {
				if after.Network.Meta[key] != nil {
					t.Errorf("%s is kept twice", key)
				}
			}
		}
		var m fault.Details
		_ = shape.Read[setting.SoundingClientChanges](&m, "body", body)
		_, _ = sound(t, motion.Network{}, string(raw))
	})
}

func TestKeysThatDifferInCaseAreRefused(t *testing.T) {
	t.Parallel()
	_, err := setting.Radar(motion.Network{}, edit(t, "", `{"sounding":{"Clients":{"x":{}},"clients":{"02:bb:00:00:00:31":{"SENS":9}}},"Log_level":"info"}`))
	var mistakes *fault.Error
	if !errors.As(err, &mistakes) {
		t.Fatalf("taken: %v", err)
	}
	var places []string
	for _, d := range mistakes.Details {
		places = append(places, d.Location)
	}
	want := []string{"body.Log_level", "body.sounding.Clients", "body.sounding.clients.02:bb:00:00:00:31.SENS"}
	if !slices.Equal(places, want) {
		t.Errorf("mistakes at %q, want %q", places, want)
	}
}
