package browser

import (
	"context"
	"math"
	"slices"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/insight"
	"sensegate/motion/series"
	"sensegate/store"
)

// History is where and when there was motion, in the home's own days.
type History struct {
	TS    motion.Time   `json:"ts" doc:"Of this answer; values end here" example:"1764000000"`
	Since motion.Time   `json:"since" doc:"When the home was claimed: history begins here" example:"1763900000"`
	First insight.Date  `json:"first" format:"date" doc:"Day of the claim" example:"2025-11-23"`
	Today insight.Date  `json:"today" format:"date" doc:"Day of this answer" example:"2025-11-24"`
	Room  string        `json:"room" doc:"The room that the values of the days are of; empty: the whole home" example:"Kitchen"`
	Step  int64         `json:"step" doc:"Seconds per value" example:"900"`
	Names []string      `json:"names" nullable:"false" doc:"Rooms with devices, as the owner has ordered them, the others by name" example:"[\"Hall\",\"Kitchen\"]"`
	Days  []historyDay  `json:"days" nullable:"false" doc:"The day; or the seven of its week, from Monday; or those of its month"`
	Rooms []historyRoom `json:"rooms" nullable:"false" doc:"Each room with devices, in the order of names; only of a day of the whole home"`
}

type historyDay struct {
	Date   insight.Date `json:"date" format:"date" example:"2025-11-24"`
	Start  int64        `json:"start" doc:"First second of the day" example:"1763960400"`
	Length int64        `json:"length" doc:"Seconds; two days a year have 23 or 25 hours" example:"86400"`
	Mean   *float64     `json:"mean" nullable:"true" minimum:"0" maximum:"100" doc:"Percent of the time with data with motion; null: no data"`
	Values []*float64   `json:"values" nullable:"false" doc:"The same for each step; null: no data. Empty in a month"`
}

type historyRoom struct {
	Name   string     `json:"name" example:"Kitchen"`
	Values []*float64 `json:"values" nullable:"false" doc:"Percent of the time with data with motion there, for each step of the day; null: no data"`
}

// date is a calendar day.
type date struct{ insight.Date }

type historyIn struct {
	HomeQuery
	Day  api.Opt[date] `query:"day" format:"date" doc:"A day of the home; default: today" example:"2025-11-24"`
	Span string        `query:"span" enum:"day,week,month" default:"day" doc:"How much around the day is wanted"`
	Room string        `query:"room" maxLength:"256" doc:"Name of a room; default: the whole home" example:"Kitchen"`
}

type historyOut struct{ Body History }

const lastDay insight.Date = 47_846 // 2100-12-31

// history returns motion per room over a day, or of one room or the whole home over more days.
func (b *Browser) history(ctx context.Context, who auth.Member, in *historyIn) (*historyOut, error) {
	zone, order, err := b.household(ctx, who)
	if err != nil {
		return nil, err
	}
	known, err := b.devices(who.Network)
	if err != nil {
		return nil, err
	}
	now := b.Engine.State.Now()
	h := History{TS: now, Since: who.Since, Room: in.Room, Step: stripStep, Names: known.rooms(), Days: []historyDay{}, Rooms: []historyRoom{}}
	slices.SortFunc(h.Names, order)
	h.First, h.Today = insight.DateOf(who.Since.Second(), zone), insight.DateOf(now.Second(), zone)
	day := in.Day.Or(date{h.Today}).Date
	if day < 0 || day > lastDay {
		return nil, fault.At("query.day", day.String(), "must be of the years from 1970 to 2100")
	}
	first, last := span(in.Span, day)
	for day := first; day <= last; day++ {
		start, end := day.Start(zone), (day + 1).Start(zone)
		if start < end { // a zone that crosses the date line leaves a day out
			h.Days = append(h.Days, historyDay{Date: day, Start: start, Length: end - start, Values: slots(start, end)})
		}
	}
	if err := b.fill(ctx, who, &h, known, in.Span == "day" && in.Room == ""); err != nil {
		return nil, err
	}
	for i := range h.Days {
		h.Days[i].Mean = meanOf(h.Days[i].Values)
		if in.Span == "month" {
			h.Days[i].Values = []*float64{}
		}
	}
	return &historyOut{h}, nil
}

// household returns the zone that a home's days are told in, and the order of its rooms.
func (b *Browser) household(ctx context.Context, who auth.Member) (zone *time.Location, order func(a, b string) int, err error) {
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		settings, err := tx.SettingsInForce(who.Network)
		if err != nil {
			return err
		}
		house, err := tx.Home(who.Home)
		zone, order = zoneOf(settings.Timezone), house.Rooms
		return err
	})
	return zone, order, err
}

// span returns the first and the last day of a day, of its week, or of its month.
func span(of string, day insight.Date) (first, last insight.Date) {
	at := time.Unix(int64(day)*lookBack, 0).UTC()
	switch of {
	case "week":
		first = day - insight.Date(at.Weekday()+6)%7
		return first, first + 6
	case "month":
		first = day - insight.Date(at.Day()-1)
		return first, first + insight.Date(at.AddDate(0, 1, -at.Day()).Day()) - 1
	}
	return day, day
}

// slots returns a value without data for each step of a day.
func slots(start, end int64) []*float64 {
	return make([]*float64, (end-start+stripStep-1)/stripStep)
}

// fill reads the values of the days, and of every room where these are wanted.
func (b *Browser) fill(ctx context.Context, who auth.Member, h *History, known devices, rooms bool) error {
	if len(h.Days) == 0 {
		return nil
	}
	for _, name := range h.Names {
		if rooms {
			h.Rooms = append(h.Rooms, historyRoom{name, make([]*float64, len(h.Days[0].Values))})
		}
	}
	last := h.Days[len(h.Days)-1]
	from, to := max(h.Days[0].Start, int64(math.Ceil(float64(who.Since)))), min(last.Start+last.Length, h.TS.Second()+1)
	if from >= to {
		return nil
	}
	set, err := b.Engine.State.SamplesFor(ctx, who.Network, from, to, stripStep)
	if err != nil {
		return err
	}
	if h.Room == "" {
		points, err := set.Points(series.Query{Series: series.Network, Measure: series.Density, From: from, To: to, Bucket: stripStep})
		if err != nil {
			return err
		}
		for i := range points.Len() {
			if v, ts, ok := points.At(i); ok {
				h.put(ts, v)
			}
		}
	}
	if h.Room == "" && !rooms {
		return nil
	}
	histogram, err := insight.HistogramOf(set, from, to, stripStep, known.place)
	if err != nil {
		return err
	}
	for i, ts := range histogram.TS {
		if values := histogram.Locations[h.Room]; h.Room != "" && values != nil && values[i].Known() {
			h.put(ts, float64(values[i]))
		}
		for k := range h.Rooms {
			room := &h.Rooms[k]
			if values := histogram.Locations[room.Name]; values != nil && values[i].Known() {
				room.Values[h.Days[0].slot(ts)] = values[i].Ptr()
			}
		}
	}
	return nil
}

// put sets the value of the whole home, or of the asked room, of the bucket that begins at ts.
func (h *History) put(ts int64, v float64) {
	i, _ := slices.BinarySearchFunc(h.Days, ts, func(d historyDay, ts int64) int {
		if d.Start+d.Length <= ts {
			return -1
		}
		return 1
	})
	v = math.Round(v*10) / 10
	h.Days[i].Values[h.Days[i].slot(ts)] = &v
}

// slot returns the number of the step that begins at ts. A bucket may begin before the day where
// midnight is no multiple of a step.
func (d historyDay) slot(ts int64) int64 { return max(ts-d.Start, 0) / stripStep }

// meanOf returns the mean of the values that are known, with one decimal; nil where none is.
func meanOf(values []*float64) *float64 {
	sum, n := 0.0, 0.0
	for _, v := range values {
		if v != nil {
			sum, n = sum+*v, n+1
		}
	}
	if n == 0 {
		return nil
	}
	mean := math.Round(sum/n*10) / 10
	return &mean
}
