package homeassistant

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// Name is the name of the provider.
const Name = "home_assistant"

// Provider is the provider. Create it with New, and what listens to an uplink with Part.
type Provider struct {
	log  *slog.Logger
	now  func() time.Time
	host atomic.Pointer[hostBox]

	mu   sync.Mutex
	hubs map[string]*hub // by the name of the uplink
}

// hostBox holds the host that Run delivers to.
type hostBox struct{ sensor.Host }

var _ sensor.Idler = (*Provider)(nil)

// New returns a provider that no uplink serves yet.
func New(log *slog.Logger) *Provider {
	return &Provider{log: log.With("sensors", Name), now: time.Now, hubs: map[string]*hub{}}
}

// Run delivers until ctx ends.
func (p *Provider) Run(ctx context.Context, host sensor.Host) error {
	p.host.Store(&hostBox{host})
	defer p.host.Store(nil)
	if err := p.deliver(ctx, p.all(), true); err != nil {
		p.log.Warn("sensors not delivered", "err", err)
	}
	<-ctx.Done()
	return nil
}

// Single returns true: the sensors serve one household, that of the only network that the uplinks name, or else of
// the only one of the box.
func (p *Provider) Single() (motion.NetworkID, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var only motion.NetworkID
	for _, h := range p.hubs {
		if len(h.networks) != 1 || only != 0 && only != h.networks[0] {
			return 0, true
		}
		only = h.networks[0]
	}
	return only, true
}

// Idle reports whether no uplink is configured that would be heard.
func (p *Provider) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.hubs) == 0
}

// CreateAccount returns an account: nobody has to be asked.
func (p *Provider) CreateAccount(_ context.Context, userThingName string) (sensor.Account, error) {
	return sensor.Account{UserThingName: userThingName}, nil
}

// DeleteAccount does nothing: the broker knows nothing of it.
func (p *Provider) DeleteAccount(context.Context, sensor.Account) error { return nil }

// ListDevices returns the hubs and the sensors that are announced. Unavailable: no broker has told all that it keeps
// yet.
func (p *Provider) ListDevices(context.Context, sensor.Account) ([]sensor.Found, error) {
	found := p.found()
	if len(found) == 0 {
		err := fault.New(fault.Unavailable, "no broker was heard yet: it needs an uplink that is used for home_assistant")
		err.RetryAfter = 30 * time.Second
		return nil, err
	}
	return found, nil
}

// found returns all things.
func (p *Provider) found() (found []sensor.Found) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.hubs)) {
		if h := p.hubs[name]; h.settled {
			found = append(found, h.found()...)
		}
	}
	return found
}

// all returns the readings of all things.
func (p *Provider) all() (readings []sensor.Reading) {
	for _, f := range p.found() {
		readings = append(readings, f.Reading)
	}
	return readings
}

// Pair returns a Conflict fault: sensors join at the program that announces them.
func (p *Provider) Pair(context.Context, sensor.Account, string, time.Duration) error {
	return fault.New(fault.Conflict, "hub: sensors join at the program that announces them to Home Assistant; they appear here by themselves")
}

// UpdateConfig does nothing: names and rooms here are this box's.
func (p *Provider) UpdateConfig(context.Context, sensor.Account, sensor.Device, sensor.Device) error {
	return nil
}

// Remove does nothing: the maker goes on announcing the thing, which stays away here as it was removed.
func (p *Provider) Remove(context.Context, sensor.Account, sensor.Device) error { return nil }

// deliver delivers readings to the host, for the one household; listed: the list of things changed.
func (p *Provider) deliver(ctx context.Context, readings []sensor.Reading, listed bool) error {
	host := p.host.Load()
	if host == nil || len(readings) == 0 && !listed {
		return nil
	}
	accounts, err := host.Accounts(ctx)
	if err != nil || len(accounts) == 0 {
		return err
	}
	batch := sensor.Batch{Readings: readings}
	for i := range readings {
		readings[i].Account = accounts[0].UserThingName
	}
	if listed {
		batch.Changed = []string{accounts[0].UserThingName}
	}
	return host.Deliver(ctx, batch)
}

// bad counts a message that could not be used.
func (p *Provider) bad(reason string, message []byte) {
	if host := p.host.Load(); host != nil {
		host.BadInput(reason, message)
	}
}
