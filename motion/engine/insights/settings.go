package insights

import (
	"context"
	"fmt"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/store"
)

// LoadZone is alert.LoadZone with an error that the caller can be shown. It refuses "Factory" too, which
// is for a machine that nobody has set.
func LoadZone(name string) (*time.Location, error) {
	zone, err := alert.LoadZone(name)
	if err != nil || name == "Factory" {
		return nil, fmt.Errorf("timezone %.64q: want an IANA name such as America/Toronto", name)
	}
	return zone, nil
}

// ApplicationSettings returns the settings of a network. That it has none is a
// NotFound fault, as an unknown network is.
func (i *Insights) ApplicationSettings(ctx context.Context, id motion.NetworkID) (s motion.ApplicationSettings, err error) {
	err = i.state.View(ctx, id, func(tx *store.Tx) error {
		s, err = tx.ApplicationSettings(id)
		return err
	})
	return s, err
}

// CreateApplicationSettings stores the first settings of a network, whose values
// and zone (LoadZone) the caller has checked. Where there are some already it is
// a Conflict.
func (i *Insights) CreateApplicationSettings(ctx context.Context, s motion.ApplicationSettings) error {
	return i.state.Update(ctx, s.NetworkID, func(tx *store.Tx) error {
		switch _, err := tx.ApplicationSettings(s.NetworkID); {
		case err == nil:
			return fault.New(fault.Conflict, "application settings: network %d has some already; change them with PATCH", s.NetworkID)
		case fault.KindOf(err) != fault.NotFound:
			return err
		}
		return tx.PutApplicationSettings(s)
	})
}

// ChangeApplicationSettings changes the settings of a network and returns them;
// the caller has checked what change sets. Where there are none it is NotFound.
func (i *Insights) ChangeApplicationSettings(ctx context.Context, id motion.NetworkID, change func(*motion.ApplicationSettings)) (s motion.ApplicationSettings, err error) {
	err = i.state.Update(ctx, id, func(tx *store.Tx) error {
		if s, err = tx.ApplicationSettings(id); err != nil {
			return err
		}
		change(&s)
		return tx.PutApplicationSettings(s)
	})
	return s, err
}

// DeleteApplicationSettings removes the settings of a network. Where there are
// none it is NotFound.
func (i *Insights) DeleteApplicationSettings(ctx context.Context, id motion.NetworkID) error {
	return i.state.Update(ctx, id, func(tx *store.Tx) error { return tx.DeleteApplicationSettings(id) })
}

// household returns the settings of a network, or the template when it has none,
// and the zone that its days are told in: the one asked for, else that of the
// settings.
func (i *Insights) household(ctx context.Context, id motion.NetworkID, asked *time.Location) (motion.ApplicationSettings, *time.Location, error) {
	if err := i.state.Known(id); err != nil {
		return motion.ApplicationSettings{}, nil, err
	}
	var s motion.ApplicationSettings
	err := i.state.DB.View(ctx, func(tx *store.Tx) (err error) {
		s, err = tx.SettingsInForce(id)
		return err
	})
	if err != nil || asked != nil {
		return s, asked, err
	}
	zone, err := alert.LoadZone(s.Timezone)
	if err != nil { // stored under an older or larger zone database
		i.state.Log.Warn("time zone in settings unknown", "network", id, "err", err)
		zone = time.UTC
	}
	return s, zone, nil
}
