package appliance

import (
	"log/slog"
	"net"
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
