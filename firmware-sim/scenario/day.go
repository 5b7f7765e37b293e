package scenario

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"sensegate/firmware-sim/channel"
	"sensegate/motion"
)

// Walk is a movement of a person or pet in one room.
type Walk struct {
	Who      int    // index of the person; pets follow the persons
	Pet      bool   // Who is a pet
	Location string // name of the room
	From, To motion.Time
	Vigour   float64 // size of the movement, 0..1
}

// LongestWalk is the longest duration of a Walk in seconds, so that the walks at a
// time can be found by their start.
const LongestWalk = 120

// Day is one local day of a home.
type Day struct {
	Begin, End motion.Time
	Walks      []Walk // ordered by From
	Scene      channel.Scene
}

// lastMinutes is the time before midnight in which no walk begins, in seconds, so
// that days can be planned one by one.
const lastMinutes = 240

// Day returns the day that begins at midnight, in the time zone of midnight. It
// depends only on the seed and the date.
func (s *Scenario) Day(seed uint64, midnight time.Time) *Day {
	y, m, d := midnight.Date()
	date := uint64(y)*10000 + uint64(m)*100 + uint64(d)
	day := &Day{Begin: motion.TimeOf(midnight), End: motion.TimeOf(midnight.AddDate(0, 0, 1))}
	day.Scene.Open = make([][]channel.Span, len(s.Doors))
	weekend := midnight.Weekday() == time.Saturday || midnight.Weekday() == time.Sunday
	for who := range len(s.People) + len(s.Pets) {
		p := &planner{
			s: s, day: day, seed: seed, who: who, pet: who >= len(s.People),
			rng: rand.New(rand.NewPCG(seed, date<<8+uint64(who))), length: day.End.Since(day.Begin),
		}
		if p.pet {
			p.roam(s.Pets[who-len(s.People)].Rooms)
		} else {
			p.live(&s.People[who], weekend)
		}
		p.finish()
	}
	for i, f := range s.Fans {
		day.Scene.Bodies = append(day.Scene.Bodies, fanOf(&f, seed+uint64(i), day.Begin))
	}
	for i := range day.Scene.Open {
		spans := day.Scene.Open[i]
		sort.Slice(spans, func(i, j int) bool { return spans[i].From < spans[j].From })
	}
	sort.SliceStable(day.Walks, func(i, j int) bool { return day.Walks[i].From < day.Walks[j].From })
	return day
}

// FanBody returns the body of a fan that is always on.
func FanBody(f *Fan, seed uint64) channel.Body {
	return channel.Body{Kind: channel.Fan, Seed: seed, Track: channel.Stay(f.At.Point())}
}

func fanOf(f *Fan, seed uint64, midnight motion.Time) channel.Body {
	b := FanBody(f, seed)
	b.Present = []channel.Span{}
	for _, slot := range f.On {
		b.Present = append(b.Present, channel.Span{From: midnight.Add(slot.From.Seconds()), To: midnight.Add(slot.To.Seconds())})
	}
	return b
}

// Walker returns the body of somebody who makes a walk and is not in the home otherwise; false when there is no
// such room.
func (s *Scenario) Walker(walk Walk, seed uint64) (channel.Body, bool) {
	area, known := s.Area(walk.Location)
	if !known {
		return channel.Body{}, false
	}
	begin, end := area.Spot(seed, 1), area.Spot(seed, 2)
	return channel.Body{
		Seed: seed, Track: channel.NewTrack(area.Wander(nil, seed, begin, end, walk.From, walk.To, walk.Vigour)),
		Present: []channel.Span{{From: walk.From, To: walk.To}},
	}, true
}

// planner plans the day of one person or pet. Times are seconds since midnight.
type planner struct {
	s      *Scenario
	day    *Day
	seed   uint64
	who    int
	pet    bool
	rng    *rand.Rand
	length float64

	now   float64
	room  int // −1 = away
	at    channel.Point
	knots []channel.Knot
	spans []channel.Span // at home
	sleep []channel.Span
	tired bool // asleep during pauses
	came  float64
}

// Seat returns the place where a person or pet rests in a room, both by index: the
// same place every day of a seed.
func (s *Scenario) Seat(seed uint64, who, room int) channel.Point {
	return s.Rooms[room].Area().Spot(seed, uint64(who), uint64(room))
}

func (p *planner) seat(room int) channel.Point { return p.s.Seat(p.seed, p.who, room) }

// begin puts the planner into a room at midnight, −1 = away.
func (p *planner) begin(room int) {
	p.room = room
	if room >= 0 {
		p.at = p.seat(room)
		p.knot()
	}
}

// over reports whether it is too late to begin a walk.
func (p *planner) over() bool { return p.now > p.length-lastMinutes }

func (p *planner) knot() {
	p.knots = append(p.knots, channel.Knot{Time: p.day.Begin.Add(p.now), At: p.at})
}

// wait advances the time without movement.
func (p *planner) wait(seconds float64) {
	begin := p.day.Begin.Add(p.now)
	p.now += seconds
	if p.room < 0 {
		return
	}
	p.knot()
	if p.tired {
		p.sleep = append(p.sleep, channel.Span{From: begin, To: p.day.Begin.Add(p.now)})
	}
}

// wander walks about in the room for some seconds, at most LongestWalk, and returns
// to the same place.
func (p *planner) wander(seconds, vigour float64) {
	from := p.day.Begin.Add(p.now)
	p.now += math.Min(seconds, LongestWalk)
	to := p.day.Begin.Add(p.now)
	p.knots = p.s.Rooms[p.room].Area().Wander(p.knots, p.rng.Uint64(), p.at, p.at, from, to, vigour)
	p.walked(p.room, from, vigour)
}

// walked adds a walk that ends now to the day.
func (p *planner) walked(room int, from motion.Time, vigour float64) {
	p.day.Walks = append(p.day.Walks, Walk{
		Who: p.who, Pet: p.pet, Location: p.s.Rooms[room].Name, From: from, To: p.day.Begin.Add(p.now), Vigour: vigour,
	})
}

// pace is the speed from room to room, m/s.
const pace = 1.0

// walkTo goes to the resting place of a room, through doors that open and close.
func (p *planner) walkTo(room int) {
	if p.room == room && p.at == p.seat(room) {
		return
	}
	p.knot()
	vigour := 0.7 + 0.3*p.rng.Float64()
	if p.pet {
		vigour = petVigour
	}
	for _, door := range p.s.route(p.room, room) {
		p.leg(p.s.Doors[door].middle(), vigour)
		p.day.Scene.Open[door] = append(p.day.Scene.Open[door], channel.Span{
			From: p.day.Begin.Add(p.now - 1.5*channel.DoorSwing), To: p.day.Begin.Add(p.now + 2*channel.DoorSwing),
		})
		if a, b := p.s.sides(&p.s.Doors[door]); a == p.room {
			p.room = b
		} else {
			p.room = a
		}
	}
	p.leg(p.seat(room), vigour)
}

// leg walks straight to a place.
func (p *planner) leg(to channel.Point, vigour float64) {
	from := p.day.Begin.Add(p.now)
	p.now += math.Max(0.5, p.at.Distance(to)/pace)
	p.at = to
	p.knot()
	p.walked(p.room, from, vigour)
}

// leave walks to the entrance and leaves the home.
func (p *planner) leave() {
	p.walkTo(p.s.roomNamed(p.s.Entrance))
	p.spans = append(p.spans, p.span())
	p.room = -1
}

// enter enters the home at the entrance.
func (p *planner) enter() {
	p.room, p.came = p.s.roomNamed(p.s.Entrance), p.now
	p.at = p.seat(p.room)
	p.knot()
}

func (p *planner) span() channel.Span {
	return channel.Span{From: p.day.Begin.Add(p.came), To: p.day.Begin.Add(p.now)}
}

// finish adds the planned body to the day.
func (p *planner) finish() {
	if p.room >= 0 {
		p.now = p.length
		p.spans = append(p.spans, p.span())
	}
	if len(p.knots) == 0 {
		return
	}
	kind := channel.Person
	if p.pet {
		kind = channel.Pet
	}
	p.day.Scene.Bodies = append(p.day.Scene.Bodies, channel.Body{
		Kind: kind, Seed: p.seed + uint64(p.who), Track: channel.NewTrack(p.knots), Present: p.spans, Asleep: p.sleep,
	})
}
