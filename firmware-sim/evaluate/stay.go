package evaluate

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// Stays says what RunStays plays.
type Stays struct {
	Seed   uint64
	Homes  int           // of each scenario
	Length time.Duration // of a stay

	Progress func(done, of int) // hears how many stays are done; nil = nobody
}

// LongestStay is the greatest Length.
const LongestStay = 12 * time.Hour

// stayScore is what a network made of somebody who stays alone in a room. Minutes count when the person is there.
type stayScore struct {
	minutes int
	lone    int // in which a link moved, and never two at once
	seen    int // in which there was motion of the network
	lost    int // in which there would have been if no link were marked noisy
	marked  int // links, from begin to end
}

func (s *stayScore) add(o *stayScore) {
	s.minutes, s.lone, s.seen, s.lost, s.marked = s.minutes+o.minutes, s.lone+o.lone, s.seen+o.seen, s.lost+o.lost, s.marked+o.marked
}

// RunStays has somebody stay alone in each room of homes for hours, without leaving it, and writes to w in how many minutes the
// product sees them, and in how many it does not because the links that do were marked noisy.
func RunStays(homes []*scenario.Scenario, s Stays, w io.Writer) error {
	type stay struct {
		home *scenario.Scenario
		room int
	}
	var stays []stay
	for _, home := range homes {
		for room := range home.Rooms {
			stays = append(stays, stay{home, room})
		}
	}
	scores := make([]stayScore, len(stays)*s.Homes)
	concurrentlyTold(len(scores), s.Progress, func(n int) {
		one := stays[n/s.Homes]
		scores[n] = playStay(one.home, one.room, s.Seed+uint64(n%s.Homes), s.Length)
	})
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "scenario\troom\tlinks of it\tminutes\tone link at a time\tin motion\tlost to a mark\tmarked links\t")
	var all stayScore
	row := func(name, room, links string, s *stayScore) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t\n", name, room, links, s.minutes, s.lone, s.seen, s.lost, s.marked)
	}
	for i, one := range stays {
		var sum stayScore
		for k := range s.Homes {
			sum.add(&scores[i*s.Homes+k])
		}
		all.add(&sum)
		row(one.home.Name, one.home.Rooms[one.room].Name, fmt.Sprint(serving(one.home, one.room)), &sum)
	}
	row("all", "", "", &all)
	return t.Flush()
}

// serving returns how many links serve a room.
func serving(home *scenario.Scenario, room int) (links int) {
	plan := home.Plan()
	for _, link := range home.Links() {
		links += count(home.RoomAt(home.Radio(plan, link, 1).From) == home.Rooms[room].Name)
	}
	return links
}

// stayBegins is when somebody comes home for a stay.
const stayBegins = 8 * time.Hour

// playStay plays one. The network without marks is one in which a link that is marked begins anew.
func playStay(whole *scenario.Scenario, room int, seed uint64, length time.Duration) (score stayScore) {
	home := *whole
	home.Pets, home.Fans = nil, nil
	home.People = []scenario.Person{{Day: []scenario.Stay{
		{Does: scenario.Away}, {From: stayBegins, Room: home.Rooms[room].Name, Does: scenario.Stays}, {From: stayBegins + length, Does: scenario.Away},
	}}}
	day := home.Day(seed, scenarioDay())
	begin := day.Begin.Add((stayBegins - 15*time.Minute).Seconds())
	end := day.Begin.Add((stayBegins + length + 15*time.Minute).Seconds())
	minutes := make([]struct{ moves, two, seen, would bool }, int(end.Since(begin)/60)+1)
	at := func(t motion.Time) int { return min(max(int(t.Since(begin)/60), 0), len(minutes)-1) }

	product := fuse.New(func(s *fuse.Step) {
		for _, change := range s.Noisy {
			score.marked += count(change.Noisy)
		}
		if s.Motion {
			minutes[at(s.Time)].seen = true
		}
	})
	unmarked := fuse.New(func(s *fuse.Step) {
		if s.Motion {
			minutes[at(s.Time)].would = true
		}
	})
	watchers := watch(&home, seed, product, undisturbed)
	moving := map[motion.Time]int{}
	zones := map[fuse.Link][2]string{}
	plan := home.Plan()
	for i, link := range home.Links() {
		w, config := watchers[i], home.Radio(plan, link, seed)
		zones[w.key] = [2]string{home.RoomAt(config.From), home.RoomAt(config.To)}
		unmarked.SetZone(w.key, zones[w.key][0], zones[w.key][1])
		w.emit = func(t detect.Tick) {
			if t.Normal.Motion {
				moving[t.Time]++
			}
			product.Add(w.key, t)
			unmarked.Add(w.key, t)
		}
	}
	const step motion.Seconds = 0.5
	for now := begin; now < end; now = now.Add(step) {
		for _, w := range watchers {
			w.step(now, now.Add(step), &day.Scene)
		}
		product.Advance(now.Add(step))
		unmarked.Advance(now.Add(step))
		for key, zone := range zones {
			if unmarked.Noisy(key) {
				unmarked.Remove(key)
				unmarked.SetZone(key, zone[0], zone[1])
			}
		}
	}
	for t, links := range moving {
		m := &minutes[at(t)]
		m.moves, m.two = true, m.two || links > 1
	}
	present := newTruth(day, begin, end).home
	for i, m := range minutes {
		if during(present, begin.Add(float64(i)*60+30), 0) < 0 {
			continue
		}
		score.minutes++
		score.lone += count(m.moves && !m.two)
		score.seen += count(m.seen)
		score.lost += count(m.would && !m.seen)
	}
	return score
}
