package zigbee2mqtt

import (
	"context"
	"strings"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// Zigbee carries a time to join in one byte, of which 255 means for ever: more has to
// be asked for again and again, a little before it ends.
const (
	longestJoin = 254 * time.Second
	renewAhead  = 4 * time.Second
)

// Single is true: the bridge is one household's.
func (b *Bridge) Single() (motion.NetworkID, bool) { return b.network, true }

// CreateAccount needs nothing of the bridge, which may still be away.
func (b *Bridge) CreateAccount(_ context.Context, userThingName string) (sensor.Account, error) {
	return sensor.Account{UserThingName: userThingName}, nil
}

// DeleteAccount leaves the bridge and what is paired with it as they are: the Zigbee
// network may serve other things too.
func (b *Bridge) DeleteAccount(context.Context, sensor.Account) error {
	b.state.mu.Lock()
	b.state.until = time.Time{}
	b.state.mu.Unlock()
	return nil
}

// ListDevices returns the coordinator and the sensors as the bridge last said.
func (b *Bridge) ListDevices(context.Context, sensor.Account) ([]sensor.Found, error) {
	found, ok := b.state.found()
	if !ok {
		return nil, away("the Zigbee bridge has not listed its devices yet")
	}
	return found, nil
}

// Pair lets devices join through the coordinator and every router.
func (b *Bridge) Pair(ctx context.Context, _ sensor.Account, hub string, d time.Duration) error {
	b.state.mu.Lock()
	is := b.state.coordinator
	b.state.mu.Unlock()
	switch {
	case is == "":
		return away("the Zigbee bridge has not named its coordinator yet")
	case hub != hubName(is):
		return fault.New(fault.NotFound, "hub %.128q: is not the bridge's", hub)
	}
	until := time.Now().Add(d)
	if err := b.permit(ctx, min(d, longestJoin), until); err != nil {
		return err
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return nil
}

// permit lets devices join for d; until is how long they may in the end. 1.x reads
// value and time, 2.x time.
func (b *Bridge) permit(ctx context.Context, d time.Duration, until time.Time) error {
	seconds := int((d + time.Second - 1) / time.Second)
	err := b.request(ctx, "permit_join", map[string]any{"value": true, "time": seconds})
	if isRefusal(err) {
		b.log.Warn("pairing refused", "err", err)
		return away("the Zigbee bridge cannot let devices join now")
	}
	if err != nil {
		return err
	}
	b.state.mu.Lock()
	b.state.until, b.state.granted = until, time.Now().Add(d)
	b.state.mu.Unlock()
	return nil
}

// renewal returns how long it is until joining has to be asked for again, and whether
// it has to be.
func (s *state) renewal(now time.Time) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.granted.Add(-renewAhead).Sub(now)), s.until.After(s.granted)
}

// extend asks for the rest of a long pairing, once it is time for that.
func (b *Bridge) extend(ctx context.Context) {
	b.state.mu.Lock()
	until := b.state.until
	due := until.After(b.state.granted) && time.Until(b.state.granted) <= renewAhead
	b.state.mu.Unlock()
	if !due {
		return
	}
	if err := b.permit(ctx, min(time.Until(until), longestJoin), until); err != nil {
		b.log.Warn("pairing not renewed", "err", err)
		b.state.mu.Lock()
		b.state.until = time.Time{}
		b.state.mu.Unlock()
	}
}

// UpdateConfig passes a new name and location on to the bridge, so that people see the
// same there; what is not changed needs no bridge. One that refuses them, such as a name
// that is taken, is no error: what is set here counts.
func (b *Bridge) UpdateConfig(ctx context.Context, _ sensor.Account, before, after sensor.Device) error {
	id, ok := b.idOf(after)
	if !ok {
		return nil
	}
	if name := topicName(after.Config.FriendlyName); name != "" && after.Config.FriendlyName != before.Config.FriendlyName {
		if err := b.change(ctx, after, "device/rename", map[string]any{"from": id, "to": name}); err != nil {
			return err
		}
	}
	if after.Config.Location == before.Config.Location {
		return nil
	}
	options := map[string]any{"description": after.Config.Location}
	return b.change(ctx, after, "device/options", map[string]any{"id": id, "options": options})
}

// change asks the bridge to change something of a sensor, which it may refuse.
func (b *Bridge) change(ctx context.Context, d sensor.Device, path string, message map[string]any) error {
	err := b.request(ctx, path, message)
	if isRefusal(err) {
		b.log.Warn("sensor not changed at the bridge", "device", d.ThingName, "err", err)
		return nil
	}
	return err
}

// Remove removes a sensor from the Zigbee network; of the hub, which cannot leave it,
// every sensor. A sensor that sleeps cannot be asked to leave: it is struck off.
func (b *Bridge) Remove(ctx context.Context, _ sensor.Account, d sensor.Device) error {
	if d.Type != sensor.Hub {
		return b.remove(ctx, d, false)
	}
	found, _ := b.state.found()
	for _, f := range found {
		if f.Type == sensor.Hub {
			continue
		}
		if err := b.remove(ctx, sensor.Device{ThingName: f.Reading.Thing}, true); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bridge) remove(ctx context.Context, d sensor.Device, force bool) error {
	id, ok := b.idOf(d)
	if !ok {
		return nil // gone, or never there
	}
	err := b.request(ctx, "device/remove", map[string]any{"id": id, "force": force})
	if isRefusal(err) && !force {
		return b.remove(ctx, d, true)
	}
	if isRefusal(err) {
		b.log.Warn("sensor not removed from the bridge", "device", d.ThingName, "err", err)
		return away("the Zigbee bridge cannot remove the device now")
	}
	if err == nil {
		b.state.forget(address(id))
	}
	return err
}

// idOf returns what the bridge calls a sensor, false when it has none such. Before the
// first list that is its address.
func (b *Bridge) idOf(d sensor.Device) (string, bool) {
	digits, isSensor := strings.CutPrefix(d.ThingName, "SENSOR_")
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	if one := b.state.things[digits]; one != nil {
		return one.id, true
	}
	return "0x" + strings.ToLower(digits), isSensor && !b.state.listed
}

// topicName returns a friendly name that can stand in a topic: without its separators
// and wildcards, in at most 128 bytes.
func topicName(name string) string {
	name = strings.NewReplacer("/", "-", "+", "-", "#", "-").Replace(strings.TrimSpace(name))
	return strings.ToValidUTF8(name[:min(len(name), 128)], "")
}
