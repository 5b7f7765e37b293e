package evaluate

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// Links says what RunLinks plays.
type Links struct {
	Seed     uint64             // of the first home of each size
	Homes    int                // of each size
	Progress func(done, of int) // hears how many homes are done; nil = nobody
}

const (
	linkQuiet  = 45 * time.Minute // without anybody, of each home
	linkWalks  = 5                // parts of its day in which people walk
	linkPart   = 30 * time.Second // length of a part
	linkLead   = 10 * time.Second // of a part before a walk begins
	linkChange = 3.0              // s after that, what changes does
)

// linkScore is what a network in one kind of trouble made of a home.
type linkScore struct {
	sceneScore
	hours   float64 // without anybody
	events  int     // in that
	after   int     // of them, while the link in trouble was marked noisy
	motion  motion.Seconds
	changes int
	marked  []motion.Seconds // how long the link in trouble was heard until it was marked noisy
	others  int              // how many others were
}

func (s *linkScore) add(o *linkScore) {
	s.sceneScore.add(&o.sceneScore)
	s.hours, s.events, s.motion, s.changes = s.hours+o.hours, s.events+o.events, s.motion+o.motion, s.changes+o.changes
	s.after += o.after
	s.marked, s.others = append(s.marked, o.marked...), s.others+o.others
}

// row returns the figures as cells of the table.
func (s *linkScore) row() string {
	marked := "-\t-\t"
	if after, some := medianOf(s.marked); some {
		marked = fmt.Sprintf("%.0f\t%d\t", after/60, s.after)
	}
	return fmt.Sprintf("%.1f\t", float64(s.moving)*detect.TickInterval/60) + cell(ratio(100, s.hits, s.moving), 1) + cell(s.latency(), 2) +
		fmt.Sprintf("%d of %d\t%.1f\t%d\t%d\t", s.missed, s.walks, s.hours, s.changes, s.events) +
		fmt.Sprintf("%.2f\t%.2f\t%.3f\t", perDay(float64(s.events), s.hours), perDay(poissonBound(s.events), s.hours), 100*s.motion/(3600*s.hours)) +
		marked + fmt.Sprintf("%d\t", s.others)
}

// RunLinks plays homes of 2 to 30 links, first without anybody, then while people walk, with nothing wrong and
// with each kind of trouble, and writes to w what their networks make of it.
func RunLinks(l Links, w io.Writer) error {
	homes, err := linkHomes()
	if err != nil {
		return err
	}
	played := make([][troubleKind]linkScore, len(homes)*l.Homes)
	concurrentlyTold(len(played), l.Progress, func(n int) {
		i := len(homes) - 1 - n/l.Homes // the largest first
		played[i*l.Homes+n%l.Homes] = playLinks(homes[i], l.Seed+uint64(n%l.Homes), linkQuiet, linkWalks)
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "trouble\tlinks\twalking min\trecall %\tlatency s\twalks missed\tquiet h\tchanges\tevents\ta day\tat most\tmotion %\tmarked after min\tevents then\tothers marked\t")
	for what, name := range troubles {
		var all linkScore
		for i, home := range homes {
			var sum linkScore
			for _, p := range played[i*l.Homes : (i+1)*l.Homes] {
				sum.add(&p[what])
			}
			all.add(&sum)
			fmt.Fprintf(t, "%s\t%s\t%s\n", name, home.Name, sum.row())
		}
		fmt.Fprintf(t, "%s\tall\t%s\n", name, all.row())
	}
	return t.Flush()
}

// linkStage is a network in one kind of trouble, and what is scored of it.
type linkStage struct {
	score  linkScore
	fuser  *fuse.Fuser
	victim fuse.Link
	quiet  channel.Span // scored as such
	truth  *truth       // of the part that is played, nil = none
	part   channel.Span
	events *fuse.Events
}

// take scores a step of the network.
func (s *linkStage) take(step *fuse.Step) {
	for _, change := range step.Noisy {
		switch {
		case !change.Noisy:
		case change.Link != s.victim:
			s.score.others++
		default:
			s.score.marked = append(s.score.marked, change.Time.Since(s.quiet.From))
		}
	}
	if s.quiet.Holds(step.Time) && step.Sample != nil {
		if t, some := s.events.Add(step.Sample); some && t.Kind == fuse.Detected {
			s.score.events++
			s.score.after += count(s.fuser.Noisy(s.victim))
		}
		if step.Sample.Motion {
			s.score.motion += step.Sample.Interval
		}
	}
	if s.truth != nil && s.part.Holds(step.Time) {
		s.score.take(step, s.truth)
	}
}

// playLinks plays a home: quiet, and then so many parts of a day.
func playLinks(home *scenario.Scenario, seed uint64, quiet time.Duration, parts int) (scores [troubleKind]linkScore) {
	seed = chance.Mix(seed, chance.Text(home.Name))
	begin := motion.TimeOf(scenarioDay())
	empty := channel.Span{From: begin.Add(scenarioWarmUp), To: begin.Add(quiet.Seconds())}
	c := &cast{home: home, plan: home.Plan(), seed: seed}
	for t := empty.From.Add(changeEvery / 2); t < empty.To; t = t.Add(changeEvery) {
		c.changes = append(c.changes, t)
	}
	changes := len(c.changes)
	day := home.Day(seed, scenarioDay().AddDate(0, 0, 1))
	var plays []channel.Span
	walks := slices.DeleteFunc(slices.Clone(day.Walks), func(w scenario.Walk) bool { return w.Pet || w.Vigour < fidget })
	for i := range parts {
		from := walks[i*len(walks)/parts].From
		plays = append(plays, channel.Span{From: from.Add(-linkLead.Seconds()), To: from.Add((linkPart - linkLead).Seconds())})
		c.changes = append(c.changes, from.Add(linkChange))
	}
	stages := make([]*linkStage, troubleKind)
	for what := range stages {
		s := &linkStage{quiet: empty, victim: linkKey(scenario.Link{Leaf: c.victim(), Node: home.Leafs[c.victim()].Node, Peer: -1})}
		s.events = fuse.NewEvents(fuse.ConfigOf(motion.DefaultGuardianConfig().MotionEvents, false))
		s.fuser = fuse.New(s.take)
		s.score.hours = empty.To.Since(empty.From) / 3600
		if trouble(what) >= reroutes {
			s.score.changes = changes
		}
		stages[what] = s
	}
	watchers := c.watchers(stages)
	play := func(span channel.Span, scene *channel.Scene) {
		const step motion.Seconds = 0.5
		for at := span.From; at < span.To; at = at.Add(step) {
			for _, w := range watchers {
				w.step(at, at.Add(step), scene)
			}
			for _, s := range stages {
				s.fuser.Advance(at.Add(step))
			}
		}
	}
	play(channel.Span{From: begin, To: empty.To.Add(2)}, &channel.Scene{})
	for _, span := range plays {
		for _, s := range stages {
			s.truth, s.part = newTruth(day, span.From, span.To), span
		}
		play(channel.Span{From: span.From.Add(-5), To: span.To.Add(2)}, &day.Scene)
		for _, s := range stages {
			s.score.close(s.truth)
			s.truth = nil
		}
	}
	for what, s := range stages {
		scores[what] = s.score
	}
	return scores
}

// watchers returns the watchers of the links of all stages. A link with which nothing is wrong in several of them is
// watched once.
func (c *cast) watchers(stages []*linkStage) []*watcher {
	var all []*watcher
	add := func(v voice, fusers []*fuse.Fuser) {
		key := linkKey(v.link)
		for _, f := range fusers {
			f.SetZone(key, c.home.RoomAt(v.config.From), c.home.RoomAt(v.config.To))
		}
		all = append(all, &watcher{
			sound: v.sound, layout: v.config.Layout, detector: detect.NewLink(detect.Defaults()), key: key,
			emit: func(t detect.Tick) {
				for _, f := range fusers {
					f.Add(key, t)
				}
			},
		})
	}
	for _, link := range c.home.Links() {
		var sound []*fuse.Fuser
		for what, s := range stages {
			voices, wrong := c.affected(link, trouble(what))
			if !wrong {
				sound = append(sound, s.fuser)
			}
			for _, v := range voices {
				add(v, []*fuse.Fuser{s.fuser})
			}
		}
		add(c.plain(link), sound)
	}
	return all
}

// linkKey returns the key of a link of a home.
func linkKey(l scenario.Link) fuse.Link {
	return fuse.Link{Src: motion.MAC{2, 0, 0, 0, byte(l.Peer + 1), byte(l.Leaf + 1)}, Dst: motion.MAC{2, 0, 0, 1, 0, byte(l.Node)}}
}
