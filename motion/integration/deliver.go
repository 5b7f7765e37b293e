package integration

import (
	"context"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// host is whom one provider delivers to.
type host struct {
	*Service
	provider string
}

var _ sensor.Host = host{}

// Accounts returns the accounts at the provider that it may serve.
func (h host) Accounts(ctx context.Context) (accounts []sensor.Account, err error) {
	err = h.db.View(ctx, func(tx *store.Tx) error {
		all, err := tx.Integrations()
		for _, i := range all {
			if i.Provider != h.provider || i.Account.UserThingName == "" {
				continue
			}
			if _, err := h.Service.provider(i); err == nil {
				accounts = append(accounts, i.Account)
			}
		}
		return err
	})
	return accounts, err
}

// BadInput counts a message that could not be used.
func (h host) BadInput(reason string, message []byte) {
	h.engine.BadInput("sensors/"+h.provider, reason, message)
}

// Cursor returns that of the last batch that is sure to be kept.
func (h host) Cursor(ctx context.Context) (cursor string, err error) {
	err = h.db.View(ctx, func(tx *store.Tx) error {
		cursor, err = tx.SensorCursor(h.provider)
		return err
	})
	return cursor, err
}

// Deliver takes a batch of the provider: detections are stored before it returns. Then
// the things of accounts whose list has changed are brought up to date.
func (h host) Deliver(ctx context.Context, b sensor.Batch) error {
	if err := h.take(ctx, h.provider, b); err != nil {
		return err
	}
	for _, account := range b.Changed {
		var i sensor.Integration
		err := h.db.View(ctx, func(tx *store.Tx) (err error) {
			i, _, err = tx.IntegrationByAccount(account)
			return err
		})
		if err == nil && i.Provider == h.provider {
			err = h.synchronise(ctx, i)
		}
		if kind := fault.KindOf(err); err != nil && (kind == 0 || kind == fault.Unavailable) {
			return err
		}
	}
	return nil
}

// thing is one of a batch: what is stored of it, and what it has become.
type thing struct {
	device sensor.Device
	live   live
	found  []sensor.Detection
}

// batch is a batch that is being judged.
type batch struct {
	*Service
	tx       *store.Tx
	provider string
	accounts map[string]sensor.Integration // by account; zero: not ours, or not enabled
	things   map[key]*thing
	told     int // detections
}

// take judges a batch and stores what is to be kept. Judging reads; only a batch that
// has something to keep is judged again while writing.
func (s *Service) take(ctx context.Context, provider string, in sensor.Batch) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	var b *batch
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		b, err = s.judge(tx, provider, in)
		return err
	})
	stored := err == nil && b.told > 0
	if stored {
		err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
			if b, err = s.judge(tx, provider, in); err != nil {
				return err
			}
			return b.store(in.Cursor)
		})
	}
	if err != nil {
		return err
	}
	s.remember(b, in.Cursor, stored)
	return nil
}

// judge takes the readings of a batch in their order.
func (s *Service) judge(tx *store.Tx, provider string, in sensor.Batch) (*batch, error) {
	b := &batch{Service: s, tx: tx, provider: provider, accounts: map[string]sensor.Integration{}, things: map[key]*thing{}}
	for _, r := range in.Readings {
		one, err := b.thing(r)
		if err != nil {
			return nil, err
		}
		if one != nil {
			b.read(one, r)
		}
	}
	return b, nil
}

// thing returns the thing that a reading is about; nil when it is none of ours.
func (b *batch) thing(r sensor.Reading) (*thing, error) {
	i, known := b.accounts[r.Account]
	if !known {
		found, ok, err := b.tx.IntegrationByAccount(r.Account)
		if err != nil {
			return nil, err
		}
		if ok && found.Provider == b.provider && found.Enabled {
			i = found
		}
		b.accounts[r.Account] = i
	}
	if i.ID == 0 {
		return nil, nil
	}
	k := key{i.Home, r.Thing}
	if one := b.things[k]; one != nil {
		return one, nil
	}
	device, err := b.tx.Sensor(k.home, k.thing)
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil // not listed yet, or removed
	}
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	now, ok := b.live[k]
	b.mu.Unlock()
	if !ok {
		now.state = device.Config.State
	}
	one := &thing{device: device, live: now}
	b.things[k] = one
	return one, nil
}

// read takes a reading of a thing. Values that are older than those that are known
// already, as those of a list can be, say nothing; whether a thing is online has no age.
func (b *batch) read(one *thing, r sensor.Reading) {
	now := b.tx.Now()
	switch at := min(r.TS, now); {
	case at.IsZero() || !r.HasValues():
	case at < one.live.at:
		r = sensor.Reading{Online: r.Online}
	default:
		one.live.at = at
	}
	next, tells := one.device.Take(one.live.state, r)
	one.live.state = next
	if !tells || !one.device.Config.Notify {
		return
	}
	if !one.live.pace.Allow(now) {
		b.engine.BadInput("sensors/"+b.provider, "a sensor tells too much: its detections are not kept for a while", nil)
		return
	}
	one.found = append(one.found, one.device.Detect(next, r.TS, now))
	one.device.Config.State = next
	b.told++
}

// store writes the detections of a batch with the state that they led to, and pushes them.
func (b *batch) store(cursor string) error {
	for _, one := range b.things {
		if len(one.found) == 0 {
			continue
		}
		for _, found := range one.found {
			kept, err := b.tx.AddDetection(one.device, found)
			if err != nil {
				return err
			}
			if err := b.tell(one, kept); err != nil {
				return err
			}
		}
		d := one.device
		d.Config.Online = false
		stored, err := b.tx.PutSensor(d)
		if err != nil {
			return err
		}
		one.device = stored
	}
	if cursor == "" {
		return nil
	}
	return b.tx.PutSensorCursor(b.provider, cursor)
}

// remember holds what a batch has brought.
func (s *Service) remember(b *batch, cursor string, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, one := range b.things {
		settled := one.device.Settle(one.live.state).Config.State
		before := one.device.Config.State
		one.live.dirty = one.device.Config.Notify && !same(settled, before)
		s.live[k] = one.live
	}
	if cursor != "" {
		s.cursors[b.provider], s.unstored[b.provider] = cursor, !stored
	}
}

// same reports whether two states differ in nothing that is stored between detections.
func same(a, b sensor.State) bool {
	level := func(s sensor.State) int {
		if s.BatteryLevel == nil {
			return -1
		}
		return *s.BatteryLevel
	}
	return a.Status == b.Status && level(a) == level(b)
}
