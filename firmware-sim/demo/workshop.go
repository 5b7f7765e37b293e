package demo

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/nodes"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// workshop is a room beside the home that has a router of its own, whose frames two nodes of another maker
// measure. Nobody lives there.
type workshop struct {
	appliance Appliance
	house     *nodes.House
	nodes     []*nodes.UDP
	running   *errgroup.Group
	stop      context.CancelFunc
}

const (
	workshopRoom = "Workshop"
	workshopPlan = `
entrance: Workshop
rooms: [{name: Workshop, from: [0, 0], to: [6, 5]}]
reflectors: [{at: [5.6, 2.5, 1], size: 1}, {at: [0.4, 4.5, 0.6], size: 0.8}]
nodes: [{name: Workshop router, at: [0.5, 0.5, 1.5], chip: s3}]
leafs: [{name: Bench, type: Sensor, at: [5.5, 4.4, 1], node: 0}, {name: Shelf, type: Sensor, at: [5.5, 0.6, 1.2], node: 0}]
people: []
`
	workshopWalk = 20 * time.Second
	workshopRate = 50 // frames a second
)

// workshopRouter is whose frames the nodes measure.
var workshopRouter = motion.MAC{0x02, 0xbb, 0, 0xfc, 0, 1}

// openWorkshop lets the nodes send until close.
func openWorkshop(ctx context.Context, appliance Appliance, seed uint64) (*workshop, error) {
	plan, err := scenario.Parse("workshop", []byte(workshopPlan))
	if err != nil {
		return nil, err
	}
	w := &workshop{appliance: appliance, house: nodes.NewHouse(plan, seed, true)}
	ctx, w.stop = context.WithCancel(ctx)
	w.running, ctx = errgroup.WithContext(ctx)
	for i := range plan.Leafs {
		node := &nodes.UDP{
			To: appliance.NodesAt(motion.RuView), From: netip.MustParseAddr("127.0.0.1"), Encode: nodes.RuView(uint8(i+1), 3),
		}
		w.nodes = append(w.nodes, node)
		w.running.Go(func() error {
			return node.Run(ctx, w.house.Radio(nodes.RadioConfig{Kind: motion.RuView, Place: i, Rate: workshopRate, Router: workshopRouter}))
		})
	}
	return w, nil
}

// close ends the nodes.
func (w *workshop) close() error {
	w.stop()
	return w.running.Wait()
}

// sent returns how many frames the nodes have sent.
func (w *workshop) sent() (frames int64) {
	for _, node := range w.nodes {
		frames += node.Sent()
	}
	return frames
}

// walk lets somebody walk in the workshop from now on.
func (w *workshop) walk() {
	now := motion.TimeOf(time.Now())
	_ = w.house.Walk(workshopRoom, now, now.Add(workshopWalk.Seconds())) // it has that room
}

// place gives the nodes and their router their place, once the appliance has let them in and hears their links.
func (w *workshop) place(ctx context.Context, network motion.NetworkID) error {
	for i, name := range []string{"Bench node", "Shelf node"} {
		device := motion.NodeDeviceID(motion.RuView, "127-0-0-1", strconv.Itoa(i+1))
		if err := untilKnown(ctx, func() error { return w.appliance.PlaceNode(ctx, device, workshopRoom, name) }); err != nil {
			return fmt.Errorf("place the RuView nodes: %w", err)
		}
	}
	err := untilKnown(ctx, func() error {
		return w.appliance.PlaceLeaf(ctx, network, workshopRouter, workshopRoom, "Workshop router")
	})
	if err != nil {
		return fmt.Errorf("place the router of the RuView nodes: %w", err)
	}
	return nil
}

// workshopPatience is how long the nodes may take to be let in.
const workshopPatience = time.Minute

// untilKnown calls set until what it sets is known.
func untilKnown(ctx context.Context, set func() error) error {
	ctx, cancel := context.WithTimeout(ctx, workshopPatience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := set()
		if fault.KindOf(err) != fault.NotFound {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return err
		}
	}
}
