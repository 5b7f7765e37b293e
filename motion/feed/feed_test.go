package feed_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"weak"

	"sensegate/motion/feed"
)

func TestReadersGetTheirKeyInOrder(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[string, int]
	a, b := hub.Subscribe("a", 8), hub.Subscribe("b", 8)
	for i := range 5 {
		hub.Publish("a", i)
	}
	hub.Publish("b", 99)
	hub.Close()
	var got []int
	for v := range a.All() {
		got = append(got, v)
	}
	if len(got) != 5 || got[0] != 0 || got[4] != 4 {
		t.Errorf("reader of a got %v, want 0..4", got)
	}
	if v, ok := b.Wait(); v != 99 || !ok {
		t.Errorf("reader of b got %d %v, want 99", v, ok)
	}
}

func TestSlowReaderIsCutOffAndNobodyWaits(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[string, int]
	slow, quick := hub.Subscribe("k", 2), hub.Subscribe("k", 100)
	for i := range 10 {
		hub.Publish("k", i)
	}
	n := 0
	for range slow.All() {
		n++
	}
	if n != 2 || !slow.Behind() {
		t.Errorf("slow reader got %d values, behind %v; want 2 and true", n, slow.Behind())
	}
	if hub.Readers("k") != 1 {
		t.Errorf("%d readers left, want 1", hub.Readers("k"))
	}
	quick.Close()
	hub.Publish("k", 10) // after the end of both
	got := slices.Collect(quick.All())
	if !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || quick.Behind() {
		t.Errorf("quick reader got %v, behind %v; want 0..9 and false", got, quick.Behind())
	}
}

func TestEndAndCloseEndSubscriptionsOnce(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[int, int]
	s := hub.Subscribe(1, 1)
	hub.End(1)
	s.Close()
	hub.Close()
	for name, s := range map[string]*feed.Subscription[int, int]{"ended": s, "on a closed hub": hub.Subscribe(1, 1)} {
		if _, ok, open := s.Next(); ok || open {
			t.Errorf("a subscription %s is open", name)
		}
		select {
		case <-s.Ready():
		default:
			t.Errorf("the reader of a subscription %s is not woken", name)
		}
	}
	if s.Behind() {
		t.Error("an ended reader counts as behind")
	}
}

func TestReadersOfAClosedHubWereStopped(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[int, int]
	ended, left, last := hub.Subscribe(1, 1), hub.Subscribe(2, 1), hub.Subscribe(3, 1)
	hub.End(1)
	left.Close()
	hub.Close()
	late := hub.Subscribe(1, 1)
	for name, c := range map[string]struct {
		reader *feed.Subscription[int, int]
		want   bool
	}{"of an ended key": {ended, false}, "closed before": {left, false}, "there to the last": {last, true}, "too late": {late, true}} {
		if got := c.reader.Stopped(); got != c.want {
			t.Errorf("%s: stopped %v, want %v", name, got, c.want)
		}
	}
}

func TestAClosedReaderGetsNothingThatOthersGetLater(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[string, int]
	left, stays := hub.Subscribe("k", 8), hub.Subscribe("k", 8)
	hub.Publish("k", 1)
	left.Close()
	hub.Publish("k", 2)
	if got := slices.Collect(left.All()); !slices.Equal(got, []int{1}) {
		t.Errorf("the reader that left got %v, want 1", got)
	}
	hub.End("k")
	if got := slices.Collect(stays.All()); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("the reader that stayed got %v, want 1 and 2", got)
	}
}

func TestAReaderIsWokenAndMissesNothing(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[string, int]
	const last = 20_000
	var readers sync.WaitGroup
	for range 3 {
		s := hub.Subscribe("k", last)
		readers.Go(func() {
			want := 1
			for v := range s.All() {
				if v != want {
					t.Errorf("got %d, want %d", v, want)
					return
				}
				want++
			}
			if want != last+1 {
				t.Errorf("ended before %d", want)
			}
		})
	}
	for v := 1; v <= last; v++ {
		hub.Publish("k", v)
	}
	hub.Close()
	readers.Wait()
}

func TestWhatCameAfterAReaderEndedIsForgotten(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[string, *[1 << 10]byte]
	behind, left, quick := hub.Subscribe("k", 1), hub.Subscribe("k", 8), hub.Subscribe("k", 8)
	hub.Publish("k", new([1 << 10]byte))
	left.Close()
	later := new([1 << 10]byte)
	weakly := weak.Make(later)
	hub.Publish("k", later)
	hub.Publish("k", new([1 << 10]byte))
	for range 3 {
		if _, ok, _ := quick.Next(); !ok {
			t.Fatal("the quick reader misses a value")
		}
	}
	later = nil
	runtime.GC()
	if weakly.Value() != nil {
		t.Error("a value that the one reader has read is kept for those that had ended before it")
	}
	for name, s := range map[string]*feed.Subscription[string, *[1 << 10]byte]{"behind": behind, "left": left} {
		if n := len(slices.Collect(s.All())); n != 1 {
			t.Errorf("the reader that was %s got %d values, want the first", name, n)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[int, int]
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				s := hub.Subscribe(i%3, 4)
				hub.Publish(i%3, i)
				s.Close()
			}
		})
	}
	wg.Wait()
	for key := range 3 {
		if n := hub.Readers(key); n != 0 {
			t.Errorf("key %d has %d readers left", key, n)
		}
	}
}
