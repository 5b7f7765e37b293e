package walk_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/fuse"
	"sensegate/motion/walk"
)

var (
	kitchen = fuse.Link{Src: motion.MAC{2, 0, 0, 0, 0, 1}, Dst: motion.MAC{2, 0, 0, 0, 1, 1}}
	hall    = fuse.Link{Src: motion.MAC{2, 0, 0, 0, 0, 2}, Dst: motion.MAC{2, 0, 0, 0, 1, 1}}
	rooms   = map[fuse.Link]string{kitchen: "Kitchen", hall: "Hall"}
)

// home is a test of a home with two links, and the time there.
type home struct {
	*walk.Test
	t   *testing.T
	now motion.Time
}

func newHome(t *testing.T) *home {
	t.Parallel()
	h := &home{Test: walk.New("1", 1000), t: t, now: 1000}
	for key, room := range rooms {
		h.Know(key, room, "", 0)
	}
	return h
}

// pass lets time pass; the strengths of links in motion are given, the others are still.
func (h *home) pass(length motion.Seconds, strengths map[fuse.Link]float64) {
	for range int(4 * length) {
		h.now = h.now.Add(0.25)
		for key, room := range rooms {
			s, moves := strengths[key]
			h.Take(walk.Reading{Link: key, Room: room, Time: h.now, Valid: true, Moves: moves, Strength: s, Value: 100 * s, Threshold: 30})
		}
	}
}

// next goes on to a room.
func (h *home) next(room string) {
	h.t.Helper()
	if !h.Next(room, h.now) {
		h.t.Fatalf("no walk in %s", room)
	}
}

// room returns what is known of a room.
func (h *home) room(name string) (r walk.Room) {
	for _, r := range h.State(h.now).Rooms {
		if r.Name == name {
			return r
		}
	}
	return r
}

func TestWalkBeginsWhenTheHomeIsStill(t *testing.T) {
	h := newHome(t)
	h.pass(3, map[fuse.Link]float64{hall: 0.5})
	h.next("Kitchen")
	if s := h.State(h.now); h.room("Kitchen").State != walk.Waiting || len(s.Moving) != 1 || s.Moving[0] != "Hall" {
		t.Errorf("while the hall moves: %+v", s)
	}
	h.pass(1.75, nil)
	if r := h.room("Kitchen"); r.State != walk.Waiting {
		t.Errorf("not still for two seconds: %+v", r)
	}
	h.pass(0.5, nil)
	if r := h.room("Kitchen"); r.State != walk.Walking {
		t.Errorf("still: %+v", r)
	}
	h.pass(2, map[fuse.Link]float64{kitchen: 0.5})
	h.next("Hall")
	h.pass(19, map[fuse.Link]float64{kitchen: 0.5})
	if r := h.room("Hall"); r.State != walk.Waiting {
		t.Errorf("the kitchen moves on: %+v", r)
	}
	h.pass(2, map[fuse.Link]float64{kitchen: 0.5})
	if r := h.room("Hall"); r.State != walk.Walking {
		t.Errorf("after twenty seconds: %+v", r)
	}
	h.next("Kitchen")
	h.pass(25, map[fuse.Link]float64{kitchen: 0.5})
	if r := h.room("Kitchen"); r.State != walk.Waiting {
		t.Errorf("the room itself has not been still: %+v", r)
	}
}

func TestRoomIsSeenByItsOwnLinksAlone(t *testing.T) {
	for name, c := range map[string]struct {
		strengths map[fuse.Link]float64
		state     string
		elsewhere string
	}{
		"its own link":                {map[fuse.Link]float64{kitchen: 0.4}, walk.Seen, ""},
		"little less than another":    {map[fuse.Link]float64{kitchen: 0.3, hall: 0.4}, walk.Seen, ""},
		"much less than another":      {map[fuse.Link]float64{kitchen: 0.12, hall: 0.4}, walk.Unseen, "Hall"},
		"another alone":               {map[fuse.Link]float64{hall: 0.4}, walk.Unseen, "Hall"},
		"nothing":                     {nil, walk.Unseen, ""},
		"motion without power at all": {map[fuse.Link]float64{kitchen: 0}, walk.Seen, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.pass(3, nil)
			h.next("Kitchen")
			h.pass(1, nil)
			h.pass(15, c.strengths)
			r := h.room("Kitchen")
			if r.State != c.state || r.Elsewhere != c.elsewhere || (r.After != nil) != (c.state == walk.Seen) || r.After != nil && *r.After != 1.75 {
				t.Errorf("%+v, want %s", r, c.state)
			}
			if len(r.Links) != 1 || r.Links[0].Link != kitchen || r.Links[0].Peak != 100*c.strengths[kitchen] {
				t.Errorf("links %+v, want that of the kitchen", r.Links)
			}
		})
	}
}

func TestUnseenRoomSaysWhy(t *testing.T) {
	h := newHome(t)
	h.pass(3, nil)
	h.next("Cellar")
	h.pass(15, nil)
	if r := h.room("Cellar"); r.Why != walk.NoLinks {
		t.Errorf("a room without links: %+v", r)
	}
	h.next("Kitchen")
	h.pass(2, nil)
	h.next("Hall")
	if r := h.room("Kitchen"); r.State != walk.Waiting {
		t.Errorf("a walk of two seconds says something: %+v", r)
	}
	h.pass(3, nil)
	h.End(h.now)
	if r := h.room("Hall"); r.State != walk.Unseen || r.Why != walk.Below {
		t.Errorf("nothing has moved: %+v", r)
	}
	if s := h.State(h.now); s.Running || s.Room != "" || h.Next("Kitchen", h.now) || h.Live(h.now) != nil {
		t.Errorf("ended: %+v", s)
	}

	blind := &home{Test: walk.New("2", 1000), t: t, now: 1000}
	blind.Know(kitchen, "Kitchen", "", 0)
	blind.next("Kitchen")
	for range 60 {
		blind.now = blind.now.Add(0.25)
		blind.Take(walk.Reading{Link: kitchen, Room: "Kitchen", Time: blind.now})
	}
	blind.Advance(blind.now)
	if r := blind.room("Kitchen"); r.Why != walk.Blind {
		t.Errorf("a link without data: %+v", r)
	}
}

// TestWalkOutlivesAClockThatIsSet: nothing of it is lost or begins anew.
func TestWalkOutlivesAClockThatIsSet(t *testing.T) {
	h := newHome(t)
	h.pass(3, nil)
	h.next("Kitchen")
	h.pass(1, nil)
	const by = 1e9
	h.Restamp(func(t motion.Time) motion.Time {
		if t.IsZero() {
			return 0
		}
		return t.Add(by)
	})
	h.now = h.now.Add(by)
	h.pass(1, map[fuse.Link]float64{kitchen: 0.4})
	if r := h.room("Kitchen"); r.State != walk.Seen || *r.After != 1.75 {
		t.Errorf("%+v", r)
	}
	if s := h.State(h.now); !s.Running || s.Ends.Since(s.Started) != walk.Longest {
		t.Errorf("%+v", s)
	}
	if h.Advance(500); h.State(h.now).Running {
		t.Error("it runs before it has begun")
	}
}

func TestTestHasSixtyFourRoomsAtMost(t *testing.T) {
	h := newHome(t)
	for i := range 64 {
		h.next(string(rune('A' + i)))
	}
	if h.Next("one more", h.now) || !h.Next("A", h.now) {
		t.Error("want 64 rooms, and each again")
	}
}
