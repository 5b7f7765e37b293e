package integration

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// refresh synchronises the things of an integration and waits up to three seconds for the
// provider.
func (s *Service) refresh(ctx context.Context, i sensor.Integration) {
	if i.Working() != nil {
		return
	}
	soon, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	if err := s.synchronise(soon, i); err != nil {
		s.log.Debug("sensors not synchronised", "home", i.Home, "provider", i.Provider, "err", err)
	}
}

// synchronise compares the stored things with the provider's list: it adds new ones, each with
// a DeviceAddedEvent, and sets those no longer listed offline. They stay until a user deletes
// them, so that a sensor that is paired again keeps its name and history.
func (s *Service) synchronise(ctx context.Context, i sensor.Integration) error {
	p, err := s.provider(i)
	if err != nil || i.Working() != nil {
		return err
	}
	found, err := p.ListDevices(ctx, i.Account)
	if err != nil {
		return err
	}
	asOf := s.engine.State.Now()
	stored, err := store.Read(ctx, s.db, func(tx *store.Tx) ([]sensor.Device, error) { return tx.Sensors(i.Home) })
	if err != nil {
		return err
	}
	added, missing := compare(i, stored, found)
	if len(added) > 0 {
		if err := s.add(ctx, i, found); err != nil {
			return err
		}
	}
	b := sensor.Batch{}
	for _, f := range found {
		f.Reading.Account = i.Account.UserThingName
		b.Readings = append(b.Readings, f.Reading)
	}
	offline := false
	for _, d := range missing {
		b.Readings = append(b.Readings, sensor.Reading{
			Account: i.Account.UserThingName, Thing: d.ThingName, TS: asOf, Online: &offline,
		})
	}
	return s.take(ctx, i.Provider, b)
}

// compare returns the things that are listed but not stored, up to the limit of a home, and
// those that are stored but no longer listed.
func compare(i sensor.Integration, stored []sensor.Device, found []sensor.Found) (added []sensor.Found, missing []sensor.Device) {
	listed := map[string]bool{}
	for _, f := range found {
		name := f.Reading.Thing
		isStored := slices.ContainsFunc(stored, func(d sensor.Device) bool { return d.ThingName == name })
		dropped := slices.Contains(i.Dropped, name) || slices.Contains(i.Dropped, f.Hub)
		if !isStored && !dropped && !listed[name] && len(stored)+len(added) < sensor.MaxDevices {
			added = append(added, f)
		}
		listed[name] = true
	}
	for _, d := range stored {
		if !listed[d.ThingName] {
			missing = append(missing, d)
		}
	}
	return added, missing
}

// add stores the things that are listed but not stored yet.
func (s *Service) add(ctx context.Context, i sensor.Integration, found []sensor.Found) error {
	return s.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		now, err := integrationOf(tx, i.Home)
		if err != nil || now.Account != i.Account || now.Working() != nil {
			return nil, err // deleted, or disabled, meanwhile
		}
		stored, err := tx.Sensors(i.Home)
		if err != nil {
			return nil, err
		}
		hubs := 0
		for _, d := range stored {
			if d.Type == sensor.Hub {
				hubs++
			}
		}
		added, _ := compare(now, stored, found)
		for _, f := range added {
			d, err := tx.PutSensor(sensor.New(now, f, hubs))
			if err != nil {
				return nil, err
			}
			if d.Type == sensor.Hub {
				hubs++
			}
			e, err := event(tx, d.Network, motion.DeviceAddedEvent, about(d))
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
		return events, nil
	})
}

// about returns the detail of an event about a device.
func about(d sensor.Device) motion.Document {
	return motion.Document{"thingName": d.ThingName, "deviceType": string(d.Type), "hubThingName": d.HubThingName}
}
