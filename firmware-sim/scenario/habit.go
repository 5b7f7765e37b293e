package scenario

import "math"

// How people and pets spend their time; pauses are means in seconds.
const (
	movesPause  = 150
	sitsPause   = 900
	sleepsPause = 2400
	fetches     = 0.25 // share of the breaks from sitting that lead to another room
	getsUp      = 0.08 // share of the breaks from sleep that lead to the entrance

	petPause   = 420
	petVigour  = 0.35
	petNight   = 5.0 // factor of the pauses at night
	unpunctual = 300 // s: most times of a day are kept to within this
)

// live plans the day of a person.
func (p *planner) live(who *Person, weekend bool) {
	stays := who.Day
	if weekend && len(who.Weekend) > 0 {
		stays = who.Weekend
	}
	p.begin(p.roomOf(&stays[0]))
	for i := range stays {
		if i > 0 {
			p.change(&stays[i])
		}
		until := p.length
		if i+1 < len(stays) {
			until = stays[i+1].From.Seconds() + unpunctual*math.Max(-2, math.Min(2, 0.7*p.rng.NormFloat64()))
		}
		p.stay(&stays[i], until)
	}
}

func (p *planner) roomOf(s *Stay) int {
	if s.Does == Away {
		return -1
	}
	return p.s.roomNamed(s.Room)
}

// change walks to the room of the next stay.
func (p *planner) change(next *Stay) {
	room := p.roomOf(next)
	switch {
	case p.over() || room < 0 && p.room < 0:
		return
	case room < 0:
		p.leave()
		return
	case p.room < 0:
		p.enter()
	}
	p.walkTo(room)
}

// stay plans pauses and movements until a time, at most to the end of the day.
func (p *planner) stay(s *Stay, until float64) {
	until = math.Min(until, p.length)
	p.tired = s.Does == Sleeps
	for p.room >= 0 && !p.over() {
		pause := p.rng.ExpFloat64() * map[Activity]float64{Moves: movesPause, Sits: sitsPause, Stays: sitsPause, Sleeps: sleepsPause}[s.Does]
		if pause = 4 + math.Min(pause, 4*sleepsPause); p.now+pause >= math.Min(until, p.length-lastMinutes) {
			break
		}
		p.wait(pause)
		p.act(s)
	}
	if p.now < until {
		p.wait(until - p.now)
	}
}

// act plans a movement at the end of a pause, and the way back.
func (p *planner) act(s *Stay) {
	back := p.room
	switch {
	case s.Does == Moves:
		p.outing()
	case s.Does == Sits && p.rng.Float64() < fetches:
		p.walkTo(p.rng.IntN(len(p.s.Rooms)))
		p.wander(4+8*p.rng.Float64(), 0.7)
	case s.Does == Sits || s.Does == Stays:
		p.wander(2+3*p.rng.Float64(), 0.4)
	case p.rng.Float64() < getsUp:
		p.walkTo(p.s.roomNamed(p.s.Entrance))
	default:
		p.wander(2+2*p.rng.Float64(), 0.3) // turns over
	}
	if p.room != back {
		p.walkTo(back)
	}
}

// outing walks about in this room or another, with pauses.
func (p *planner) outing() {
	if p.rng.IntN(4) == 0 {
		p.walkTo(p.rng.IntN(len(p.s.Rooms)))
	}
	for range 1 + p.rng.IntN(4) {
		p.wander(8+40*p.rng.Float64(), 0.6+0.4*p.rng.Float64())
		p.wait(3 + 25*p.rng.Float64())
	}
}

// roam plans the day of a pet: short walks, fewer at night.
func (p *planner) roam(rooms []string) {
	p.begin(p.s.roomNamed(rooms[0]))
	for !p.over() {
		pause := 10 + p.rng.ExpFloat64()*petPause
		if hour := p.now / 3600; hour < 6 || hour > 22 {
			pause *= petNight
		}
		if p.now+pause > p.length-lastMinutes {
			return
		}
		p.wait(pause)
		p.walkTo(p.s.roomNamed(rooms[p.rng.IntN(len(rooms))]))
		p.wander(3+12*p.rng.Float64(), petVigour)
	}
}
