package appliance

import (
	"context"
	"net/http"
	"slices"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
	"sensegate/motion/uplink/remotecore"
	"sensegate/motion/uplink/remotewrite"
	"sensegate/store"
)

// openUplinks makes the uplinks with what each use sends.
func (a *Appliance) openUplinks(ctx context.Context) (err error) {
	minutes := uplink.MinuteReader{Samples: a.engine.State.SamplesFor, Topology: a.engine.Inventory.Topology}
	a.uplinks, err = uplink.New(ctx, uplink.Options{
		DB: a.db, Configured: a.config.Uplinks, Relay: a.config.Relay, Log: a.log,
		Connect: func(ctx context.Context, to uplink.Target) (uplink.Connection, error) {
			return mqtt.Connect(ctx, to, a.log)
		},
		Own:     a.ownUplink,
		Cleared: a.clearedOfHomeAssistant,
		Health:  a.health,
		Minutes: minutes, Networks: a.networkIDs, Now: a.setClock,
		Parts: map[uplink.Use]func(uplink.Uplink) uplink.Part{
			uplink.HomeAssistant: a.homeAssistant,
			uplink.Commands: func(u uplink.Uplink) uplink.Part {
				within := func(w http.ResponseWriter, r *http.Request) {
					a.serveCore(w, r.WithContext(auth.Within(r.Context(), u.Networks)))
				}
				return remotecore.New(u, http.HandlerFunc(within), a.setClock, a.log)
			},
		},
		Service: func(u uplink.Uplink) uplink.Part {
			cursor := uplink.MinuteCursor{DB: a.db, Name: u.Name}
			return remotewrite.New(remotewrite.Options{
				Uplink: u, Cursor: cursor.Load, Keep: cursor.Keep, Now: a.setClock, Log: a.log,
				Source: remotewrite.Source{Networks: a.networkIDs, Minutes: minutes.Read, Topology: a.engine.Inventory.Topology},
			})
		},
		Incoming: a.incoming,
	})
	return err
}

// serveCore serves the Core interface to requests that come over an uplink.
func (a *Appliance) serveCore(w http.ResponseWriter, r *http.Request) {
	if a.core != nil {
		a.core.ServeHTTP(w, r)
		return
	}
	a.http.ServeHTTP(w, r)
}

// networkIDs returns the ids of all networks.
func (a *Appliance) networkIDs(ctx context.Context) ([]motion.NetworkID, error) {
	networks, err := store.Read(ctx, a.db, (*store.Tx).Networks)
	ids := make([]motion.NetworkID, len(networks))
	for i, network := range networks {
		ids[i] = network.ID
	}
	return ids, err
}

// setClock returns the time, 0 while the clock has not been set.
func (a *Appliance) setClock() motion.Time {
	if a.engine.State.OwnClock.Unset.Load() {
		return 0
	}
	return a.engine.State.Now()
}

// health returns how the appliance is, as its administrator sees it, with the counts of some networks
// alone; none: of all.
func (a *Appliance) health(ctx context.Context, only []motion.NetworkID) (uplink.Health, error) {
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
	if len(only) > 0 {
		h.Networks = 0
		if h.Devices, h.Online, err = a.box.CountDevices(ctx, only); err != nil {
			return h, err
		}
	}
	for _, network := range a.engine.State.All() {
		if len(only) > 0 && !slices.Contains(only, network.ID) {
			continue
		}
		if len(only) > 0 {
			h.Networks++
		}
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
