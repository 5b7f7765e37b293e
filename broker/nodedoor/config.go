package nodedoor

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"sensegate/motion"
)

// Config says which nodes of other makers are listened for; nothing is by default. Start from Defaults.
type Config struct {
	Network      uint32       `yaml:"network" env:"NETWORK"`           // that nodes join; 0: the only one
	Transmitters []motion.MAC `yaml:"transmitters" env:"TRANSMITTERS"` // whose frames count, beside those of the network's own nodes

	RuView        RuViewConfig `yaml:"ruview" envPrefix:"RUVIEW_"`
	MicroESPectre UDPConfig    `yaml:"micro_espectre" envPrefix:"MICRO_ESPECTRE_"`
	Nexmon        UDPConfig    `yaml:"nexmon" envPrefix:"NEXMON_"`
	Lines         []string     `yaml:"lines" env:"LINES"` // serial devices, and tcp://host:port

	ESPectre ESPectreConfig `yaml:"espectre" envPrefix:"ESPECTRE_"`
}

// ESPectreConfig configures which nodes of ESPectre version 3 are asked.
type ESPectreConfig struct {
	Discover  bool     `yaml:"discover" env:"DISCOVER"`   // look for them by multicast DNS
	Addresses []string `yaml:"addresses" env:"ADDRESSES"` // host or host:port
	Origin    string   `yaml:"origin" env:"ORIGIN"`       // header that they want
	Raw       []string `yaml:"raw" env:"RAW"`             // device_ids of those whose channel state is read
}

// on reports whether any node is asked.
func (c ESPectreConfig) on() bool { return c.Discover || len(c.Addresses) > 0 }

// UDPConfig configures the intake of nodes that send datagrams.
type UDPConfig struct {
	Listen string `yaml:"listen" env:"LISTEN"` // host:port for UDP; "" or off: none
}

// RuViewConfig configures the intake of RuView nodes.
type RuViewConfig struct {
	Listen  string `yaml:"listen" env:"LISTEN"`   // host:port for UDP; "" or off: none
	Forward string `yaml:"forward" env:"FORWARD"` // host:port that accepted datagrams are sent on to; "": none
}

// Defaults returns a configuration that listens for nothing.
func Defaults() Config {
	return Config{
		Transmitters: []motion.MAC{}, RuView: RuViewConfig{Listen: off}, MicroESPectre: UDPConfig{Listen: off}, Nexmon: UDPConfig{Listen: off},
		Lines: []string{}, ESPectre: ESPectreConfig{Addresses: []string{}, Origin: "https://espectre.dev", Raw: []string{}},
	}
}

// off says no, where an empty value cannot: in the environment.
const off = "off"

// Validate returns every mistake at once, nil when there is none.
func (c Config) Validate() error {
	wrong := []error{
		listenAddress("ruview.listen", c.RuView.Listen), address("ruview.forward", c.RuView.Forward),
		listenAddress("micro_espectre.listen", c.MicroESPectre.Listen), listenAddress("nexmon.listen", c.Nexmon.Listen),
	}
	for i, mac := range c.Transmitters {
		if mac.IsZero() || mac[0]&1 != 0 {
			wrong = append(wrong, fmt.Errorf("transmitters[%d]: %s is no address that transmits", i, mac))
		}
	}
	if loops(c.RuView) {
		wrong = append(wrong, errors.New("ruview.forward: that is where this box listens itself"))
	}
	for i, line := range c.Lines {
		remote, ok := strings.CutPrefix(line, tcpScheme)
		switch {
		case ok:
			wrong = append(wrong, address(fmt.Sprintf("lines[%d]", i), remote))
		case !strings.HasPrefix(line, "/"):
			wrong = append(wrong, fmt.Errorf("lines[%d]: want the path of a serial device such as /dev/ttyUSB0, or tcp://host:port, found %.80q", i, line))
		}
	}
	for i, at := range c.ESPectre.Addresses {
		wrong = append(wrong, address(fmt.Sprintf("espectre.addresses[%d]", i), withPort(at, espectrePort)))
	}
	if !strings.HasPrefix(c.ESPectre.Origin, "https://") && !strings.HasPrefix(c.ESPectre.Origin, "http://") {
		wrong = append(wrong, fmt.Errorf("espectre.origin: want https://host, found %.80q", c.ESPectre.Origin))
	}
	for i, id := range c.ESPectre.Raw {
		if _, err := strconv.ParseUint(id, 16, 64); err != nil || len(id) != 16 {
			wrong = append(wrong, fmt.Errorf("espectre.raw[%d]: want the device_id of a node, 16 hexadecimal digits, found %.40q", i, id))
		}
	}
	return errors.Join(wrong...)
}

// tcpScheme begins the address of a serial device that another machine serves.
const tcpScheme = "tcp://"

// loops reports whether datagrams would be sent on to where they came in.
func loops(c RuViewConfig) bool {
	_, own, err1 := net.SplitHostPort(c.Listen)
	host, port, err2 := net.SplitHostPort(c.Forward)
	at, err3 := netip.ParseAddr(host)
	here := host == "" || host == "localhost" || err3 == nil && (at.IsLoopback() || at.IsUnspecified())
	return err1 == nil && err2 == nil && own == port && here
}

// on reports whether something is to be listened for at an address of the configuration.
func on(listen string) bool { return listen != "" && listen != off }

func listenAddress(key, value string) error {
	if !on(value) {
		return nil
	}
	return address(key, value)
}

func address(key, value string) error {
	if value == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(value)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s: want host:port, or off: %w", key, err)
	}
	return nil
}
