package browser

import (
	"context"
	"math"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/series"
)

const (
	minute     = 60      // s
	stripStep  = 15 * 60 // s of motion that a value of a strip sums up
	stripSteps = 12      // values of a room's strip: three hours
	lookBack   = 24 * 3600
)

// Strip is motion in steps of the same length.
type Strip struct {
	From   int64      `json:"from" doc:"Start of the first value" example:"1764000000"`
	Step   int64      `json:"step" doc:"Seconds per value" example:"900"`
	Values []*float64 `json:"values" nullable:"false" doc:"Percent of the time with data with motion; null: no data"`
}

// strips fills in where and when there was motion.
func (b *Browser) strips(ctx context.Context, o *Overview, who auth.Member) error {
	zone := zoneOf(o.Home.Timezone)
	now := o.TS.Std().In(zone)
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone).Unix()
	to := o.TS.Second() + 1
	claimed := int64(math.Ceil(float64(who.Since)))
	since := max(to-lookBack, claimed)
	set, err := b.Engine.State.SamplesFor(ctx, who.Network, min(midnight, since), to, minute)
	if err != nil {
		return err
	}
	whole, err := set.Points(series.Query{Series: series.Network, Measure: series.Density, From: max(midnight, claimed), To: to, Bucket: stripStep})
	if err != nil {
		return err
	}
	o.Today = stripOf(whole, midnight)
	shares, err := set.Shares(since, to, minute)
	if err != nil {
		return err
	}
	known, err := b.devices(who.Network)
	if err != nil {
		return err
	}
	byRoom, most := map[string][]minuteShare{}, []float64(nil)
	for _, share := range shares { // of the same minutes
		n, name := share.Points.Len(), known.place(share.MAC)
		if name == "" {
			continue
		}
		if byRoom[name] == nil {
			byRoom[name] = make([]minuteShare, n)
		}
		if most == nil {
			most = make([]float64, n)
		}
		for i := range n {
			if v, at, ok := share.Points.At(i); ok {
				room := &byRoom[name][i]
				*room = minuteShare{at, room.share + v, true}
				most[i] = max(most[i], room.share)
			}
		}
	}
	for i := range o.Rooms {
		o.Rooms[i].motion(byRoom[o.Rooms[i].Name], most, to, claimed, o.State == "motion")
	}
	return nil
}

// minuteShare is how much of a minute there was motion in a room.
type minuteShare struct {
	at    int64
	share float64 // %
	known bool
}

// There was motion in a room from a second of a minute on, and from a third of what the room with the
// most has in that minute: the place of motion is never quite certain, and rooms near it get a share.
// In simulated homes 1.9 rooms a minute were told in which nobody moved without the third, and 0.5
// with it; where somebody moves for ten seconds of a minute or more, 96 of 100 are told.
const (
	someMotion  = 100.0 / 60 // %
	leastOfMost = 1.0 / 3
)

// motion fills in when there was motion in a room, from its shares by the minute; most is that of the
// room with the most. to is the end of them; the strip begins no earlier than since. Unless the home
// is moving now, no room of it is.
func (r *Room) motion(minutes []minuteShare, most []float64, to, since int64, moving bool) {
	r.Strip = Strip{From: (to/stripStep - stripSteps + 1) * stripStep, Step: stripStep, Values: make([]*float64, stripSteps)}
	sums, known := [stripSteps]float64{}, [stripSteps]float64{}
	for i, m := range minutes {
		if !m.known {
			continue
		}
		if m.share >= max(someMotion, leastOfMost*most[i]) {
			last := motion.Time(max(m.at, since))
			r.Last = &last
		}
		if k := (m.at - r.Strip.From) / stripStep; m.at >= r.Strip.From && k < stripSteps {
			sums[k] += min(m.share, 100)
			known[k]++
		}
	}
	for k := range sums {
		if known[k] > 0 {
			mean := math.Round(sums[k]/known[k]*10) / 10
			r.Strip.Values[k] = &mean
		}
	}
	switch {
	case r.State == "blind":
	case moving && r.Last != nil && to-r.Last.Second() <= 2*minute:
		r.State = "motion"
	case known[stripSteps-1] > 0:
		r.State = "quiet"
	}
}

// stripOf returns points as a strip that begins at from, or less than a step before.
func stripOf(p series.Points, from int64) Strip {
	s := Strip{From: from, Step: stripStep, Values: []*float64{}}
	if p.Len() == 0 {
		return s
	}
	s.From, s.Step = from-from%p.Bucket, p.Bucket
	s.Values = make([]*float64, (p.Start-s.From)/s.Step, (p.Start-s.From)/s.Step+int64(p.Len()))
	for i := range p.Len() {
		v, _, ok := p.At(i)
		if !ok {
			s.Values = append(s.Values, nil)
			continue
		}
		s.Values = append(s.Values, &v)
	}
	return s
}
