// Package house tells Home Assistant's entities what the networks of the appliance are like, and
// carries out their commands by the rules that the interfaces have. It must not know MQTT, topics or
// payloads.
//
// Networks are watched for as long as their uplink exists, so that what happens while its broker is away
// is remembered. A House is told by live subscriptions, which never make the engine wait; once a second it
// looks at what no message tells: silence, and times that are over.
// No device is asked for live motion on their account, so rooms of a network whose guardian decides by
// itself and sends no samples are unknown.
package house

import (
	"context"
	"fmt"
	"log/slog"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/motion/setting"
	"sensegate/motion/uplink/homeassistant"
	"sensegate/store"
)

// Options configure a House.
type Options struct {
	Uplink   string             // name, for the audit log
	Networks []motion.NetworkID // none: all
	Members  bool               // members who have agreed are shown

	Engine    *engine.Engine
	Household *household.Household
	DB        *store.DB
	Box       func(context.Context) (homeassistant.Box, error)
	Restart   func() error
	Log       *slog.Logger
}

// House is what one uplink shows of the appliance. Make it with New.
type House struct {
	Options
	follower follower
}

// New returns a House.
func New(o Options) *House {
	h := &House{Options: o}
	h.follower = follower{House: h, watches: map[motion.NetworkID]*watch{}}
	return h
}

// Kept returns where it is kept what an uplink has published.
func Kept(db *store.DB, uplink string) homeassistant.Kept { return kept{db, uplink} }

// kept is the Kept of an uplink.
type kept struct {
	db     *store.DB
	uplink string
}

func (k kept) Load(ctx context.Context) (homeassistant.Published, error) {
	return store.Read(ctx, k.db, func(tx *store.Tx) (homeassistant.Published, error) {
		topics, err := tx.PublishedTopics(k.uplink)
		return topics, err
	})
}

func (k kept) Store(ctx context.Context, p homeassistant.Published) error {
	return k.db.Update(ctx, func(tx *store.Tx) error { return tx.PutPublishedTopics(k.uplink, p) })
}

// Do carries out a command, with a line in the audit log.
func (h *House) Do(ctx context.Context, c homeassistant.Command) error {
	about := ""
	if c.Network != 0 {
		about = fmt.Sprint("network ", c.Network)
	}
	note := store.NewAuditNote(store.Actor{Kind: store.ByUplink, Name: h.Uplink}, "uplink_"+string(c.Do), about)
	if c.User != "" {
		note.Add("mqtt_user", c.User)
	}
	if c.Level != 0 {
		note.Add("level", fmt.Sprint(c.Level))
	}
	ctx = store.Audited(ctx, note)
	if c.Do == homeassistant.Restart { // it ends the program: the line comes first
		if err := h.DB.Update(ctx, func(*store.Tx) error { return nil }); err != nil {
			return err
		}
		return h.Restart()
	}
	if err := h.do(ctx, c); err != nil {
		return err
	}
	h.Log.Info("command of Home Assistant", "uplink", h.Uplink, "network", c.Network, "do", c.Do)
	if note.Written() {
		return nil
	}
	return h.DB.Update(ctx, func(*store.Tx) error { return nil })
}

// do carries out a command about a network.
func (h *House) do(ctx context.Context, c homeassistant.Command) error {
	switch c.Do {
	case homeassistant.SetAway, homeassistant.SetHome:
		scene := home.AtHome
		if c.Do == homeassistant.SetAway {
			scene = home.Away
		}
		record, err := store.Read(ctx, h.DB, func(tx *store.Tx) (home.Home, error) {
			record, ok, err := tx.HomeOfNetwork(c.Network)
			if err == nil && (!ok || !record.Claimed()) {
				err = fault.New(fault.NotFound, "network %d has no household", c.Network)
			}
			return record, err
		})
		if err == nil {
			_, err = h.Household.ChangeScene(ctx, record.ID, 0, scene, home.ByUplink)
		}
		return err
	case homeassistant.Pause:
		return h.Engine.Inventory.Pause(ctx, c.Network, 0)
	case homeassistant.Resume:
		return h.Engine.Inventory.Resume(ctx, c.Network)
	case homeassistant.SetSensitivity:
		level := int32(c.Level)
		return h.Engine.Inventory.EditSounding(ctx, c.Network, true, setting.SoundingChange{Sensitivity: &level}, nil)
	}
	return fault.New(fault.Invalid, "%.20q is no command", c.Do)
}
