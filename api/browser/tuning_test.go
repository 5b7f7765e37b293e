package browser_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
)

// noBroker stands for the broker that a bridge of sensors connects to.
type noBroker struct{}

func (noBroker) Publish(string, []byte) error                                              { return nil }
func (noBroker) Subscribe(string, func(ctx context.Context, topic string, _ []byte) error) {}

func TestInstallersTuneTheHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	installer := b.nobody.again()
	b.install(installer, 3600)
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"no such level":                  {`{"network_id":1,"sensitivity_level":"huge"}`, 422, "sensitivity_level"},
		"a cool-down of more than a day": {`{"network_id":1,"cooldown":86401}`, 422, "cooldown"},
		"pets at a low sensitivity":      {`{"network_id":1,"sensitivity_level":"low","pet_mode":true}`, 422, ""},
		"a pause, which is no tuning":    {`{"network_id":1,"motion_paused":true}`, 422, "motion_paused"},
	} {
		if a := installer.setUp(http.MethodPut, "/tuning", c.body); a.Status != c.status || !strings.Contains(string(a.Body), c.says) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	if a := b.owner.ask(http.MethodPut, "/tuning", `{"network_id":1,`); a.Status != 400 {
		t.Errorf("malformed: %d %s", a.Status, a.Body)
	}
	const tuned = `{"sensitivity_level":"high","cooldown":60,"pet_mode":true,"motion_paused":false}`
	if a := installer.setUp(http.MethodPut, "/tuning", `{"network_id":1,"sensitivity_level":"high","cooldown":60,"pet_mode":true}`); a.Status != 200 || strings.TrimSpace(string(a.Body)) != tuned {
		t.Fatalf("tuned: %d %s", a.Status, a.Body)
	}
	b.owner.done(http.MethodPost, "/pause", `{"network_id":1,"paused":true,"minutes":15}`)
	apitest.WantProblem(t, installer.setUp(http.MethodPut, "/tuning", `{"network_id":1,"cooldown":30}`), 409, "paused")
	if a := b.owner.setUp(http.MethodGet, "/tuning", ""); a.Status != 200 || strings.TrimSpace(string(a.Body)) != strings.Replace(tuned, `"motion_paused":false`, `"motion_paused":true`, 1) {
		t.Errorf("while paused: %d %s", a.Status, a.Body)
	}
}

// TestBridgeUserIsShownOnce: the owner makes a user for the bridge of the home's sensors, which opens
// the bridge's topics alone.
func TestBridgeUserIsShownOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const body = `{"network_id":1}`
	make := func(body string) apitest.Answer { return b.owner.ask(http.MethodPost, "/bridge-user", body) }
	apitest.WantProblem(t, make(body), 404, "no sensor integration")
	if _, err := b.sensors.Create(t.Context(), b.home, b.owner.ID, true, ""); err != nil {
		t.Fatal(err)
	}
	if a := make(`{"network_id":1,"replace":"x"}`); a.Status != 422 {
		t.Errorf("malformed: %d %s", a.Status, a.Body)
	}
	made := apitest.Want[struct{ Name, Password, Server, Topic string }](t, make(body), 200)
	if made.Name != "zigbee2mqtt" || made.Topic != "zigbee2mqtt" || made.Server != "mqtt://192.168.1.20:1883" {
		t.Errorf("made %+v", made)
	}
	if topics, err := b.engine.Devices.LoginUser(t.Context(), made.Name, made.Password); err != nil || topics.Prefix != "zigbee2mqtt" {
		t.Errorf("the user opens %q, %v", topics, err)
	}
	apitest.WantProblem(t, make(body), 409, "bridge_user")
	again := apitest.Want[struct{ Password string }](t, make(`{"network_id":1,"replace":true}`), 200)
	if _, err := b.engine.Devices.LoginUser(t.Context(), made.Name, made.Password); err == nil || again.Password == made.Password {
		t.Error("the former password is still valid")
	}
	b.owner.longAgo()
	apitest.WantProblem(t, make(`{"network_id":1,"replace":true}`), 403, "step_up")
	b.owner.done(http.MethodPost, "/step-up", `{"password":"`+password+`"}`)
	apitest.Want[struct{ Password string }](t, make(`{"network_id":1,"replace":true}`), 200)
}

// TestProvidersOfSensors: a home is told whom it may choose, and whom it has.
func TestProvidersOfSensors(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	ask := func() string {
		return strings.TrimSpace(string(b.member.ask(http.MethodGet, "/sensor-providers", "").Body))
	}
	const offered = `"providers":[{"name":"zigbee2mqtt","bridge":true}]}`
	if got := ask(); got != `{"used":"",`+offered {
		t.Errorf("before: %s", got)
	}
	if _, err := b.sensors.Create(t.Context(), b.home, b.owner.ID, true, ""); err != nil {
		t.Fatal(err)
	}
	if got := ask(); got != `{"used":"zigbee2mqtt",`+offered {
		t.Errorf("with an integration: %s", got)
	}
}
