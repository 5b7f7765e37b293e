package modeltest

import (
	"cmp"
	"math"
	"slices"
)

// reference is a network's motion as payloads.md 4.6 to 4.12 and device-protocol.md 2.2,
// 2.3 and 3 tell it, in the plainest way: all that was ever received, looked through from
// the beginning for each question. Intensities are in thousandths, shares in percent.
type reference struct {
	live    []sample // frames, in the order in which they were received
	fives   []sample // 5 s samples of a device's history, likewise
	machine machine

	told []string // addresses of which anything was told, by so many samples of each list
	seen [2]int
}

// sample is what was told of one stretch of time.
type sample struct {
	received float64        // when, by the appliance's clock
	row      int64          // the second, or the 5 s, that it counts in
	milli    int            // intensity
	shares   map[string]int // by MAC, of the places that were told of
}

// network is the series of the whole network, beside those of the places.
const network = ""

// row is what is held of one second, or of the part of 5 s that is not held in seconds.
type row struct{ seconds, peak, percent int }

// seconds returns the rows of 1 s of a series in the range, and just before it. Of the frames
// in one the intensity is the maximum, the density the percent above 0, the share the mean.
func (r *reference) seconds(q question, of string) map[int64]row {
	type cell struct{ frames, above, peak, shares int }
	cells := map[int64]cell{}
	for _, s := range r.live {
		if !q.holds(s) {
			continue
		}
		share, told := s.shares[of]
		if of != network && !told {
			continue
		}
		c := cells[s.row]
		c.frames++
		if s.milli > 0 {
			c.above++
		}
		c.peak, c.shares = max(c.peak, s.milli), c.shares+share
		cells[s.row] = c
	}
	rows := map[int64]row{}
	for at, c := range cells {
		if of == network {
			rows[at] = row{1, c.peak, part(100*c.above, c.frames)}
		} else {
			share := part(c.shares, c.frames)
			rows[at] = row{1, 10 * share, share}
		}
	}
	return rows
}

// part returns sum ÷ n, rounded, and 0 only of 0.
func part(sum, n int) int {
	if sum == 0 {
		return 0
	}
	return max((sum+n/2)/n, 1)
}

// history returns the rows of 5 s of a series that devices reported afterwards: the first
// stands.
func (r *reference) history(q question, of string) map[int64]row {
	rows := map[int64]row{}
	for _, s := range r.fives {
		if !q.holds(s) {
			continue
		}
		share, told := s.shares[of]
		if _, held := rows[s.row]; held || of != network && !told {
			continue
		}
		switch {
		case of != network:
			rows[s.row] = row{5, 10 * share, share}
		case s.milli > 0:
			rows[s.row] = row{5, s.milli, 100}
		default:
			rows[s.row] = row{5, 0, 0}
		}
	}
	return rows
}

// bucket is what the rows of a stretch of time add up to.
type bucket struct{ seconds, motion, peak int }

func (b *bucket) add(r row, seconds int) {
	b.seconds += seconds
	b.motion += seconds * r.percent
	b.peak = max(b.peak, r.peak)
}

// question is a stretch of time asked for at a time.
type question struct {
	from, to, bucket int64
	now              float64
}

// holds reports whether a sample was received and may matter to the answer.
func (q question) holds(s sample) bool {
	return s.received <= q.now && s.row > q.from-5 && s.row < q.to
}

// expired is from when on seconds are still shown: a day, in whole blocks of ten minutes.
func (q question) expired() float64 { return math.Floor((q.now-86400)/600) * 600 }

// effective returns the bucket of an answer about the series: the finest, not finer than
// asked, at which nothing that is held in the range is hidden (payloads.md 6 no. 10).
func (r *reference) effective(q question, series ...string) int64 {
	if q.bucket%5 == 0 {
		return q.bucket
	}
	for _, of := range series {
		seconds := r.seconds(q, of)
		counts := map[int64]int{}
		for at := range seconds {
			if at < q.from || at >= q.to {
				continue
			}
			if float64(at) < q.expired() {
				return up(q.bucket, 5)
			}
			counts[down(at, 5)]++
		}
		for at := range r.history(q, of) {
			if at >= q.from && at < q.to && int(min(5, q.to-at)) > counts[at] {
				return up(q.bucket, 5)
			}
		}
	}
	return q.bucket
}

// add returns the buckets of a series, by their start. Rows that begin in the range
// count; a second counts with the live frames of it, else with the device's history.
func (r *reference) add(q question, of string, size int64) map[int64]*bucket {
	buckets := map[int64]*bucket{}
	at := func(ts int64) *bucket {
		start := down(ts, size)
		if buckets[start] == nil {
			buckets[start] = &bucket{}
		}
		return buckets[start]
	}
	held := map[int64]int{}
	for ts, second := range r.seconds(q, of) {
		begins := ts
		if float64(ts) < q.expired() {
			begins = down(ts, 5) // of what is shown in 5 s now
		}
		if begins >= q.from && begins < q.to {
			at(ts).add(second, 1)
			held[down(ts, 5)]++
		}
	}
	if size%5 != 0 {
		return buckets
	}
	for ts, five := range r.history(q, of) {
		if rest := 5 - held[ts]; ts >= q.from && ts < q.to && rest > 0 {
			at(ts).add(five, rest)
		}
	}
	return buckets
}

// points returns the values of a measure, by the start of their bucket, and the bucket.
func (r *reference) points(q question, measure string) (map[int64]float64, int64) {
	size := r.effective(q, network)
	points := map[int64]float64{}
	for start, b := range r.add(q, network, size) {
		density := hundredths(b.motion, b.seconds)
		switch {
		case measure == "density":
			points[start] = density
		case measure == "intensity":
			points[start] = float64(b.peak) / 1000
		case b.peak >= 300 || b.motion >= 20*b.seconds:
			points[start] = 2
		case b.motion > 0:
			points[start] = 1
		default:
			points[start] = 0
		}
	}
	return points, size
}

// hundredths returns sum ÷ n rounded to two decimals.
func hundredths(sum, n int) float64 { return float64((100*sum+n/2)/n) / 100 }

// places returns every address that anything was told of.
func (r *reference) places() []string {
	for _, list := range [][]sample{r.live[r.seen[0]:], r.fives[r.seen[1]:]} {
		for _, s := range list {
			for mac := range s.shares {
				if !slices.Contains(r.told, mac) {
					r.told = append(r.told, mac)
				}
			}
		}
	}
	r.seen = [2]int{len(r.live), len(r.fives)}
	slices.Sort(r.told)
	return r.told
}

// share is the motion at one place.
type placeShare struct {
	mac              string
	density, seconds float64
}

// spread returns the motion of the whole of a range at each place: percent of the time of
// which the network has data (4.12), those without motion left out.
func (r *reference) spread(q question) []placeShare {
	list := []placeShare{}
	all := r.whole(q, network)
	for _, mac := range r.places() {
		b := r.whole(q, mac)
		if b.motion > 0 {
			list = append(list, placeShare{mac, hundredths(b.motion, max(b.seconds, all.seconds)), float64(b.motion) / 100})
		}
	}
	slices.SortStableFunc(list, func(a, b placeShare) int { return cmp.Compare(b.density, a.density) })
	return list
}

// whole adds up all of a range.
func (r *reference) whole(q question, of string) (sum bucket) {
	for _, b := range r.add(q, of, 5) {
		sum.seconds, sum.motion, sum.peak = sum.seconds+b.seconds, sum.motion+b.motion, max(sum.peak, b.peak)
	}
	return sum
}

// block is a stretch of one state.
type block struct {
	state       int
	start, stop int64
	density     map[int64]float64
	devices     []placeShare
}

// blocks returns the stretches of consecutive state buckets with the same motion.
func (r *reference) blocks(q question, densityBucket int64) []block {
	states, size := r.points(q, "state")
	density, of := r.points(question{q.from, q.to, densityBucket, q.now}, "density")
	list := []block{}
	for _, ts := range sorted(states) {
		state := int(states[ts])
		if state == 0 {
			continue
		}
		start, stop := max(q.from, ts), min(q.to, ts+size)
		if n := len(list); n > 0 && list[n-1].stop == start && list[n-1].state == state {
			list[n-1].stop = stop
			continue
		}
		list = append(list, block{state: state, start: start, stop: stop})
	}
	for i := range list {
		b := &list[i]
		b.density = map[int64]float64{}
		for ts, v := range density {
			if ts+of > b.start && ts < b.stop {
				b.density[ts] = v
			}
		}
		b.devices = r.spread(question{b.start, b.stop, 5, q.now})
	}
	return list
}

// histogram returns the share of each place per bucket, percent with one decimal, by place
// and start; and the bucket.
func (r *reference) histogram(q question) (map[string]map[int64]float64, int64) {
	places := r.places()
	size := r.effective(q, places...)
	all := r.add(q, network, size)
	list := map[string]map[int64]float64{}
	for _, mac := range places {
		for start, b := range r.add(q, mac, size) {
			seconds := b.seconds
			if n := all[start]; n != nil {
				seconds = max(seconds, n.seconds)
			}
			if list[mac] == nil {
				list[mac] = map[int64]float64{}
			}
			list[mac][start] = math.Round(10*min(hundredths(b.motion, seconds), 100)) / 10
		}
	}
	return list, size
}

// machine is the event machine of device-protocol.md 3.
type machine struct {
	window    int
	threshold float64
	cooldown  float64

	slots     []float64 // intensities so far, one for each half second; NaN: none
	last      float64   // time of the newest sample
	lastKnown float64
	moved     float64 // time of the newest sample in motion
	quiet     float64 // seconds of data without motion since then
	open      float64 // when the open detection was detected; 0: none
	events    []raised
}

// raised is an event as the machine raises it.
type raised struct {
	kind         string
	ts, detected float64
	window       []float64 // of a detection: the samples before it
}

// add takes in a sample of half a second that ends at ts.
func (m *machine) add(ts, intensity float64) {
	if ts <= m.last && m.last-ts < 60 {
		return // told twice
	}
	m.silence(ts)
	missing := math.Round((ts-m.last)/0.5) - 1
	if ts < m.last { // the clock was set back
		missing = 1e6
		m.lastKnown, m.moved = min(m.lastKnown, ts), min(m.moved, ts)
	}
	for range int(min(missing, float64(m.window))) {
		m.slots = append(m.slots, math.NaN())
	}
	m.slots, m.last = append(m.slots, intensity), ts
	if math.IsNaN(intensity) {
		return
	}
	m.lastKnown = ts
	if m.quiet += 0.5; intensity > 0 {
		m.moved, m.quiet = ts, 0
	}
	known, moving := 0, 0
	from := max(0, len(m.slots)-m.window)
	for _, v := range m.slots[from:] {
		if !math.IsNaN(v) {
			known++
		}
		if v > 0 {
			moving++
		}
	}
	switch {
	case m.open == 0 && intensity > 0 && 2*known >= m.window && float64(moving) >= m.threshold*float64(known)-1e-9:
		m.open = ts
		before := slices.Clone(m.slots[from : len(m.slots)-1])
		for len(before) < m.window-1 {
			before = append([]float64{math.NaN()}, before...)
		}
		m.events = append(m.events, raised{kind: "MotionDetectedEvent", ts: ts, window: before})
	case m.open != 0 && m.quiet >= m.cooldown:
		m.stop(ts)
	}
}

// silence says that it is ts: ten minutes without data end a detection.
func (m *machine) silence(ts float64) {
	if m.open != 0 && ts-m.lastKnown >= 600 {
		m.stop(m.lastKnown + 600)
		m.slots = nil
	}
}

func (m *machine) stop(ts float64) {
	m.events = append(m.events, raised{kind: "MotionStoppedEvent", ts: ts, detected: m.open})
	m.open = 0
}

// state is what an alert can know of a second.
type state int

const (
	unknown state = iota
	quiet
	moving
)

// known returns what is held of each second of [from, to) at now, as finely as it is held.
// A second without a sample is quiet when its minute of the range has any.
func (r *reference) known(from, to int64, now float64) []state {
	q := question{from, to, 1, now}
	size := r.effective(q, network)
	list := make([]state, to-from)
	for start, b := range r.add(q, network, size) {
		for ts := max(start, from); ts < min(start+size, to); ts++ {
			if list[ts-from] = quiet; b.motion > 0 {
				list[ts-from] = moving
			}
		}
	}
	for minute := range slices.Chunk(list, 60) {
		if slices.Max(minute) > unknown {
			for i := range minute {
				minute[i] = max(minute[i], quiet)
			}
		}
	}
	return list
}

// verdict judges a window for an alert: of all stretches of so many seconds in it.
func verdict(period []state, length int) string {
	hidden, moved := false, false
	for from := 0; from+length <= len(period); from++ {
		counts := [3]int{}
		for _, s := range period[from : from+length] {
			counts[s]++
		}
		switch {
		case counts[moving] > 0:
			moved = true
		case counts[unknown] < length && 10*counts[unknown] <= length:
			return "no_motion"
		default:
			hidden = true
		}
	}
	if moved && !hidden {
		return "motion"
	}
	return "no_history"
}

func down(v, unit int64) int64 { return v - v%unit }

func up(v, unit int64) int64 { return down(v+unit-1, unit) }

func sorted[V any](m map[int64]V) []int64 {
	list := make([]int64, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
