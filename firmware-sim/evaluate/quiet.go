package evaluate

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// Who is in a home that is played as quiet.
const (
	Nobody   = "nobody"
	NextDoor = "next-door" // somebody walks about behind an outer wall, five minutes of each hour
	Pets     = "pets"      // walk about as the scenario says, and nobody else is there
	Sleeper  = "sleeper"   // people of the scenario, in bed from midnight to six
)

// Company are all of these.
func Company() []string { return []string{Nobody, NextDoor, Pets, Sleeper} }

// Quiet says what quiet time is played.
type Quiet struct {
	Seed   uint64
	Length time.Duration // of each home, a multiple of QuietPiece
	With   string        // one of Company
	File   string        // keeps each piece that is done, so that a later run goes on; "" = none

	Progress func(done, of int) // hears how many pieces are done; nil = nobody
}

// QuietPiece is the length of what is played at once: the detectors of a piece begin anew, with 30 s of
// calibration, and its seed, thus its furniture and receivers, is its own.
const QuietPiece = 6 * time.Hour

// quietLevels is how many levels of sensitivity the settings have.
const quietLevels = 4

// alone are the figures of single links, each as if it were the only one of its home.
type alone struct {
	Hours  float64          `json:"hours"` // of all links
	Events [quietLevels]int `json:"events"`
}

// piece is what came of a piece. Its first fields say which it is.
type piece struct {
	Home     string `json:"home"`
	Scenario string `json:"scenario,omitempty"` // what Home is; see digestOf
	With     string `json:"with"`
	Seed     uint64 `json:"seed"`
	Number   int    `json:"number"`

	Program string `json:"program,omitempty"` // which played it; see ownDigest

	Hours  float64              `json:"hours"`
	Events [quietLevels]int     `json:"events"`   // detections, by level of sensitivity
	Motion [quietLevels]float64 `json:"motion"`   // s
	Pets   int                  `json:"pet_mode"` // detections at High, with pet mode
	Alone  alone                `json:"alone"`
}

func (p *piece) add(o *piece) {
	p.Hours, p.Alone.Hours, p.Pets = p.Hours+o.Hours, p.Alone.Hours+o.Alone.Hours, p.Pets+o.Pets
	for l := range quietLevels {
		p.Events[l], p.Motion[l], p.Alone.Events[l] = p.Events[l]+o.Events[l], p.Motion[l]+o.Motion[l], p.Alone.Events[l]+o.Alone.Events[l]
	}
}

// single returns the figures of single links as if they were those of homes. Pet mode has no effect on one link.
func (p *piece) single() *piece {
	return &piece{Hours: p.Alone.Hours, Events: p.Alone.Events, Pets: p.Alone.Events[0]}
}

// RunQuiet plays quiet time in simulated homes whose radio is disturbed, and writes to w how often the product
// takes it for motion, at each level of sensitivity.
func RunQuiet(homes []*scenario.Scenario, q Quiet, w io.Writer) error {
	known, err := openKept(q.File)
	if err != nil {
		return err
	}
	defer known.Close()
	var pieces []piece
	for _, home := range homes {
		digest := digestOf(home)
		for n := range int(q.Length / QuietPiece) {
			pieces = append(pieces, piece{Home: home.Name, Scenario: digest, With: q.With, Seed: q.Seed, Number: n})
		}
	}
	var mu sync.Mutex
	done, others := 0, 0
	end := func(i int, p piece, played bool) error {
		mu.Lock()
		defer mu.Unlock()
		pieces[i] = p
		done++
		if q.Progress != nil {
			q.Progress(done, len(pieces))
		}
		if played {
			return known.add(p)
		}
		if p.Program != known.program {
			others++
		}
		return nil
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range pieces {
		home := homes[i/(len(pieces)/len(homes))]
		if at := slices.IndexFunc(known.pieces, p.is); at >= 0 {
			if err := end(i, known.pieces[at], false); err != nil {
				return err
			}
			continue
		}
		group.Go(func() error {
			p.play(home, QuietPiece)
			return end(i, p, true)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if others > 0 {
		fmt.Fprintf(w, "%d of %d pieces are of %s, played by another build of this program; without that file all are played by this one.\n", others, len(pieces), q.File)
	}
	return reportQuiet(homes, pieces, w)
}

// is reports whether o is the same piece.
func (p piece) is(o piece) bool {
	return p.Home == o.Home && p.Scenario == o.Scenario && p.With == o.With && p.Seed == o.Seed && p.Number == o.Number
}

// play simulates the piece, of a length.
func (p *piece) play(home *scenario.Scenario, length time.Duration) {
	seed := chance.Mix(p.Seed, chance.Text(p.Home), uint64(p.Number))
	lived, date, first := *home, scenarioDay().AddDate(0, 0, p.Number/4), time.Duration(p.Number%4)*QuietPiece
	if p.With == Sleeper {
		date, first = scenarioDay().AddDate(0, 0, p.Number), 0
	} else {
		lived.People = nil
	}
	if p.With != Pets {
		lived.Pets = nil
	}
	scene := lived.Day(seed, date).Scene
	from := motion.TimeOf(date).Add(first.Seconds())
	to := from.Add(length.Seconds())
	if p.With == NextDoor {
		scene.Bodies = append(scene.Bodies, neighbour(home, seed, from, to))
	}
	watchers := p.listen(home, seed, from, to)
	const step motion.Seconds = 0.5
	for at := from; at < to; at = at.Add(step) {
		for _, w := range watchers {
			w.step(at, at.Add(step), &scene)
		}
	}
	p.Hours = length.Hours()
	p.Alone.Hours = p.Hours * float64(len(watchers))
}

// listen returns the watchers of a home whose radio is disturbed, which count in p.
func (p *piece) listen(home *scenario.Scenario, seed uint64, from, to motion.Time) []*watcher {
	scored := from.Add(scenarioWarmUp)
	network := newLevelEvents(func(level int) { p.Events[level]++ })
	settings := motion.DefaultGuardianConfig().MotionEvents
	settings.PetMode = 1
	pets := fuse.NewEvents(fuse.ConfigOf(settings, false))
	fuser := fuse.New(func(s *fuse.Step) {
		if s.Sample == nil || s.Time < scored {
			return
		}
		network.take(s.Sample)
		if t, some := pets.Add(s.Sample); some && t.Kind == fuse.Detected {
			p.Pets++
		}
		for level := range quietLevels {
			if s.Sample.Levels.Motion(level + 1) {
				p.Motion[level] += s.Sample.Interval
			}
		}
	})
	all := watch(home, seed, fuser, func(link scenario.Link, config channel.Config) sounder {
		return disturb(config, link, seed, from, to).sound
	})
	for _, w := range all {
		single := newLevelEvents(func(level int) { p.Alone.Events[level]++ })
		one := fuse.New(func(s *fuse.Step) {
			if s.Sample != nil && s.Time >= scored {
				single.take(s.Sample)
			}
		})
		w.emit = func(t detect.Tick) { fuser.Add(w.key, t); one.Add(w.key, t) }
	}
	return all
}

// levelEvents are the event machines of a network, one for each level of sensitivity, with default settings.
type levelEvents struct {
	machines [quietLevels]*fuse.Events
	count    func(level int)
}

func newLevelEvents(count func(level int)) levelEvents {
	e := levelEvents{count: count}
	for l := range e.machines {
		e.machines[l] = fuse.NewEvents(fuse.ConfigOf(motion.DefaultGuardianConfig().MotionEvents, false))
	}
	return e
}

func (e *levelEvents) take(s *fuse.Sample) {
	for l, machine := range e.machines {
		at := fuse.Sample{Time: s.Time, Interval: s.Interval, Valid: s.Valid, Intensity: s.Intensity, Firm: s.Levels.Firm(l + 1), Strongest: -1}
		if s.Valid {
			at.Intensity = 0
			if s.Levels.Motion(l + 1) {
				at.Intensity = 1
			}
		}
		if t, some := machine.Add(&at); some && t.Kind == fuse.Detected {
			e.count(l)
		}
	}
}

// reportQuiet writes a row for each home, and one for all.
func reportQuiet(homes []*scenario.Scenario, pieces []piece, w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "home\tlinks\thours\tevents by level: High\tMedium\tLow\tVery Low\tHigh in pet mode\ta day, High\tat most\tMedium\tat most\tmotion %\t")
	var all piece
	links := 0
	rows := make([]piece, len(homes))
	for i := range pieces {
		rows[i/(len(pieces)/len(homes))].add(&pieces[i])
		all.add(&pieces[i])
	}
	row := func(name string, links int, p *piece) {
		fmt.Fprintf(t, "%s\t%d\t%.0f\t%d\t%d\t%d\t%d\t%d\t", name, links, p.Hours, p.Events[0], p.Events[1], p.Events[2], p.Events[3], p.Pets)
		for level := range 2 {
			fmt.Fprintf(t, "%.2f\t%.2f\t", perDay(float64(p.Events[level]), p.Hours), perDay(poissonBound(p.Events[level]), p.Hours))
		}
		fmt.Fprintf(t, "%.3f\t\n", 100*p.Motion[0]/(3600*p.Hours))
	}
	for i, home := range homes {
		row(home.Name, len(home.Links()), &rows[i])
		links += len(home.Links())
	}
	row("all", links, &all)
	for i, home := range homes {
		row(home.Name+", each link alone", 1, rows[i].single())
	}
	row("all, each link alone", 1, all.single())
	return t.Flush()
}

func perDay(events, hours float64) float64 { return events / hours * 24 }
