package core

import (
	"context"
	"slices"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/series"
)

type blocksIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	api.Window
	DensityBucket int32 `query:"density_bucket" minimum:"5" default:"120" doc:"Seconds per density point" example:"120"`
	StateBucket   int32 `query:"state_bucket" minimum:"5" default:"1800" doc:"Seconds that get one state" example:"1800"`
	States        uint8 `query:"states" minimum:"1" maximum:"3" default:"3" doc:"Bit mask of the states wanted: 1 low motion, 2 motion" example:"3"`
}

// stateBlock is a stretch of one motion state (payloads.md 4.6).
type stateBlock struct {
	State         int32                   `json:"state" enum:"1,2" doc:"1 low motion, 2 motion" example:"2"`
	Start         int64                   `json:"start" doc:"Seconds since the epoch" example:"1763998200"`
	Stop          int64                   `json:"stop" doc:"End, not included, seconds since the epoch" example:"1764000000"`
	DensityBucket int64                   `json:"density_bucket" doc:"Seconds per density point" example:"120"`
	Density       api.Encoded[api.Series] `json:"density"`
	Devices       []blockDevice           `json:"devices" nullable:"false" doc:"Devices near the motion, strongest first"`
}

// blockDevice is a device near motion. What is equal to the id is left out, and so
// is what is not known.
type blockDevice struct {
	ID           string  `json:"id" doc:"MAC address" example:"02:bb:00:00:00:31"`
	Location     string  `json:"location,omitempty" example:"Kitchen"`
	FriendlyName string  `json:"friendly_name,omitempty" example:"Kitchen speaker"`
	Density      float64 `json:"density" doc:"Mean share of the motion, percent" example:"71.4"`
}

func (c *Core) stateBlocks(ctx context.Context, _ auth.Key, in *blocksIn) (*api.AnswerList[stateBlock], error) {
	if err := c.engine.State.Known(in.Network); err != nil {
		return nil, err
	}
	from, to, err := in.Seconds(float64(c.engine.State.Now()))
	if err != nil {
		return nil, err
	}
	mistakes := slices.Concat(
		api.TooMany(1, from, to, in.DensityBucket, "density_bucket"),
		api.TooMany(1, from, to, in.StateBucket, "state_bucket"),
	)
	if mistakes != nil {
		return nil, fault.Mistakes(mistakes...)
	}
	set, err := c.engine.State.Samples(ctx, in.Network, from, to)
	if err != nil {
		return nil, err
	}
	blocks, err := set.StateBlocks(series.StateQuery{
		From: from, To: to, StateBucket: int64(in.StateBucket), DensityBucket: int64(in.DensityBucket), States: in.States,
	})
	if err != nil {
		return nil, err
	}
	places, err := c.places(in.Network)
	if err != nil {
		return nil, err
	}
	out := &api.AnswerList[stateBlock]{Body: make([]stateBlock, len(blocks))}
	for i, b := range blocks {
		out.Body[i] = stateBlock{
			State: int32(b.State), Start: b.Start, Stop: b.Stop,
			DensityBucket: b.Density.Bucket, Density: b.Density.AppendJSON(nil), Devices: make([]blockDevice, len(b.Devices)),
		}
		for k, share := range b.Devices {
			out.Body[i].Devices[k] = places.device(share)
		}
	}
	return out, nil
}

// places are the devices of a network by each of their addresses.
type places map[string]motion.TopologyDevice

func (c *Core) places(id motion.NetworkID) (places, error) {
	topology, err := c.engine.Inventory.Topology(id, true)
	if err != nil {
		return nil, err
	}
	byMAC := places{}
	for _, device := range topology.Devices {
		for _, mac := range device.MACs {
			byMAC[mac] = device
		}
	}
	return byMAC, nil
}

// device describes the location that a share belongs to.
func (p places) device(share series.LocationShare) blockDevice {
	id := share.MAC.String()
	d := blockDevice{ID: id, Location: p[id].Location, FriendlyName: p[id].FriendlyName, Density: share.Density}
	if d.Location == id {
		d.Location = ""
	}
	if d.FriendlyName == id {
		d.FriendlyName = ""
	}
	return d
}
