package uplink

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Config is the configuration of an uplink.
type Config struct {
	Name     string `yaml:"name" env:"NAME" json:"name" doc:"Unique, 1 to 32 characters of a-z, 0-9, _ and -"`
	URL      string `yaml:"url" env:"URL" json:"url" doc:"mqtt://host[:port], mqtts://, ws://, wss://; http:// or https:// for Prometheus Remote Write; own for this appliance's broker"`
	Username string `yaml:"username" env:"USERNAME" json:"username,omitempty"`
	Password string `yaml:"password" env:"PASSWORD" secret:"true" json:"password,omitempty"`
	ClientID string `yaml:"client_id" env:"CLIENT_ID" json:"client_id,omitempty" doc:"Empty: sensegate-<box>"`
	Prefix   string `yaml:"prefix" env:"PREFIX" json:"prefix,omitempty" doc:"Of every topic, before the box's id; empty: sensegate"`

	PasswordFile string `yaml:"password_file" secret:"false" json:"-"` // instead of Password: path of its file

	CA                string `yaml:"ca" env:"CA" json:"ca,omitempty" doc:"Certificates (PEM) that the broker's must come from; empty: the system's"`
	ClientCertificate string `yaml:"client_certificate" env:"CLIENT_CERTIFICATE" json:"client_certificate,omitempty" doc:"PEM"`
	ClientKey         string `yaml:"client_key" env:"CLIENT_KEY" secret:"true" json:"client_key,omitempty" doc:"PEM"`

	Networks []motion.NetworkID `yaml:"networks" env:"NETWORKS" json:"networks,omitempty" doc:"Core network ids; empty: all"`
	Use      []Use              `yaml:"use" env:"USE" json:"use"`

	HomeAssistant HomeAssistantConfig `yaml:"home_assistant" envPrefix:"HOME_ASSISTANT_" json:"home_assistant,omitzero"`

	relay bool // made of relay.mqtt: its topics stay as they were
}

// HomeAssistantConfig is what Home Assistant is told, and may do.
type HomeAssistantConfig struct {
	DiscoveryPrefix string `yaml:"discovery_prefix" env:"DISCOVERY_PREFIX" json:"discovery_prefix,omitempty" doc:"Empty: homeassistant"`
	LegacyDiscovery bool   `yaml:"legacy_discovery" env:"LEGACY_DISCOVERY" json:"legacy_discovery,omitempty" doc:"One topic for each entity, for Home Assistant before 2024.12"`
	ReadOnly        bool   `yaml:"read_only" env:"READ_ONLY" json:"read_only,omitempty" doc:"No commands"`
	Members         bool   `yaml:"members" env:"MEMBERS" json:"members,omitempty" doc:"Whether members are at home"`
	Alarm           bool   `yaml:"alarm" env:"ALARM" json:"alarm,omitempty" doc:"An alarm control panel; it is no certified alarm"`
	Incoming        bool   `yaml:"incoming" env:"INCOMING" json:"incoming,omitempty" doc:"Sensors of other makers at that broker become sensors of the household"`
}

// The defaults of a configuration.
const (
	DefaultPrefix    = "sensegate"
	DefaultDiscovery = "homeassistant"
)

// The names of what is no broker.
const (
	ownBroker = "own"
	relayName = "relay" // of the uplink that relay.mqtt makes
)

// ports are the ports of the schemes.
var ports = map[string]string{"mqtt": "1883", "mqtts": "8883", "ws": "80", "wss": "443", "http": "80", "https": "443"}

// Uses returns every use.
func Uses() []Use { return []Use{HomeAssistant, Events, History, Commands, Live} }

// Has reports whether an uplink has a use.
func (c Config) Has(u Use) bool { return slices.Contains(c.Use, u) }

// Carries reports whether an uplink is about a network.
func (c Config) Carries(network motion.NetworkID) bool {
	return len(c.Networks) == 0 || slices.Contains(c.Networks, network)
}

// Own reports whether it is the appliance's own broker, to which Home Assistant connects.
func (c Config) Own() bool { return c.URL == ownBroker }

// IsService reports whether it is no broker but a service that takes series over HTTP.
func (c Config) IsService() bool {
	scheme, _, _ := strings.Cut(c.URL, "://")
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// Host returns who it leads to, such as broker.lan:8883.
func (c Config) Host() string {
	u, err := c.address()
	if err != nil {
		return "?"
	}
	if u == nil {
		return "the broker of this box"
	}
	return u.Host
}

// Shown returns the configuration without what opens something.
func (c Config) Shown() Config {
	c.Password, c.ClientKey = "", ""
	return c
}

var nameForm = regexp.MustCompile(`^[a-z0-9_-]+$`)

// Validate returns all mistakes joined, each beginning with its key, or nil. It reads the files that
// the configuration names.
func (c Config) Validate() error {
	var wrong []error
	rule := func(ok bool, text string, parts ...any) {
		if !ok {
			wrong = append(wrong, fmt.Errorf(text, parts...))
		}
	}
	rule(len(c.Name) <= 32 && nameForm.MatchString(c.Name), "name: want 1 to 32 characters of a-z, 0-9, _ and -, found %.40q", c.Name)
	rule(c.Name != MQTT && c.Name != Webhook && c.Name != relayName, "name: %s is a name of the section relay", c.Name)
	if _, err := c.address(); err != nil {
		wrong = append(wrong, fmt.Errorf("url: %w", err))
	}
	password, err := c.secret()
	rule(err == nil, "password_file: %v", err)
	rule(err != nil || password == "" || c.Username != "", "username: want one with the password")
	rule(soundID(c.ClientID), "client_id: want at most 128 printable characters")
	rule(c.Prefix == "" || soundPrefix(c.Prefix), "prefix: want one or more topic levels such as home/sensegate, at most 128 bytes, without # and +")
	discovery := c.HomeAssistant.DiscoveryPrefix
	rule(discovery == "" || soundPrefix(discovery), "home_assistant.discovery_prefix: want topic levels such as homeassistant, without # and +")
	for _, id := range c.Networks {
		rule(id > 0, "networks: want ids of networks such as 1, found 0")
	}
	wrong = append(wrong, c.wrongUse()...)
	_, wrongTLS := c.tls()
	return errors.Join(append(wrong, wrongTLS...)...)
}

// wrongUse returns the mistakes of what it is used for.
func (c Config) wrongUse() (wrong []error) {
	const want = "home_assistant, events, history, commands and live"
	if len(c.Use) == 0 {
		return []error{errors.New("use: want one or more of " + want)}
	}
	for i, use := range c.Use {
		switch {
		case !slices.Contains(Uses(), use):
			wrong = append(wrong, fmt.Errorf("use: want some of %s, found %.40q", want, use))
		case slices.Contains(c.Use[:i], use):
			wrong = append(wrong, fmt.Errorf("use: %s stands there twice", use))
		case c.Own() && use != HomeAssistant:
			wrong = append(wrong, fmt.Errorf("use: want home_assistant alone with url own, found %s", use))
		case c.IsService() && use != History:
			wrong = append(wrong, fmt.Errorf("use: want history alone with Remote Write (http, https), found %s", use))
		}
	}
	return wrong
}

// address returns the address with its port; nil of the own broker.
func (c Config) address() (*url.URL, error) {
	const want = "want mqtt://host[:port], mqtts://, ws:// or wss://, http:// or https:// for Remote Write, or own; user name and password have keys of their own"
	if c.Own() {
		return nil, nil
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New(want) // its own error would show the whole url
	}
	port, known := ports[u.Scheme]
	plain := u.Scheme == "mqtt" || u.Scheme == "mqtts"
	if !known || u.Hostname() == "" || u.User != nil || plain && (strings.Trim(u.Path, "/") != "" || u.RawQuery != "") {
		return nil, errors.New(want)
	}
	if u.Port() != "" {
		port = u.Port()
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return nil, fmt.Errorf("port %.10s: want 1 to 65535", port)
	}
	address := *u
	address.Host = net.JoinHostPort(u.Hostname(), port)
	if plain {
		address.Path = ""
	}
	return &address, nil
}

// soundPrefix reports whether text can begin topics.
func soundPrefix(text string) bool {
	return len(text) <= 128 && !strings.ContainsAny(text, "#+\x00") && !strings.HasPrefix(text, "$") && !slices.Contains(strings.Split(text, "/"), "")
}

// soundID reports whether text can be a client id.
func soundID(text string) bool {
	return len(text) <= 128 && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd })
}

// prefix returns what every topic begins with.
func (c Config) prefix() string {
	if c.Prefix == "" {
		return DefaultPrefix
	}
	return c.Prefix
}

// ValidateAll returns the mistakes of a list, beside the section relay, each beginning with its place in it, such as
// "0.url: ".
func ValidateAll(all []Config, relay RelayConfig) error {
	var wrong []error
	for i, c := range all {
		if err := c.Validate(); err != nil {
			for _, line := range mistakes(err) {
				wrong = append(wrong, fmt.Errorf("%d.%s", i, line))
			}
		}
		others := all[:i:i]
		if relay.MQTT.URL != "" {
			others = append(others, relay.MQTT.uplink())
		}
		for _, other := range others {
			if key, text := clash(c, other); key != "" {
				wrong = append(wrong, fmt.Errorf("%d.%s: %s", i, key, text))
			}
		}
	}
	return errors.Join(wrong...)
}

// mistakes returns the lines of an error.
func mistakes(err error) (lines []string) {
	for line := range strings.Lines(err.Error()) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// clash says why two uplinks cannot be beside each other: the key of the first that has to be
// another.
func clash(c, other Config) (key, text string) {
	if c.Name == other.Name {
		return "name", "there is an uplink of this name already"
	}
	a, wrongA := c.address()
	b, wrongB := other.address()
	if wrongA != nil || wrongB != nil || c.IsService() || other.IsService() {
		return "", ""
	}
	former := c.relay || other.relay // whose client id and topics are others of themselves
	switch {
	case a == nil || b == nil:
		if a == b {
			return "url", fmt.Sprintf("uplink %s is at the own broker already", other.Name)
		}
	case a.Host != b.Host:
	case c.ClientID == other.ClientID && (c.ClientID != "" || !former):
		return "client_id", fmt.Sprintf("want another one than uplink %s, which connects to the same broker", other.Name)
	case c.prefix() == other.prefix() && !former:
		return "prefix", fmt.Sprintf("want another one than uplink %s, which sends to the same broker", other.Name)
	case c.Has(HomeAssistant) && other.Has(HomeAssistant) && c.discovery() == other.discovery():
		return "use", fmt.Sprintf("uplink %s shows Home Assistant the same entities at the same broker: one is enough", other.Name)
	}
	return "", ""
}

// discovery returns the discovery prefix of Home Assistant.
// Shows returns the topics of the entities that an uplink whose topics begin with base shows; it has no Discovery
// when it shows none.
func (c Config) Shows(base string) motion.UserTopics {
	topics := motion.UserTopics{Prefix: base}
	if c.Has(HomeAssistant) {
		topics.Discovery = c.discovery()
	}
	return topics
}

func (c Config) discovery() string { return cmp.Or(c.HomeAssistant.DiscoveryPrefix, DiscoveryPrefix) }

// DiscoveryPrefix is the discovery prefix that Home Assistant has unless it is told another.
const DiscoveryPrefix = "homeassistant"

// invalid returns the mistakes of a configuration as a fault.
func invalid(err error) error {
	if err == nil {
		return nil
	}
	var details []fault.Detail
	for _, line := range mistakes(err) {
		key, _, _ := strings.Cut(line, ":")
		details = append(details, fault.Detail{Location: "body." + key, Message: line})
	}
	return fault.Mistakes(details...)
}
