// Package demo runs an appliance with a simulated home that speaks the real protocol
// to it over real MQTT. It imports a week of history and prints every event in a
// line. It knows the simulator and the product through Appliance; it must not know
// how the product works.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"sensegate/firmware-sim/sim"
	"sensegate/motion"
)

// backfill is the length of the imported history, and claimed how long the home has had its
// owner.
const (
	backfill = 7 * 24 * time.Hour
	claimed  = 8 * 24 * time.Hour
)

// Appliance is the appliance as the demo uses it.
type Appliance interface {
	// Run serves until ctx ends.
	Run(ctx context.Context) error
	// HTTP and MQTT return the addresses of its listeners.
	HTTP() net.Addr
	MQTT() net.Addr
	// NodesAt returns where nodes of another maker are listened for, host:port.
	NodesAt(kind motion.NodeKind) string
	// Key returns an API key to try.
	Key(ctx context.Context) (string, error)
	// Import stores history and events of the past.
	Import(ctx context.Context, network motion.NetworkID, history []motion.History, events []motion.Event) error
	// Settle makes an account that owns the home of a network since a time in the past, and
	// returns a code that signs a browser on this machine in as it, once.
	Settle(ctx context.Context, network motion.NetworkID, since motion.Time) (code string, err error)
	// SetupCode returns a new setup code, with which an owner of the home registers.
	SetupCode(ctx context.Context) (string, error)
	// PlaceNode sets the location and name of a node, by its deviceId.
	PlaceNode(ctx context.Context, device, location, friendlyName string) error
	// PlaceLeaf sets the location and name of a leaf.
	PlaceLeaf(ctx context.Context, network motion.NetworkID, mac motion.MAC, location, friendlyName string) error
	// SetCooldown sets the seconds of quiet after which motion has stopped.
	SetCooldown(ctx context.Context, network motion.NetworkID, seconds int) error
	// Play lets the viewers of the demo set the home in motion: walk lets somebody walk, unplug
	// takes the power from a node or gives it back, unplugged names the one without.
	Play(walk, unplug func(), unplugged func() string)
	// Befriend makes a second member of the home of a network, and two alerts.
	Befriend(ctx context.Context, network motion.NetworkID) error
	// Bridge makes a user of the MQTT broker for a Zigbee2MQTT bridge, and returns its password.
	Bridge(ctx context.Context, user string) (password string, err error)
	// PlaceSensor follows the sensors of the bridge for the home of a network, and sets the location
	// and name of one of them.
	PlaceSensor(ctx context.Context, network motion.NetworkID, thing, location, friendlyName string) error
	// Watch calls see for every event of a network, in order, until ctx ends.
	Watch(ctx context.Context, network motion.NetworkID, see func(motion.Event)) error
}

// Config configures Run.
type Config struct {
	Seed     uint64
	Speed    float64       // simulated seconds per second
	Duration time.Duration // after the import of the history; 0 = until interrupted
	JSON     bool          // one JSON object per line, and a summary at the end
	Vacant   bool          // the home has no owner: whoever has the setup code can claim it
	RuView   bool          // beside the home is a workshop with two RuView nodes; Speed is 1
	Out      io.Writer
	Log      *slog.Logger
	// HTTP and MQTT are the addresses to listen on; "" = the usual ports on loopback, or
	// free ones where those are taken.
	HTTP, MQTT string
	// Open makes an appliance with a state directory and two addresses.
	Open func(ctx context.Context, stateDir, http, mqtt string) (Appliance, error)
}

// summary is the result of a run; the last line with -json.
type summary struct {
	Type         string           `json:"type"`
	Network      motion.NetworkID `json:"network_id"`
	Seconds      float64          `json:"seconds"`
	Events       int              `json:"events"`
	Detections   int              `json:"motion_detected"`
	FirstMotion  *float64         `json:"first_motion_after_s"` // null: no motion was detected
	HistoryHours float64          `json:"history_hours"`
	PastEvents   int              `json:"past_events"`
	Frames       int64            `json:"csi_frames"`
}

// Run runs the demo until its duration is over or ctx ends, then stops the appliance
// and removes its state.
func Run(ctx context.Context, c Config) error {
	stateDir, err := os.MkdirTemp("", "sensegate-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stateDir)
	appliance, err := c.Open(ctx, stateDir, cmp.Or(c.HTTP, free(usualHTTP)), cmp.Or(c.MQTT, free(usualMQTT)))
	if errors.Is(err, syscall.EADDRINUSE) { // by something that came between, such as another demo
		appliance, err = c.Open(ctx, stateDir, cmp.Or(c.HTTP, anyPort), cmp.Or(c.MQTT, anyPort))
	}
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- appliance.Run(serving) }()
	playing, ended := context.WithCancel(ctx)
	defer ended()
	go func() { // a failed appliance ends the play
		err := <-served
		ended()
		served <- err
	}()
	err = play(playing, appliance, c, stateDir)
	stop()
	return errors.Join(err, <-served)
}

// The default addresses.
const usualHTTP, usualMQTT = "127.0.0.1:8080", "127.0.0.1:1883"

// anyPort is the address of a free port.
const anyPort = "127.0.0.1:0"

// here returns the address of a listener for programs on this machine.
func here(listener net.Addr) string {
	address, ok := listener.(*net.TCPAddr)
	if !ok || !address.IP.IsUnspecified() {
		return listener.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(address.Port))
}

// free returns address if nothing listens there, otherwise its host with port 0, which
// means any free port.
func free(address string) string {
	probe, err := net.Listen("tcp", address)
	if err != nil {
		host, _, _ := net.SplitHostPort(address)
		return net.JoinHostPort(host, "0")
	}
	_ = probe.Close()
	return address
}

// play runs the simulated home against the appliance and prints what happens.
func play(ctx context.Context, appliance Appliance, c Config, stateDir string) error {
	began := time.Now()
	from := start(c, began)
	asleep := sim.NewHome(0)
	if c.Speed <= 1 {
		asleep.Local = atNight(began)
	}
	var dark atomic.Bool // the last node has no power
	last := len(asleep.Nodes) - 1
	home, err := sim.New(sim.Config{
		Unplugged: func(i int) bool { return i == last && dark.Load() },
		Seed:      c.Seed, Speed: c.Speed, Start: from, Log: c.Log, Home: asleep,
		Gatekeeper: "http://" + here(appliance.HTTP()) + "/gatekeeper", Scene: opening(c.RuView),
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- home.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-home.Ready():
	}
	s := summary{Type: "summary", Network: home.Network()}
	teller := teller{out: c.Out, json: c.JSON, stateDir: stateDir, asked: c}
	begun, watched := make(chan struct{}), make(chan error, 1)
	go func() {
		watched <- appliance.Watch(ctx, s.Network, func(e motion.Event) {
			<-begun
			s.count(e, began)
			teller.tell(e)
		})
	}()
	err = place(ctx, appliance, home)
	var beside *workshop
	if err == nil && c.RuView {
		beside, err = openWorkshop(ctx, appliance, c.Seed)
	}
	if err == nil {
		err = remember(ctx, appliance, home, c.Seed, &s, from)
	}
	if err == nil && beside != nil { // before the home has an owner, without whom nobody comes in then
		err = beside.place(ctx, s.Network)
	}
	door := frontDoor{appliance: appliance}
	defer door.shut()
	if err == nil && !c.Vacant {
		err = door.hang(ctx)
	}
	walk := func() {
		door.open()
		home.Visit(visit()...)
		if beside != nil {
			beside.walk()
		}
	}
	appliance.Play(walk, func() { dark.Store(!dark.Load()) }, func() string {
		if dark.Load() {
			return asleep.Nodes[last].FriendlyName
		}
		return ""
	})
	if err == nil {
		err = teller.begin(ctx, appliance, home)
	}
	if err == nil && !c.Vacant {
		err = door.place(ctx, s.Network)
	}
	close(begun)
	if err == nil && beside != nil {
		beside.walk()
	}
	switch {
	case err != nil && ctx.Err() != nil:
		err = nil // interrupted
	case err != nil:
		stop()
	case c.Duration > 0:
		defer time.AfterFunc(c.Duration, stop).Stop()
	}
	err = errors.Join(err, <-ended, <-watched)
	s.Seconds, s.Frames = time.Since(began).Seconds(), home.Counters().Frames
	if beside != nil {
		err = errors.Join(err, beside.close())
		s.Frames += beside.sent()
	}
	teller.sum(s)
	return err
}

// opening returns the first minutes of the home: with a workshop beside it they begin later, so that motion there
// is seen first.
func opening(beside bool) func(sim.Home, motion.Time) sim.Scene {
	if !beside {
		return sim.OpeningScene
	}
	const later motion.Seconds = 60
	return func(home sim.Home, start motion.Time) sim.Scene { return sim.OpeningScene(home, start.Add(later)) }
}

// visit returns the walk of somebody from the hallway to the kitchen.
func visit() []sim.Walk {
	return []sim.Walk{
		{Who: sim.Visitor, Location: "Hallway", From: 0, To: 8, Vigour: 1},
		{Who: sim.Visitor, Location: "Kitchen", From: 8, To: 28, Vigour: 1},
	}
}

// start returns the simulated time at which a run begins: in the past if it is faster
// than real time, so that it ends at the present.
func start(c Config, now time.Time) time.Time {
	if c.Speed <= 1 {
		return time.Time{}
	}
	back := sim.OldestStart
	if c.Duration > 0 {
		back = min(back, time.Duration(float64(c.Duration)*(c.Speed-1)))
	}
	return now.Add(-back)
}

// atNight returns a time zone in which it is half past one at night, always of the same
// day: the residents sleep, so that it is quiet when the visitor rests, and the same
// seed shows the same play.
func atNight(now time.Time) *time.Location {
	night := time.Date(2026, time.March, 11, 1, 30, 0, 0, time.UTC)
	return time.FixedZone("night", int(night.Sub(now)/time.Second))
}

// count adds an event to the summary.
func (s *summary) count(e motion.Event, began time.Time) {
	s.Events++
	if e.Event != motion.MotionDetectedEvent {
		return
	}
	s.Detections++
	if s.FirstMotion == nil {
		after := time.Since(began).Seconds()
		s.FirstMotion = &after
	}
}

// cooldown is the cooldown of motion in a demo, in seconds: the usual two minutes
// would be a long wait for viewers.
const cooldown = 15

// place sets the cooldown and the locations of nodes and leafs.
func place(ctx context.Context, appliance Appliance, home *sim.Sim) error {
	if err := appliance.SetCooldown(ctx, home.Network(), cooldown); err != nil {
		return fmt.Errorf("set cooldown: %w", err)
	}
	for _, node := range home.Home().Nodes {
		if err := appliance.PlaceNode(ctx, node.DeviceID, node.Location, node.FriendlyName); err != nil {
			return fmt.Errorf("place node: %w", err)
		}
	}
	for _, leaf := range home.Home().Leafs {
		if err := appliance.PlaceLeaf(ctx, home.Network(), leaf.MAC, leaf.Location, leaf.FriendlyName); err != nil {
			return fmt.Errorf("place leaf: %w", err)
		}
	}
	return nil
}

// remember imports a week of history up to the start of the play.
func remember(ctx context.Context, appliance Appliance, home *sim.Sim, seed uint64, s *summary, from time.Time) error {
	until := motion.TimeOf(time.Now())
	if !from.IsZero() {
		until = motion.TimeOf(from)
	}
	history, events := sim.Backfill(seed, sim.NewHome(0), until.Add(-backfill.Seconds()), until)
	if err := appliance.Import(ctx, s.Network, history, events); err != nil {
		return fmt.Errorf("import history: %w", err)
	}
	for _, h := range history {
		s.HistoryHours += float64(h.Count*h.Interval) / 1000 / 3600
	}
	s.PastEvents = len(events)
	return nil
}
