package evaluate

import (
	"fmt"
	"slices"

	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

const (
	fidget       = 0.5               // a walk of less vigour is turning over or shifting: not scored
	afterwards   = motion.Seconds(4) // not scored after a movement: the decision holds for 2 s, the window is up to 2.5
	shortWalk    = motion.Seconds(1) // a shorter walk need not be detected
	walkTogether = motion.Seconds(2) // walks with a shorter gap are one
)

// truth is what happens in a part of a day.
type truth struct {
	moving []channel.Span   // a person walks
	small  []channel.Span   // a person turns over, or shifts
	pets   []channel.Span   // a pet walks
	home   []channel.Span   // a person is at home
	walks  []scenario.Walk  // of persons, scored
	seen   []motion.Seconds // by span of moving: latency of its detection, −1 = never
}

func newTruth(day *scenario.Day, from, to motion.Time) *truth {
	t := &truth{}
	for _, w := range day.Walks {
		if w.To.Add(afterwards) < from || w.From > to {
			continue
		}
		span := channel.Span{From: w.From, To: w.To}
		switch {
		case w.Pet:
			t.pets = join(t.pets, span)
		case w.Vigour < fidget:
			t.small = join(t.small, span)
		default:
			t.moving = join(t.moving, span)
			t.walks = append(t.walks, w)
		}
	}
	for _, b := range day.Scene.Bodies {
		if b.Kind == channel.Person {
			t.home = append(t.home, b.Present...)
		}
	}
	for _, span := range t.moving {
		first := motion.Seconds(-1)
		if span.From < from || span.To > to || span.To.Since(span.From) < shortWalk {
			first = 0 // short or not wholly within the part: its latency is not scored
		}
		t.seen = append(t.seen, first)
	}
	return t
}

// join appends a span, or extends the last one if the gap is below walkTogether.
func join(spans []channel.Span, s channel.Span) []channel.Span {
	if n := len(spans) - 1; n >= 0 && s.From.Since(spans[n].To) < walkTogether {
		spans[n].To = max(spans[n].To, s.To)
		return spans
	}
	return append(spans, s)
}

// during returns the index of the span that contains t or ended less than after before
// it, −1 for none.
func during(spans []channel.Span, t motion.Time, after motion.Seconds) int {
	return slices.IndexFunc(spans, func(s channel.Span) bool { return s.From <= t && t < s.To.Add(after) })
}

// sceneScore counts ticks, and walks, of a home.
type sceneScore struct {
	hits, moving     int
	alarms, empty    int
	stillHits, still int
	petHits, pets    int
	rooms            roomScore
	walks, missed    int
	latencies        []motion.Seconds
}

func (s *sceneScore) add(o *sceneScore) {
	s.hits, s.moving = s.hits+o.hits, s.moving+o.moving
	s.alarms, s.empty = s.alarms+o.alarms, s.empty+o.empty
	s.stillHits, s.still = s.stillHits+o.stillHits, s.still+o.still
	s.petHits, s.pets = s.petHits+o.petHits, s.pets+o.pets
	s.rooms.add(&o.rooms)
	s.walks, s.missed = s.walks+o.walks, s.missed+o.missed
	s.latencies = append(s.latencies, o.latencies...)
}

// petWalks is the label of a moment in which a pet walks and no person does. Recordings do not have it.
const petWalks capture.Label = 3

// label returns what happens at a time: a person walks (Motion), a pet does, somebody is in but still, or nobody is in
// (Quiet). It is Ignored while a person turns over, and shortly after any movement.
func (t *truth) label(at motion.Time) capture.Label {
	switch {
	case during(t.moving, at, 0) >= 0:
		return capture.Motion
	case during(t.moving, at, afterwards) >= 0 || during(t.small, at, afterwards) >= 0:
		return capture.Ignored
	case during(t.pets, at, 0) >= 0:
		return petWalks
	case during(t.pets, at, afterwards) >= 0:
		return capture.Ignored
	case during(t.home, at, 0) >= 0:
		return capture.Still
	}
	return capture.Quiet
}

// take scores a tick. Every tick counts in one class, or in none.
func (s *sceneScore) take(step *fuse.Step, t *truth) {
	called := count(step.Motion)
	switch t.label(step.Time) {
	case capture.Motion:
		s.moving, s.hits = s.moving+1, s.hits+called
		if i := during(t.moving, step.Time, 0); step.Motion && t.seen[i] < 0 {
			t.seen[i] = step.Time.Since(t.moving[i].From)
			s.latencies = append(s.latencies, t.seen[i])
		}
		s.rooms.take(step, t)
	case petWalks:
		s.pets, s.petHits = s.pets+1, s.petHits+called
	case capture.Still:
		s.still, s.stillHits = s.still+1, s.stillHits+called
	case capture.Quiet:
		s.empty, s.alarms = s.empty+1, s.alarms+called
	}
}

// close counts the walks and those that were not detected.
func (s *sceneScore) close(t *truth) {
	for i, span := range t.moving {
		if span.To.Since(span.From) < shortWalk {
			continue
		}
		s.walks++
		s.missed += count(t.seen[i] < 0)
	}
}

// latency returns the median latency in seconds, nil if no walk was detected.
func (s *sceneScore) latency() *float64 {
	if v, some := medianOf(s.latencies); some {
		return &v
	}
	return nil
}

// row returns the figures as cells of the table.
func (s *sceneScore) row() string {
	minutes := func(ticks int) string { return fmt.Sprintf("%.1f\t", float64(ticks)*detect.TickInterval/60) }
	return cell(ratio(100, s.hits, s.moving), 1) + cell(s.latency(), 2) + fmt.Sprintf("%d of %d\t", s.missed, s.walks) +
		s.rooms.row() + cell(ratio(100, s.alarms, s.empty), 1) + cell(ratio(100, s.stillHits, s.still), 1) +
		cell(ratio(100, s.petHits, s.pets), 1) + minutes(s.moving) + minutes(s.empty) + minutes(s.still) + minutes(s.pets)
}
