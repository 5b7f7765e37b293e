package server

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"sensegate/api"
)

// Config is the http part of the configuration, or one made of it and another part.
type Config struct {
	Part string `yaml:"-"` // what the part with the listeners is called, as in http.listen

	Listen      string   `yaml:"listen" env:"LISTEN"`               // host:port, port 0 takes a free one
	TLSListen   string   `yaml:"tls_listen" env:"TLS_LISTEN"`       // host:port for https; "" or off = none
	Hosts       []string `yaml:"hosts" env:"HOSTS"`                 // further names of the appliance, without port
	Origins     []string `yaml:"origins" env:"ORIGINS"`             // further origins whose pages may call the appliance from a browser
	Rate        float64  `yaml:"rate" env:"RATE"`                   // requests a second of one token or address
	Burst       int      `yaml:"burst" env:"BURST"`                 // requests at once of one token or address
	LiveLimit   int      `yaml:"live_limit" env:"LIVE_LIMIT"`       // websockets of one network
	LivePerUser int      `yaml:"live_per_user" env:"LIVE_PER_USER"` // and of one account or API key among them

	MaxConnections int `yaml:"max_connections" env:"MAX_CONNECTIONS"` // open at once, over both listeners; loopback has a reserve beyond
	MaxPerAddress  int `yaml:"max_per_address" env:"MAX_PER_ADDRESS"` // open at once from one address but loopback; eight times from an IPv6 /64

	BaseURL string `yaml:"base_url" env:"BASE_URL"` // that links in mails begin with; empty: see Base

	MDNS           bool     `yaml:"mdns" env:"MDNS"`                       // whether names are announced on the local network
	MDNSInterfaces []string `yaml:"mdns_interfaces" env:"MDNS_INTERFACES"` // where; empty: on those of the house

	// Holds reports whether a name, in lower case and without a final dot, leads to this
	// appliance on the local network, beside those that are configured; nil: none does. It is
	// called concurrently.
	Holds func(name string) bool `yaml:"-"`

	// TLS puts TLS on a bound listener, which yields *tls.Conn; nil: nothing listens on
	// TLSListen.
	TLS func(net.Listener) net.Listener `yaml:"-"`
}

// Defaults returns the limits of payloads.md 1.
func Defaults() Config {
	return Config{
		Part: "http", Listen: ":8080", TLSListen: ":8443", Rate: 50, Burst: 100, LiveLimit: 64, LivePerUser: 16,
		MaxConnections: 4096, MaxPerAddress: 128, MDNS: true,
	}
}

// Validate returns all mistakes at once.
func (c Config) Validate() error {
	var mistakes []error
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		mistakes = append(mistakes, fmt.Errorf("listen: %q is not host:port", c.Listen))
	}
	if _, _, err := net.SplitHostPort(c.TLSListen); err != nil && c.TLSListen != "" && c.TLSListen != off {
		mistakes = append(mistakes, fmt.Errorf("tls_listen: %q is not host:port, nor off", c.TLSListen))
	}
	for _, h := range c.Hosts {
		if h == "" || strings.ContainsAny(h, "/: ") {
			mistakes = append(mistakes, fmt.Errorf("hosts: %q is not a host name (no scheme, port or path)", h))
		}
	}
	for _, name := range c.MDNSInterfaces {
		if name == "" || len(name) > maxInterface || strings.ContainsAny(name, "/: ") {
			mistakes = append(mistakes, fmt.Errorf("mdns_interfaces: %.40q is not the name of an interface such as eth0", name))
		}
	}
	for _, o := range c.Origins {
		if _, ok := originOf(o); !ok {
			mistakes = append(mistakes, fmt.Errorf("origins: %q is not an origin such as https://app.example:8443", o))
		}
	}
	if c.BaseURL != "" && !isBase(c.BaseURL) {
		mistakes = append(mistakes, errors.New("base_url: want http://host[:port] or https://host[:port], as people reach the appliance"))
	}
	if c.Rate <= 0 {
		mistakes = append(mistakes, errors.New("rate: want more than 0 requests a second"))
	}
	for _, count := range []struct {
		name string
		is   int
	}{{"burst", c.Burst}, {"live_limit", c.LiveLimit}, {"live_per_user", c.LivePerUser}, {"max_connections", c.MaxConnections}, {"max_per_address", c.MaxPerAddress}} {
		if count.is < 1 {
			mistakes = append(mistakes, errors.New(count.name+": want at least 1"))
		}
	}
	return errors.Join(mistakes...)
}

// maxInterface is the longest name of an interface (Linux, IFNAMSIZ less its final zero).
const maxInterface = 15

// off says no, where an empty value cannot: in the environment.
const off = "off"

// withTLS reports whether there is a TLS listener.
func (c Config) withTLS() bool { return c.TLS != nil && c.TLSListen != "" && c.TLSListen != off }

// The times of the server. They do not hold for websockets, which have their own pace.
const (
	headerTime = 5 * time.Second
	readTime   = 10 * time.Second
	idleTime   = 30 * time.Second
	writeTime  = api.RequestTime + 10*time.Second
	stopTime   = 4 * time.Second
	drainTime  = 2 * time.Second // of a stop, for requests of which a part has come
	maxHeader  = 16 << 10
)
