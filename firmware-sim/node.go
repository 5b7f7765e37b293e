package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/nodes"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// Limits of nodes.
const (
	maxNodes    = 64
	maxNodeRate = 1000 // frames a second

	// The gateway of the homes that run simulates, which an appliance knows that they play against too.
	usualRouter = "02:aa:00:00:01:12"

	usualWalk    = 20 * time.Second
	nodeProgress = 5 * time.Second
)

// nodeFlags are the flags of the command node.
type nodeFlags struct {
	from, place, router string
	nodes               int
	rate                float64
	seed                uint64
	duration            time.Duration
	loop                bool
	walks               []walk

	// Of some kinds alone.
	to, bind, listen, mac string
	user, password, topic string
	form                  nodes.MQTTForm
	number, header        int
	foreign               float64
	mixed, mdns           bool

	where []string // each node is, once it is made
}

// walk is somebody's walk in a room, counted from the start.
type walk struct {
	room     string
	from, to time.Duration
}

func (f *nodeFlags) register(set *flag.FlagSet, k nodeKind) {
	if k.register != nil {
		k.register(f, set)
	}
	set.IntVar(&f.nodes, "nodes", 1, fmt.Sprintf("how many nodes, 1 to %d", maxNodes))
	set.Float64Var(&f.rate, "rate", k.rate, fmt.Sprintf("frames a second of each node, up to %d", maxNodeRate))
	set.Uint64Var(&f.seed, "seed", 1, "the same seed gives the same people and the same radio")
	set.DurationVar(&f.duration, "duration", 0, "end after this much time; 0 = until interrupted, or until the recording ends")
	set.StringVar(&f.place, "scenario", "house", "the home and its people: "+strings.Join(scenario.Names(), ", ")+", or a FILE.yaml")
	set.Func("walk", "`ROOM@TIME[+LENGTH]`, such as Kitchen@10s+20s: somebody walks there so long after the start, and nobody lives in the home; may be repeated", f.addWalk)
	set.StringVar(&f.from, "from", "", "`FILE` (*.csv.gz, *.csi.jsonl) whose frames the nodes send, instead of simulated ones; a receiver of it is a node")
	set.BoolVar(&f.loop, "loop", false, "begin the recording again at its end")
	set.StringVar(&f.router, "router", usualRouter, "`MAC` address of the router, whose frames the nodes measure")
}

// addWalk takes a value of the flag walk.
func (f *nodeFlags) addWalk(text string) error {
	room, when, found := strings.Cut(text, "@")
	begin, length, long := strings.Cut(when, "+")
	from, err := time.ParseDuration(begin)
	lasts := usualWalk
	if err == nil && long {
		lasts, err = time.ParseDuration(length)
	}
	if !found || err != nil || from < 0 || lasts <= 0 {
		return fmt.Errorf("want ROOM@TIME or ROOM@TIME+LENGTH, such as Kitchen@10s+20s")
	}
	f.walks = append(f.walks, walk{room, from, from + lasts})
	return nil
}

func (f *nodeFlags) validate() error {
	switch {
	case f.nodes < 1 || f.nodes > maxNodes:
		return usagef("-nodes %d: want 1 to %d", f.nodes, maxNodes)
	case f.number < 0 || f.number+f.nodes-1 > math.MaxUint8:
		return usagef("-number %d: want 0 to 255 for each node", f.number)
	case !(f.rate > 0 && f.rate <= maxNodeRate):
		return usagef("-rate %v: want more than 0, at most %d", f.rate, maxNodeRate)
	case f.duration < 0:
		return usagef("-duration %s: want 0 or more", f.duration)
	case !(f.foreign >= 0 && f.foreign <= 1):
		return usagef("-foreign %v: want 0 to 1", f.foreign)
	case f.header < 1 || f.header > 3:
		return usagef("-header %d: want 1, 2 or 3", f.header)
	case f.from != "" && len(f.walks) > 0:
		return usagef("-walk: nobody walks in a recording (-from)")
	}
	return nil
}

// playNodes is the command node.
func playNodes(ctx context.Context, c command, args []string, out io.Writer) error {
	var names []string
	for _, k := range nodeKinds() {
		names = append(names, string(k.name))
	}
	kind := nodeKind{}
	if len(args) > 0 {
		for _, k := range nodeKinds() {
			if string(k.name) == args[0] {
				kind, args = k, args[1:]
				break
			}
		}
	}
	f := nodeFlags{header: 3}
	set := c.flags()
	f.register(set, kind)
	rest, err := c.parse(set, args, out)
	switch {
	case err != nil:
		return err
	case kind.name == "":
		return usagef("name the kind of node first: %s", strings.Join(names, ", "))
	case len(rest) > 0:
		return usagef("unexpected %q: node takes a kind and flags only", rest[0])
	}
	if err := f.validate(); err != nil {
		return err
	}
	if f.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.duration)
		defer cancel()
	}
	return f.play(ctx, kind, out)
}

// play runs the nodes and tells how far they are.
func (f *nodeFlags) play(ctx context.Context, kind nodeKind, out io.Writer) error {
	house, sources, err := f.sources(kind.name)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	group, running := errgroup.WithContext(ctx)
	var players []player
	for i, source := range sources {
		p, err := kind.make(f, i)
		if err != nil {
			return err
		}
		players = append(players, p)
		group.Go(func() error { return p.Run(running, source) })
	}
	ended := make(chan error, 1)
	go func() { ended <- group.Wait() }()
	slices.Sort(f.where)
	fmt.Fprintf(out, "%d %s node(s) %s\n", len(players), kind.name, strings.Join(slices.Compact(f.where), ", "))
	began := time.Now()
	tick := time.NewTicker(nodeProgress)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintln(out, progress(began, players, house))
		case err := <-ended:
			fmt.Fprintln(out, progress(began, players, nil))
			return err
		}
	}
}

// progress returns how many messages have been sent since began, and who walks in a house, unless that is nil.
func progress(began time.Time, players []player, house *nodes.House) string {
	sent := int64(0)
	for _, p := range players {
		sent += p.Sent()
	}
	seconds := time.Since(began).Seconds()
	text := fmt.Sprintf("%6.1f s %8d sent %8.1f/s", seconds, sent, float64(sent)/seconds)
	if house != nil {
		for _, room := range house.Walking(motion.TimeOf(time.Now())) {
			text += "  somebody walks in " + room
		}
	}
	return text
}

// sources returns what the nodes measure, and the house that they measure it in, nil for a recording.
func (f *nodeFlags) sources(kind motion.NodeKind) (*nodes.House, []nodes.Source, error) {
	router, err := motion.ParseMAC(f.router)
	if err != nil {
		return nil, nil, usagef("-router: %v", err)
	}
	var sources []nodes.Source
	if f.from != "" {
		captures, err := capture.Read(f.from)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range captures {
			source, err := nodes.Recording(c, kind, router, f.loop)
			if err != nil {
				return nil, nil, err
			}
			sources = append(sources, source)
		}
		return nil, sources, nil
	}
	place, err := scenario.Open(f.place)
	if err != nil {
		return nil, nil, usagef("%v", err)
	}
	house := nodes.NewHouse(place, f.seed, len(f.walks) > 0)
	now := motion.TimeOf(time.Now())
	for _, w := range f.walks {
		if err := house.Walk(w.room, now.Add(w.from.Seconds()), now.Add(w.to.Seconds())); err != nil {
			return nil, nil, usagef("%v", err)
		}
	}
	for i := range f.nodes {
		sources = append(sources, house.Radio(nodes.RadioConfig{Kind: motion.RuView,
			Place: i, Rate: f.rate, Router: router, Foreign: f.foreign, Mixed: f.mixed,
		}))
	}
	return house, sources, nil
}
