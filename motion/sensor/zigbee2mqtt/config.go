package zigbee2mqtt

import (
	"errors"
	"strings"

	"sensegate/motion"
)

// Config says where the bridge publishes, and for whom. Start from Defaults.
type Config struct {
	BaseTopic string           `yaml:"base_topic" env:"BASE_TOPIC"` // mqtt.base_topic of the bridge; empty: not offered
	Network   motion.NetworkID `yaml:"network" env:"NETWORK"`       // whose household it serves; 0: the only one there is
}

// Defaults returns the bridge's own default.
func Defaults() Config { return Config{BaseTopic: "zigbee2mqtt"} }

// Validate returns what is wrong, nil when nothing is.
func (c Config) Validate() error {
	if c.BaseTopic == "" {
		return nil
	}
	for level := range strings.SplitSeq(c.BaseTopic, "/") {
		if level == "" || strings.ContainsAny(level, "+#$") || level == "iot-2" {
			return errors.New("base_topic: want topic levels such as zigbee2mqtt or home/zigbee2mqtt, without + # $")
		}
	}
	return nil
}
