package evaluate

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// Play says which part of a scenario's day is simulated and scored.
type Play struct {
	Seed   uint64
	Hours  []time.Duration // starts of the parts, since midnight
	Length time.Duration   // of each part, after 40 s that are not scored
	Page   Page            // also written
}

// DefaultPlay returns parts of a night, a morning, an empty home and an evening.
func DefaultPlay() Play {
	return Play{
		Seed: 1, Length: 2 * time.Minute,
		Hours: []time.Duration{3 * time.Hour, 7*time.Hour + 15*time.Minute, 10 * time.Hour, 18*time.Hour + 15*time.Minute},
	}
}

// scenarioWarmUp is the time that detectors run before a part is scored, s.
const scenarioWarmUp motion.Seconds = 40

// scenarioDay returns the simulated day, a Monday.
func scenarioDay() time.Time { return time.Date(2025, time.November, 24, 0, 0, 0, 0, time.UTC) }

// sceneColumns are the columns of the table of homes.
const sceneColumns = "scenario\tlinks\trecall %\tlatency s\twalks missed\tone room %\troom right %\tof two right %\tFP empty %\tstill flagged %\tpet flagged %\twalking min\tempty min\tstill min\tpet min\t"

// RunScenarios runs the product's detection and fusion on simulated homes, scores
// them against the simulated truth, and writes a row per home to w.
func RunScenarios(homes []*scenario.Scenario, play Play, w io.Writer) error {
	if err := play.Page.check(); err != nil {
		return err
	}
	parts := make([]*part, len(homes)*len(play.Hours))
	var days []*scenario.Day
	for _, home := range homes {
		days = append(days, home.Day(play.Seed, scenarioDay()))
	}
	concurrently(len(parts), func(n int) {
		i, k := n/len(play.Hours), n%len(play.Hours)
		parts[n] = playPart(homes[i], days[i], play, play.Hours[k])
	})
	var rows []string
	for i, home := range homes {
		var sum sceneScore
		for _, p := range parts[i*len(play.Hours) : (i+1)*len(play.Hours)] {
			sum.add(&p.sceneScore)
		}
		rows = append(rows, fmt.Sprintf("%s\t%d\t%s", home.Name, len(home.Links()), sum.row()))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join(append([]string{sceneColumns}, rows...), "\n"))
	if err := t.Flush(); err != nil || play.Page.File == "" {
		return err
	}
	return play.Page.write(scenePage(play, rows, parts))
}

// part is a part of a home's day: its score, and what a page shows of it.
type part struct {
	sceneScore
	moments judged
	reach   map[motion.Time]float64 // of the link that is nearest to starting motion
	chart   *chart                  // nil without a page
}

// playPart simulates and scores the part of a day that begins at hour.
func playPart(home *scenario.Scenario, day *scenario.Day, play Play, hour time.Duration) *part {
	begin := day.Begin.Add(hour.Seconds())
	end := begin.Add(play.Length.Seconds())
	truth := newTruth(day, begin, end)
	p := &part{reach: map[motion.Time]float64{}}
	fuser := fuse.New(func(s *fuse.Step) {
		if s.Time >= begin && s.Time < end {
			p.take(s, truth)
			p.moments.add(s.Time.Since(day.Begin), truth.label(s.Time), s.Motion, s.Valid)
		}
	})
	watchers := watch(home, play.Seed, fuser, undisturbed)
	for _, w := range watchers {
		fuse := w.emit
		w.emit = func(t detect.Tick) {
			p.reach[t.Time] = max(p.reach[t.Time], t.Reach)
			fuse(t)
		}
	}
	const step motion.Seconds = 0.5
	for at := begin.Add(-scenarioWarmUp); at < end.Add(2); at = at.Add(step) {
		for _, w := range watchers {
			w.step(at, at.Add(step), &day.Scene)
		}
	}
	p.close(truth)
	if play.Page.File != "" {
		p.draw(home, day.Begin, span{hour.Seconds(), (hour + play.Length).Seconds()})
	}
	return p
}

// sounder returns the frames of [from, to) of a link and their format; they are valid until the next call.
type sounder func(from, to motion.Time, scene *channel.Scene) ([]channel.Frame, uint32)

// undisturbed returns the sounder of a link whose radio nothing disturbs.
func undisturbed(_ scenario.Link, config channel.Config) sounder {
	link := channel.NewLink(config)
	var frames []channel.Frame
	return func(from, to motion.Time, scene *channel.Scene) ([]channel.Frame, uint32) {
		frames = link.Sound(frames[:0], from, to, scene)
		return frames, 0
	}
}

// watcher is the receiver and the detector of a link.
type watcher struct {
	sound    sounder
	layout   channel.Layout
	detector *detect.Link
	key      fuse.Link
	emit     func(detect.Tick)
	amp      []float32
}

// watch returns the watchers of a home's links, which feed the fuser with what radio sounds.
func watch(home *scenario.Scenario, seed uint64, fuser *fuse.Fuser, radio func(scenario.Link, channel.Config) sounder) []*watcher {
	plan := home.Plan()
	var all []*watcher
	for i, link := range home.Links() {
		config := home.Radio(plan, link, seed)
		key := fuse.Link{Src: motion.MAC{2, 0, 0, 0, 1, byte(i)}, Dst: motion.MAC{2, 0, 0, 0, 0, byte(link.Node)}}
		fuser.SetZone(key, home.RoomAt(config.From), home.RoomAt(config.To))
		all = append(all, &watcher{
			sound: radio(link, config), layout: config.Layout, detector: detect.NewLink(detect.Defaults()), key: key,
			emit: func(t detect.Tick) { fuser.Add(key, t) },
		})
	}
	return all
}

// step measures [from, to) and pushes the frames to the detector.
func (w *watcher) step(from, to motion.Time, scene *channel.Scene) {
	frames, format := w.sound(from, to, scene)
	w.detector.SetFormat(format)
	for _, f := range frames {
		w.amp = csi.Amplitudes(w.amp, f.Data, w.layout.Flags)
		w.detector.Push(f.Stamp, w.amp, w.layout.Ends, f.RSSI, w.emit)
	}
}
