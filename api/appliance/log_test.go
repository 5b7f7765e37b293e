package appliance

import (
	"log/slog"
	"strings"
	"testing"
)

// TestAdministratorsReadTheLogWithoutRequests: requests would tell when a household comes and goes.
func TestAdministratorsReadTheLogWithoutRequests(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	r.log.Info("request", "status", 200)
	r.log.Warn("request", "status", 500)
	lines, _, _ := r.box.LogLines(slog.LevelDebug, 0, 500)
	var all []string
	for _, line := range lines {
		all = append(all, line.Text)
	}
	if text := strings.Join(all, "\n"); !strings.Contains(text, "certificate authority made sha256=") || strings.Count(text, "request ") != 1 || !strings.Contains(text, "request status=500") {
		t.Errorf("kept:\n%s", text)
	}
}
