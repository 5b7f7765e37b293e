package appliance

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion"
)

func TestTakenPortIsNamedAsInTheConfiguration(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	taken := other.Addr().String()
	for name, take := range map[string]func(*Config){
		"http.listen":     func(c *Config) { c.HTTP.Listen = taken },
		"http.tls_listen": func(c *Config) { c.HTTP.TLSListen = taken },
		"core.listen":     func(c *Config) { c.Core.Listen = taken },
		"core.tls_listen": func(c *Config) { c.Core.TLSListen = taken },
	} {
		c := Defaults()
		c.StateDir = t.TempDir()
		c.HTTP.Listen, c.HTTP.TLSListen = "127.0.0.1:0", "127.0.0.1:0"
		c.MQTT.Listen, c.MQTT.TLSListen = "127.0.0.1:0", "127.0.0.1:0"
		c.Core.Listen, c.Core.TLSListen = "127.0.0.1:0", "127.0.0.1:0"
		take(&c)
		_, err := Open(t.Context(), c, slog.New(slog.DiscardHandler))
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), "set another port") {
			t.Errorf("%s is taken: %v", name, err)
		}
	}
}

// TestRevokedKeyEndsItsWebsocket wants the end long before the next ping, on either
// listener that Core can be served on.
func TestRevokedKeyEndsItsWebsocket(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]string{"with the rest": "", "of its own": "127.0.0.1:0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, func(c *Config) { c.Core.Listen = listen })
			radar := motion.Radar{DeviceID: "csi-a", NodeName: "GWA1", LocationID: "a41f", RootMode: motion.RootModeMaster, APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}}
			own := motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")}
			admission, err := r.engine.Devices.Admit(t.Context(), motion.Bootstrap{Radar: radar, LocationID: radar.LocationID}, own)
			if err != nil || admission.Network == 0 {
				t.Fatalf("%+v, %v", admission, err)
			}
			secret, _, _ := strings.Cut(r.command("apikey", "create", "viewer", "-scope", "core:read"), "\n")
			address := r.HTTP().String()
			if listen != "" {
				address = r.core.Addr().String()
			}
			ws, answer, err := websocket.DefaultDialer.DialContext(t.Context(), fmt.Sprintf("ws://%s/core/network/%d/events/live", address, admission.Network),
				http.Header{"Authorization": {secret}})
			if err != nil {
				t.Fatalf("%v: %v", err, answer)
			}
			defer ws.Close()
			began := time.Now()
			r.command("apikey", "revoke", "1")
			if err := ws.SetReadDeadline(began.Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, 4401) || time.Since(began) > 2*time.Second {
				t.Errorf("after %v the viewer reads %v, want the close 4401 within 2 s", time.Since(began), err)
			}
		})
	}
}

func TestAddressWhereNothingIsServedSaysSo(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.Core.Listen = "127.0.0.1:0" })
	for path, c := range map[string]struct {
		status int
		says   string
	}{
		"/":              {200, `src="app.js"`},
		"/core/networks": {404, "core.listen"},
		"/nothing":       {404, "nothing is served"},
	} {
		answer, err := http.Get("http://" + r.HTTP().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != c.status || !strings.Contains(string(body), c.says) {
			t.Errorf("%s: %d %s, want %d and %q", path, answer.StatusCode, body, c.status, c.says)
		}
	}
}

func TestMetricsTellOfBothDoors(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.Core.Listen = "127.0.0.1:0" })
	response, err := http.Get("http://" + r.core.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, door := range []string{"http", "core"} {
		if n := strings.Count(string(text), `sensegate_http_turned_away_total{door="`+door+`"} 0`+"\n"); n != 1 {
			t.Errorf("%d lines of the door %s in:\n%s", n, door, text)
		}
	}
}
