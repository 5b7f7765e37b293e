package appliance

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sensegate/api/admin"
	"sensegate/api/auth"
	"sensegate/api/box/preflight"
	"sensegate/motion/uplink"
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

// A log goes into a regular file: of a pipe a start would wait for a reader, and a device would be renamed when the file is full.
func TestLogIntoAPipeIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/null", dir} {
		c := Defaults()
		c.StateDir, c.Log.File = dir, path
		var out bytes.Buffer
		c.Log.Logger(&out).Info("begins") // before anything is looked at
		if !strings.Contains(out.String(), "begins") {
			t.Errorf("%s: the log has %q", path, out.String())
		}
		var log preflight.Finding
		for _, f := range c.Preflight() {
			if f.What == "log.file" {
				log = f
			}
		}
		if log.Grade != preflight.Wrong || !strings.Contains(log.String(), "log.file: "+path+" is a ") || !strings.Contains(log.String(), "Or leave it empty") {
			t.Errorf("doctor says %s", log)
		}
	}
	files, said := stoppedBundle(t, "state_dir: "+dir+"\nlog: {file: "+pipe+"}\n")
	want(t, files, said, map[string][]string{"doctor.txt": {"log.file: ", " is a pipe and no regular file: name one that is"}})
	if !strings.Contains(said, "without the log: "+pipe+" is a pipe and no regular file: name one that is (log.file)") {
		t.Errorf("it says %s", said)
	}
}

// Of a log without an end a bundle has the end.
func TestSupportBundleOfALargeLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = file.Truncate(1 << 40)
	if _, sought := file.Seek(0, 2); err != nil || sought != nil {
		t.Fatal(err, sought)
	}
	log := slog.New(slog.NewTextHandler(file, nil))
	log.Info("\nof a line that is cut")
	log.Info("ready", "state", dir)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	files, said := stoppedBundle(t, "state_dir: "+dir+"\nlog: {file: "+path+"}\n")
	want(t, files, said, map[string][]string{"log.txt": {"ready"}})
}

// Files that are not there, or that only root can read, doctor tells before a start of the service misses them.
func TestDoctorLooksAtNamedFiles(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	c, password, none := Defaults(), filepath.Join(elsewhere, "password"), filepath.Join(elsewhere, "none")
	c.StateDir, c.TLS.Certificate, c.TLS.Key, c.Mail.SMTP.PasswordFile = dir, none, none, password
	c.Auth.Providers = []auth.ProviderConfig{{JWKSFile: none}}
	c.Uplinks = []uplink.Config{{PasswordFile: password, CA: "-----BEGIN CERTIFICATE-----"}}
	if err := os.WriteFile(password, []byte("word"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"warning tls.certificate", "warning tls.key", "wrong auth.providers.0.jwks_file"}
	if os.Geteuid() == 0 {
		want = slices.Insert(want, 2, "warning mail.smtp.password_file")
		want = append(want, "warning uplinks.0.password_file")
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range c.lookAtFiles() {
		got = append(got, f.Grade.String()+" "+f.What)
		if !strings.Contains(f.Says, elsewhere) {
			t.Errorf("doctor says %s", f)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("doctor tells %q, want %q", got, want)
	}
}
