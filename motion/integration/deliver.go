package integration

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// host is the sensor.Host of one provider.
type host struct {
	*Service
	provider string
}

var _ sensor.Host = host{}

// Accounts returns the accounts that the provider may serve.
func (h host) Accounts(ctx context.Context) (accounts []sensor.Account, err error) {
	all, err := store.Read(ctx, h.db, (*store.Tx).Integrations)
	for _, i := range all {
		if i.Provider != h.provider || i.Account.UserThingName == "" {
			continue
		}
		if _, err := h.Service.provider(i); err == nil {
			accounts = append(accounts, i.Account)
		}
	}
	return accounts, err
}

// BadInput counts a message that could not be used.
func (h host) BadInput(reason string, message []byte) {
	h.engine.State.BadInput("sensors/"+h.provider, reason, message)
}

// Cursor returns the cursor of the last stored batch.
func (h host) Cursor(ctx context.Context) (string, error) {
	return store.Read(ctx, h.db, func(tx *store.Tx) (string, error) { return tx.SensorCursor(h.provider) })
}

// Deliver processes a batch of the provider and stores its detections. Then it synchronises the
// accounts whose list of things changed.
func (h host) Deliver(ctx context.Context, b sensor.Batch) error {
	if err := h.take(ctx, h.provider, b); err != nil {
		return err
	}
	for _, account := range b.Changed {
		i, err := store.Read(ctx, h.db, func(tx *store.Tx) (sensor.Integration, error) {
			i, _, err := tx.IntegrationByAccount(account)
			return i, err
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

// thing is a thing in a batch: its record, and its new state.
type thing struct {
	device sensor.Device
	live   live
	found  []sensor.Detection
}

// batch is a batch of readings that is being processed.
type batch struct {
	*Service
	tx       *store.Tx
	provider string
	accounts map[string]sensor.Integration // by account; zero: unknown or not enabled
	things   map[key]*thing
	told     int // number of detections
}

// take processes a batch in a read transaction. If there is something to store, it processes
// the batch again in a write transaction.
func (s *Service) take(ctx context.Context, provider string, in sensor.Batch) error {
	s.taking.Lock()
	defer s.taking.Unlock()
	b, err := store.Read(ctx, s.db, func(tx *store.Tx) (*batch, error) { return s.judge(tx, provider, in) })
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

// judge processes the readings of a batch in their order.
func (s *Service) judge(tx *store.Tx, provider string, in sensor.Batch) (*batch, error) {
	b := &batch{Service: s, tx: tx, provider: provider, accounts: map[string]sensor.Integration{}, things: map[key]*thing{}}
	for _, r := range in.Readings {
		item, err := b.thing(r)
		if err != nil {
			return nil, err
		}
		if item != nil {
			b.read(item, r)
		}
	}
	return b, nil
}

// thing returns the thing of a reading, or nil if it is unknown here.
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
	if item := b.things[k]; item != nil {
		return item, nil
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
	item := &thing{device: device, live: now}
	b.things[k] = item
	return item, nil
}

// read applies a reading to a thing. It ignores values older than the known ones, such as
// those of a list, but always applies whether the thing is online.
func (b *batch) read(item *thing, r sensor.Reading) {
	now := b.tx.Now()
	switch at := min(r.TS, now); {
	case at.IsZero() || !r.HasValues():
	case at < item.live.at:
		r = sensor.Reading{Online: r.Online}
	default:
		item.live.at = at
	}
	next, tells := item.device.Take(item.live.state, r)
	item.live.state = next
	if !tells || !item.device.Config.Notify {
		return
	}
	if !item.live.pace.Allow(now) {
		b.engine.BadInput("sensors/"+b.provider, "a sensor tells too much: its detections are not kept for a while", nil)
		return
	}
	item.found = append(item.found, item.device.Detect(next, r.TS, now))
	item.device.Config.State = next
	b.told++
}

// store writes the detections of a batch with the resulting states, and pushes them.
func (b *batch) store(cursor string) error {
	for _, item := range b.things {
		if len(item.found) == 0 {
			continue
		}
		for _, found := range item.found {
			kept, err := b.tx.AddDetection(item.device, found)
			if err != nil {
				return err
			}
			if err := b.tell(item, kept); err != nil {
				return err
			}
		}
		d := item.device
		d.Config.Online = false
		stored, err := b.tx.PutSensor(d)
		if err != nil {
			return err
		}
		item.device = stored
	}
	if cursor == "" {
		return nil
	}
	return b.tx.PutSensorCursor(b.provider, cursor)
}

// remember keeps the states and the cursor of a batch in memory.
func (s *Service) remember(b *batch, cursor string, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, item := range b.things {
		settled := item.device.Settle(item.live.state).Config.State
		before := item.device.Config.State
		item.live.dirty = item.device.Config.Notify && !same(settled, before)
		s.live[k] = item.live
	}
	if cursor != "" {
		s.cursors[b.provider], s.unstored[b.provider] = cursor, !stored
	}
}

// same reports whether two states are equal in what is stored between detections.
func same(a, b sensor.State) bool {
	level := func(s sensor.State) int {
		if s.BatteryLevel == nil {
			return -1
		}
		return *s.BatteryLevel
	}
	return a.Status == b.Status && level(a) == level(b)
}

// pushFresh is the greatest age of a detection that is pushed: the current scene says nothing
// about older ones.
const pushFresh motion.Seconds = 300

// tell pushes a detection under the rules for motion (interfaces.md 6 no. 3): while the home
// is away and its network armed, and at most once per sensor and cooldown of motion events. It
// does not push ends of detections or measurements.
func (b *batch) tell(item *thing, found sensor.Detection) error {
	if b.options.Push == nil || found.Value.Status == "" || slices.Index(found.Type.Statuses(), found.Value.Status) < 1 {
		return nil
	}
	now := b.tx.Now()
	if found.TS < now.Add(-pushFresh) {
		return nil
	}
	h, err := b.tx.Home(found.Home)
	if err != nil {
		return err
	}
	network, err := b.tx.Network(found.Network)
	if err != nil || !home.ArmedAway(h, network) {
		return err
	}
	cooldown := motion.Seconds(network.Guardian().MotionEvents.Cooldown)
	if since := now.Since(item.live.pushed); since >= 0 && since < cooldown {
		return nil
	}
	item.live.pushed = now
	return b.options.Push(b.tx, motion.Event{
		ID: found.ID, Category: motion.CategoryMotion, Event: found.Event, NetworkID: found.Network, GuardianID: network.GuardianID,
		TS: found.TS, LocName: found.Location,
	})
}
