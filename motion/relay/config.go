package relay

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"sensegate/motion/hook"
)

// Config is the relay's part of the configuration: the MQTT broker and the webhook for live
// motion. Start from Defaults.
type Config struct {
	MQTT    MQTTConfig  `yaml:"mqtt" envPrefix:"MQTT_"`
	Webhook hook.Config `yaml:"webhook" envPrefix:"WEBHOOK_"`
}

// MQTTConfig configures the connection to an external MQTT 5 broker.
type MQTTConfig struct {
	URL      string `yaml:"url" env:"URL"` // mqtt://host[:1883] or mqtts://host[:8883]; empty: disabled
	Username string `yaml:"username" env:"USERNAME"`
	Password string `yaml:"password" env:"PASSWORD" secret:"true"`
	Prefix   string `yaml:"prefix" env:"PREFIX"`       // of every topic
	ClientID string `yaml:"client_id" env:"CLIENT_ID"` // empty: sensegate-<host name>
	CA       string `yaml:"ca" env:"CA"`               // PEM certificates to verify the broker; empty: the system's
}

// Defaults returns a configuration without providers.
func Defaults() Config { return Config{MQTT: MQTTConfig{Prefix: "sensegate"}} }

// Validate returns all mistakes joined, or nil. It also checks the settings of a provider
// without a url, so that they are right when it gets one.
func (c Config) Validate() error {
	wrong := []error{c.MQTT.validate()}
	if err := c.Webhook.Validate(); err != nil {
		for line := range strings.Lines(err.Error()) {
			wrong = append(wrong, errors.New("webhook."+strings.TrimSpace(line)))
		}
	}
	return errors.Join(wrong...)
}

func (c MQTTConfig) validate() error {
	var wrong []error
	if _, err := c.server(); err != nil {
		wrong = append(wrong, fmt.Errorf("mqtt.url: %w", err))
	}
	if strings.ContainsAny(c.Prefix, "#+\x00") || slices.Contains(strings.Split(c.Prefix, "/"), "") || strings.HasPrefix(c.Prefix, "$") {
		wrong = append(wrong, errors.New("mqtt.prefix: want one or more topic levels such as home/sensegate, without # and +"))
	}
	if _, err := c.tls(); err != nil {
		wrong = append(wrong, fmt.Errorf("mqtt.ca: %w", err))
	}
	return errors.Join(wrong...)
}

// server returns the broker's address with its port; nil without a url.
func (c MQTTConfig) server() (*url.URL, error) {
	if c.URL == "" {
		return nil, nil
	}
	const want = "want mqtt://host[:port] or mqtts://host[:port]; user name and password have keys of their own"
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New(want) // its own error would show the whole url
	}
	ports := map[string]string{"mqtt": "1883", "mqtts": "8883"}
	port, known := ports[u.Scheme]
	if !known || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, errors.New(want)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	return &url.URL{Scheme: u.Scheme, Host: net.JoinHostPort(u.Hostname(), port)}, nil
}

// tls returns the TLS configuration that verifies the broker.
func (c MQTTConfig) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA == "" {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM([]byte(c.CA)) {
		return nil, errors.New("want certificates as PEM text, not the name of a file")
	}
	return config, nil
}

// clientID returns the client id. It is the same at every start, so that the broker ends a
// connection of the last run that is still open.
func (c MQTTConfig) clientID() string {
	if c.ClientID != "" {
		return c.ClientID
	}
	host, err := os.Hostname()
	if err != nil {
		return "sensegate"
	}
	return "sensegate-" + host
}
