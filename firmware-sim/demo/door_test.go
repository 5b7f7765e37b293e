package demo_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/api/appliance"
	"sensegate/firmware-sim/demo"
	"sensegate/firmware-sim/zigbee"
	"sensegate/motion"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { http.DefaultClient.CloseIdleConnections() }))
}

// observed is an appliance that tells when its door sensor has its place.
type observed struct {
	*appliance.Appliance
	placed chan struct{}
}

func (o observed) PlaceSensor(ctx context.Context, network motion.NetworkID, thing, location, name string) error {
	err := o.Appliance.PlaceSensor(ctx, network, thing, location, name)
	if err == nil {
		close(o.placed)
	}
	return err
}

// viewer is somebody who is signed in to the demo.
type viewer struct {
	t       *testing.T
	at      string
	cookies []*http.Cookie
	proof   string
}

// run runs the demo until the test ends, and signs in with its link.
func run(t *testing.T) *viewer {
	t.Helper()
	read, write := io.Pipe()
	placed := make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- demo.Run(ctx, demo.Config{
			Seed: 1, Speed: 1, JSON: true, Out: write, Log: slog.New(slog.DiscardHandler), HTTP: "127.0.0.1:0", MQTT: "127.0.0.1:0",
			Open: func(ctx context.Context, stateDir, http, mqtt string) (demo.Appliance, error) {
				c := appliance.Defaults()
				c.StateDir, c.HTTP.Listen, c.MQTT.Listen, c.HTTP.TLSListen, c.MQTT.TLSListen = stateDir, http, mqtt, "", ""
				a, err := appliance.Open(ctx, c, slog.New(slog.DiscardHandler))
				return observed{a, placed}, err
			},
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = read.Close() // ends who reads on
	})
	lines := bufio.NewScanner(read)
	var start struct{ HTTP, Page string }
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &start) != nil {
		t.Fatalf("the demo says %q: %v", lines.Text(), lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	select {
	case <-placed:
	case <-time.After(time.Minute):
		t.Fatal("the door has no place")
	}
	v := &viewer{t: t, at: "http://" + start.HTTP}
	_, code, _ := strings.Cut(start.Page, "#demo=")
	var answer struct{ Proof string }
	v.ask(http.MethodPost, "/web/v1/demo-login", `{"code":"`+code+`"}`, &answer)
	v.proof = answer.Proof
	return v
}

func (v *viewer) ask(method, path, body string, answer any) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, v.at+path, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	r.Header.Set("X-Sensegate", v.proof)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, c := range v.cookies {
		r.AddCookie(c)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode >= 300 || answer != nil && json.Unmarshal(raw, answer) != nil {
		v.t.Fatalf("%s %s: %d %s %v", method, path, got.StatusCode, raw, err)
	}
	v.cookies = append(v.cookies, got.Cookies()...)
}

func TestFrontDoorOpensWhenSomebodyWalksIn(t *testing.T) {
	t.Parallel()
	v := run(t)
	type sensor struct {
		Thing  string `json:"thingName"`
		Config struct {
			FriendlyName, Location, Status string
			Online                         bool
		}
	}
	door := func() (s sensor) {
		v.ask(http.MethodGet, "/api/v1/sensors/devices/"+zigbee.Door, "", &s)
		return s
	}
	if d := door(); d.Config.FriendlyName != "Front door" || d.Config.Location != "Hallway" || d.Config.Status != "closed" || !d.Config.Online {
		t.Errorf("the door is %+v", d)
	}
	v.ask(http.MethodPost, "/web/v1/demo", `{"action":"walk"}`, nil)
	again := time.NewTicker(200 * time.Millisecond) // as often as one may ask
	defer again.Stop()
	for _, status := range []string{"open", "closed"} {
		for end := time.Now().Add(time.Minute); door().Config.Status != status; <-again.C {
			if time.Now().After(end) {
				t.Fatalf("the door is never %s", status)
			}
		}
	}
}
