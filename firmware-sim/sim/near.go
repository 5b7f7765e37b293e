package sim

import (
	"math/cmplx"
	"slices"

	"sensegate/firmware-sim/channel"
)

const (
	nearSpots = 5   // places of a room that somebody is put at
	nearFaint = 0.3 // of the room that a link sees best: fainter ones count as not seen
)

// nearness returns how strongly somebody moving in a location disturbs link i,
// as the channel model has it: 1 in the room that the link sees best, 0 where it
// hardly sees anything.
func (w *world) nearness(i int) map[string]float64 {
	if w.near == nil {
		w.near = make([]map[string]float64, len(w.links))
	}
	if w.near[i] == nil {
		w.near[i] = disturbances(channel.NewLink(w.radio(i)), w)
	}
	return w.near[i]
}

// disturbances returns by how much somebody in each room changes the channel of
// a link, as a share of what the most telling room does.
func disturbances(link *channel.Link, w *world) map[string]float64 {
	usual := slices.Clone(link.Response(0, &channel.Scene{}))
	near, most := map[string]float64{}, 0.0
	for r := range w.home.Place.Rooms {
		room := &w.home.Place.Rooms[r]
		change := 0.0
		for spot := range uint64(nearSpots) {
			body := channel.Body{Track: channel.Stay(room.Area().Spot(w.seed, spot, 51))}
			for k, h := range link.Response(0, &channel.Scene{Bodies: []channel.Body{body}}) {
				change += cmplx.Abs(h - usual[k])
			}
		}
		near[room.Name] = change
		most = max(most, change)
	}
	for name, change := range near {
		near[name] = max(0, (change/most-nearFaint)/(1-nearFaint))
	}
	return near
}
