package appliance

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
	"sensegate/store"
)

// openUplinks makes the uplinks with what each use sends.
func (a *Appliance) openUplinks(ctx context.Context) (err error) {
	a.uplinks, err = uplink.New(ctx, uplink.Options{
		DB: a.db, Configured: a.config.Uplinks, Relay: a.config.Relay, Log: a.log,
		Connect: func(ctx context.Context, to uplink.Target) (uplink.Connection, error) { return mqtt.Connect(ctx, to, a.log) },
		Health:  a.health,
		Minutes: uplink.MinuteReader{Samples: a.engine.State.SamplesFor, Topology: a.engine.Inventory.Topology},
		Networks: func(ctx context.Context) ([]motion.NetworkID, error) {
			networks, err := store.Read(ctx, a.db, (*store.Tx).Networks)
			ids := make([]motion.NetworkID, len(networks))
			for i, network := range networks {
				ids[i] = network.ID
			}
			return ids, err
		},
		Now: func() motion.Time {
			if a.engine.State.OwnClock.Unset.Load() {
				return 0
			}
			return a.engine.State.Now()
		},
		Parts: map[uplink.Use]func(uplink.Uplink) uplink.Part{},
	})
	return err
}

// health returns how the appliance is, as its administrator sees it.
func (a *Appliance) health(ctx context.Context) (uplink.Health, error) {
	status, err := a.box.Status(ctx)
	if err != nil {
		return uplink.Health{}, err
	}
	outbox, err := a.box.Outbox(ctx)
	if err != nil {
		return uplink.Health{}, err
	}
	h := uplink.Health{
		TS: a.engine.State.Now(), Version: status.Version, Problems: []string{}, ClockUnset: status.ClockUnset,
		Networks: status.Networks, Devices: status.Devices, Online: status.DevicesOnline,
	}
	h.UptimeS, h.DiskFree, h.Database = int64(h.TS.Since(status.Since)), status.Database.Free, status.Database.Size
	for _, one := range status.Attention(outbox, time.Now()) {
		h.Problems = append(h.Problems, one.Code)
	}
	for _, network := range a.engine.State.All() {
		topology, err := a.engine.Inventory.Topology(network.ID, true)
		if err != nil { // deleted meanwhile
			continue
		}
		for _, link := range topology.Links {
			if !link.Online {
				h.LinksDown++
			}
		}
	}
	return h, nil
}
