package appliance

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
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
