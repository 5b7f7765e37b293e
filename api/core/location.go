package core

import (
	"context"
	"encoding/json"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/insight"
	"sensegate/motion/series"
)

type histogramIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	api.Window
	Bucket int32 `query:"bucket" minimum:"1" default:"900" doc:"Seconds per value; rounded up to a multiple of the stored resolution (1 s for 24 hours, then 5 s)" example:"900"`
}

// histogram is an insight.Histogram for the document.
type histogram struct {
	From      int64                 `json:"from" doc:"Start, seconds since the epoch" example:"1763996400"`
	To        int64                 `json:"to" doc:"End, not included, seconds since the epoch" example:"1764000000"`
	Interval  int64                 `json:"interval" doc:"Seconds per value" example:"900"`
	TS        []int64               `json:"ts" nullable:"false" doc:"Start of each bucket, seconds since the epoch; empty when nothing is stored"`
	Locations map[string]api.Values `json:"locations" doc:"By location, else friendly name, else MAC: percent of the time with data in each bucket with motion there; null: nothing is known of it"`
}

// locationHistogram tells where the motion was (payloads.md 4.12).
func (c *Core) locationHistogram(ctx context.Context, _ auth.Key, in *histogramIn) (*api.Answer[api.Encoded[histogram]], error) {
	places, err := c.places(in.Network)
	if err != nil {
		return nil, err
	}
	from, to, err := in.Seconds(float64(c.engine.State.Now()))
	if err != nil {
		return nil, err
	}
	if mistakes := api.TooMany(1, from, to, in.Bucket, "bucket"); mistakes != nil {
		return nil, fault.Mistakes(mistakes...)
	}
	set, err := c.engine.State.SamplesFor(ctx, in.Network, from, to, int64(in.Bucket))
	if err != nil {
		return nil, err
	}
	if mistakes := api.TooMany(locationsOf(set), from, to, in.Bucket, "bucket"); mistakes != nil {
		return nil, fault.Mistakes(mistakes...)
	}
	h, err := insight.HistogramOf(set, from, to, int64(in.Bucket), places.name)
	if err != nil {
		return nil, err
	}
	return api.Answered[api.Encoded[histogram]](json.Marshal(h))
}

// locationsOf returns the number of locations that stand in a set.
func locationsOf(set *series.Set) (n int64) {
	for _, id := range set.Series() {
		if _, ok := id.MAC(); ok {
			n++
		}
	}
	return n
}

// name returns what the location histogram calls the place of an address: its
// location, else the device's name, else "".
func (p places) name(mac motion.MAC) string {
	d := p[mac.String()]
	for _, name := range []string{d.Location, d.FriendlyName, d.NodeName} {
		if name != "" {
			return name
		}
	}
	return ""
}

type locationsIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	api.Window
}

// locationHistory is how much of the motion of a window was near each device
// (payloads.md 4.12).
type locationHistory struct {
	From    int64          `json:"from" doc:"Start, seconds since the epoch" example:"1763996400"`
	To      int64          `json:"to" doc:"End, not included, seconds since the epoch" example:"1764000000"`
	Devices []movingDevice `json:"devices" nullable:"false" doc:"Those with motion near them, strongest first"`
}

// movingDevice is a device with motion near it.
type movingDevice struct {
	MAC          string         `json:"mac" doc:"MAC address" example:"02:bb:00:00:00:31"`
	ID           *motion.NodeID `json:"id" nullable:"true" doc:"Node or leaf id; null: the device is no longer known" example:"501"`
	FriendlyName string         `json:"friendly_name" example:"Kitchen speaker"`
	Location     string         `json:"location" doc:"Empty: none, or it moves about" example:"Kitchen"`
	IsNode       bool           `json:"is_node" doc:"An access point or extender"`
	IsRoot       bool           `json:"is_root" doc:"The node that forms the network"`
	IsExtender   bool           `json:"is_extender" doc:"A node that extends it"`
	Density      float64        `json:"density" minimum:"0" maximum:"100" doc:"Percent of the window's time with data with motion near it, each second weighted with its share" example:"71.4"`
	Seconds      float64        `json:"seconds" minimum:"0" doc:"Motion near it, each second weighted with its share" example:"2570"`
}

func (c *Core) locationHistory(ctx context.Context, _ auth.Key, in *locationsIn) (*api.Answer[locationHistory], error) {
	places, err := c.places(in.Network)
	if err != nil {
		return nil, err
	}
	from, to, err := in.Seconds(float64(c.engine.State.Now()))
	if err != nil {
		return nil, err
	}
	set, err := c.engine.State.SamplesFor(ctx, in.Network, from, to, series.QuarterHour.Step())
	if err != nil {
		return nil, err
	}
	shares, err := set.Locations(from, to)
	out := &api.Answer[locationHistory]{Body: locationHistory{From: from, To: to, Devices: make([]movingDevice, len(shares))}}
	for i, share := range shares {
		out.Body.Devices[i] = places.moving(share)
	}
	return out, err
}

// moving describes the device that a share belongs to.
func (p places) moving(share series.LocationShare) movingDevice {
	m := movingDevice{MAC: share.MAC.String(), Density: share.Density, Seconds: share.Seconds}
	d, known := p[m.MAC]
	if !known {
		m.FriendlyName = m.MAC
		return m
	}
	m.ID, m.FriendlyName, m.Location = &d.ID, d.FriendlyName, d.Location
	m.IsRoot, m.IsExtender = d.Type == motion.MeshRoot, d.Type == motion.MeshNode
	if m.IsNode = m.IsRoot || m.IsExtender; m.IsNode && m.FriendlyName == "" {
		m.FriendlyName = d.NodeName
	}
	return m
}
