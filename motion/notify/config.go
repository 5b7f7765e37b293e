package notify

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"sensegate/motion"
	"sensegate/motion/hook"
	"sensegate/store/regular"
)

// MailConfig configures how mails are sent.
type MailConfig struct {
	SMTP SMTPConfig `yaml:"smtp" envPrefix:"SMTP_"`
}

// SMTPConfig configures the mail server.
type SMTPConfig struct {
	Host     string `yaml:"host" env:"HOST"` // empty: mails stay in the outbox
	Port     int    `yaml:"port" env:"PORT"`
	TLS      string `yaml:"tls" env:"TLS"` // starttls, implicit or none
	Username string `yaml:"username" env:"USERNAME"`
	Password string `yaml:"password" env:"PASSWORD" secret:"true"`
	From     string `yaml:"from" env:"FROM"` // the sender's address
	CA       string `yaml:"ca" env:"CA"`     // PEM certificates to verify the server; empty: the system's

	PasswordFile string `yaml:"password_file" secret:"false"` // instead of Password: path of its file
}

// Kinds of encryption of the connection to the mail server.
const (
	startTLS    = "starttls" // required, not optional
	implicitTLS = "implicit"
	withoutTLS  = "none"
)

// MailDefaults returns a configuration that sends nothing.
func MailDefaults() MailConfig { return MailConfig{SMTP: SMTPConfig{Port: 587, TLS: startTLS}} }

// Validate returns all mistakes joined, or nil.
func (c MailConfig) Validate() error {
	s := c.SMTP
	var wrong []error
	rule := func(ok bool, text string) {
		if !ok {
			wrong = append(wrong, errors.New(text))
		}
	}
	rule(!strings.ContainsAny(s.Host, "/: "), "smtp.host: want a host name or address, without port")
	rule(s.Port > 0 && s.Port < 1<<16, "smtp.port: want 1 to 65535")
	rule(s.TLS == startTLS || s.TLS == implicitTLS || s.TLS == withoutTLS, fmt.Sprintf("smtp.tls: want starttls, implicit or none, found %.40q", s.TLS))
	rule(s.Username == "" || s.TLS != withoutTLS, "smtp.tls: want starttls or implicit, because a password is sent")
	password, err := secret(s.Password, s.PasswordFile)
	rule(err == nil, fmt.Sprintf("smtp.password_file: %v", err))
	rule(err != nil || (s.Username == "") == (password == ""), "smtp.password: want both username and password, or neither")
	if s.Host != "" || s.From != "" {
		_, err := mail.ParseAddress(s.From)
		rule(err == nil, "smtp.from: want the sender's address, such as home@example.com")
	}
	_, err = s.roots()
	rule(err == nil, "smtp.ca: want certificates as PEM text, not the name of a file")
	return errors.Join(wrong...)
}

// secret returns a secret that is configured as text or as the path of its file.
func secret(text, file string) (string, error) {
	if file == "" {
		return text, nil
	}
	if text != "" {
		return "", errors.New("want the secret or its file, not both")
	}
	raw, err := regular.Read(file)
	return strings.TrimSpace(string(raw)), err
}

// roots returns the TLS configuration that verifies the server.
func (c SMTPConfig) roots() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.Host}
	if c.CA == "" {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM([]byte(c.CA)) {
		return nil, errors.New("no certificate")
	}
	return config, nil
}

// PushConfig configures how messages reach the phones of a household.
type PushConfig struct {
	FCM           FCMConfig   `yaml:"fcm" envPrefix:"FCM_"`
	Webhook       hook.Config `yaml:"webhook" envPrefix:"WEBHOOK_"`
	LoadTestToken string      `yaml:"load_test_token" env:"LOAD_TEST_TOKEN" secret:"true"` // messages to it are built but not sent
	Sound         string      `yaml:"sound" env:"SOUND"`                                   // played by the phone; empty: none
	// Messages are the pushed kinds of events; a kind without a title is not pushed.
	Messages map[string]Message `yaml:"messages"`
}

// Message is the text of a push. {network} stands for the name of the home, {place} for the
// place of the motion or the sensor.
type Message struct {
	Title string `yaml:"title"`
	Body  string `yaml:"body"`
}

// FCMConfig configures a push service that implements FCM HTTP v1.
type FCMConfig struct {
	Credentials string `yaml:"credentials" env:"CREDENTIALS" secret:"true"` // the service account as JSON text; empty: no FCM
	Endpoint    string `yaml:"endpoint" env:"ENDPOINT"`
	TokenURL    string `yaml:"token_url" env:"TOKEN_URL" secret:"false"` // empty: that of the service account

	CredentialsFile string `yaml:"credentials_file" secret:"false"` // instead of Credentials: path of its file
}

// PushDefaults returns a configuration that sends nothing.
func PushDefaults() PushConfig {
	return PushConfig{
		FCM:      FCMConfig{Endpoint: "https://fcm.googleapis.com"},
		Sound:    "default",
		Messages: messageDefaults(),
	}
}

// messageDefaults returns the messages of the kinds that are pushed by default.
func messageDefaults() map[string]Message {
	messages := map[string]Message{}
	for _, k := range motion.EventKinds() {
		if k.Push != nil {
			messages[k.Name] = Message(*k.Push)
		}
	}
	return messages
}

// Validate returns all mistakes joined, or nil. They contain no configured value.
func (c PushConfig) Validate() error {
	var wrong []error
	if _, err := c.FCM.account(); err != nil {
		key := "fcm.credentials"
		if c.FCM.Credentials == "" {
			key += "_file"
		}
		wrong = append(wrong, fmt.Errorf("%s: %w", key, err))
	}
	if !isHTTP(c.FCM.Endpoint) {
		wrong = append(wrong, errors.New("fcm.endpoint: want http://host or https://host"))
	}
	if c.FCM.TokenURL != "" && !isHTTP(c.FCM.TokenURL) {
		wrong = append(wrong, errors.New("fcm.token_url: want http://host/path or https://host/path"))
	}
	if err := c.Webhook.Validate(); err != nil {
		for line := range strings.Lines(err.Error()) {
			wrong = append(wrong, errors.New("webhook."+strings.TrimSpace(line)))
		}
	}
	return errors.Join(wrong...)
}

// isHTTP reports whether text is an http or https address.
func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}
