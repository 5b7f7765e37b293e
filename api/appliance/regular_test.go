package appliance

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sensegate/api/admin"
)

// Whoever opens a pipe waits for its other end: each file that the configuration names is looked at before.
func TestPipesInTheConfigurationAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, huge := filepath.Join(dir, "pipe"), filepath.Join(dir, "huge")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(huge, nil, 0o600), os.Truncate(huge, 1<<40)); err != nil {
		t.Fatal(err)
	}
	const uplink = "uplinks: [{name: house, url: 'mqtts://h:8883', username: u, use: [events], "
	for key, text := range map[string]string{
		"mail.smtp.password_file":      "mail: {smtp: {host: h, from: a@example.com, username: u, password_file: PATH}}",
		"push.fcm.credentials_file":    "push: {fcm: {credentials_file: PATH}}",
		"relay.mqtt.ca":                "relay: {mqtt: {url: 'mqtts://h:8883', ca: PATH}}",
		"uplinks.0.password_file":      uplink + "password_file: PATH}]",
		"uplinks.0.ca":                 uplink + "password: x, ca: PATH}]",
		"uplinks.0.client_certificate": uplink + "password: x, client_certificate: PATH, client_key: x}]",
		"uplinks.0.client_key":         uplink + "password: x, client_certificate: x, client_key: PATH}]",
		"tls.certificate":              "tls: {certificate: PATH, key: none}",
		"tls.key":                      "tls: {certificate: none, key: PATH}",
		"auth.providers.0.jwks_file":   "auth: {providers: [{name: a, issuer: i, audience: b, jwks_file: PATH}]}",
	} {
		for path, what := range map[string]string{pipe: " is a pipe and no regular file: name one that is", "/dev/zero": " is a device and ", dir: " is a directory and ", huge: " is larger than 1 MiB"} {
			config := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(config, []byte(strings.ReplaceAll(text, "PATH", path)), 0o600); err != nil {
				t.Fatal(err)
			}
			unread := path == huge && (strings.HasPrefix(key, "tls.") || strings.HasPrefix(key, "auth."))
			if _, err := Load(config); !unread && (err == nil || !strings.Contains(err.Error(), ":1: "+key) || !strings.Contains(err.Error(), path+what)) {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	if _, err := Load(pipe); err == nil || !strings.Contains(err.Error(), pipe+" is a pipe and ") {
		t.Errorf("of the file itself: %v", err)
	}
	c := Defaults()
	_, err := admin.LoadConfig("", []string{"SENSEGATE_MAIL_SMTP_PASSWORD_FILE=" + pipe}, &c, c.Validate)
	if err == nil || !strings.Contains(err.Error(), "SENSEGATE_MAIL_SMTP_PASSWORD_FILE: "+pipe+" is a pipe and ") {
		t.Errorf("of the environment: %v", err)
	}
}
