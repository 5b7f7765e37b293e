package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/store"
)

const (
	hubThing  = "HUB_02CC00FFFE0000AA"
	doorThing = "SENSOR_02CC00FFFE000001"
	bathThing = "SENSOR_02CC00FFFE000002"
)

// cupboard is a sensor provider that has a hub with a door and a bathroom sensor.
type cupboard struct {
	mu      sync.Mutex
	away    bool
	gone    bool // the hub has been removed
	host    sensor.Host
	pairing time.Duration
	account string
}

func (c *cupboard) state() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return &fault.Error{Kind: fault.Unavailable, Message: "the cupboard is locked", RetryAfter: 30 * time.Second}
	}
	return nil
}

func (c *cupboard) CreateAccount(_ context.Context, name string) (sensor.Account, error) {
	c.mu.Lock()
	c.account = name
	c.mu.Unlock()
	return sensor.Account{UserThingName: name}, c.state()
}

func (c *cupboard) DeleteAccount(context.Context, sensor.Account) error { return c.state() }

func (c *cupboard) ListDevices(_ context.Context, a sensor.Account) ([]sensor.Found, error) {
	c.mu.Lock()
	gone := c.gone
	c.mu.Unlock()
	if gone {
		return nil, c.state()
	}
	online, full := true, 100
	told := func(thing, status string) sensor.Reading {
		return sensor.Reading{Account: a.UserThingName, Thing: thing, Online: &online, Status: status, BatteryLevel: &full}
	}
	return []sensor.Found{
		{Type: sensor.Hub, Reading: sensor.Reading{Thing: hubThing, Online: &online, Status: sensor.Ready}},
		{Hub: hubThing, Type: sensor.Door, Name: "Door", Reading: told(doorThing, "")},
		{Hub: hubThing, Type: sensor.Climate, Reading: told(bathThing, "")},
	}, c.state()
}

func (c *cupboard) Pair(_ context.Context, _ sensor.Account, _ string, d time.Duration) error {
	c.mu.Lock()
	c.pairing = d
	c.mu.Unlock()
	return c.state()
}

func (c *cupboard) UpdateConfig(context.Context, sensor.Account, sensor.Device, sensor.Device) error {
	return c.state()
}

func (c *cupboard) Remove(_ context.Context, _ sensor.Account, d sensor.Device) error {
	err := c.state()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = c.gone || err == nil && d.Type == sensor.Hub
	return err
}

func (c *cupboard) Single() (motion.NetworkID, bool) { return 0, false }

func (c *cupboard) Run(ctx context.Context, host sensor.Host) error {
	c.mu.Lock()
	c.host = host
	c.mu.Unlock()
	<-ctx.Done()
	return nil
}

// lock makes the cupboard unreachable.
func (c *cupboard) lock() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = true
}

// tell has a thing of the cupboard tell a status.
func (h *household) tell(thing, status string, at motion.Time) {
	h.T.Helper()
	h.sensors.mu.Lock()
	host, account := h.sensors.host, h.sensors.account
	h.sensors.mu.Unlock()
	reading := sensor.Reading{Account: account, Thing: thing, Status: status, TS: at}
	if err := host.Deliver(h.T.Context(), sensor.Batch{Readings: []sensor.Reading{reading}}); err != nil {
		h.T.Fatal(err)
	}
}

// integrate initializes the integration of the first home and has the door notify.
func (h *household) integrate() {
	h.T.Helper()
	for _, call := range [][3]string{
		{http.MethodPost, "/sensors/integrations", `{"integrations_enabled":true}`},
		{http.MethodPatch, "/sensors/devices/" + doorThing, `{"config":{"notify":true,"location":"Hallway"},"purpose":"DoorSensor"}`},
	} {
		if a := h.as(h.owner, call[0], call[1], call[2]); a.Status != http.StatusOK {
			h.T.Fatalf("%s: %d %s", call[1], a.Status, a.Body)
		}
	}
}

// wantKeys checks that an object has exactly the keys.
func wantKeys(t testing.TB, what string, object map[string]any, keys string) {
	t.Helper()
	for _, key := range strings.Fields(keys) {
		if _, has := object[key]; !has {
			t.Errorf("%s has no %s: %v", what, key, object)
		}
	}
	if len(object) != len(strings.Fields(keys)) {
		t.Errorf("%s has other keys than %s: %v", what, keys, object)
	}
}

func TestIntegrationLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path, enable = "/sensors/integrations", `{"integrations_enabled":true}`
	own := fmt.Sprintf("%s?network_id=%d", path, h.home)
	h.climb(http.MethodGet, step{"never initialized", h.member, path, "", 404, "no sensor integration"})
	h.climb(http.MethodDelete, step{"never initialized", h.owner, path, "", 404, "no sensor integration"})
	h.climb(http.MethodPost,
		step{"no token", person{}, path, enable, 401, ""},
		step{"belongs to none", h.nobody, path, enable, 404, ""},
		step{"foreign network", h.neighbour, own, enable, 404, "is not known"},
		step{"member", h.member, path, enable, 403, "only the owner"},
		step{"malformed", h.owner, path, `{`, 400, ""},
		step{"nothing", h.owner, path, `{}`, 422, "integrations_enabled"},
		step{"several mistakes", h.owner, path, `{"integrations_enabled":"perhaps","provider":7}`, 422, "body.provider"},
		step{"provider that is not offered", h.owner, path, `{"integrations_enabled":true,"provider":"cloud"}`, 422, "want one of zigbee2mqtt"},
		step{"right", h.owner, path, fmt.Sprintf(`{"integrations_enabled":true,"network_id":"%d"}`, h.home), 200, `"userThingName":"USER_`},
		step{"right, wrapped", h.owner, path, `{"data":{"integrations_enabled":false}}`, 200, `"integrations_enabled":true`},
	)
	h.climb(http.MethodGet,
		step{"no token", person{}, path, "", 401, ""},
		step{"foreign network", h.neighbour, own, "", 404, "is not known"},
		step{"malformed", h.member, path + "?x=%zz", "", 400, ""},
		step{"malformed", h.member, path + "?show_account=perhaps", "", 400, "show_account"},
		step{"right", h.member, own, "", 200, `"user_id":`},
		step{"right, to look for a fault", h.owner, path + "?show_account=true", "", 200, `"account":{"provider":"zigbee2mqtt","dropped":[]}`},
	)
	h.climb(http.MethodPatch,
		step{"no token", person{}, path, enable, 401, ""},
		step{"foreign network", h.neighbour, own, enable, 404, "is not known"},
		step{"member", h.member, path, enable, 403, ""},
		step{"malformed", h.owner, path, `[`, 400, ""},
		step{"nothing", h.owner, path, `{}`, 422, "name integrations_enabled"},
		step{"too long", h.owner, path, `{"oob_phase":"` + strings.Repeat("x", 65) + `"}`, 422, "oob_phase"},
		step{"right", h.owner, path, `{"oob_phase":"started"}`, 200, `"oob_phase":"started"`},
	)
	h.climb(http.MethodDelete,
		step{"no token", person{}, path, "", 401, ""},
		step{"foreign network", h.neighbour, own, "", 404, ""},
		step{"member", h.member, path, "", 403, ""},
		step{"right", h.owner, path, "", 204, ""},
		step{"once more", h.owner, path, "", 404, ""},
	)
}

func TestIntegrationHasTheShapeThatClientsKnow(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path = "/sensors/integrations"
	keys := "id integrations_enabled network_id external_id user_id oob_phase created_at updated_at"
	blank := apitest.Want[map[string]map[string]any](t, h.as(h.owner, http.MethodPost, path, `{"integrations_enabled":false}`), 200)
	wantKeys(t, "not enabled", blank["integrations"], keys)
	made := apitest.Want[map[string]map[string]any](t, h.as(h.owner, http.MethodPost, path, `{"integrations_enabled":true}`), 200)
	wantKeys(t, "enabled", made["integrations"], keys+" userThingName")
	if got := made["integrations"]; got["network_id"] != float64(h.home) || got["external_id"] != float64(h.network) || got["user_id"] != float64(h.owner.ID) {
		t.Errorf("%v", got)
	}
	again := apitest.Want[map[string]map[string]any](t, h.as(h.owner, http.MethodPost, path, `{"integrations_enabled":false}`), 200)
	wantKeys(t, "not enabled later", again["integrations"], keys)
}

func TestSensorLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if a := h.as(h.member, http.MethodGet, "/sensors/devices", ""); string(a.Body) != `{"devices":[]}` && a.Status == 200 && !strings.Contains(string(a.Body), `"devices":[]`) {
		t.Errorf("without an integration: %d %s", a.Status, a.Body)
	}
	h.integrate()
	notify, one := `{"config":{"notify":true}}`, "/sensors/devices/"+doorThing
	own := func(path string) string { return fmt.Sprintf("%s?network_id=%d", path, h.home) }
	for path, right := range map[string]string{
		"/sensors/devices": `"thingName":"` + hubThing, one: `"deviceType":"SensorDoor"`,
		"/sensors/history": `"detections":[]`, "/sensors/history/" + doorThing: `"detections":[]`,
	} {
		h.climb(http.MethodGet,
			step{"no token", person{}, path, "", 401, ""},
			step{"belongs to none", h.nobody, path, "", 404, ""},
			step{"foreign network", h.neighbour, own(path), "", 404, "is not known"},
			step{"malformed", h.member, path + "?x=%zz", "", 400, ""},
			step{"malformed", h.member, path + "?network_id=x", "", 400, "network_id"},
			step{"right", h.member, own(path), "", 200, right},
		)
	}
	h.climb(http.MethodGet,
		step{"another home's", h.neighbour, one, "", 404, "not found"},
		step{"unknown", h.member, "/sensors/devices/SENSOR_0", "", 404, "not found"},
		step{"history of an unknown one", h.member, "/sensors/history/SENSOR_0", "", 404, "not found"},
		step{"negative time", h.member, "/sensors/history?from=-1&to=-2", "", 422, "query.to"},
		step{"from after to", h.member, "/sensors/history?from=2&to=1", "", 422, "must not be after"},
	)
	h.climb(http.MethodPatch,
		step{"no token", person{}, one, notify, 401, ""},
		step{"foreign network", h.neighbour, own(one), notify, 404, "is not known"},
		step{"unknown", h.member, "/sensors/devices/SENSOR_0", notify, 404, "not found"},
		step{"malformed", h.member, one, `{`, 400, ""},
		step{"without notify", h.member, one, `{"config":{"location":"Hall"}}`, 422, "body.config.notify"},
		step{"notify false", h.member, one, `{"config":{"notify":false}}`, 200, `"notify":false`},
		step{"all mistakes at once", h.member, one, `{"purpose":"Toaster","config":{"notify":1,"humidityDelta":0}}`, 422, "body.config.humidityDelta"},
		step{"purpose of a hub", h.member, one, `{"purpose":"MainHub","config":{"notify":true}}`, 422, "not one of a SensorDoor"},
		step{"right", h.member, one, `{"config":{"notify":true,"emailNotify":true,"online":false,"status":"open","batteryLevel":3}}`, 200, `"emailNotify":false`},
		step{"right, flat", h.member, one, `{"notify":true,"friendlyName":"Front door"}`, 200, `"friendlyName":"Front door"`},
	)
	h.climb(http.MethodDelete,
		step{"no token", person{}, one, "", 401, ""},
		step{"foreign network", h.neighbour, own(one), "", 404, "is not known"},
		step{"unknown", h.member, "/sensors/devices/SENSOR_0", "", 404, "not found"},
		step{"right", h.member, one, "", 204, ""},
		step{"a hub", h.member, "/sensors/devices/" + hubThing, "", 204, ""},
	)
}

func TestPairLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.integrate()
	path := "/sensors/pair/" + hubThing
	h.climb(http.MethodPost,
		step{"no token", person{}, path, `{"timeout":60}`, 401, ""},
		step{"foreign network", h.neighbour, fmt.Sprintf("%s?network_id=%d", path, h.home), `{"timeout":60}`, 404, "is not known"},
		step{"unknown hub", h.member, "/sensors/pair/HUB_0", `{"timeout":60}`, 404, ""},
		step{"no hub", h.member, "/sensors/pair/" + doorThing, `{"timeout":60}`, 404, "is no hub"},
		step{"malformed", h.member, path, `{`, 400, ""},
		step{"too short", h.member, path, `{"timeout":0}`, 422, "body.timeout"},
		step{"too long", h.member, path, `{"timeout":601}`, 422, "want 1 to 600"},
		step{"right", h.member, path, `{"timeout":600}`, 200, `"timeout":600`},
		step{"as text", h.member, path, `{"timeout":"30"}`, 200, `"timeout":30`},
		step{"without a body", h.member, path, "", 200, `"timeout":60`},
	)
	answer := apitest.Want[map[string]any](t, h.as(h.member, http.MethodPost, path, `{"timeout":60}`), 200)
	wantKeys(t, "the answer", answer, "thingName pairing timeout expires_at")
	until, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(answer["expires_at"]))
	if left := time.Until(until); err != nil || left > time.Minute || left < 50*time.Second || answer["pairing"] != true {
		t.Errorf("%v %v", answer, err)
	}
	h.climb(http.MethodPatch, step{"disable", h.owner, "/sensors/integrations", `{"integrations_enabled":false}`, 200, ""})
	h.climb(http.MethodPost, step{"not enabled", h.member, path, "", 409, "integrations_enabled"})
}

func TestSensorHasTheShapeThatClientsKnow(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.integrate()
	list := apitest.Want[struct {
		Devices []map[string]any `json:"devices"`
	}](t, h.as(h.member, http.MethodGet, "/sensors/devices", ""), 200)
	if len(list.Devices) != 3 {
		t.Fatalf("%v", list.Devices)
	}
	for _, d := range list.Devices {
		wantKeys(t, "a device", d, "id network_id external_id userThingName thingName hubThingName deviceType purpose config created_at updated_at")
		keys := "notify emailNotify online status friendlyName location temperatureDelta humidityDelta"
		if d["thingName"] != hubThing {
			keys += " batteryLevel"
		}
		wantKeys(t, "a config", d["config"].(map[string]any), keys)
	}
	form := "notify=true&friendlyName=Front+door&temperatureDelta=0.5"
	a := h.Send(h.owner.token, http.MethodPatch, "/sensors/devices/"+doorThing, formMedia, form)
	if d := apitest.Want[sensor.Device](t, a, 200); d.Config.FriendlyName != "Front door" || d.Config.TemperatureDelta != 0.5 {
		t.Errorf("%+v", d)
	}
}

func TestSensorHistoryBeginsWithTheClaim(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.integrate()
	now := h.engine.State.Now()
	h.tell(doorThing, sensor.Open, now-10)
	h.tell(doorThing, sensor.Closed, now-5)
	type answer struct {
		Detections []map[string]any `json:"detections"`
	}
	found := apitest.Want[answer](t, h.as(h.member, http.MethodGet, "/sensors/history/"+doorThing, ""), 200).Detections
	if len(found) != 2 {
		t.Fatalf("%v", found)
	}
	wantKeys(t, "a detection", found[0], "id network_id external_id thingName deviceType purpose location event value ts")
	value, _ := json.Marshal(found[0]["value"]) // came from JSON
	if string(value) != `{"batteryLevel":100,"status":"closed"}` || found[0]["location"] != "Hallway" || found[0]["event"] != "SensorChangedValue" {
		t.Errorf("%v", found[0])
	}
	for query, want := range map[string]int{
		"": 2, fmt.Sprintf("?from=%f", now-7): 1, fmt.Sprintf("?to=%f", now-7): 1, fmt.Sprintf("?from=%f&to=%f", now-20, now): 2, "?to=1": 0,
	} {
		if got := apitest.Want[answer](t, h.as(h.member, http.MethodGet, "/sensors/history"+query, ""), 200).Detections; len(got) != want {
			t.Errorf("%s: %v", query, got)
		}
	}
	h.update(func(tx *store.Tx) error {
		one, err := tx.Home(h.home)
		if err != nil {
			return err
		}
		one.ClaimedAt = now - 7
		return tx.PutHome(one)
	})
	if got := apitest.Want[answer](t, h.as(h.member, http.MethodGet, "/sensors/history", ""), 200).Detections; len(got) != 1 {
		t.Errorf("since the claim: %v", got)
	}
}

func TestLockedCupboardAsksToComeBack(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.integrate()
	h.sensors.lock()
	for _, call := range [][3]string{
		{http.MethodPost, "/sensors/pair/" + hubThing, ""},
		{http.MethodPatch, "/sensors/devices/" + doorThing, `{"notify":true}`},
		{http.MethodDelete, "/sensors/devices/" + doorThing, ""},
	} {
		if a := h.as(h.owner, call[0], call[1], call[2]); a.Status != 503 || a.Header.Get("Retry-After") != "30" {
			t.Errorf("%s %s: %d %s", call[0], call[1], a.Status, a.Body)
		}
	}
	h.climb(http.MethodGet, step{"what is known", h.member, "/sensors/devices/" + doorThing, "", 200, `"notify":true`})
	h.climb(http.MethodDelete, step{"the integration", h.owner, "/sensors/integrations", "", 204, ""})
}

func TestSensorEventsAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.integrate()
	h.climb(http.MethodDelete,
		step{"the hub", h.owner, "/sensors/devices/" + hubThing, "", 204, ""},
		step{"the integration", h.owner, "/sensors/integrations", "", 204, ""},
	)
	counts := map[string]int{}
	for _, e := range h.events(motion.DeviceAddedEvent, motion.DeviceRemoved, motion.IntegrationDeletedEvent, motion.IntegrationsConfigChangedEvent) {
		counts[e.Event]++
		if e.Category != motion.CategorySystem || e.GuardianID != guardianID {
			t.Errorf("%+v", e)
		}
	}
	want := map[string]int{"DeviceAddedEvent": 3, "IntegrationsConfigChangedEvent": 1, "DeviceRemoved": 2, "IntegrationDeletedEvent": 1}
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		t.Errorf("%v", counts)
	}
}
