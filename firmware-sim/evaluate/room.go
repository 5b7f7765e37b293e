package evaluate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"sensegate/firmware-sim/scenario"
	"sensegate/motion/fuse"
)

// confidenceSteps are the limits of the classes of the reliability table, in percent.
var confidenceSteps = []int{0, 50, 60, 70, 80, 90, 95, 100}

// roomScore counts samples in motion while a person walks.
type roomScore struct {
	located    int
	one, right int           // one room is named, and somebody walks there
	two, among int           // two are named, and somebody walks in one of them
	classes    [7]rightCount // by the confidence in the likeliest room, a class from each of confidenceSteps on
}

// rightCount counts rooms that are named first, and those of them in which somebody walks.
type rightCount struct{ all, right int }

func (s *roomScore) add(o *roomScore) {
	s.located += o.located
	s.one, s.right = s.one+o.one, s.right+o.right
	s.two, s.among = s.two+o.two, s.among+o.among
	for i := range s.classes {
		s.classes[i].all += o.classes[i].all
		s.classes[i].right += o.classes[i].right
	}
}

// take scores where a sample is in motion.
func (s *roomScore) take(step *fuse.Step, t *truth) {
	if step.Sample == nil || !step.Sample.Motion {
		return
	}
	places := step.Sample.Location()
	if len(places) == 0 {
		return
	}
	walked := func(p fuse.Place) bool {
		return slices.ContainsFunc(t.walks, func(w scenario.Walk) bool {
			return w.From <= step.Time && step.Time < w.To && w.Location == p.Zone
		})
	}
	s.located++
	first := count(walked(places[0]))
	if len(places) == 1 {
		s.one, s.right = s.one+1, s.right+first
	} else {
		s.two, s.among = s.two+1, s.among+count(slices.ContainsFunc(places, walked))
	}
	class := 0
	for class+1 < len(s.classes) && places[0].Confidence*100 >= float64(confidenceSteps[class+1]) {
		class++
	}
	s.classes[class].all++
	s.classes[class].right += first
}

// row returns the figures as cells of a table: the share of samples in which one room is named, those right, and of
// those with two rooms the ones in which one of them is right.
func (s *roomScore) row() string {
	return cell(ratio(100, s.one, s.located), 0) + cell(ratio(100, s.right, s.one), 1) + cell(ratio(100, s.among, s.two), 1)
}

// Rooms says how the room of motion is scored.
type Rooms struct {
	Seed  uint64 // of the first home of each scenario
	Homes int
}

const (
	roomParts  = 12               // of a home's day
	roomLength = time.Minute      // of a part
	roomLead   = 10 * time.Second // of a part before a walk begins
)

// RunRooms plays minutes of a working day in which people walk, in some homes of each scenario, and writes to w how
// often the room is told, and whether it is right, by the confidence.
func RunRooms(homes []*scenario.Scenario, rooms Rooms, w io.Writer) error {
	scores := make([]roomScore, len(homes))
	for i, home := range homes {
		for k := range rooms.Homes {
			s := scoreRooms(home, rooms.Seed+uint64(k))
			scores[i].add(&s)
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "scenario\tlinks\thomes\tsamples\tone room %\tright %\tof two right %\t")
	var sum roomScore
	for i, home := range homes {
		sum.add(&scores[i])
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", home.Name, len(home.Links()), rooms.Homes, scores[i].located, scores[i].row())
	}
	fmt.Fprintf(t, "all\t\t\t%d\t%s\n\t\t\t\t\t\t\t\n", sum.located, sum.row())
	var limits []string
	for class := range confidenceSteps[1:] {
		limits = append(limits, fmt.Sprintf("%d–%d", confidenceSteps[class], confidenceSteps[class+1]))
	}
	fmt.Fprintf(t, "confidence %%\t%s\t\n", strings.Join(limits, "\t"))
	for i, home := range homes {
		fmt.Fprintf(t, "%s\t%s\n", home.Name, scores[i].reliability())
	}
	fmt.Fprintf(t, "all\t%s\n", sum.reliability())
	return t.Flush()
}

// reliability returns a cell for each class of confidence: the share of the rooms named first that is right, and of
// how many.
func (s *roomScore) reliability() string {
	var cells strings.Builder
	for _, c := range s.classes {
		if c.all == 0 {
			cells.WriteString("-\t")
			continue
		}
		fmt.Fprintf(&cells, "%.0f of %d\t", *ratio(100, c.right, c.all), c.all)
	}
	return cells.String()
}

// scoreRooms scores parts of one home's day, spread over its walks.
func scoreRooms(home *scenario.Scenario, seed uint64) (sum roomScore) {
	day := home.Day(seed, scenarioDay())
	walks := slices.DeleteFunc(slices.Clone(day.Walks), func(w scenario.Walk) bool { return w.Pet || w.Vigour < fidget })
	play := Play{Seed: seed, Length: roomLength}
	parts := make([]*part, roomParts)
	concurrently(len(parts), func(i int) {
		walk := walks[i*len(walks)/len(parts)]
		parts[i] = playPart(home, day, play, time.Duration(walk.From.Since(day.Begin)*float64(time.Second))-roomLead)
	})
	for _, p := range parts {
		sum.add(&p.rooms)
	}
	return sum
}
