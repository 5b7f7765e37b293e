package house

import (
	"cmp"
	"maps"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/uplink/homeassistant"
)

// Times of what is shown, in seconds.
const (
	occupancyHold motion.Seconds = 600 // that somebody is there after motion
	alarmHold     motion.Seconds = 300 // of a triggered alarm after what has triggered it
	roomWindow    motion.Seconds = 10  // in which motion in a room is added up
	roomLeast     motion.Seconds = 1   // of motion in that window, for a room to be in motion
	roomHold      motion.Seconds = 30  // of a room after that, while the home is in motion
	eventNear     motion.Seconds = 10  // between a detection and its event
	intensityFor  motion.Seconds = 5   // that an intensity is the newest
)

// nearShare is the least share of motion that says where it is: that of fuse.Sample.Location.
const nearShare = 0.25

// watch is what is remembered of a network that is followed. The mutex of its follower guards it.
type watch struct {
	shown      shown
	lastMotion motion.Time // of the newest beginning or end
	moved      motion.Time // when there was motion last
	detection  homeassistant.Detection
	rooms      map[string]*room

	heard      motion.Time // of the newest sample
	intensity  float64
	place      string // where motion was most likely in the newest sample with any
	links      []string
	recalled   homeassistant.Detection // that was under way when the network began to be watched
	eventAt    motion.Time             // of the newest detection that was stored
	eventID    string
	eventPlace string
	alarm      motion.Time // of what has triggered an alarm last
	away       bool

	figured int64 // minute that the figures are of
	figures figures
}

// shown are the states of a network that come and go by themselves.
type shown struct {
	judged, known, motion, occupied, triggered, paused bool
}

// room is what is remembered of a room.
type room struct {
	heard, moved motion.Time
	near         []near
	known, on    bool
	last         motion.Time // of the newest beginning or end
}

// near is motion in a room during a sample.
type near struct {
	at     motion.Time
	length motion.Seconds
}

// sight is what the engine knows of a network's motion.
type sight struct {
	tripped *int
	last    motion.Time
	paused  bool
}

// note takes in a sample that came at now.
func (w *watch) note(m *state.Moment, now motion.Time) {
	w.heard, w.intensity = now, m.Intensity
	if m.Place != "" {
		w.place, w.links = m.Place, m.Links
	}
	for name, share := range m.Rooms {
		r := w.rooms[name]
		if r == nil {
			r = &room{}
			w.rooms[name] = r
		}
		r.heard = now
		for len(r.near) > 0 && now.Since(r.near[0].at) > roomWindow {
			r.near = r.near[1:]
		}
		if share < nearShare {
			continue
		}
		r.near = append(r.near, near{now, m.Length})
		sum := 0.0
		for _, one := range r.near {
			sum += one.length
		}
		if sum >= roomLeast-1e-9 {
			r.moved = now
		}
	}
}

// take takes in an event that came at now. Motion that is stored, and the verdict of an alert, trigger
// the alarm of a home whose household is away.
func (w *watch) take(e *motion.Event, now motion.Time) {
	switch e.Event {
	case motion.SceneChangedToAwayEvent, motion.SceneChangedToHomeEvent:
		w.away, w.alarm = e.Event == motion.SceneChangedToAwayEvent, 0
	case motion.MotionDetectedEvent, motion.CustomAlertEvent:
		if w.away {
			w.alarm = now
		}
	}
	if e.Event == motion.MotionDetectedEvent {
		w.eventAt, w.eventID, w.eventPlace = now, e.ID, e.LocName
	}
}

// recall takes in events of before the network was watched, the oldest first. The scene is that of now.
func (w *watch) recall(events []motion.Event) {
	scene := w.away
	for i := range events {
		e := &events[i]
		w.take(e, e.TS)
		switch e.Event {
		case motion.MotionDetectedEvent:
			w.recalled = homeassistant.Detection{Since: e.TS, Place: e.LocName}
		case motion.MotionStoppedEvent:
			w.recalled = homeassistant.Detection{}
		}
	}
	w.away = scene
}

// judge decides what is shown now, and reports whether that has changed.
func (w *watch) judge(s sight, now motion.Time) (changed bool) {
	before := w.shown
	w.shown = shown{judged: true, known: s.tripped != nil, motion: s.tripped != nil && *s.tripped == 1, paused: s.paused}
	switch {
	case w.shown.motion:
		w.moved = now
	case !before.judged:
		w.moved = s.last
	}
	w.shown.occupied = w.shown.known && !w.moved.IsZero() && now.Since(w.moved) <= occupancyHold
	w.shown.triggered = w.away && !w.alarm.IsZero() && now.Since(w.alarm) <= alarmHold
	switch {
	case w.shown.motion && !before.motion && before.judged:
		w.detection = homeassistant.Detection{Since: now, Place: w.place, Links: w.links, Intensity: w.intensity}
		w.lastMotion = s.last
	case !before.judged && w.shown.motion && !w.recalled.Since.IsZero():
		w.detection, w.lastMotion = w.recalled, w.recalled.Since
	case before.motion && !w.shown.motion, !before.judged: // how motion began that is under way is not known
		w.lastMotion = s.last
	}
	changed = w.shown != before
	maps.DeleteFunc(w.rooms, func(_ string, r *room) bool { return now.Since(r.heard) > 3600 })
	for _, r := range w.rooms {
		known, on := w.shown.known && now.Since(r.heard) <= state.SilentAfter, false
		if known {
			on = w.shown.motion && !r.moved.IsZero() && r.heard.Since(r.moved) <= roomHold // silence does not end it
		}
		if on != r.on {
			r.last = max(r.last, r.moved)
		}
		changed = changed || known != r.known || on != r.on
		r.known, r.on = known, on
	}
	return changed
}

// write puts into a network what is remembered of it.
func (w *watch) write(v *view) {
	v.Known, v.Motion, v.Occupied, v.Triggered = w.shown.known, w.shown.motion, w.shown.occupied, w.shown.triggered && v.Away
	v.Detection = w.detection
	if away := w.eventAt.Since(w.detection.Since); away > -eventNear && away < eventNear { // else motion was not stored
		v.Detection.EventID, v.Detection.Place = w.eventID, cmp.Or(v.Detection.Place, w.eventPlace)
	}
	if w.lastMotion > v.since { // what was before belongs to those who lived there then
		v.LastMotion = w.lastMotion
	}
	v.Density, v.Down, v.Slow = w.figures.density, w.figures.down, w.figures.slow
	for i := range v.Rooms {
		shown := &v.Rooms[i]
		shown.Density = w.figures.rooms[shown.Name].density
		last := w.figures.rooms[shown.Name].last
		if r := w.rooms[shown.Name]; r != nil {
			shown.Known, shown.Motion, last = r.known, r.on, max(last, r.last)
		}
		if last > v.since {
			shown.LastMotion = last
		}
	}
}
