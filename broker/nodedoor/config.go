package nodedoor

import (
	"errors"
	"fmt"
	"net"

	"sensegate/motion"
)

// Config says which nodes of other makers are listened for; nothing is by default. Start from Defaults.
type Config struct {
	Network      uint32       `yaml:"network" env:"NETWORK"`           // that nodes join; 0: the only one
	Transmitters []motion.MAC `yaml:"transmitters" env:"TRANSMITTERS"` // whose frames count, beside those of the network's own nodes

	RuView RuViewConfig `yaml:"ruview" envPrefix:"RUVIEW_"`
}

// RuViewConfig configures the intake of RuView nodes.
type RuViewConfig struct {
	Listen  string `yaml:"listen" env:"LISTEN"`   // host:port for UDP; "" or off: none
	Forward string `yaml:"forward" env:"FORWARD"` // host:port that accepted datagrams are sent on to; "": none
}

// Defaults returns a configuration that listens for nothing.
func Defaults() Config {
	return Config{Transmitters: []motion.MAC{}, RuView: RuViewConfig{Listen: off}}
}

// off says no, where an empty value cannot: in the environment.
const off = "off"

// Validate returns every mistake at once, nil when there is none.
func (c Config) Validate() error {
	return errors.Join(
		listenAddress("ruview.listen", c.RuView.Listen),
		address("ruview.forward", c.RuView.Forward),
	)
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
	if _, _, err := net.SplitHostPort(value); err != nil {
		return fmt.Errorf("%s: want host:port, or off: %w", key, err)
	}
	return nil
}
