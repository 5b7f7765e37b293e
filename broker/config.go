package broker

import (
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
	Listen    string       `yaml:"listen" env:"LISTEN"`         // host:port for plain MQTT
	TLSListen string       `yaml:"tls_listen" env:"TLS_LISTEN"` // host:port for MQTT over TLS; "" or off = none
	Guard     guard.Config `yaml:",inline"`

	// TLS puts TLS on a bound listener, whose handshakes are made by the first Read;
	// nil: nothing listens on TLSListen.
	TLS func(net.Listener) net.Listener `yaml:"-"`
}

// Defaults returns plain MQTT on port 1883, TLS on 8883, with the product's limits.
func Defaults() Config {
	return Config{Listen: ":1883", TLSListen: ":8883", Guard: guard.Defaults()}
}

// Validate returns every mistake at once, nil when there is none.
func (c Config) Validate() error {
	errs := []error{address("listen", c.Listen), c.Guard.Validate()}
	if c.TLSListen != "" && c.TLSListen != off {
		errs = append(errs, address("tls_listen", c.TLSListen))
	}
	return errors.Join(errs...)
}

// off says no, where an empty value cannot: in the environment.
const off = "off"

// withTLS reports whether there is a TLS listener.
func (c Config) withTLS() bool { return c.TLS != nil && c.TLSListen != "" && c.TLSListen != off }

func address(key, value string) error {
	if _, _, err := net.SplitHostPort(value); err != nil {
		return fmt.Errorf("%s: want host:port such as :1883: %w", key, err)
	}
	return nil
}
