package modeltest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing/synctest"

	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// skewed returns what the guardian's clock says.
func (d *trial) skewed() float64 { return now() + d.skew }

// believed returns when a report about the present begins: as its clock says, or so that it
// ends when it came (payloads.md 6 no. 14).
func (d *trial) believed(ts, length float64) float64 {
	if ts == 0 || now()-ts > 86400 || ts-now() > 300 {
		return now() - length
	}
	return ts
}

// watched sends live frames for so many seconds.
func (d *trial) watched(seconds float64) {
	levels := [2]float64{}
	for end := now() + seconds; now() < end; {
		for i := range levels {
			if d.random.IntN(12) == 0 {
				levels[i] = pick(d, 0, 0, 0, 0.012, 0.25, 0.35, 0.8, math.NaN())
			}
		}
		count := pick(d, 1, 1, 1, 1, 1, 2, 4)
		d.pass(0.5 * float64(count))
		if d.random.IntN(40) > 0 { // else it is lost
			d.matrix(levels, count, pick(d, "", "", "", macs[0]))
		}
	}
}

// matrix sends count steps of one motion-matrix, of which the last ends now.
func (d *trial) matrix(levels [2]float64, count int, loc string) {
	ts := d.skewed() - 0.5*float64(count-1)
	if d.skew == -90000 && d.random.IntN(2) == 0 {
		ts = 0
	}
	steps := make([][]any, 2)
	first := d.believed(ts, float64(count-1)/2)
	values := make([][2]float64, count)
	for k := range values {
		values[k] = levels
		if d.random.IntN(6) == 0 {
			values[k][d.random.IntN(2)] = 0
		}
		for i, v := range values[k] {
			var number any = v
			if math.IsNaN(v) {
				number = nil
			}
			steps[i] = append(steps[i], number)
		}
	}
	message := map[string]any{
		"ts": ts, "interval": 500, "count": count, "links": []string{kitchenLink, hallLink},
		"data": map[string]any{"mkai": steps}, "loc": []any{"nomotion"}, "motion_tripped": d.tripped, "motion_enabled": 1,
	}
	if loc != "" {
		message["loc"] = []any{loc, 0.7}
	}
	d.report(wire.EventMatrix, message)
	var frames []motion.LiveFrame
	synctest.Wait()
	for m, ok, _ := d.live.Next(); ok; m, ok, _ = d.live.Next() {
		var f motion.LiveFrame
		if err := json.Unmarshal(m.JSON, &f); err != nil {
			d.t.Fatal(err)
		}
		frames = append(frames, f)
	}
	for k, v := range values {
		if frame := d.take(first+0.5*float64(k), v, loc); frame != "" {
			if len(frames) == 0 {
				d.t.Fatalf("at %v: no live frame, want %s", now(), frame)
			}
			if got := d.shown(frames[0]); got != frame {
				d.t.Errorf("at %v: live frame\n%s, want\n%s", now(), got, frame)
			}
			frames = frames[1:]
		}
	}
	if len(frames) > 0 {
		d.t.Errorf("at %v: %d live frames too many", now(), len(frames))
	}
}

// shown returns of a live frame what the reference tells of it.
func (d *trial) shown(f motion.LiveFrame) string {
	values := make([]string, len(f.Data.MKAI))
	for i, v := range f.Data.MKAI {
		if values[i] = "null"; v != nil {
			values[i] = fmt.Sprint(*v)
		}
	}
	last, tripped := "null", "null"
	if f.LastMotion != nil {
		last = fmt.Sprint(float64(*f.LastMotion))
	}
	if f.MotionTripped != nil {
		tripped = fmt.Sprint(*f.MotionTripped)
	}
	return fmt.Sprintf("%v %v %v at %v %q, last motion %s, tripped %s", float64(f.TS), f.Interval, values, f.Loc[0], f.LocName, last, tripped)
}

// take takes a live frame into the reference and returns what readers are to be shown of it,
// "" for nothing.
func (d *trial) take(ts float64, values [2]float64, loc string) string {
	s := sample{received: now(), row: int64(math.Floor(ts - 0.5)), shares: map[string]int{}}
	peak, total, known, text := math.NaN(), 0.0, false, make([]string, 2)
	for i, v := range values {
		text[i] = "null"
		if math.IsNaN(v) {
			continue
		}
		known, total, text[i] = true, total+v, fmt.Sprint(v)
		peak = max(v, map[bool]float64{true: 0, false: peak}[math.IsNaN(peak)])
		s.shares[macs[i]] = 0
	}
	at, place := "nomotion", ""
	if total > 0 {
		best := 0.0
		for i, v := range values {
			if share := v / total; v > 0 && loc == "" {
				s.shares[macs[i]] = max(int(math.Floor(100*share+0.5)), 1)
				if v > best || v == best && i == 1 { // "Hall" comes before "Kitchen"
					best, at, place = v, macs[i], places[i]
				}
			}
		}
		if loc != "" {
			s.shares[loc] = 100
			at, place = loc, places[slices.Index(macs, loc)]
		}
	}
	if known {
		s.milli = int(math.Round(1000 * peak))
		d.model.live = append(d.model.live, s)
	}
	tripped := d.tripped
	if !d.raises {
		d.model.machine.add(ts, peak)
		tripped = map[bool]int{true: 1}[d.model.machine.open != 0]
	}
	if !known {
		return ""
	}
	last := "null"
	if d.model.machine.moved != 0 {
		last = fmt.Sprint(d.model.machine.moved)
	}
	return fmt.Sprintf("%v 500 %v at %v %q, last motion %s, tripped %v", ts, text, at, place, last, fmt.Sprint(tripped))
}

// unwatched lets blocks of five minutes pass, of which the guardian reports afterwards:
// after each, or of all at the end.
func (d *trial) unwatched(blocks int, atOnce bool) {
	var begins []float64
	for range blocks {
		begins = append(begins, d.skewed())
		d.pass(300)
		if atOnce {
			d.afterwards(begins[len(begins)-1], 60)
		}
	}
	if !atOnce {
		for _, begin := range begins {
			d.afterwards(begin, 60)
		}
	}
	d.pass(pick(d, 0, 0.5, 4, 17))
}

// afterwards sends a motion-history of so many samples of 5 s from ts on.
func (d *trial) afterwards(ts float64, count int) {
	near := pick(d, macs, macs, macs, macs[:1], nil)
	style := pick(d, "zeros", "empty", "some null", "none")
	var mkai, density []any
	var samples []sample
	moving := false
	for k := range count {
		if d.random.IntN(8) == 0 {
			moving = !moving && d.random.IntN(2) == 0
		}
		milli, shares := 0, map[string]int{}
		if moving {
			milli = pick(d, 4, 120, 310, 700)
		}
		list := []any{}
		left := 100
		for i, mac := range near {
			share := 0
			if milli > 0 {
				if share = d.random.IntN(left + 1); i == len(near)-1 && len(near) == 2 {
					share = left
				}
				left -= share
			}
			shares[mac] = share
			if style == "some null" && d.random.IntN(5) == 0 {
				list = append(list, nil)
				delete(shares, mac)
				continue
			}
			list = append(list, float64(share)/100)
		}
		if style == "empty" && milli == 0 {
			list = []any{}
		}
		if style == "none" {
			shares = nil
		}
		density = append(density, list)
		// The sample counts in the 5 s whose middle it covers.
		row := 5 * int64(math.Ceil((ts+5*float64(k))/5-0.5))
		if d.random.IntN(50) == 0 {
			mkai = append(mkai, nil)
			continue
		}
		mkai = append(mkai, float64(milli)/1000)
		samples = append(samples, sample{received: now(), row: row, milli: milli, shares: shares})
	}
	message := map[string]any{"ts": ts, "interval": 5000, "count": count, "motion": map[string]any{"mkai": mkai}}
	if style != "none" {
		message["location"] = map[string]any{"macs": append([]string{}, near...), "density": density}
	}
	end := ts + 5*float64(count)
	if end-now() > 300 || now()-ts > 86400 { // of the future, or of a clock that is not known to be right
		d.refused(wire.EventHistory, message)
		return
	}
	d.report(wire.EventHistory, message)
	d.model.fives = append(d.model.fives, samples...)
}

// heartbeat sends a short status report.
func (d *trial) heartbeat() {
	d.report(wire.EventStatus, map[string]any{"ts": d.skewed(), "guardian_id": guardianID, "network_id": d.network, "last_motion": 0, "motion_tripped": d.tripped, "motion_enabled": 1})
	d.pass(pick(d, 1.0, 20, 61))
}

// raise sends a detection that the guardian made itself, and its end.
func (d *trial) raise() {
	detected := d.skewed()
	d.event(map[string]any{"category": "Motion", "event": "MotionDetectedEvent", "ts": detected, "link_id": kitchenLink})
	d.raised = append(d.raised, raised{kind: "MotionDetectedEvent", ts: d.believed(detected, 0)})
	at := d.believed(detected, 0)
	d.tripped = 1
	d.watched(float64(3 + d.random.IntN(40)))
	d.tripped = 0
	stopped := d.skewed()
	d.event(map[string]any{"category": "Motion", "event": "MotionStoppedEvent", "ts": stopped, "evt_detected_ts": detected, "link_id": kitchenLink})
	d.raised = append(d.raised, raised{kind: "MotionStoppedEvent", ts: d.believed(stopped, 0), detected: at})
}

func (d *trial) event(fields map[string]any) { d.report(wire.EventEvent, fields) }

// send hands a message of the guardian in as the broker does.
func (d *trial) send(name string, message map[string]any) error {
	d.t.Helper()
	payload, err := json.Marshal(message)
	if err != nil {
		d.t.Fatal(err)
	}
	report, err := new(wire.Decoder).Decode(wire.Topic{Kind: motion.Guardian, ID: guardianID, Name: name, Format: "json"}, payload)
	if err != nil {
		d.t.Fatalf("%s: %v", payload, err)
	}
	return d.engine.Report(d.t.Context(), motion.DeviceKey{Kind: motion.Guardian, ID: guardianID}, report)
}

func (d *trial) report(name string, message map[string]any) {
	d.t.Helper()
	if err := d.send(name, message); err != nil {
		d.t.Fatalf("at %v: %s %v: %v", now(), name, message, err)
	}
}

func (d *trial) refused(name string, message map[string]any) {
	d.t.Helper()
	if err := d.send(name, message); fault.KindOf(err) != fault.Invalid {
		d.t.Errorf("at %v: %s of %v: %v, want it refused", now(), name, message["ts"], err)
	}
}
