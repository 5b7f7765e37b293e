package sim

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"sensegate/motion"
)

// Walk is somebody moving about in one location.
type Walk struct {
	Person   int
	Location string
	From, To motion.Time
	Vigour   float64 // 0..1: how large the movement is
}

// people is how many live in a home; the number after theirs is a visitor's.
const (
	people  = 2
	visitor = people
)

// longestWalk bounds the length of a Walk in seconds, so that the walks of a
// moment can be found by their start.
const longestWalk = 120

// busiest is the highest number of outings per hour of the plan.
const busiest = 12

// outings returns how often per hour one person gets up and walks about, by the
// local hour: quiet nights, a morning, work days mostly away, an evening.
func outings(hour int, weekend bool) float64 {
	switch {
	case hour < 6:
		return 0.25
	case hour == 6:
		return 4
	case hour < 9:
		return busiest
	case hour < 12, hour >= 14 && hour < 17:
		if weekend {
			return 6
		}
		return 2
	case hour < 14:
		return 6
	case hour < 21:
		return 9
	case hour < 23:
		return 5
	}
	return 1
}

// planDay returns the walks of the local day that begins at midnight, ordered by
// start. It depends on the seed and the date alone.
func planDay(seed uint64, locations []string, midnight time.Time) []Walk {
	if len(locations) == 0 {
		return nil
	}
	y, m, d := midnight.Date()
	date := uint64(y)*10000 + uint64(m)*100 + uint64(d)
	weekend := midnight.Weekday() == time.Saturday || midnight.Weekday() == time.Sunday
	begin := motion.TimeOf(midnight)
	length := motion.TimeOf(midnight.AddDate(0, 0, 1)).Since(begin)
	var walks []Walk
	for person := range people {
		rng := rand.New(rand.NewPCG(seed, mix(date, uint64(person))))
		o := outing{rng: rng, person: person, locations: locations}
		for at := 0.0; ; {
			at += rng.ExpFloat64() * 3600 / busiest
			if at >= length {
				break
			}
			hour := midnight.Add(time.Duration(at * float64(time.Second))).Hour()
			if rng.Float64()*busiest >= outings(hour, weekend) {
				continue
			}
			o.walks = o.walks[:0]
			at = o.walk(begin, at, hour)
			walks = append(walks, o.walks...)
		}
	}
	sort.SliceStable(walks, func(i, j int) bool { return walks[i].From < walks[j].From })
	tomorrow := sort.Search(len(walks), func(i int) bool { return walks[i].From >= begin.Add(length) })
	return walks[:tomorrow]
}

// outing is one time that somebody gets up: through the hall to a room and back.
type outing struct {
	rng       *rand.Rand
	person    int
	locations []string
	walks     []Walk
}

// walk plans the outing that begins at seconds after begin and returns when it
// ends. At night it goes to the bathroom and back to bed.
func (o *outing) walk(begin motion.Time, at float64, hour int) float64 {
	night := hour < 6 || hour == 23
	room, spells := o.locations[o.rng.IntN(len(o.locations))], 1+o.rng.IntN(4)
	if night {
		room, spells = o.find("Bathroom"), 1
		at = o.move(begin, at, o.find("Bedroom"), 4+6*o.rng.Float64())
	}
	at = o.move(begin, at, o.find("Hallway"), 3+4*o.rng.Float64())
	for range spells {
		at = o.move(begin, at, room, 8+40*o.rng.Float64())
		at += 3 + 25*o.rng.Float64() // stands or sits still
	}
	if night {
		at = o.move(begin, at, o.find("Hallway"), 3+4*o.rng.Float64())
		at = o.move(begin, at, o.find("Bedroom"), 4+6*o.rng.Float64())
	}
	return at
}

// move adds a walk of so many seconds and returns its end.
func (o *outing) move(begin motion.Time, at float64, location string, seconds float64) float64 {
	end := at + math.Min(seconds, longestWalk)
	o.walks = append(o.walks, Walk{
		Person: o.person, Location: location, From: begin.Add(at), To: begin.Add(end),
		Vigour: 0.6 + 0.4*o.rng.Float64(),
	})
	return end
}

// find returns the location of that name, or the first one of a home without it.
func (o *outing) find(name string) string {
	for _, location := range o.locations {
		if location == name {
			return location
		}
	}
	return o.locations[0]
}
