package remotewrite

import (
	"context"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/uplink"
)

const minute = 60 // s

// The metrics (docs/fleet/README.md). All have the labels box and network.
const (
	networkMotion    = "sensegate_network_motion_ratio"     // share of the minute's time with data that had motion, 0 to 1
	networkIntensity = "sensegate_network_motion_intensity" // greatest of the minute, 0 to 1
	placeMotion      = "sensegate_place_motion_ratio"       // share of that time with motion in the room of the label place
	placeIntensity   = "sensegate_place_motion_intensity"   // greatest share of the motion that was there, 0 to 1
	deviceOnline     = "sensegate_device_online"            // 0 or 1; labels device and place
	linkOnline       = "sensegate_link_online"              // 0 or 1; label link
	linkSignal       = "sensegate_link_signal_dbm"          // of a link that is online; label link
)

// Source is where the series come from.
type Source struct {
	Networks func(context.Context) ([]motion.NetworkID, error)
	Minutes  func(ctx context.Context, id motion.NetworkID, from, to motion.Time) ([]uplink.Minute, error)
	Topology func(id motion.NetworkID, offline bool) (motion.Topology, error)
}

// builder makes the series of one box.
type builder struct {
	Source
	uplink uplink.Uplink
}

// build returns the series of the minutes that begin in [from, to), and, when to is latest, the health
// of devices and links as it is now: how it was is not kept. A sample stands at the end of its minute.
func (b builder) build(ctx context.Context, from, to, latest motion.Time) (all []timeSeries, err error) {
	ids, err := b.Networks(ctx)
	if err != nil {
		return nil, fmt.Errorf("list networks: %w", err)
	}
	for _, id := range ids {
		if !b.uplink.Carries(id) {
			continue
		}
		rows, err := b.Minutes(ctx, id, from.Add(-minute), to)
		if fault.KindOf(err) == fault.NotFound { // deleted meanwhile
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read minutes of network %d: %w", id, err)
		}
		all = append(all, b.motion(id, rows)...)
		if to < latest {
			continue
		}
		topology, err := b.Topology(id, true)
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read devices of network %d: %w", id, err)
		}
		all = append(all, b.health(id, topology, to)...)
	}
	return all, nil
}

// motion returns the series of motion of rows after the first one, which is there to tell where data
// has ended.
func (b builder) motion(id motion.NetworkID, rows []uplink.Minute) (all []timeSeries) {
	network := fmt.Sprint(id)
	take := func(series timeSeries, of func(uplink.Minute) *float64) {
		if series.samples = samplesOf(rows, of); len(series.samples) > 0 {
			all = append(all, series)
		}
	}
	take(newSeries(networkMotion, "box", b.uplink.Box, "network", network), func(m uplink.Minute) *float64 { return m.Motion })
	take(newSeries(networkIntensity, "box", b.uplink.Box, "network", network), func(m uplink.Minute) *float64 { return m.Intensity })
	if len(rows) == 0 {
		return all
	}
	for i, place := range rows[0].Places { // each row has the same ones
		take(newSeries(placeMotion, "box", b.uplink.Box, "network", network, "place", place.Name),
			func(m uplink.Minute) *float64 { return m.Places[i].Motion })
		take(newSeries(placeIntensity, "box", b.uplink.Box, "network", network, "place", place.Name),
			func(m uplink.Minute) *float64 { return m.Places[i].Intensity })
	}
	return all
}

// samplesOf returns the samples of one value of rows after the first one. A minute without data has no
// sample; the first such minute after one with data ends the series, so that nobody takes the former
// value for the present one.
func samplesOf(rows []uplink.Minute, of func(uplink.Minute) *float64) (samples []sample) {
	for i := 1; i < len(rows); i++ {
		at := rows[i].TS.Second()*1000 + minute*1000
		switch value := of(rows[i]); {
		case value != nil:
			samples = append(samples, sample{at, *value})
		case of(rows[i-1]) != nil:
			samples = append(samples, sample{at, stale()})
		}
	}
	return samples
}

// health returns the series of devices and links. Phones, and other clients that move or have no room, are
// left out.
func (b builder) health(id motion.NetworkID, t motion.Topology, now motion.Time) (all []timeSeries) {
	network, at := fmt.Sprint(id), now.Second()*1000
	for _, d := range t.Devices {
		if d.Type == motion.ClientRole && (d.Mobile || d.Location == "") { // a leaf that is silent is a client too
			continue
		}
		s := newSeries(deviceOnline, "box", b.uplink.Box, "network", network, "device", d.Name, "place", d.Location)
		s.samples = []sample{{at, truth(d.Online)}}
		all = append(all, s)
	}
	for _, l := range t.Links {
		s := newSeries(linkOnline, "box", b.uplink.Box, "network", network, "link", l.LinkID)
		s.samples = []sample{{at, truth(l.Online)}}
		all = append(all, s)
		signal := newSeries(linkSignal, "box", b.uplink.Box, "network", network, "link", l.LinkID)
		if signal.samples = []sample{{at, stale()}}; l.Online && l.RSSI != 0 { // else it has ended
			signal.samples[0].value = float64(l.RSSI)
		}
		all = append(all, signal)
	}
	return all
}

// truth returns 1 or 0.
func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
