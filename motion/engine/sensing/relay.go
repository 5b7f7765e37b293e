package sensing

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// relayTime is how long one call asks for the delivery of live motion to an
// outside service (payloads.md 4.7).
const relayTime = 60 * time.Second

// Relay is an outside service that live motion can be delivered to; package uplink
// has them. Its methods are called concurrently.
type Relay interface {
	// Ready says why nothing can be delivered any more, as a fault.
	Ready() error
	// Deliver hands a live frame over. It must not wait.
	Deliver(network motion.NetworkID, frame []byte)
}

// deliveries are the deliveries to outside services under way. The zero value is
// ready.
type deliveries struct {
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	current map[deliveryKey]*delivery
}

type deliveryKey struct {
	network  motion.NetworkID
	provider string
}

// delivery reads one network's live motion for one provider until end ends the
// subscription.
type delivery struct {
	frames *Subscription
	end    *time.Timer
}

// StartRelay delivers a network's live motion to the provider of that name for the
// next minute, and returns until when; calling again prolongs it. NotFound, with
// the names that are configured, for an unknown provider; Conflict for one that
// wants nothing any more.
func (se *Sensing) StartRelay(id motion.NetworkID, provider string) (motion.Time, error) {
	n, err := se.network(id)
	if err != nil {
		return 0, err
	}
	var relays map[string]Relay
	if se.relays != nil {
		relays = se.relays()
	}
	relay, ok := relays[provider]
	if !ok {
		return 0, fault.New(fault.NotFound, "realtime_provider %.40q is not configured here; configured: %s", provider, relayNames(relays))
	}
	if err := relay.Ready(); err != nil {
		return 0, err
	}
	if err := se.deliver(deliveryKey{id, provider}, relay); err != nil {
		return 0, err
	}
	se.sendLive(n)
	return se.state.Now().Add(relayTime.Seconds()), nil
}

// relayNames lists the configured providers for a person.
func relayNames(relays map[string]Relay) string {
	if len(relays) == 0 {
		return "none, see relay and uplinks in the configuration"
	}
	return strings.Join(slices.Sorted(maps.Keys(relays)), ", ")
}

// deliver starts or prolongs a delivery.
func (se *Sensing) deliver(key deliveryKey, relay Relay) error {
	d := &se.deliveries
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fault.New(fault.Unavailable, "the appliance is stopping")
	}
	if one := d.current[key]; one != nil && one.end.Stop() {
		one.end.Reset(relayTime)
		return nil
	}
	if d.current == nil {
		d.current = map[deliveryKey]*delivery{}
	}
	frames := se.state.LiveMotion.Subscribe(key.network, liveQueue)
	one := &delivery{frames: frames, end: time.AfterFunc(relayTime, frames.Close)}
	d.current[key] = one
	d.running.Go(func() {
		for m := range frames.All() {
			relay.Deliver(key.network, m.JSON)
		}
		d.ended(key, one)
	})
	se.state.Log.Info("live motion delivery started", "network", key.network, "provider", key.provider)
	return nil
}

// ended forgets a delivery whose subscription has ended.
func (d *deliveries) ended(key deliveryKey, one *delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	one.end.Stop()
	if d.current[key] == one {
		delete(d.current, key)
	}
}

// close refuses further deliveries and waits for those under way, whose
// subscriptions have ended with the hub.
func (d *deliveries) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.running.Wait()
}
