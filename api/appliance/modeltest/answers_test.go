package modeltest

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
)

// examine asks for so many random windows, each in all ways.
func (d *trial) examine(windows int) {
	d.t.Helper()
	for range windows {
		length := pick(d, 20, 60, 300, 1800, 7200, 100000)
		to := down(int64(now())-int64(d.random.IntN(20*3600)), 5) + 5
		from := to - int64(1+d.random.IntN(length))
		bucket := pick[int64](d, 1, 1, 5, 7, 60, 120, 900, 3600)
		if length > 60_000 {
			bucket = max(bucket, 5) // else these are too many points
		}
		q := question{from, to, bucket, now()}
		d.examineHistory(q)
		d.examinePlaces(q)
		d.examineBlocks(q)
	}
}

// numbers are points as they are answered, without those that are null.
func numbers(points [][2]*float64) map[int64]float64 {
	list := map[int64]float64{}
	for _, p := range points {
		if p[0] != nil {
			list[int64(*p[1])] = *p[0]
		}
	}
	return list
}

func (d *trial) examineHistory(q question) {
	d.t.Helper()
	for _, measure := range []string{"density", "intensity", "state"} {
		path := fmt.Sprintf("/network/%d/motion/history/%s?from=%d&to=%d&bucket=%d", d.network, measure, q.from, q.to, q.bucket)
		var points [][2]*float64
		header := d.ask(http.MethodGet, path, "", &points)
		want, size := d.model.points(q, measure)
		if expected := map[bool]string{true: fmt.Sprint(size)}[size > q.bucket]; header != expected {
			d.t.Errorf("at %v, %s: X-Bucket-Seconds %q, want %q", q.now, path, header, expected)
		}
		d.compare(path, numbers(points), want)
	}
}

// compare tells the first points that differ.
func (d *trial) compare(path string, got, want map[int64]float64) {
	d.t.Helper()
	if maps.EqualFunc(got, want, near) {
		return
	}
	for _, ts := range sorted(mergeKeys(got, want)) {
		g, answered := got[ts]
		if w, expected := want[ts]; answered != expected || !near(g, w) {
			d.t.Errorf("at %v, %s: at %d %v (%t), want %v (%t); %d points, want %d", now(), path, ts, g, answered, w, expected, len(got), len(want))
			return
		}
	}
}

func mergeKeys(a, b map[int64]float64) map[int64]float64 {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// near reports whether two figures are the same but for the rounding of halves.
func near(a, b float64) bool { return math.Abs(a-b) < 0.011 }

func (d *trial) examinePlaces(q question) {
	d.t.Helper()
	path := fmt.Sprintf("/network/%d/location/histogram?from=%d&to=%d&bucket=%d", d.network, q.from, q.to, q.bucket)
	var h struct {
		Interval  int64
		TS        []int64
		Locations map[string][]*float64
	}
	d.ask(http.MethodGet, path, "", &h)
	want, size := d.model.histogram(q)
	if len(want) > 0 && h.Interval != size {
		d.t.Errorf("at %v, %s: interval %d, want %d", q.now, path, h.Interval, size)
	}
	for i, mac := range macs {
		got := map[int64]float64{}
		for k, v := range h.Locations[places[i]] {
			if v != nil {
				got[h.TS[k]] = *v / 10 // one decimal
			}
		}
		expected := map[int64]float64{}
		for ts, v := range want[mac] {
			expected[ts] = v / 10
		}
		d.compare(path+" "+mac, got, expected)
	}
	path = fmt.Sprintf("/network/%d/location/history?from=%d&to=%d", d.network, q.from, q.to)
	var l struct {
		Devices []struct {
			MAC              string
			Density, Seconds float64
		}
	}
	d.ask(http.MethodGet, path, "", &l)
	got := []placeShare{}
	for _, device := range l.Devices {
		got = append(got, placeShare{device.MAC, device.Density, device.Seconds})
	}
	d.compareShares(path, got, d.model.spread(q), true)
}

func (d *trial) compareShares(path string, got, want []placeShare, seconds bool) {
	d.t.Helper()
	same := slices.EqualFunc(got, want, func(a, b placeShare) bool {
		return a.mac == b.mac && near(a.density, b.density) && (!seconds || near(a.seconds, b.seconds))
	})
	if !same {
		d.t.Errorf("at %v, %s: %+v, want %+v", now(), path, got, want)
	}
}

func (d *trial) examineBlocks(q question) {
	d.t.Helper()
	if q.to-q.from > 4*3600 {
		q.from = q.to - 4*3600
	}
	q.bucket = pick[int64](d, 5, 60, 1800)
	density := pick[int64](d, 5, 120)
	path := fmt.Sprintf("/network/%d/motion/history/state_blocks?from=%d&to=%d&state_bucket=%d&density_bucket=%d", d.network, q.from, q.to, q.bucket, density)
	var got []struct {
		State       int
		Start, Stop int64
		Density     [][2]*float64
		Devices     []struct {
			ID      string
			Density float64
		}
	}
	d.ask(http.MethodGet, path, "", &got)
	want := d.model.blocks(q, density)
	if len(got) != len(want) {
		d.t.Errorf("at %v, %s: %d blocks, want %d", q.now, path, len(got), len(want))
		return
	}
	for i, b := range want {
		if g := got[i]; g.State != b.state || g.Start != b.start || g.Stop != b.stop {
			d.t.Errorf("at %v, %s: block %d is %d [%d, %d), want %d [%d, %d)", q.now, path, i, g.State, g.Start, g.Stop, b.state, b.start, b.stop)
			return
		}
		d.compare(path, numbers(got[i].Density), b.density)
		devices := []placeShare{}
		for _, device := range got[i].Devices {
			devices = append(devices, placeShare{mac: device.ID, density: device.Density})
		}
		d.compareShares(fmt.Sprintf("%s [%d, %d)", path, b.start, b.stop), devices, b.devices, false)
	}
}
