// Package nodedoor lets in what nodes of other makers measure: it listens for them, asks the engine who is
// adopted, and turns their frames into the same reports as those of our own devices. How the nodes
// speak is in nodewire.
//
// Such nodes show no secret. So nothing of one that is not adopted is used; messages from outside the networks that
// this box is connected to are dropped; each sender has a rate, and all that are not adopted have one together,
// before anything is decoded. Somebody on the same network can still send in the name of an adopted node:
// docs/safety.md.
//
// A message is looked at under one mutex, for microseconds. Everything that may wait, such as adopting a
// node and handing over what was gathered, is done by Run.
package nodedoor

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/peer"
)

// Engine is what the door needs of the product.
type Engine interface {
	// Receiver returns the key of an adopted node and the address that its links end at, after it has begun
	// its session, or why the node waits.
	Receiver(ctx context.Context, said motion.Radar, substitute motion.MAC, c motion.Credentials) (key motion.DeviceKey, receiver motion.MAC, why string, err error)
	// Report is as for the broker.
	Report(ctx context.Context, device motion.DeviceKey, report motion.Report) error
	BadInput(device, reason string, message []byte)
	Disconnected(device motion.DeviceKey, reason string)
	KnowsTransmitter(device motion.DeviceKey, mac motion.MAC) bool
	NodeFigures(deviceID string, figures *motion.NodeFigures)
}

// Options are what the door needs beside its configuration.
type Options struct {
	Engine    Engine
	Neighbour func(netip.Addr) motion.MAC    // of the kernel's table; zero: unknown
	Connected func() ([]netip.Prefix, error) // the networks that this box is connected to, with its own addresses
	// Browse returns who offers a service by multicast DNS.
	Browse func(ctx context.Context, service string) ([]netip.AddrPort, error)
	Log    *slog.Logger
	Now    func() time.Time // nil: time.Now
}

// Limits. What one node may send is more than any node that is known of does.
const (
	nodeRate, nodeBurst         = 250, 500 // messages a second of one sender, and at once
	strangerRate, strangerBurst = 500, 500 // of all that are not adopted together
	oneRate, oneBurst           = 50, 100  // of one that is not adopted
	maxMessage                  = 4096     // bytes
	maxPending                  = 64       // nodes that are not adopted
	asksASecond                 = 8        // of them, those about which the engine and the neighbour table are asked
	maxNodes                    = 1024     // that are
	maxAtAddress                = 32       // nodes at one address
)

// Times.
const (
	flushEvery  = 250 * time.Millisecond // from a frame to its report at most
	askEvery    = 10 * time.Second       // between two questions whether a node may come in
	quietAfter  = 30 * time.Second       // without a message: its session ends
	forgetAfter = 10 * time.Minute       // without a message: one that is not adopted is forgotten
	macEvery    = 10 * time.Second       // between two looks at the neighbour table
)

// Door lets nodes of other makers in. Make it with New.
type Door struct {
	config  Config
	options Options
	intakes []intake

	senders   *peer.Buckets[netip.Addr] // of adopted nodes
	strangers *peer.Buckets[struct{}]
	stranger  *peer.Buckets[netip.Addr]

	mu      sync.Mutex
	nodes   map[string]*node // by deviceId
	sources map[source]*node
	adopted map[sender]*node // one of those at an address that may be in
	subnets []netip.Prefix
	users   map[user]netip.Addr // of the broker, that are connected, and from where
}

// intake is one way in.
type intake interface {
	listen() error
	run(ctx context.Context) error
	figures() motion.IntakeFigures
}

// source is where messages of a node come from.
type source struct {
	kind    motion.NodeKind
	address netip.Addr
	where   string // that tells it from others of its kind instead of the address, as a serial device; "": nothing
	number  uint8
}

// sender is who a message comes from, as far as that is known before it is decoded.
type sender struct {
	kind    motion.NodeKind
	address netip.Addr
}

// New makes a door; Listen binds its ports and Run lets nodes in.
func New(c Config, o Options) *Door {
	if o.Now == nil {
		o.Now = time.Now
	}
	d := &Door{
		config: c, options: o, nodes: map[string]*node{}, sources: map[source]*node{}, adopted: map[sender]*node{}, users: map[user]netip.Addr{},
		senders:   peer.NewBuckets[netip.Addr](nodeRate, nodeBurst),
		strangers: peer.NewBuckets[struct{}](strangerRate, strangerBurst),
		stranger:  peer.NewBuckets[netip.Addr](oneRate, oneBurst),
	}
	d.listenUDP(motion.RuView, c.RuView.Listen, c.RuView.Forward, nodewire.RuView)
	d.listenUDP(motion.MicroESPectre, c.MicroESPectre.Listen, "", nodewire.MicroESPectre)
	d.listenUDP(motion.Nexmon, c.Nexmon.Listen, "", new(antennas).decode)
	for _, from := range c.Lines {
		d.intakes = append(d.intakes, &lines{door: d, from: from})
	}
	if c.ESPectre.on() {
		d.intakes = append(d.intakes, newESPectre(d, c.ESPectre))
	}
	return d
}

// listenUDP adds an intake of datagrams, unless it is off.
func (d *Door) listenUDP(kind motion.NodeKind, at, forward string, decode func([]byte, *nodewire.Frame) error) {
	if on(at) {
		d.intakes = append(d.intakes, &udp{door: d, kind: kind, at: at, forward: forward, decode: decode})
	}
}

// antennas decodes what radios with nexmon_csi send. Each of their antennas, which report a transmission one by
// one, is a node of its own: what they measure differs.
type antennas struct{ nodewire.Nexmon }

func (a *antennas) decode(datagram []byte, f *nodewire.Frame) error {
	err := a.Decode(datagram, f)
	f.Node = uint8(f.Format & nodewire.NexmonAntenna)
	return err
}

// Listen binds the ports.
func (d *Door) Listen() error {
	for _, i := range d.intakes {
		if err := i.listen(); err != nil {
			return err
		}
	}
	return d.lookAround()
}

// Run lets nodes in until ctx ends. It is called once, after Listen.
func (d *Door) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, i := range d.intakes {
		group.Go(func() error { return i.run(ctx) })
	}
	group.Go(func() error {
		d.work(ctx)
		return nil
	})
	return group.Wait()
}

// Figures returns what arrives at each intake.
func (d *Door) Figures() (list []motion.IntakeFigures) {
	for _, i := range d.intakes {
		list = append(list, i.figures())
	}
	return list
}

// Forget ends what is known of a node whose device was removed: it asks to come in again.
func (d *Door) Forget(deviceID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.nodes[deviceID]; n != nil {
		n.leave()
	}
}

// isIn reports whether the node that messages come from is adopted.
func (d *Door) isIn(from source) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.sources[from]
	return n != nil && n.key.ID != ""
}

// lookAround reads which networks the box is connected to.
func (d *Door) lookAround() error {
	subnets, err := d.options.Connected()
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.subnets = subnets
	return nil
}

// near reports whether an address belongs to a network that the box is connected to; loopback is one.
// d.mu is held.
func (d *Door) near(a netip.Addr) bool {
	return a.IsLoopback() || a.IsLinkLocalUnicast() ||
		slices.ContainsFunc(d.subnets, func(p netip.Prefix) bool { return p.Contains(a) })
}

// work does what may wait: every quarter of a second it hands over what was gathered, every second it looks
// at each node.
func (d *Door) work(ctx context.Context) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for round := 0; ; round++ {
		select {
		case <-ctx.Done():
			d.end()
			return
		case <-tick.C:
		}
		d.handOver(ctx)
		if round%2 == 0 {
			d.repeat(ctx)
		}
		if round%4 == 0 {
			d.tend(ctx)
		}
		if round%120 == 0 {
			if err := d.lookAround(); err != nil {
				d.options.Log.Warn("networks of this box not read", "err", err)
			}
		}
	}
}

// end ends the sessions of all nodes.
func (d *Door) end() {
	for _, n := range d.list() {
		d.dismiss(n, "the appliance stops")
	}
}

// list returns the nodes.
func (d *Door) list() (list []*node) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.nodes {
		list = append(list, n)
	}
	return list
}
