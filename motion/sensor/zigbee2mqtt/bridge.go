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

// Name is the name of the provider in the configuration.
const Name = "zigbee2mqtt"

// Broker is the appliance's own MQTT broker.
type Broker interface {
	// Publish sends a message to the subscribers of its topic at QoS 1. Unavailable: there is no
	// subscriber.
	Publish(topic string, payload []byte) error
	// Subscribe registers hear for every message of integration users below prefix, in order for
	// each client.
	Subscribe(prefix string, hear func(ctx context.Context, topic string, payload []byte) error)
}

// Bridge is the provider. Create it with New.
type Bridge struct {
	base     string           // prefix of every topic, with a slash
	network  motion.NetworkID // network of the household it serves; 0: the only one
	broker   Broker
	log      *slog.Logger
	state    state
	requests requests
	host     atomic.Pointer[hostBox]
	wake     chan struct{} // receives when pairing was requested
}

// hostBox holds the host that Run delivers to.
type hostBox struct{ sensor.Host }

var _ sensor.Provider = (*Bridge)(nil)

// New returns the provider for the bridge of a valid configuration and subscribes to it at once;
// messages that arrive before Run are delivered then.
func New(c Config, broker Broker, log *slog.Logger) *Bridge {
	b := &Bridge{base: c.BaseTopic + "/", network: c.Network, broker: broker, log: log.With("sensors", Name), wake: make(chan struct{}, 1)}
	broker.Subscribe(c.BaseTopic, b.hear)
	return b
}

// Run delivers until ctx ends, and renews the permission to join while pairing lasts.
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

// hear handles a message of the bridge. It returns an error if something could not be stored; it
// counts and acknowledges messages that cannot be used.
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

// take handles a message by its topic below the base.
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

// at adds the topic of the message to an error.
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

// takeEvent handles bridge/event. The bridge lists devices that join or change again anyway.
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

// takeThing handles the state or the availability of a device; a friendly name may contain
// slashes.
func (b *Bridge) takeThing(ctx context.Context, topic string, payload []byte) error {
	item, ours, known := b.state.named(topic)
	if ours {
		reading, err := decodeReading(payload, item.kind, item.keys)
		if err != nil {
			return at("state", err)
		}
		whole, ok := b.state.update(item.id, func(t *thing) { t.tell(reading) })
		if !ok {
			return nil
		}
		online := true // even if the bridge says otherwise: the sensor sent a message
		reading.Thing, reading.TS, reading.Online = whole.Thing, whole.TS, &online
		return b.deliver(ctx, []sensor.Reading{reading}, false)
	}
	name, last := cutLast(topic)
	switch last {
	case "availability":
		item, ours, known = b.state.named(name)
		if !ours {
			break
		}
		online, err := decodeOnline(payload)
		if err != nil {
			return at("availability", err)
		}
		if reading, ok := b.state.update(item.id, func(t *thing) { t.available = online }); ok {
			return b.deliver(ctx, []sensor.Reading{reading}, false)
		}
		return nil
	case "set", "get":
		return nil // from others to devices
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

// deliverAll delivers all known readings; listed: the list of things changed.
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

// deliver delivers readings to the host, for the one household of the bridge.
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
