package appliance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"sensegate/api/admin"
	"sensegate/motion"
	"sensegate/motion/hook"
)

// running is an appliance that serves until the test ends.
type running struct {
	*Appliance
	t   *testing.T
	out *bytes.Buffer
}

// serve starts an appliance on a directory of its own.
func serve(t *testing.T, change func(*Config)) running {
	t.Helper()
	c := Defaults()
	c.StateDir, c.HTTP.Listen, c.MQTT.Listen = t.TempDir(), "127.0.0.1:0", "127.0.0.1:0"
	c.HTTP.TLSListen, c.MQTT.TLSListen = "127.0.0.1:0", "127.0.0.1:0"
	change(&c)
	r := running{t: t, out: &bytes.Buffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	if r.Appliance, err = Open(ctx, c, slog.New(slog.NewTextHandler(r.out, nil))); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for _, secret := range []string{"jdoe@", "token=", "an invented password"} {
			if strings.Contains(r.out.String(), secret) {
				t.Errorf("the log shows %s:\n%s", secret, r.out)
			}
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return r
}

// call calls the App Cloud interface and wants 200.
func (r running) call(token, method, path, body string, answer any) {
	r.t.Helper()
	r.fetch(token, method, "http://"+r.HTTP().String()+"/api/v1"+path, body, answer)
}

// fetch calls an address and wants 200.
func (r running) fetch(token, method, url, body string, answer any) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		r.t.Fatalf("%s %s: %s, %v\n%s", method, request.URL.Path, response.Status, err, raw)
	}
	if answer == nil {
		return
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		r.t.Fatalf("%s: %v", raw, err)
	}
}

// command runs a command of the administrator.
func (r running) command(words ...string) string {
	r.t.Helper()
	var out bytes.Buffer
	if err := admin.Run(r.t.Context(), r.config.StateDir, nil, words, &out, io.Discard); err != nil {
		r.t.Fatal(err)
	}
	return out.String()
}

// claim has a network form, and a person claim it; it returns a session token.
func (r running) claim() (token string) {
	r.t.Helper()
	radar := motion.Radar{
		DeviceID: "csi-a-02aa00000110", NodeName: "GWA1000133", LocationID: "a41f00c2d97b4e5580136c2e", RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}, HWVersion: "AP-900",
	}
	admission, err := r.engine.Devices.Admit(r.t.Context(), motion.Bootstrap{Radar: radar, LocationID: radar.LocationID}, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")})
	if err != nil || admission.Network == 0 {
		r.t.Fatalf("%+v, %v", admission, err)
	}
	var session struct{ Token string }
	r.call("", http.MethodPost, "/sessions", `{"email": "jdoe@example.com", "password": "an invented password"}`, &session)
	var found struct{ ID int }
	r.call(session.Token, http.MethodPost, "/find", `{"guardian_id": "a41f00c2d97b4e5580136c2e"}`, &found)
	r.call(session.Token, http.MethodPost, "/network_memberships", fmt.Sprintf(`{"role": "owner", "network_id": %d}`, found.ID), nil)
	return session.Token
}

// TestPersonIsConfirmedFromTheOutboxAndPushed registers somebody, hands over the mail
// as the administrator does, and has what happens in the home posted to a webhook.
func TestPersonIsConfirmedFromTheOutboxAndPushed(t *testing.T) {
	t.Parallel()
	posts := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !strings.HasPrefix(r.Header.Get(hook.HeaderSignature), "v1,") {
			t.Errorf("unsigned, or %v", err)
		}
		posts <- string(body)
	}))
	t.Cleanup(receiver.Close)
	r := serve(t, func(c *Config) {
		c.Push.Webhook = hook.Config{URL: receiver.URL, Secret: "an invented secret"}
	})
	r.call("", http.MethodPost, "/users", `{"email": "jdoe@example.com", "password": "an invented password", "first_name": "J", "last_name": "Doe"}`, nil)
	if list := r.command("outbox", "list"); !regexp.MustCompile(`(?m)^1 +confirm +jdoe@example.com +kept `).MatchString(list) {
		t.Fatalf("outbox list:\n%s", list)
	}
	shown := r.command("outbox", "show", "1")
	base := "http://" + r.HTTP().String()
	link := regexp.MustCompile(regexp.QuoteMeta(base) + `/confirm#token=(\S+)`).FindStringSubmatch(shown)
	if link == nil || !strings.Contains(shown, "██") || !strings.Contains(shown, "Subject: Confirm your address") {
		t.Fatalf("outbox show:\n%s", shown)
	}
	r.fetch("", http.MethodGet, base+"/confirm", "", nil)
	r.call("", http.MethodPut, "/confirmations", fmt.Sprintf(`{"token": %q, "password": "an invented password"}`, link[1]), nil)
	r.fetch("", http.MethodGet, base+"/reset?token=t", "", nil)
	r.fetch("", http.MethodGet, base+"/invite?network_id=1", "", nil)

	token := r.claim()
	r.call(token, http.MethodPut, "/scenes", `{"scene_id": 1}`, nil)
	for {
		select {
		case post := <-posts:
			if strings.Contains(post, `"click_action":"SceneChangedToAwayEvent"`) && strings.Contains(post, `"type":"push"`) {
				return
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing was pushed")
		}
	}
}

func TestAdministratorIsToldWhatIsWrongWithAMailsNumber(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	for id, want := range map[string]string{"x": "want the number", "4711": "mail 4711: not found"} {
		err := admin.Run(t.Context(), r.config.StateDir, nil, []string{"outbox", "show", id}, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}
