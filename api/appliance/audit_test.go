package appliance

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sensegate/store"
)

// TestEachCommandIsInTheAuditLog walks all commands of the socket that change something, and those
// that show a secret.
func TestEachCommandIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	r := serve(t, func(c *Config) { c.Log.InForce = new(slog.LevelVar) })
	word := filepath.Join(t.TempDir(), "word")
	if err := os.WriteFile(word, []byte("an invented password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.command("user", "create", "jdoe@example.com", "-password-file", word)
	r.claim()
	r.call("", http.MethodPost, "/users", `{"email":"next@example.com","password":"an invented password"}`, nil) // which is mailed
	file := filepath.Join(t.TempDir(), "copy.backup")
	device := "csi-a-02aa00000110"
	walked := map[string]bool{}
	for _, c := range []struct{ request, words, action, about string }{
		{"POST /apikeys", "apikey create laptop", "key_made", "laptop"},
		{"DELETE /apikeys/{id}", "apikey revoke 1", "key_revoked", "laptop"},
		{"POST /mqttusers", "mqttuser create ha", "mqtt_user_made", "ha"},
		{"DELETE /mqttusers/{id}", "mqttuser remove ha", "mqtt_user_removed", "ha"},
		{"POST /setup-code", "setup-code", "setup_code_made", ""},
		{"POST /users", "user create mum@example.com", "account_made", "mum@example.com"},
		{"POST /users/administrator", "user admin mum@example.com", "administrator_made", "mum@example.com"},
		{"POST /users/administrator", "user admin jdoe@example.com", "administrator_made", "jdoe@example.com"},
		{"POST /users/administrator", "user admin mum@example.com -remove", "administrator_ended", "mum@example.com"},
		{"POST /users/password", "user password mum@example.com", "password_set", "mum@example.com"},
		{"POST /users/delete", "user delete mum@example.com", "account_deleted", "account 3"},
		{"POST /adoption", "device adopt -window 10m", "adoption_opened", "network all"},
		{"DELETE /devices/{id}", "device remove " + device, "device_removed", device},
		{"PUT /log/level", "log level debug", "log_level", "DEBUG"},
		{"POST /uplinks", "uplink add house -url mqtt://127.0.0.1:9 -use events,live", "uplink_added", "house"},
		{"PUT /uplinks/{name}", "uplink change house -use events", "uplink_changed", "house"},
		{"DELETE /uplinks/{name}", "uplink remove house", "uplink_removed", "house"},
		{"GET /outbox/{id}", "outbox show 1", "mail_read", "mail 1"},
		{"GET /networks/{id}/copy", "network export 1 -plain -o " + file + ".move", "network_exported", "network 1"},
		{"GET /support", "support -o " + file + ".zip", "support_made", ""},
		{"GET /backup", "backup -o " + file, "backup_made", ""},
	} {
		before := r.auditLines(t)
		r.command(strings.Fields(c.words)...)
		lines := r.auditLines(t)
		walked[c.request] = true
		if len(lines) != len(before)+1 || lines[0].Action != c.action || lines[0].About != c.about || lines[0].Who.Kind != store.ByTerminal || lines[0].Who.Name == "" {
			t.Errorf("%s left %+v", c.words, lines[:min(len(lines), len(lines)-len(before)+1)])
		}
	}
	source, err := os.ReadFile(filepath.Join("..", "admin", "server.go"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := "POST /devices/{id}/adopt POST /calibration " + // TestEachChangeIsInTheAuditLog of api/browser calls the same methods
		"POST /devices/{id}/connect " + // makes an MQTT user, as POST /mqttusers does
		"POST /recordings/{name}/read DELETE /recordings/{name} " + // TestInterruptedRecordingIsComplete
		"POST /networks POST /networks/{id}/handover PUT /networks/{id}/handover DELETE /networks/{id}/handover DELETE /networks/{id} " + // api/appliance/movetest
		"POST /uplinks/{name}/test POST /program/try " + // change nothing
		"POST /restart " + // TestUpdateRunsTheNewProgram
		"POST /recordings/label POST /recordings/stop" // which leave none
	for _, request := range regexp.MustCompile(`"((?:POST|DELETE|PUT) [^"]+)"`).FindAllStringSubmatch(string(source), -1) {
		if !walked[request[1]] && !strings.Contains(elsewhere, request[1]) {
			t.Errorf("%s was not walked", request[1])
		}
	}
	if said := r.command("audit", "-last", "3"); !strings.Contains(said, "backup made") || !strings.Contains(said, "Older ones: sensegate audit -before ") {
		t.Errorf("audit says\n%s", said)
	}
}

// auditLines returns the whole audit log, the newest line first.
func (r running) auditLines(t *testing.T) (lines []store.AuditLine) {
	t.Helper()
	err := r.db.View(t.Context(), func(tx *store.Tx) error {
		lines, _ = tx.AuditPage(0, 1000)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
