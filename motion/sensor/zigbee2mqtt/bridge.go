package zigbee2mqtt

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// Name is what the provider is called in the configuration.
const Name = "zigbee2mqtt"

// Broker is the appliance's own MQTT broker.
type Broker interface {
	// Publish sends a message to whoever has subscribed to its topic, at QoS 1;
	// without one it is an Unavailable fault.
	Publish(topic string, payload []byte) error
	// Subscribe has hear called with every message of integration users below prefix,
	// in order for each client.
	Subscribe(prefix string, hear func(ctx context.Context, topic string, payload []byte) error)
}

// Bridge is the provider. Make it with New.
type Bridge struct {
	base     string           // of every topic, with a slash
	network  motion.NetworkID // whose household it serves; 0: the only one there is
	broker   Broker
	log      *slog.Logger
	state    state
	requests requests
	host     atomic.Pointer[hostBox]
	wake     chan struct{} // pairing was asked for
}

// hostBox holds whom Run delivers to.
type hostBox struct{ sensor.Host }

var _ sensor.Provider = (*Bridge)(nil)

// New returns the provider for the bridge of a valid configuration, and listens to it
// from now on: what it says before Run is delivered then.
func New(c Config, broker Broker, log *slog.Logger) *Bridge {
	b := &Bridge{base: c.BaseTopic + "/", network: c.Network, broker: broker, log: log.With("sensors", Name), wake: make(chan struct{}, 1)}
	broker.Subscribe(c.BaseTopic, b.hear)
	return b
}

// Run delivers until ctx ends, and keeps the bridge open for as long as pairing was
// asked for.
func (b *Bridge) Run(ctx context.Context, host sensor.Host) error {
	b.host.Store(&hostBox{host})
	defer b.host.Store(nil)
	if err := b.deliverAll(ctx, true); err != nil {
		b.log.Warn("sensors not delivered", "err", err)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			b.extend(ctx)
		case <-b.wake:
		}
		if wait, more := b.state.renewal(time.Now()); more {
			timer.Reset(wait)
		}
	}
}

// hear takes a message of the bridge. Its error means that something could not be
// stored; what cannot be used is counted and acknowledged.
func (b *Bridge) hear(ctx context.Context, topic string, payload []byte) error {
	err := b.take(ctx, strings.TrimPrefix(topic, b.base), payload)
	if kind := fault.KindOf(err); kind == 0 || kind == fault.Unavailable {
		return err
	}
	if host := b.host.Load(); host != nil {
		host.BadInput(err.Error(), payload)
	}
	return nil
}

// take takes a message by its topic below the base.
func (b *Bridge) take(ctx context.Context, topic string, payload []byte) error {
	switch topic {
	case "bridge/state":
		return b.takeState(ctx, payload)
	case "bridge/info":
		return b.takeInfo(ctx, payload)
	case "bridge/devices":
		devices, err := decodeList[device](payload)
		if err != nil {
			return at(topic, err)
		}
		b.state.list(devices)
		return b.deliverAll(ctx, true)
	case "bridge/groups":
		groups, err := decodeList[device](payload)
		names := make([]string, len(groups))
		for i, group := range groups {
			names[i] = group.Name
		}
		b.state.group(names)
		return at(topic, err)
	case "bridge/event":
		return b.takeEvent(ctx, payload)
	}
	if strings.HasPrefix(topic, "bridge/response/") {
		var answer response
		if err := decode(payload, &answer); err != nil {
			return at("bridge/response", err)
		}
		b.requests.answer(answer)
		return nil
	}
	if strings.HasPrefix(topic, "bridge/") {
		return nil // logging, definitions, converters and the like
	}
	return b.takeThing(ctx, topic, payload)
}

// at says which message an error is about.
func at(topic string, err error) error {
	if kind := fault.KindOf(err); kind != 0 {
		return fault.New(kind, "%s: %s", topic, err)
	}
	return err
}

func (b *Bridge) takeState(ctx context.Context, payload []byte) error {
	online, err := decodeOnline(payload)
	if err != nil {
		return at("bridge/state", err)
	}
	b.state.mu.Lock()
	changed := b.state.online != online
	b.state.online = online
	b.state.touch(changed)
	if !online {
		b.state.joining, b.state.until = false, time.Time{}
	}
	b.state.mu.Unlock()
	if !changed {
		return nil
	}
	b.log.Info("bridge state", "online", online)
	return b.deliverAll(ctx, false)
}

func (b *Bridge) takeInfo(ctx context.Context, payload []byte) error {
	var message info
	if err := decode(payload, &message); err != nil {
		return at("bridge/info", err)
	}
	b.state.mu.Lock()
	is := address(message.Coordinator.Address)
	isNew := is != "" && is != b.state.coordinator
	if isNew {
		b.state.coordinator = is
	}
	changed := b.state.joining != message.PermitJoin
	b.state.joining = message.PermitJoin
	b.state.touch(isNew || changed)
	b.state.mu.Unlock()
	if !isNew && !changed {
		return nil
	}
	return b.deliverAll(ctx, isNew)
}

// takeEvent takes bridge/event. Devices that join or change are listed again anyway.
func (b *Bridge) takeEvent(ctx context.Context, payload []byte) error {
	var message event
	if err := decode(payload, &message); err != nil {
		return at("bridge/event", err)
	}
	if message.Type != "device_leave" {
		return nil
	}
	reading, ok := b.state.update(message.Data.Address, func(t *thing) { t.available = false })
	if !ok {
		return nil
	}
	return b.deliver(ctx, []sensor.Reading{reading}, false)
}

// takeThing takes the state or the availability of a device; a friendly name may have
// slashes.
func (b *Bridge) takeThing(ctx context.Context, topic string, payload []byte) error {
	one, ours, known := b.state.named(topic)
	if ours {
		reading, err := decodeReading(payload, one.kind, one.keys)
		if err != nil {
			return at("state", err)
		}
		whole, ok := b.state.update(one.id, func(t *thing) { t.tell(reading) })
		if !ok {
			return nil
		}
		online := true // whatever the bridge says of itself: the sensor has spoken
		reading.Thing, reading.TS, reading.Online = whole.Thing, whole.TS, &online
		return b.deliver(ctx, []sensor.Reading{reading}, false)
	}
	name, last := cutLast(topic)
	switch last {
	case "availability":
		one, ours, known = b.state.named(name)
		if !ours {
			break
		}
		online, err := decodeOnline(payload)
		if err != nil {
			return at("availability", err)
		}
		if reading, ok := b.state.update(one.id, func(t *thing) { t.available = online }); ok {
			return b.deliver(ctx, []sensor.Reading{reading}, false)
		}
		return nil
	case "set", "get":
		return nil // of others, to devices
	}
	if !known {
		return fault.New(fault.NotFound, "message of a device that the bridge has not listed")
	}
	return nil
}

// cutLast splits a topic before its last level.
func cutLast(topic string) (before, last string) {
	i := strings.LastIndexByte(topic, '/')
	if i < 0 {
		return "", topic
	}
	return topic[:i], topic[i+1:]
}

// deliverAll delivers everything that is known; listed says that the list of things
// has changed.
func (b *Bridge) deliverAll(ctx context.Context, listed bool) error {
	found, ok := b.state.found()
	if !ok {
		return nil
	}
	readings := make([]sensor.Reading, len(found))
	for i, f := range found {
		readings[i] = f.Reading
	}
	return b.deliver(ctx, readings, listed)
}

// deliver hands readings to the host, for the one household that uses the bridge.
func (b *Bridge) deliver(ctx context.Context, readings []sensor.Reading, listed bool) error {
	host := b.host.Load()
	if host == nil {
		return nil
	}
	accounts, err := host.Accounts(ctx)
	if err != nil || len(accounts) == 0 {
		return err
	}
	account := accounts[0].UserThingName
	for i := range readings {
		readings[i].Account = account
	}
	batch := sensor.Batch{Readings: readings}
	if listed {
		batch.Changed = []string{account}
	}
	if err := host.Deliver(ctx, batch); err != nil {
		return fmt.Errorf("deliver readings: %w", err)
	}
	return nil
}
