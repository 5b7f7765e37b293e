package engine_test

import (
	"math"
	"slices"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// stored returns the events of network 1, newest first, but for those of devices at the
// gatekeeper.
func (s street) stored(t *testing.T) (list []motion.Event) {
	t.Helper()
	err := s.db.View(t.Context(), func(tx *store.Tx) (err error) {
		list, err = tx.Events(store.EventQuery{Network: 1})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(e motion.Event) bool { return slices.Contains(gatekeeperKinds, e.Event) })
}

func TestCreatedEventIsCompletedFromTheRecords(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	live, err := s.Sensing.LiveEvents(1)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	event, err := s.Events.CreateEvent(t.Context(), motion.Event{
		ID: "not used", Tag: "not used", Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, NetworkID: 1,
		TS: 1764000000.5, DeviceID: "ap-first", LinkID: "ap-first.02bb00000031",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(event.ID) != 36 || event.Tag != motion.PadTag("") || event.GuardianID != "first" || event.NodeName != "ap-first" || event.NodeID == 0 ||
		event.LinkDstName != "ap-first" || event.LinkSrcName != "02bb00000031" || event.Armed == nil || *event.Armed != 1 || event.TS != 1764000000.5 {
		t.Errorf("%+v", event)
	}
	if list := s.stored(t); len(list) != 1 || list[0].ID != event.ID {
		t.Errorf("stored %+v", list)
	}
	if pushed, _ := live.Wait(); pushed.Event.ID != event.ID {
		t.Errorf("pushed %+v", pushed.Event)
	}
}

func TestGivenDetailIsNotChanged(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	given := motion.Document{"a": 1.0}
	event, err := s.Events.CreateEvent(t.Context(), motion.Event{
		Category: motion.CategoryUser, Event: motion.MemberArrivedEvent, NetworkID: 1, TS: 1764000000, Detail: given,
	})
	if err != nil || event.Category != motion.CategorySystem || event.Detail["category"] != "User" || event.Detail["a"] != 1.0 {
		t.Errorf("%+v %v", event, err)
	}
	if len(given) != 1 {
		t.Errorf("the caller's document became %v", given)
	}
}

// TestBadEventDoesNotReachTheWriter creates what the database would refuse, which
// would stop the one writer of events.
func TestBadEventDoesNotReachTheWriter(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	good := motion.Event{Category: motion.CategoryNetwork, Event: motion.LinkCreatedEvent, NetworkID: 1, TS: 1764000000}
	for name, change := range map[string]func(*motion.Event){
		"no time":          func(e *motion.Event) { e.TS = 0 },
		"before 1970":      func(e *motion.Event) { e.TS = -1 },
		"not a number":     func(e *motion.Event) { e.TS = motion.Time(math.NaN()) },
		"milliseconds":     func(e *motion.Event) { e.TS = 1764000000500 },
		"foreign guardian": func(e *motion.Event) { e.GuardianID = "second" },
	} {
		bad := good
		change(&bad)
		if _, err := s.Events.CreateEvent(t.Context(), bad); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
	unknown := good
	unknown.NetworkID = 99
	if _, err := s.Events.CreateEvent(t.Context(), unknown); fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown network: %v", err)
	}
	for _, guardian := range []string{"", "first", "ap-first"} {
		good.GuardianID = guardian
		if event, err := s.Events.CreateEvent(t.Context(), good); err != nil || event.GuardianID != "first" {
			t.Errorf("guardian %q: %+v %v", guardian, event, err)
		}
	}
	if list := s.stored(t); len(list) != 3 {
		t.Errorf("%d events stored", len(list))
	}
}
