package zigbee2mqtt

import (
	"errors"
	"strings"

	"sensegate/motion"
)

// Config configures the bridge and its household. Start from Defaults.
type Config struct {
	BaseTopic string           `yaml:"base_topic" env:"BASE_TOPIC"` // mqtt.base_topic of the bridge; empty: disabled
	Network   motion.NetworkID `yaml:"network" env:"NETWORK"`       // network of the household it serves; 0: the only one
}

// Defaults returns the default of Zigbee2MQTT.
func Defaults() Config { return Config{BaseTopic: "zigbee2mqtt"} }

// Validate returns a mistake, or nil.
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
