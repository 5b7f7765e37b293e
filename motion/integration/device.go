package integration

import (
	"context"
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// Devices returns the hubs and sensors of a home: synchronised with the provider if that can be
// reached, otherwise as last known; none without an integration.
func (s *Service) Devices(ctx context.Context, h home.ID) ([]sensor.Device, error) {
	i, err := s.Integration(ctx, h)
	if fault.KindOf(err) == fault.NotFound {
		return []sensor.Device{}, nil
	}
	if err != nil {
		return nil, err
	}
	s.refresh(ctx, i)
	list, err := store.Read(ctx, s.db, func(tx *store.Tx) ([]sensor.Device, error) { return tx.Sensors(h) })
	for n := range list {
		list[n] = s.known(list[n])
	}
	return list, err
}

// Device returns a hub or sensor of a home, like Devices. NotFound: no such device.
func (s *Service) Device(ctx context.Context, h home.ID, thing string) (sensor.Device, error) {
	if i, err := s.Integration(ctx, h); err == nil {
		s.refresh(ctx, i)
	}
	d, _, err := s.find(ctx, h, thing)
	return s.known(d), err
}

// known returns the record of a thing with its latest state.
func (s *Service) known(d sensor.Device) sensor.Device {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Config.Online = false
	if l, ok := s.live[key{d.Home, d.ThingName}]; ok {
		d.Config.State = l.state
	}
	return d
}

// find returns a device of a home and its integration.
func (s *Service) find(ctx context.Context, h home.ID, thing string) (d sensor.Device, i sensor.Integration, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		if d, err = tx.Sensor(h, thing); err != nil {
			return err
		}
		i, err = integrationOf(tx, h)
		return err
	})
	return d, i, err
}

// Pair lets new sensors join a hub for the given seconds from now, which replaces an earlier
// duration, and returns the end. NotFound: the home has no such hub. Conflict: its integration
// is not enabled. Unavailable: the provider cannot be reached or cannot do it.
func (s *Service) Pair(ctx context.Context, h home.ID, hub string, seconds int) (motion.Stamp, error) {
	d, i, err := s.find(ctx, h, hub)
	if err == nil && d.Type != sensor.Hub {
		err = fault.New(fault.NotFound, "device %.128q: is no hub", hub)
	}
	if err == nil {
		err = i.Working()
	}
	if err != nil {
		return 0, err
	}
	p, err := s.provider(i)
	if err != nil {
		return 0, err
	}
	until := s.engine.State.Now().Add(motion.Seconds(seconds)).Stamp()
	return until, p.Pair(ctx, i.Account, hub, time.Duration(seconds)*time.Second)
}

// ChangeDevice changes a device, informs the provider, and raises
// IntegrationsConfigChangedEvent with the change; see sensor.Device.Apply. While notify is
// true the device's detections are stored. Unavailable: the provider must be informed and
// cannot be reached; nothing is changed.
func (s *Service) ChangeDevice(ctx context.Context, h home.ID, thing string, e sensor.DeviceEdit) (sensor.Device, error) {
	before, i, err := s.find(ctx, h, thing)
	if err != nil {
		return before, err
	}
	after, err := before.Apply(e)
	if err != nil {
		return before, err
	}
	if i.Working() == nil {
		p, err := s.provider(i)
		if err == nil {
			err = p.UpdateConfig(ctx, i.Account, before, after)
		}
		if err != nil {
			return before, err
		}
	}
	err = s.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		stored, err := tx.Sensor(h, thing)
		if err != nil {
			return nil, err
		}
		wasKept := stored.Config.Notify
		if stored, err = stored.Apply(e); err != nil {
			return nil, err
		}
		if !wasKept { // its detections start with its current state
			stored = stored.Settle(s.known(stored).Config.State)
		}
		if after, err = tx.PutSensor(stored); err != nil {
			return nil, err
		}
		changed, err := event(tx, stored.Network, motion.IntegrationsConfigChangedEvent,
			motion.Document{"thingName": thing, "change": map[string]any(e.Change())})
		return []motion.Event{changed}, err
	})
	return s.known(after), err
}

// RemoveDevice removes a sensor, or a hub with its sensors, at the provider and here, with all
// stored data, and raises DeviceRemoved for each sensor. Unavailable: the provider cannot be
// reached; nothing is removed.
func (s *Service) RemoveDevice(ctx context.Context, h home.ID, thing string) error {
	d, i, err := s.find(ctx, h, thing)
	if err != nil {
		return err
	}
	p, err := s.provider(i)
	if err == nil {
		err = p.Remove(ctx, i.Account, d)
	}
	if err != nil {
		return err
	}
	remains := stillListed(ctx, p, i.Account, thing)
	var removed []sensor.Device
	err = s.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		if removed, err = withSensors(tx, h, thing); err != nil {
			return nil, err
		}
		for _, d := range removed {
			if err := tx.DeleteSensor(h, d.ThingName); err != nil {
				return nil, err
			}
			if d.Type == sensor.Hub {
				continue
			}
			e, err := event(tx, d.Network, motion.DeviceRemoved, about(d))
			if err != nil {
				return nil, err
			}
			events = append(events, e)
		}
		if !remains {
			return events, nil
		}
		return events, drop(tx, h, thing)
	})
	if err != nil {
		return err
	}
	s.forget(func(k key) bool {
		return k.home == h && slices.ContainsFunc(removed, func(d sensor.Device) bool { return d.ThingName == k.thing })
	})
	return nil
}

// stillListed reports whether a provider still lists a thing after its removal, like a provider
// that is its own hub, or that only reads what others announce.
func stillListed(ctx context.Context, p sensor.Provider, a sensor.Account, thing string) bool {
	found, err := p.ListDevices(ctx, a)
	return err == nil && slices.ContainsFunc(found, func(f sensor.Found) bool { return f.Reading.Thing == thing })
}

// withSensors returns a device, and before it the sensors of a hub.
func withSensors(tx *store.Tx, h home.ID, thing string) ([]sensor.Device, error) {
	d, err := tx.Sensor(h, thing)
	if err != nil {
		return nil, err
	}
	all, err := tx.Sensors(h)
	list := slices.DeleteFunc(all, func(other sensor.Device) bool { return other.HubThingName != thing })
	return append(list, d), err
}

// drop stores that a thing was removed, so that it stays away. Of more than a home may have the
// one removed first comes back.
func drop(tx *store.Tx, h home.ID, thing string) error {
	i, err := integrationOf(tx, h)
	if err != nil || slices.Contains(i.Dropped, thing) {
		return err
	}
	i.Dropped = append(i.Dropped, thing)
	i.Dropped = i.Dropped[max(0, len(i.Dropped)-sensor.MaxDevices):]
	_, err = tx.PutIntegration(i)
	return err
}

// History returns the newest detections of a home, or of one of its things, newest first, at most
// sensor.MaxAnswer, from the later of since and from up to and including to; to 0 means no end.
// NotFound: no such thing.
func (s *Service) History(ctx context.Context, h home.ID, thing string, since, from, to motion.Time) ([]sensor.Detection, error) {
	return store.Read(ctx, s.db, func(tx *store.Tx) ([]sensor.Detection, error) {
		q := store.DetectionQuery{Home: h, From: max(since, from), To: to, Last: sensor.MaxAnswer}
		if thing != "" {
			d, err := tx.Sensor(h, thing)
			if err != nil {
				return nil, err
			}
			q.Sensor = d.ID
		}
		return tx.Detections(q)
	})
}
