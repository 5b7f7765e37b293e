package notify

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestDefaultsAreValidAndSendNothing(t *testing.T) {
	t.Parallel()
	if err := MailDefaults().Validate(); err != nil {
		t.Error(err)
	}
	if err := PushDefaults().Validate(); err != nil {
		t.Error(err)
	}
	n := newBox(t).notifier()
	if n.Outbox.smtp != nil || n.Pusher.enabled() {
		t.Error("something is sent")
	}
}

// keys returns what the mistakes of a configuration begin with.
func keys(err error) (keys []string) {
	if err == nil {
		return nil
	}
	for line := range strings.Lines(err.Error()) {
		key, _, _ := strings.Cut(line, ":")
		keys = append(keys, key)
	}
	return keys
}

func TestEveryMistakeAboutMailIsToldAtOnce(t *testing.T) {
	t.Parallel()
	right := SMTPConfig{Host: "mail.lan", Port: 587, TLS: startTLS, From: "home@example.com"}
	for name, c := range map[string]struct {
		change func(*SMTPConfig)
		want   []string
	}{
		"right":                  {func(*SMTPConfig) {}, nil},
		"right with a log-in":    {func(s *SMTPConfig) { s.Username, s.Password = "u", "p" }, nil},
		"a port in the host":     {func(s *SMTPConfig) { s.Host = "mail.lan:587" }, []string{"smtp.host"}},
		"no sender":              {func(s *SMTPConfig) { s.From = "" }, []string{"smtp.from"}},
		"password in the clear":  {func(s *SMTPConfig) { s.TLS, s.Username, s.Password = withoutTLS, "u", "p" }, []string{"smtp.tls"}},
		"user without password":  {func(s *SMTPConfig) { s.Username = "u" }, []string{"smtp.password"}},
		"password and its file":  {func(s *SMTPConfig) { s.Username, s.Password, s.PasswordFile = "u", "p", "f" }, []string{"smtp.password_file"}},
		"a file that is missing": {func(s *SMTPConfig) { s.Username, s.PasswordFile = "u", "/nowhere" }, []string{"smtp.password_file"}},
		"all wrong":              {func(s *SMTPConfig) { *s = SMTPConfig{Host: "a b", TLS: "ssl", CA: "/etc/ca.pem"} }, []string{"smtp.host", "smtp.port", "smtp.tls", "smtp.from", "smtp.ca"}},
	} {
		s := right
		c.change(&s)
		if err := (MailConfig{SMTP: s}).Validate(); !slices.Equal(keys(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEveryMistakeAboutPushIsToldAtOnceAndShowsNoSecret(t *testing.T) {
	t.Parallel()
	account := serveFCM(t).credentials
	for name, c := range map[string]struct {
		change func(*PushConfig)
		want   []string
	}{
		"right":            {func(c *PushConfig) { c.FCM.Credentials = account }, nil},
		"no JSON":          {func(c *PushConfig) { c.FCM.Credentials = "hidden" }, []string{"fcm.credentials"}},
		"no project":       {func(c *PushConfig) { c.FCM.Credentials = `{"client_email": "hidden"}` }, []string{"fcm.credentials"}},
		"no key":           {func(c *PushConfig) { c.FCM.Credentials = strings.Replace(account, "PRIVATE KEY", "hidden", 1) }, []string{"fcm.credentials"}},
		"no token address": {func(c *PushConfig) { c.FCM.Credentials = strings.Replace(account, "http", "hidden", 1) }, []string{"fcm.credentials"}},
		"file and text":    {func(c *PushConfig) { c.FCM.Credentials, c.FCM.CredentialsFile = account, "f" }, []string{"fcm.credentials"}},
		"all wrong": {func(c *PushConfig) {
			c.FCM = FCMConfig{CredentialsFile: "/nowhere", Endpoint: "hidden", TokenURL: "ftp://hidden"}
			c.Webhook.URL = "hidden"
		}, []string{"fcm.credentials_file", "fcm.endpoint", "fcm.token_url", "webhook.url", "webhook.secret"}},
		"webhook, no secret":  {func(c *PushConfig) { c.Webhook.URL = "https://x/" }, []string{"webhook.secret"}},
		"webhook with secret": {func(c *PushConfig) { c.Webhook.URL, c.Webhook.Secret = "https://x/", "whsec_MDEyMzQ1Njc4OWFiY2RlZg==" }, nil},
	} {
		config := PushDefaults()
		c.change(&config)
		err := config.Validate()
		if !slices.Equal(keys(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: what is configured is shown: %v", name, err)
		}
	}
}

func TestSecretsAreReadFromFiles(t *testing.T) {
	t.Parallel()
	fcm := serveFCM(t)
	dir := t.TempDir()
	account, password := filepath.Join(dir, "account.json"), filepath.Join(dir, "password")
	for path, text := range map[string]string{account: fcm.credentials, password: "an invented password\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := newBox(t).notifier(func(o *Options) {
		o.Push.FCM = FCMConfig{CredentialsFile: account, Endpoint: fcm.URL}
		o.Mail.SMTP = SMTPConfig{Host: "mail.lan", Port: 25, TLS: startTLS, Username: "u", PasswordFile: password, From: "home@example.com"}
	})
	if n.Pusher.fcm == nil || n.Pusher.fcm.config.Email != "push@lake-1.example.com" || n.Outbox.smtp.password != "an invented password" {
		t.Errorf("%+v, %q", n.Pusher.fcm, n.Outbox.smtp.password)
	}
}
