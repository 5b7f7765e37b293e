package broker

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"sensegate/broker/guard"
)

// The ids of the listeners, as in Session.Listener.
const (
	ListenerTCP = "mqtt"
	ListenerTLS = "mqtts"
)

// stopTimeout bounds the orderly stop; after half of it, messages that are being
// stored are given up.
const stopTimeout = 4 * time.Second

// Config is the broker's part of the configuration. Start from Defaults.
type Config struct {
	Listen    string       `yaml:"listen" env:"LISTEN"` // host:port for plain MQTT
	TLSListen string       `yaml:"-"`                   // host:port for MQTT over TLS; empty = none
	TLS       *tls.Config  `yaml:"-"`                   // needed with TLSListen
	Guard     guard.Config `yaml:",inline"`
}

// Defaults returns plain MQTT on port 1883 with the product's limits.
func Defaults() Config { return Config{Listen: ":1883", Guard: guard.Defaults()} }

// Validate returns every mistake at once, nil when there is none.
func (c Config) Validate() error {
	errs := []error{address("listen", c.Listen), c.Guard.Validate()}
	if c.TLSListen != "" {
		errs = append(errs, address("tls_listen", c.TLSListen))
		if c.TLS == nil {
			errs = append(errs, errors.New("tls_listen: needs a certificate"))
		}
	}
	return errors.Join(errs...)
}

func address(key, value string) error {
	if _, _, err := net.SplitHostPort(value); err != nil {
		return fmt.Errorf("%s: want host:port such as :1883: %w", key, err)
	}
	return nil
}
