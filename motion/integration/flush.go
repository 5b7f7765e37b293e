package integration

import (
	"context"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// flush stores the states that changed since they were last stored, and the cursors of the
// providers.
func (s *Service) flush(ctx context.Context) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.mu.Lock()
	dirty, cursors := map[key]sensor.State{}, map[string]string{}
	for k, l := range s.live {
		if l.dirty {
			dirty[k] = l.state
		}
	}
	for provider, unstored := range s.unstored {
		if unstored {
			cursors[provider] = s.cursors[provider]
		}
	}
	s.mu.Unlock()
	if len(dirty) == 0 && len(cursors) == 0 {
		return nil
	}
	err := s.db.Update(ctx, func(tx *store.Tx) error { return settle(tx, dirty, cursors) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range dirty {
		if l, ok := s.live[k]; ok {
			l.dirty = false
			s.live[k] = l
		}
	}
	for provider := range cursors {
		s.unstored[provider] = false
	}
	return nil
}

// settle stores states and cursors.
func settle(tx *store.Tx, states map[key]sensor.State, cursors map[string]string) error {
	for k, state := range states {
		d, err := tx.Sensor(k.home, k.thing)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := tx.PutSensor(d.Settle(state)); err != nil {
			return err
		}
	}
	for provider, cursor := range cursors {
		if err := tx.PutSensorCursor(provider, cursor); err != nil {
			return err
		}
	}
	return nil
}
