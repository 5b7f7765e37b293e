package appliance

import (
	"errors"
	"fmt"
	"strings"

	"sensegate/motion/integration"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/cloud"
	"sensegate/motion/sensor/zigbee2mqtt"
)

// SensorsConfig says which third-party sensors households can connect: each provider
// that is configured is offered.
type SensorsConfig struct {
	Provider    string             `yaml:"provider" env:"PROVIDER"` // of households that name none; empty: the only one
	Zigbee2MQTT zigbee2mqtt.Config `yaml:"zigbee2mqtt" envPrefix:"ZIGBEE2MQTT_"`
	Cloud       cloud.Config       `yaml:"cloud" envPrefix:"CLOUD_"`
}

// Validate returns every mistake at once, nil when there is none.
func (c SensorsConfig) Validate() error {
	offered := map[string]bool{"": true, zigbee2mqtt.Name: c.Zigbee2MQTT.BaseTopic != "", cloud.Name: c.Cloud.URL != ""}
	var wrong []error
	if !offered[c.Provider] {
		wrong = append(wrong, fmt.Errorf("provider: want zigbee2mqtt or cloud, configured below, or nothing, found %.40q", c.Provider))
	}
	below := func(part string, err error) {
		for line := range strings.Lines(fmt.Sprint(err)) {
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s.%s", part, strings.TrimSpace(line)))
			}
		}
	}
	below(zigbee2mqtt.Name, c.Zigbee2MQTT.Validate())
	below(cloud.Name, c.Cloud.Validate())
	return errors.Join(wrong...)
}

// connectSensors makes the sensor integration with the providers that are offered.
func (a *Appliance) connectSensors() {
	c := a.config.Sensors
	offered := map[string]sensor.Provider{}
	if c.Zigbee2MQTT.BaseTopic != "" {
		offered[zigbee2mqtt.Name] = zigbee2mqtt.New(c.Zigbee2MQTT, a.broker, a.log)
	}
	if c.Cloud.URL != "" {
		offered[cloud.Name] = cloud.New(c.Cloud, a.log)
	}
	a.sensors = integration.New(a.db, a.engine, integration.Options{Providers: offered, Default: c.Provider, Log: a.log, Push: a.notify.Pusher.Event})
}
