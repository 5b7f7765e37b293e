package modeltest

import (
	"fmt"
	"math"
	"net/http"
	"slices"

	"sensegate/motion"
)

// examineEvents asks for all motion events and pairs of the day, and for the status.
func (d *trial) examineEvents() {
	d.t.Helper()
	want := d.raised
	if !d.raises {
		d.model.machine.silence(d.model.machine.lastKnown + 700)
		want = d.model.machine.events
	}
	var stored []motion.Event
	d.ask(http.MethodGet, fmt.Sprintf("/network/%d/events/history?last=1000&sort=true&event_types=MotionDetectedEvent,MotionStoppedEvent", d.network), "", &stored)
	if len(stored) != len(want) {
		d.t.Errorf("%d events, want %d", len(stored), len(want))
	}
	pairs := 0
	for i, w := range want[:min(len(want), len(stored))] {
		e := stored[i]
		if e.Event != w.kind || !near(float64(e.TS), w.ts) || w.detected != 0 && !near(float64(e.DetectedTS), w.detected) || w.window != nil && !sameWindow(e.IntensityWindow, w.window) {
			d.t.Errorf("event %d: %s at %v of %v after %v, want %+v", i, e.Event, float64(e.TS), float64(e.DetectedTS), e.IntensityWindow, w)
			break
		}
		if w.kind == "MotionStoppedEvent" {
			pairs++
		}
	}
	var list []motion.EventPair
	d.ask(http.MethodGet, fmt.Sprintf("/network/%d/events/pairs?last=1000&sort=true", d.network), "", &list)
	if len(list) != pairs {
		d.t.Errorf("%d pairs, want %d", len(list), pairs)
	}
	for _, p := range list {
		if !slices.ContainsFunc(want, func(w raised) bool {
			return near(w.ts, float64(p.StoppedTS)) && near(w.detected, float64(p.DetectedTS))
		}) {
			d.t.Errorf("pair of %v and %v", float64(p.DetectedTS), float64(p.StoppedTS))
		}
	}
	var status struct {
		MotionTripped *int `json:"motion_tripped"`
	}
	d.ask(http.MethodGet, fmt.Sprintf("/network/%d/status?key=motion_tripped", d.network), "", &status)
	if status.MotionTripped != nil { // nothing was heard for ten minutes
		d.t.Errorf("motion_tripped %d after silence", *status.MotionTripped)
	}
}

func sameWindow(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(g, w float64) bool { return near(g, w) || math.IsNaN(w) })
}

// examineAlerts holds what the alerts have fired against the windows of their targets.
func (d *trial) examineAlerts() {
	d.t.Helper()
	for _, rule := range d.alerts {
		fired := map[int64]motion.Event{}
		for _, e := range d.customAlerts() {
			if e.Consumer == rule.name {
				fired[int64(detail(e, "target"))] = e
			}
		}
		for target := down(int64(d.armed), 3600) + rule.second; target < int64(now())-400; target += 3600 {
			if float64(target) <= d.armed {
				continue
			}
			e, ok := fired[target]
			if !ok {
				d.t.Errorf("%+v did not fire for %d", rule, target)
				continue
			}
			d.examineAlert(rule, target, e)
		}
	}
}

// customAlerts returns the events of alerts.
func (d *trial) customAlerts() (all []motion.Event) {
	d.ask(http.MethodGet, fmt.Sprintf("/network/%d/events/history?last=1000&event_types=CustomAlertEvent", d.network), "", &all)
	return all
}

// detail returns a number of an event's detail, 0 when it has none.
func detail(e motion.Event, key string) float64 {
	v, _ := e.Detail[key].(float64)
	return v
}

func (d *trial) examineAlert(rule alertRule, target int64, e motion.Event) {
	d.t.Helper()
	at, got := float64(e.TS), e.Detail["verdict"]
	from, to := int64(detail(e, "from")), int64(detail(e, "to"))
	wrong := func(what string) {
		d.t.Helper()
		d.t.Errorf("alert %+v of %d fired at %+v s with %v of [%d, %d]: %s", rule, target, at-float64(target), got, from-target, to-target, what)
	}
	begin := max(target-rule.duration, map[bool]int64{true: int64(d.armed)}[rule.name == "inactivity"])
	if at < float64(target) { // of inactivity within the period
		if rule.name != "inactivity" || got != "no_motion" || to-from != rule.inactive || from < begin || to > target {
			wrong("want a stretch without motion")
			return
		}
		judged := func(at float64) string {
			return verdict(d.model.known(begin, int64(at-3), at)[from-begin:to-begin], int(rule.inactive))
		}
		if v := judged(at); v != "no_motion" && judged(at-0.1) != "no_motion" { // what came at that moment may have been too late
			wrong("the stretch is " + v)
		}
		return
	}
	if got == "no_motion" && to-from == rule.inactive && rule.name == "inactivity" && from >= begin && to <= target {
		return // found at the last moment
	}
	if from != target-rule.duration || to != target {
		wrong("want the window asked for")
		return
	}
	judged := func(at float64) string { return verdict(d.model.known(from, to, at), int(rule.inactive)) }
	if want := judged(at); got != want && got != judged(at-0.1) {
		wrong("want " + want)
	}
	early := judged(float64(target) + 2.9)
	if late := at - float64(target); early != "no_history" && late > 5 || late > 302 {
		wrong("it is late")
	}
}
