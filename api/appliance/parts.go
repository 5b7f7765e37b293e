package appliance

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sensegate/api/admin"
	"sensegate/api/app"
	"sensegate/api/auth"
	"sensegate/motion/household"
	"sensegate/motion/integration"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/cloud"
	"sensegate/motion/sensor/homeassistant"
	"sensegate/motion/sensor/zigbee2mqtt"
	"sensegate/store"
)

// assemblePeople makes the parts that know people: accounts, sessions, homes. When a session
// or a membership ends, they call recheck, which ends live connections.
func (a *Appliance) assemblePeople() error {
	keys, err := auth.OpenKeyring(admin.SigningKeys(a.config.StateDir), a.engine.State.Now(), a.log)
	if err != nil {
		return err
	}
	sessions := auth.NewSessions(a.db, keys, a.recheck)
	accounts := auth.NewAccounts(a.db, sessions, auth.NewPasswords(a.config.Auth.Argon2), a.notify.Outbox.Mail)
	providers, err := auth.NewProviders(a.config.Auth.Providers, a.config.StateDir, accounts, a.log)
	if err != nil {
		return err
	}
	a.parts = app.Parts{
		DB: a.db, Engine: a.engine, Sessions: sessions, Accounts: accounts, Providers: providers,
		Household: household.New(a.db, a.engine, household.Options{Mail: a.notify.Outbox.Mail, Ended: a.recheck, Log: a.log}),
		Sensors:   a.sensors,
		Ready:     a.ready, LoadTestToken: a.config.Push.LoadTestToken,
	}
	return nil
}

// recheck checks the credentials of every live connection again, and whether a recording may go on.
func (a *Appliance) recheck() {
	a.http.Recheck()
	if a.core != nil {
		a.core.Recheck()
	}
	a.box.RightsChanged()
}

// SetupCode returns a new setup code while the appliance has no owner, "" when it has
// one.
func (a *Appliance) SetupCode(ctx context.Context) (string, error) {
	homes, err := store.Read(ctx, a.db, (*store.Tx).Homes)
	if err != nil {
		return "", err
	}
	for _, h := range homes {
		if h.Claimed() {
			return "", nil
		}
	}
	code, err := auth.NewSetupCode(ctx, a.db)
	if err != nil {
		return "", fmt.Errorf("make setup code: %w", err)
	}
	return code, nil
}

// SensorsConfig configures the third-party sensors that households can connect: every
// configured provider is offered.
type SensorsConfig struct {
	Provider    string             `yaml:"provider" env:"PROVIDER"` // for households that name none; empty: the only one
	Zigbee2MQTT zigbee2mqtt.Config `yaml:"zigbee2mqtt" envPrefix:"ZIGBEE2MQTT_"`
	Cloud       cloud.Config       `yaml:"cloud" envPrefix:"CLOUD_"`
}

// Validate returns every mistake at once, nil when there is none.
func (c SensorsConfig) Validate() error {
	offered := map[string]bool{"": true, zigbee2mqtt.Name: c.Zigbee2MQTT.BaseTopic != "", cloud.Name: c.Cloud.URL != "", homeassistant.Name: true}
	var wrong []error
	if !offered[c.Provider] {
		wrong = append(wrong, fmt.Errorf("provider: want zigbee2mqtt or cloud, configured below, home_assistant, or nothing, found %.40q", c.Provider))
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

// connectSensors makes the sensor integration with the providers that are offered: those that are configured,
// and what others announce at the brokers of uplinks, which may be made later.
func (a *Appliance) connectSensors() {
	c := a.config.Sensors
	a.heard = homeassistant.New(a.log)
	offered := map[string]sensor.Provider{homeassistant.Name: a.heard}
	if c.Zigbee2MQTT.BaseTopic != "" {
		offered[zigbee2mqtt.Name] = zigbee2mqtt.New(c.Zigbee2MQTT, a.broker, a.log)
	}
	if c.Cloud.URL != "" {
		offered[cloud.Name] = cloud.New(c.Cloud, a.log)
	}
	if c.Provider == "" && len(offered) == 2 { // the only one that is configured
		for name := range offered {
			if name != homeassistant.Name {
				c.Provider = name
			}
		}
	}
	a.sensors = integration.New(a.db, a.engine, integration.Options{Providers: offered, Default: c.Provider, Log: a.log, Push: a.notify.Pusher.Event})
}
