// Package homeassistant shows the networks of the appliance to Home Assistant by its MQTT discovery:
// a device for the appliance, each network, each room and each node, with their entities, and what
// Home Assistant asks of them. It knows Home Assistant's topics and payloads. It must not know MQTT
// connections, the engine or the store: a [House] tells it what there is and does what is asked.
//
// Entities come from what a House tells at a moment and nothing else, so that each message can be
// made anew at any time; a connection remembers what it has sent, and sends what differs.
package homeassistant

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"sensegate/motion"
	"sensegate/motion/uplink"
)

// Options configure a Part.
type Options struct {
	Box       string // instance id of the appliance, which no other one on the broker has
	Base      string // all topics but those of discovery begin with Base + "/"
	Discovery string // Home Assistant's discovery prefix; "": Prefix
	Legacy    bool   // one discovery topic for each entity, for Home Assistant before 2024.12
	ReadOnly  bool   // no entity that changes something, and no command is taken
	Alarm     bool   // an alarm panel for each network

	House House
	Kept  Kept
	Log   *slog.Logger

	Delay func() time.Duration // from Home Assistant's start to what it is told then; nil: 1 to 5 s
}

// Kept keeps what an uplink has published retained, so that it can be cleared when it is no longer
// wanted, also after a restart.
type Kept interface {
	Load(ctx context.Context) (Published, error)
	Store(ctx context.Context, p Published) error
}

// Published are retained topics. The value of the discovery topic of a device holds the platform of
// each of its entities by the entity's key; that of any other topic is nil.
type Published map[string]map[string]string

// Part shows entities for as long as an uplink is connected. Make it with New.
type Part struct {
	o   Options
	now *run // the connection that was introduced last
}

// New returns a Part.
func New(o Options) *Part {
	o.Discovery = cmp.Or(o.Discovery, Prefix)
	if o.Delay == nil {
		o.Delay = func() time.Duration { return time.Second + rand.N(4*time.Second) }
	}
	return &Part{o: o}
}

// Prefix is the discovery prefix that Home Assistant has unless it is told another.
const Prefix = uplink.DiscoveryPrefix

// Times.
const (
	fullPeriod      = time.Minute      // between two looks at everything; activity is told as often
	intensityPeriod = 10 * time.Second // between two values of intensity
)

// Watch begins to watch the house, until ctx ends: what there was while no broker was connected is known
// when one is.
func (p *Part) Watch(ctx context.Context) (wait func()) { return p.o.House.Watch(ctx) }

// Introduce tells everything. Afterwards the appliance may count as online: nothing that the broker has
// kept is of before.
func (p *Part) Introduce(ctx context.Context, peer uplink.Peer) error {
	kept, err := p.o.Kept.Load(ctx)
	if err != nil {
		return err
	}
	in := newInbox(p.o.Log)
	r := &run{Part: p, peer: peer, in: in, kept: kept, sent: map[string]string{}, groups: map[motion.NetworkID]Published{}, limit: newLimit()}
	r.follower = p.o.House.Follow(ctx, in.changed)
	p.now = r
	if err := p.subscribe(ctx, peer, in); err != nil {
		return err
	}
	return r.all(ctx, false)
}

// Run shows the entities until ctx ends, and carries out what is asked of them.
func (p *Part) Run(ctx context.Context, _ uplink.Peer) error {
	r, in := p.now, p.now.in
	full, intensity := time.NewTicker(fullPeriod), time.NewTicker(intensityPeriod)
	defer full.Stop()
	defer intensity.Stop()
	for {
		if err := r.work(ctx, in.take()); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-in.wake:
		case <-in.born:
			select { // a thousand boxes do not answer at once
			case <-ctx.Done():
				return nil
			case <-time.After(p.o.Delay()):
			}
			in.lookAtAll(true)
		case <-full.C:
			in.lookAtAll(false)
			r.repeat = true
		case <-intensity.C:
			r.tellIntensity()
		}
	}
}

// subscribe asks for Home Assistant's starts and for commands.
func (p *Part) subscribe(ctx context.Context, peer uplink.Peer, in *inbox) error {
	err := peer.Subscribe(ctx, p.o.Discovery+"/status", func(m uplink.Message) {
		if !m.Retain && string(m.Payload) == "online" {
			in.homeAssistantStarted()
		}
	})
	if err != nil || p.o.ReadOnly {
		return err
	}
	for _, filter := range []string{"/+/set", "/+/+/set"} {
		if err := peer.Subscribe(ctx, p.o.Base+filter, in.asked); err != nil {
			return err
		}
	}
	return nil
}

// Cleared clears what was published while an uplink was used for Home Assistant, when it no longer is.
type Cleared struct{ Kept Kept }

// Run clears it, and waits for the end of ctx.
func (c Cleared) Run(ctx context.Context, peer uplink.Peer) error {
	if err := New(Options{Kept: c.Kept}).Leave(ctx, peer); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// Leave clears everything that was published, before an uplink is removed or is no longer used for
// Home Assistant.
func (p *Part) Leave(ctx context.Context, peer uplink.Peer) error {
	kept, err := p.o.Kept.Load(ctx)
	if err != nil {
		return err
	}
	r := &run{Part: p, peer: peer, kept: kept}
	if err := r.clear(ctx, Published{}); err != nil {
		return err
	}
	return r.keep(ctx, Published{})
}
