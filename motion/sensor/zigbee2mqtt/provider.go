package zigbee2mqtt

import (
	"context"
	"strings"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// Zigbee encodes the time to join in one byte, where 255 means forever: a longer time is
// requested in parts, each a little before the last one ends.
const (
	longestJoin = 254 * time.Second
	renewAhead  = 4 * time.Second
)

// Single returns true: the bridge serves one household.
func (b *Bridge) Single() (motion.NetworkID, bool) { return b.network, true }

// Topic returns the bridge's base topic.
func (b *Bridge) Topic() string { return strings.TrimSuffix(b.base, "/") }

// CreateAccount returns an account without asking the bridge, which may be offline.
func (b *Bridge) CreateAccount(_ context.Context, userThingName string) (sensor.Account, error) {
	return sensor.Account{UserThingName: userThingName}, nil
}

// DeleteAccount leaves the bridge and its paired devices as they are: other programs may use the
// Zigbee network too.
func (b *Bridge) DeleteAccount(context.Context, sensor.Account) error {
	b.state.mu.Lock()
	b.state.until = time.Time{}
	b.state.mu.Unlock()
	return nil
}

// ListDevices returns the coordinator and the sensors in the bridge's latest list.
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

// permit lets devices join for d; until is the end of the whole pairing. 1.x reads value and
// time, 2.x time.
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

// renewal returns the time until joining must be requested again, and whether it must.
func (s *state) renewal(now time.Time) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.granted.Add(-renewAhead).Sub(now)), s.until.After(s.granted)
}

// extend requests the rest of a long pairing when it is time.
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

// UpdateConfig sends a changed name and location to the bridge, so that both show the same.
// Other changes do not need the bridge. A rejection by the bridge, for example of a duplicate
// name, is no error: the settings here count.
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

// change requests a change of a sensor from the bridge, which may refuse.
func (b *Bridge) change(ctx context.Context, d sensor.Device, path string, message map[string]any) error {
	err := b.request(ctx, path, message)
	if isRefusal(err) {
		b.log.Warn("sensor not changed at the bridge", "device", d.ThingName, "err", err)
		return nil
	}
	return err
}

// Remove removes a sensor from the Zigbee network, or all sensors with the hub, which cannot
// leave it. It forces the removal of a sensor that does not leave, for example because it
// sleeps.
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
		return nil // removed already, or never there
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

// idOf returns the bridge's id of a sensor, or false if the bridge has no such sensor. Before the
// first list the id is the address.
func (b *Bridge) idOf(d sensor.Device) (string, bool) {
	digits, isSensor := strings.CutPrefix(d.ThingName, "SENSOR_")
	b.state.mu.Lock()
	defer b.state.mu.Unlock()
	if item := b.state.things[digits]; item != nil {
		return item.id, true
	}
	return "0x" + strings.ToLower(digits), isSensor && !b.state.listed
}

// topicName returns a friendly name that is valid in a topic: without separators and
// wildcards, at most 128 bytes.
func topicName(name string) string {
	name = strings.NewReplacer("/", "-", "+", "-", "#", "-").Replace(strings.TrimSpace(name))
	return strings.ToValidUTF8(name[:min(len(name), 128)], "")
}
