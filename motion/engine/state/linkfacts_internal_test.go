package state

import (
	"math/rand/v2"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

func TestFactsOfALinkAreThoseFoundLast(t *testing.T) {
	t.Parallel()
	key := func(i int) fuse.Link { return fuse.Link{Dst: motion.MAC{byte(i >> 8), byte(i)}, Src: motion.MAC{1}} }
	var cached linkFacts
	want := map[fuse.Link]*LinkFacts{}
	links, at, hits := 6, 0, 0
	for range 200_000 {
		switch rand.IntN(5000) {
		case 0:
			cached, want = linkFacts{}, map[fuse.Link]*LinkFacts{}
		case 1:
			links = 1 + rand.IntN(2*MaxNames)
		case 2:
			links = 1 + rand.IntN(8)
		}
		if at++; rand.IntN(4) == 0 {
			at = rand.IntN(links)
		}
		link := key(at % links)
		got := cached.get(link)
		if got != want[link] {
			t.Fatalf("facts of %v are %v, those found last %v", link, got, want[link])
		}
		if got != nil {
			hits++
			continue
		}
		if len(want) >= MaxNames {
			clear(want)
		}
		want[link] = &LinkFacts{}
		cached.put(link, want[link])
	}
	if len(cached.order) > MaxNames || hits < 100_000 {
		t.Errorf("%d kept, %d hits", len(cached.order), hits)
	}
}
