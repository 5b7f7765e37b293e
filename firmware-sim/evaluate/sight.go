package evaluate

import (
	"fmt"
	"slices"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/fuse"
)

// sampleStep is the length of a network sample in seconds.
const sampleStep motion.Seconds = 0.5

// sight approximates the product's samples of a home. A night of all frames would
// take minutes to compute, but people spend it in few places with few activities.
// sight plays each of these once through channel, detection and fusion, caches the
// samples as a clip and composes a night from clips. It plays a sleeping household as
// a whole, with its pets and fans, and any other body alone in the home; the sample of
// several is the largest, so that effects of several bodies together are lost.
//
// A sight belongs to one goroutine.
type sight struct {
	home  *scenario.Scenario
	seed  uint64
	still map[string][]float64 // by views
	acts  map[view][]act
}

// view is a body with one activity.
type view struct {
	does doing
	who  int // person or pet; index of a fan
	room int
}

// doing is the activity in a clip.
type doing uint8

const (
	rests doing = iota // sits or stands
	sleeps
	blows // a fan is on
	stirs // turns over, or shifts
	walks
)

// act is the clip of a movement: the samples during it, and those after it that it may
// still affect.
type act struct{ during, after []float64 }

// The lengths of the clips in seconds, and the number of movements per kind.
const (
	stillClip             = 60.0
	stirClip, walkClip    = 3.0, 12.0
	actTail, betweenActs  = 6.0, 9.0
	stirTakes, walkTakes  = 4, 2
	stirVigour, petVigour = 0.35, 0.35
	walkVigour            = 0.8
)

func newSight(home *scenario.Scenario, seed uint64) *sight {
	return &sight{home: home, seed: seed, still: map[string][]float64{}, acts: map[view][]act{}}
}

// clipBegin returns the simulated time at which every clip begins.
func clipBegin() motion.Time { return motion.TimeOf(scenarioDay()) }

// play returns the samples of bodies for length, after the warm-up of the detectors.
func (s *sight) play(bodies []channel.Body, length motion.Seconds) []float64 {
	begin := clipBegin()
	samples := make([]float64, int(length/sampleStep))
	fuser := fuse.New(func(step *fuse.Step) {
		i := int(step.Time.Since(begin) / sampleStep)
		if step.Sample != nil && step.Time >= begin && i < len(samples) {
			samples[i] = float64(step.Sample.Intensity)
		}
	})
	scene := channel.Scene{Bodies: bodies}
	watchers := watch(s.home, s.seed, fuser, undisturbed)
	for at := begin.Add(-scenarioWarmUp); at < begin.Add(length+2); at = at.Add(sampleStep) {
		for _, w := range watchers {
			w.step(at, at.Add(sampleStep), &scene)
		}
	}
	return samples
}

// body returns the body of a view.
func (s *sight) body(v view) channel.Body {
	if v.does == blows {
		return scenario.FanBody(&s.home.Fans[v.who], s.seed+uint64(v.who))
	}
	b := channel.Body{Kind: channel.Person, Seed: s.seed + uint64(v.who), Track: channel.Stay(s.home.Seat(s.seed, v.who, v.room))}
	if v.who >= len(s.home.People) {
		b.Kind = channel.Pet
	}
	if v.does == sleeps {
		begin := clipBegin()
		b.Asleep = []channel.Span{{From: begin.Add(-scenarioWarmUp - 1), To: begin.Add(stillClip + 3)}}
	}
	return b
}

// stillOf returns the clip of bodies that stay in place.
func (s *sight) stillOf(views ...view) []float64 {
	key := fmt.Sprint(views)
	if clip, known := s.still[key]; known {
		return clip
	}
	var bodies []channel.Body
	for _, v := range views {
		bodies = append(bodies, s.body(v))
	}
	s.still[key] = s.play(bodies, stillClip)
	return s.still[key]
}

// actsOf returns the clips of a movement.
func (s *sight) actsOf(v view) []act {
	if acts, known := s.acts[v]; known {
		return acts
	}
	takes, length, vigour := walkTakes, walkClip, walkVigour
	if v.does == stirs {
		takes, length, vigour = stirTakes, stirClip, stirVigour
	} else if v.who >= len(s.home.People) {
		vigour = petVigour
	}
	body, begin := s.body(v), clipBegin()
	seat := s.home.Seat(s.seed, v.who, v.room)
	knots := []channel.Knot{{Time: begin.Add(-scenarioWarmUp), At: seat}}
	period := length + betweenActs
	for k := range takes {
		from := begin.Add(float64(k) * period)
		knots = s.home.Rooms[v.room].Area().Wander(knots, chance.Mix(s.seed, uint64(k)), seat, seat, from, from.Add(length), vigour)
	}
	body.Track = channel.NewTrack(knots)
	samples := s.play([]channel.Body{body}, float64(takes)*period)
	acts := make([]act, takes)
	for k := range acts {
		from := int(float64(k) * period / sampleStep)
		to := from + int(length/sampleStep)
		acts[k] = act{samples[from:to], samples[to : to+int(actTail/sampleStep)]}
	}
	s.acts[v] = acts
	return acts
}

// samples returns the intensity of the network in each sample of [from, to); days are
// consecutive and contain that time.
func (s *sight) samples(days []*scenario.Day, from, to motion.Time) []float64 {
	out := make([]float64, int(to.Since(from)/sampleStep))
	mark(out, 0, len(out), 0, s.stillOf())
	index := func(t motion.Time) int { return max(0, min(len(out), int(t.Since(from)/sampleStep))) }
	const piece = int(10 / sampleStep) // from a random place in a clip
	for _, day := range days {
		for i := index(day.Begin); i < index(day.End); i += piece {
			t := from.Add(float64(i) * sampleStep)
			for k, clip := range s.clipsOf(day, t) {
				mark(out, i, i+piece, int(chance.Mix(s.seed, uint64(t), uint64(k))%uint64(len(clip))), clip)
			}
		}
		for i := range day.Walks {
			if w := &day.Walks[i]; w.From < to && w.To > from {
				act := s.actOf(w)
				end := max(index(w.From)+1, index(w.To))
				mark(out, index(w.From), end, 0, act.during)
				mark(out, end, end+len(act.after), 0, act.after)
			}
		}
	}
	return out
}

// clipsOf returns the clips of the bodies that are present at t.
func (s *sight) clipsOf(day *scenario.Day, t motion.Time) [][]float64 {
	holds := func(spans []channel.Span) bool {
		return slices.ContainsFunc(spans, func(s channel.Span) bool { return s.Holds(t) })
	}
	var views []view
	asleep, up := 0, 0
	for i := range day.Scene.Bodies {
		b := &day.Scene.Bodies[i]
		if b.Present != nil && !holds(b.Present) {
			continue
		}
		v := view{rests, int(b.Seed - s.seed), 0}
		if b.Kind == channel.Fan {
			v.does = blows
			views = append(views, v)
			continue
		}
		v.room = max(0, s.roomNamed(s.home.RoomAt(b.Track.At(t))))
		switch {
		case holds(b.Asleep):
			v.does = sleeps
			asleep++
		case b.Kind == channel.Person:
			v.who = s.usualIn(v.who, v.room)
			up++
		}
		views = append(views, v)
	}
	if asleep > 0 && up == 0 {
		return [][]float64{s.stillOf(views...)}
	}
	var clips [][]float64
	for _, v := range views {
		clips = append(clips, s.stillOf(v))
	}
	return clips
}

// actOf returns one of the clips of a walk.
func (s *sight) actOf(w *scenario.Walk) act {
	v := view{walks, w.Who, s.roomNamed(w.Location)}
	switch {
	case w.Pet:
	case w.Vigour < fidget:
		v.does = stirs
	default:
		v.who = 0 // all people walk alike
	}
	acts := s.actsOf(v)
	return acts[chance.Mix(s.seed, uint64(w.From))%uint64(len(acts))]
}

func (s *sight) roomNamed(name string) int {
	return slices.IndexFunc(s.home.Rooms, func(r scenario.Room) bool { return r.Name == name })
}

// usualIn returns the person whose clip serves for who in a room: the same one if they
// sit or sleep there, otherwise the first, because the stay is short.
func (s *sight) usualIn(who, room int) int {
	p := &s.home.People[who]
	if slices.ContainsFunc(slices.Concat(p.Day, p.Weekend), func(stay scenario.Stay) bool {
		return stay.Room == s.home.Rooms[room].Name && stay.Does != scenario.Moves
	}) {
		return who
	}
	return 0
}

// mark raises the samples [from, to) to those of a clip, which starts at sample offset
// and repeats.
func mark(out []float64, from, to, offset int, clip []float64) {
	for i := from; i < min(to, len(out)); i++ {
		out[i] = max(out[i], clip[(offset+i-from)%len(clip)])
	}
}
