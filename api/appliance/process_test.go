package appliance

import (
	"log/slog"
	"strings"
	"testing"
)

func TestConnectionsFitTheFilesThatMayBeOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files            int
		core             string
		http, mqtt, warn int
	}{
		"as delivered":           {1 << 20, "", 4096, 4096, 0},
		"just enough":            {8192 + spareFiles, "", 4096, 4096, 0},
		"a router's 4,096":       {4096, "", 1536, 1536, 1},
		"with a listener more":   {4096, ":8081", 1024, 1024, 1},
		"a desktop's 1,024":      {1024, "", 128, 128, 1},
		"the system says little": {0, "", 4096, 4096, 0},
	} {
		var log strings.Builder
		config := Defaults()
		config.Core.Listen = c.core
		config.fitConnections(c.files, slog.New(slog.NewTextHandler(&log, nil)))
		if h, m := config.HTTP.MaxConnections, config.MQTT.Guard.MaxConnections; h != c.http || m != c.mqtt {
			t.Errorf("%s: %d over HTTP and %d over MQTT, want %d and %d", name, h, m, c.http, c.mqtt)
		}
		if n := strings.Count(log.String(), "fewer connections"); n != c.warn {
			t.Errorf("%s: told %d times, want %d: %s", name, n, c.warn, &log)
		}
	}
	if n := openFiles(); n < 64 {
		t.Errorf("the system lets %d files be open", n)
	}
}
