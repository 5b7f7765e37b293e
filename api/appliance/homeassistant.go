package appliance

import (
	"context"

	"sensegate/broker"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/homeassistant"
	"sensegate/motion/uplink/house"
	"sensegate/motion/uplink/own"
	"sensegate/store"
)

// homeAssistant makes the part of an uplink that shows the networks to Home Assistant.
func (a *Appliance) homeAssistant(u uplink.Uplink) uplink.Part {
	c := u.HomeAssistant
	shown := house.New(house.Options{
		Uplink: u.Name, Networks: u.Networks, Members: c.Members, Engine: a.engine, Household: a.parts.Household, DB: a.db,
		Box:     func(ctx context.Context) (homeassistant.Box, error) { return a.shownBox(ctx, u.Networks) },
		Restart: a.askedRestart, Log: a.log,
	})
	return homeassistant.New(homeassistant.Options{
		Box: u.Box, Base: u.Base, Discovery: c.DiscoveryPrefix, Legacy: c.LegacyDiscovery, ReadOnly: c.ReadOnly, Alarm: c.Alarm,
		House: shown, Kept: house.Kept(a.db, u.Name), Log: a.log.With("uplink", u.Name),
	})
}

// clearedOfHomeAssistant makes the part that clears what an uplink has published when it was used for
// Home Assistant.
func (a *Appliance) clearedOfHomeAssistant(u uplink.Uplink) uplink.Part {
	return homeassistant.Cleared{Kept: house.Kept(a.db, u.Name)}
}

// shownBox returns the appliance as Home Assistant is shown it, of whose networks it sees some alone; none:
// all.
func (a *Appliance) shownBox(ctx context.Context, only []motion.NetworkID) (homeassistant.Box, error) {
	health, err := a.health(ctx, only)
	const mib = 1 << 20
	return homeassistant.Box{
		Name: "sensegate", URL: a.base, Version: health.Version, Uptime: float64(health.UptimeS), Networks: health.Networks,
		Clients: a.broker.Counters().Sessions, DB: float64(health.Database) / mib, Problems: health.Problems,
	}, err
}

// startable returns why starting the process anew would fail.
func (a *Appliance) startable() error {
	if a.starts == nil {
		return fault.New(fault.Conflict, "this process cannot start itself anew")
	}
	if err := a.starts(); err != nil {
		return fault.New(fault.Conflict, "the appliance would not start with its configuration: %s", err)
	}
	return nil
}

// askedRestart starts the process anew, unless that would fail.
func (a *Appliance) askedRestart() error {
	if err := a.startable(); err != nil {
		return err
	}
	a.startAnew()
	return nil
}

// startAnew ends the process so that it starts anew.
func (a *Appliance) startAnew() { a.restarting.Do(func() { close(a.restart) }) }

// ownBroker is the appliance's broker as an uplink.
type ownBroker struct{ *broker.Server }

func (b ownBroker) Hear(hear func(user, topic string, payload []byte)) (stop func()) {
	return b.Server.Hear(func(s broker.Said) { hear(s.User, s.Topic, s.Payload) })
}

// entities returns the topics of the uplink to the own broker, or those that it will have.
func (a *Appliance) entities() motion.UserTopics {
	for _, u := range a.uplinks.List() {
		if u.Config.Own() && u.Config.Has(uplink.HomeAssistant) {
			return u.Config.Shows(u.Base)
		}
	}
	return motion.UserTopics{Prefix: a.uplinks.Base(), Discovery: homeassistant.Prefix}
}

// ownUplink connects an uplink to the appliance's own broker, unless a user has its topics: the configuration
// may have changed while the appliance did not run.
func (a *Appliance) ownUplink(ctx context.Context, u uplink.Uplink) (uplink.Connection, error) {
	err := a.db.View(ctx, func(tx *store.Tx) error { return tx.CheckShown(u.Shows(u.Base)) })
	if err != nil {
		return nil, &uplink.Failure{Code: "topics", Text: err.Error(), Step: uplink.Login, Slow: true, Err: err}
	}
	return own.Connect(ownBroker{a.broker}, u.Base+"/availability"), nil
}
