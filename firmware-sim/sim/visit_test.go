package sim

import (
	"testing"

	"sensegate/motion"
)

// TestVisitWalksAtOnceAndOnceAtATime has somebody come, and come again while they walk, and after.
func TestVisitWalksAtOnceAndOnceAtATime(t *testing.T) {
	t.Parallel()
	start := motion.Time(1_700_000_000)
	w := newWorld(1, NewHome(0), Scene{Walks: []Walk{{Location: "Office", From: start, To: start + 5}}})
	visit := []Walk{{Who: Visitor, Location: "Hallway", To: 8, Vigour: 1}, {Who: Visitor, Location: "Kitchen", From: 8, To: 28, Vigour: 1}}
	for _, c := range []struct {
		at, kitchen motion.Time
	}{{start + 100, start + 108}, {start + 120, start + 108}, {start + 128, start + 136}} {
		w.visit(c.at, visit)
		if n := len(w.scene.Walks); n != 3 || w.scene.Walks[2].From != c.kitchen {
			t.Errorf("at %v: %d walks, %+v", c.at, n, w.scene.Walks)
		}
	}
	if visit[1].From != 8 {
		t.Error("the walks that were asked for are changed")
	}
}

func TestWalkEndsTheVisitUnderWay(t *testing.T) {
	t.Parallel()
	start := motion.Time(1_700_000_000)
	s := &Sim{visits: make(chan visit, 1), world: newWorld(1, NewHome(0), Scene{Walks: []Walk{{Location: "Office", From: start, To: start + 5}}})}
	walk := func(room string) Walk { return Walk{Who: Visitor, Location: room, To: 20, Vigour: 1} }
	s.Visit(walk("Hallway"))
	s.visit(start + 100)
	s.Walk(walk("Bedroom"))
	s.Walk(walk("Kitchen")) // before anybody has begun the one before
	s.visit(start + 110)
	if walks := s.world.scene.Walks; len(walks) != 2 || walks[1].Location != "Kitchen" || walks[1].From != start+110 {
		t.Errorf("walks %+v, want one in the kitchen at once", walks)
	}
	s.Walk()
	s.visit(start + 111)
	if walks := s.world.scene.Walks; len(walks) != 1 || walks[0].Location != "Office" {
		t.Errorf("walks %+v, want those of the scene alone", walks)
	}
}
