package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/firmware-sim/clocktest"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
)

// look has the household look for motion that is to be told.
func (h *household) look() {
	h.T.Helper()
	if err := h.parts.Household.Look(h.T.Context()); err != nil {
		h.T.Fatal(err)
	}
}

// moving is a network in which motion goes on that began so long ago.
func (h *household) moving(ago motion.Seconds) {
	h.T.Helper()
	now, tripped := h.engine.State.Now(), 1
	_, err := h.engine.Events.CreateEvent(h.T.Context(), motion.Event{
		NetworkID: h.network, Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, TS: now.Add(-ago), LocName: "Kitchen",
	})
	if err != nil {
		h.T.Fatal(err)
	}
	h.report(motion.StatusReport{
		TS: now, MotionEnabled: 1, MotionTripped: &tripped, LastMotion: now,
		Radars: map[string]motion.Radar{"GWA1000133": radarOf(guardianID, masterID, "GWA1000133", 0x10)},
	})
}

func TestMotionThatLastsIsToldOnce(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.moving(300)
	h.look()
	if events := h.events(motion.ExcessiveMotionEvent); len(events) > 0 {
		t.Fatalf("after 300 of 600 seconds: %+v", events)
	}
	apitest.Want[any](t, h.as(h.owner, http.MethodPut, h.configPath(), `{"excessive_motion_seconds":300}`), 200)
	h.look()
	h.look()
	events := h.events(motion.ExcessiveMotionEvent)
	if len(events) != 1 || events[0].LocName != "Kitchen" || events[0].DetectedTS.IsZero() || fmt.Sprint(events[0].Detail) != "map[seconds:300]" {
		t.Errorf("events %+v, want one in the kitchen", events)
	}
}

func TestMotionThatLastsIsNotToldWhenDisabled(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	apitest.Want[any](t, h.as(h.owner, http.MethodPut, h.configPath(), `{"excessive_motion_enabled":false}`), 200)
	h.moving(3000)
	h.look()
	if events := h.events(motion.ExcessiveMotionEvent, motion.GuardianMotionEvent); len(events) > 0 {
		t.Errorf("events %+v", events)
	}
}

func TestMotionInTheGuardianWindowIsToldOnce(t *testing.T) {
	t.Parallel()
	clock := clocktest.New(t)
	h := newHousehold(t, func(s *store.Options, e *engine.Options) { s.Now, e.Now = clock.Now, clock.Now })
	window := func(from, to time.Time) {
		t.Helper()
		body := `{"guardian_enabled":true`
		for _, day := range []string{"weekday", "weekend"} {
			body += fmt.Sprintf(`,"guardian_%s_start_time_hours":%d,"guardian_%[1]s_start_time_minutes":%[3]d`, day, from.Hour(), from.Minute())
			body += fmt.Sprintf(`,"guardian_%s_end_time_hours":%d,"guardian_%[1]s_end_time_minutes":%[3]d`, day, to.Hour(), to.Minute())
		}
		apitest.Want[any](t, h.as(h.owner, http.MethodPut, h.configPath(), body+"}"), 200)
	}
	now := h.engine.State.Now().Std()
	window(now.Add(2*time.Hour), now.Add(3*time.Hour))
	h.moving(1)
	h.look()
	if events := h.events(motion.GuardianMotionEvent); len(events) > 0 {
		t.Fatalf("outside the window: %+v", events)
	}
	window(now.Add(-30*time.Minute), now.Add(30*time.Minute))
	h.look()
	h.look()
	events := h.events(motion.GuardianMotionEvent)
	if len(events) != 1 || events[0].Category != motion.CategorySystem || events[0].Detail["from"].(float64) > float64(events[0].TS) || events[0].Detail["to"].(float64) < float64(events[0].TS) {
		t.Errorf("events %+v, want one in its window", events)
	}
}
