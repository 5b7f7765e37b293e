package alert

import (
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// pause is the least time between two firings of a rule that tells of motion at once.
const pause = 30 * time.Minute

// ownMeta is the key of meta that this service reads; the rest of meta is the client's own.
const ownMeta = "sensegate"

// Condition is what a rule says below meta.sensegate, beyond the record of universal alerts. A
// client that knows neither sees a rule that is valid without it.
type Condition struct {
	AtOnce bool   // at_once: tell of motion within the period when it begins, and not at the target
	Scene  string // scene: fire only in this scene, "home" or "away"; "" = in both

	// Authenticated, authenticated: only what links of devices see counts that show a secret of their own. What
	// is seen by others alone is unknown.
	Authenticated bool
}

// Condition returns the condition of r. What is not of the documented form counts as absent.
func (r Rule) Condition() (c Condition) {
	own, _ := r.Meta[ownMeta].(map[string]any)
	c.AtOnce, _ = own["at_once"].(bool)
	c.Scene, _ = own["scene"].(string)
	c.Authenticated, _ = own["authenticated"].(bool)
	return c
}

// checkCondition adds the mistakes of meta.sensegate to m.
func (r Rule) checkCondition(m *fault.Details) {
	const at = "body.meta." + ownMeta
	given, ok := r.Meta[ownMeta]
	if !ok {
		return
	}
	own, ok := given.(map[string]any)
	if !ok {
		m.Add(at, nil, "must be an object with at_once, scene and authenticated")
		return
	}
	for key, value := range own {
		_, isBool := value.(bool)
		switch {
		case (key == "at_once" || key == "authenticated") && isBool, key == "scene" && (value == "home" || value == "away"):
		case key == "at_once", key == "authenticated":
			m.Add(at+"."+key, nil, "must be true or false")
		case key == "scene":
			m.Add(at+".scene", nil, "must be home or away")
		default:
			m.Add(at+"."+key, nil, "is unknown: there are at_once, scene and authenticated")
		}
	}
	if r.Condition().AtOnce && r.Monitor.Mode != Simple {
		m.Add(at+".at_once", nil, "needs monitor_mode SIMPLE")
	}
	if r.Condition().Authenticated && r.Monitor.Mode == None {
		m.Add(at+".authenticated", nil, "needs monitor_mode SIMPLE or INACTIVITY: NONE does not look at motion")
	}
}

// Holds reports whether the rule may fire in a scene.
func (c Condition) Holds(scene string) bool { return c.Scene == "" || c.Scene == scene }

// begins returns when the period of a target begins. The period of a rule that tells at once is
// counted on the clock of its zone, so that 23:00 to 06:00 begins at 23:00 also in the nights
// in which the clocks change. Other periods are duration_minutes long.
func (r Rule) begins(recurrence Recurrence, target motion.Stamp) motion.Stamp {
	if !r.Condition().AtOnce {
		return target.Add(-r.Monitor.duration())
	}
	wall := target.Std().In(recurrence.zone)
	wall = time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, time.UTC)
	return motion.StampOf(instant(wall.Add(-r.Monitor.duration()), recurrence.zone))
}

// Notice tells a rule that fires at once of the latest motion. It returns the firing if that
// motion is not older than a minute, lies in a period of the rule, and is at least half an hour
// after the motion that it told of before. Other rules do not change. As with Step the caller
// stores the job together with the effects.
func (j Job) Notice(now time.Time, moved motion.Stamp) (Job, Result, error) {
	at := motion.StampOf(now)
	st := j.State
	told := st.From != 0 && moved < st.From && st.From <= at.Add(pause)
	if !j.Rule.Condition().AtOnce || !j.Rule.Enabled || at < st.Seen || moved > at || moved < at.Add(-onTime) || moved < st.Armed || told {
		return j, Result{}, nil
	}
	recurrence, err := Parse(j.Rule.RRule)
	if err != nil {
		return j, Result{}, err
	}
	next, ok := recurrence.Next(moved.Std())
	target := motion.StampOf(next)
	if !ok || moved < j.Rule.begins(recurrence, target) {
		return j, Result{}, nil
	}
	j.State.From = moved.Add(pause)
	j.State.Ended = at
	from := second(moved)
	return j, Result{Fired: &Firing{Target: target, Verdict: Motion, Actions: j.Rule.Actions(Motion), From: from, To: from.Add(time.Second)}}, nil
}

// pass ends the period of a rule that fires at once, without a firing.
func (s *step) pass(target motion.Stamp) {
	st := &s.State
	st.Fired = append(st.Fired, target)
	st.Fired = slices.Clone(st.Fired[max(0, len(st.Fired)-maxFired):])
}
