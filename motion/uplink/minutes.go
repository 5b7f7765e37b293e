package uplink

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Minute is the motion of a network in one minute.
type Minute struct {
	TS        motion.Time   `json:"ts" doc:"Start of the minute, seconds since the epoch"`
	Interval  int           `json:"interval" doc:"Seconds, 60"`
	Motion    *float64      `json:"motion" nullable:"true" doc:"Share of the time with data that had motion, 0 to 1; null: no data"`
	Intensity *float64      `json:"intensity" nullable:"true" doc:"Greatest intensity, 0 to 1; null: no data"`
	Places    []PlaceMinute `json:"places" nullable:"false" doc:"Rooms with devices, by name"`
}

// PlaceMinute is the motion in one room.
type PlaceMinute struct {
	Name      string   `json:"name"`
	Motion    *float64 `json:"motion" nullable:"true" doc:"Share of the network's time with data that had motion here, 0 to 1; null: no data"`
	Intensity *float64 `json:"intensity" nullable:"true" doc:"Greatest share of a sample's motion that was here, 0 to 1; null: no data"`
}

// MinuteReader reads minutes from the samples of the engine, whose functions it has.
type MinuteReader struct {
	Samples  func(ctx context.Context, id motion.NetworkID, from, to, bucket int64, only ...series.ID) (*series.Set, error)
	Topology func(id motion.NetworkID, offline bool) (motion.Topology, error)
}

const (
	minute      = 60     // s
	mostMinutes = 6 * 60 // that Read returns at once
	settled     = 30     // s after which a minute is taken to be complete
)

// Read returns every minute of a network that begins in [from, to), oldest first, at most six hours
// from the first on. Without data a minute's values are null.
func (r MinuteReader) Read(ctx context.Context, id motion.NetworkID, from, to motion.Time) ([]Minute, error) {
	first, end := minuteOf(from).Second(), minuteOf(to).Second()
	if from > motion.Time(first) {
		first += minute
	}
	end = min(end, first+mostMinutes*minute)
	if end <= first {
		return nil, nil
	}
	set, err := r.Samples(ctx, id, first, end, minute)
	if err != nil {
		return nil, err
	}
	rooms, err := r.rooms(id)
	if err != nil {
		return nil, err
	}
	rows := make([]Minute, (end-first)/minute)
	for i := range rows {
		rows[i] = Minute{TS: motion.Time(first + int64(i)*minute), Interval: minute, Places: make([]PlaceMinute, len(rooms.names))}
		for k, name := range rooms.names {
			rows[i].Places[k].Name = name
		}
	}
	query := series.Query{Series: series.Network, From: first, To: end, Bucket: minute}
	for measure, into := range map[series.Measure]func(int) **float64{
		series.Density:   func(i int) **float64 { return &rows[i].Motion },
		series.Intensity: func(i int) **float64 { return &rows[i].Intensity },
	} {
		query.Measure = measure
		points, err := set.Points(query)
		if err != nil {
			return nil, fmt.Errorf("read minutes: %w", err)
		}
		put(points, first, len(rows), into, scaleOf(measure))
	}
	return rows, r.readPlaces(set, rooms, rows, first, end)
}

// readPlaces fills in the rooms.
func (r MinuteReader) readPlaces(set *series.Set, rooms rooms, rows []Minute, first, end int64) error {
	shares, err := set.Shares(first, end, minute)
	if err != nil {
		return fmt.Errorf("read minutes: %w", err)
	}
	for _, share := range shares {
		k, known := rooms.of[share.MAC]
		if !known {
			continue
		}
		put(share.Points, first, len(rows), func(i int) **float64 { return &rows[i].Places[k].Motion }, scaleOf(series.Density))
		peaks, err := set.Points(series.Query{Series: series.Location(share.MAC), Measure: series.Intensity, From: first, To: end, Bucket: minute})
		if err != nil {
			return fmt.Errorf("read minutes: %w", err)
		}
		put(peaks, first, len(rows), func(i int) **float64 { return &rows[i].Places[k].Intensity }, scaleOf(series.Intensity))
	}
	return nil
}

// scaleOf returns what a measure is divided by to be 0 to 1.
func scaleOf(m series.Measure) float64 {
	if m == series.Density {
		return 100
	}
	return 1
}

// put writes points of a minute each into rows from first on; of several points of one value the
// greatest. Points of coarser buckets, in which the samples are no longer kept by the minute, stand in
// each of their minutes.
func put(points series.Points, first int64, rows int, into func(int) **float64, scale float64) {
	for i := range points.Len() {
		v, at, ok := points.At(i)
		for ts := max(at, first); ok && ts < at+points.Bucket && ts < first+int64(rows)*minute; ts += minute {
			value := v / scale
			if held := into(int((ts - first) / minute)); *held == nil || **held < value {
				*held = &value
			}
		}
	}
}

// rooms are the rooms with devices.
type rooms struct {
	names []string // sorted
	of    map[motion.MAC]int
}

// rooms returns the rooms of a network, by the addresses of the devices there.
func (r MinuteReader) rooms(id motion.NetworkID) (rooms, error) {
	topology, err := r.Topology(id, true)
	if err != nil {
		return rooms{}, err
	}
	places := map[motion.MAC]string{}
	names := map[string]bool{}
	for _, device := range topology.Devices {
		if device.Location == "" {
			continue
		}
		names[device.Location] = true
		for _, text := range device.MACs {
			if mac, err := motion.ParseMAC(text); err == nil {
				places[mac] = device.Location
			}
		}
	}
	found := rooms{names: slices.Sorted(maps.Keys(names)), of: map[motion.MAC]int{}}
	for mac, name := range places {
		found.of[mac], _ = slices.BinarySearch(found.names, name)
	}
	return found, nil
}

// minuteOf returns the beginning of the minute of a time.
func minuteOf(t motion.Time) motion.Time {
	second := t.Second()
	return motion.Time(second - second%minute)
}
