package feed_test

import (
	"sync"
	"testing"

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
	for v := range a.C() {
		got = append(got, v)
	}
	if len(got) != 5 || got[0] != 0 || got[4] != 4 {
		t.Errorf("reader of a got %v, want 0..4", got)
	}
	if v := <-b.C(); v != 99 {
		t.Errorf("reader of b got %d, want 99", v)
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
	for range slow.C() {
		n++
	}
	if n != 2 || !slow.Behind() {
		t.Errorf("slow reader got %d values, behind %v; want 2 and true", n, slow.Behind())
	}
	if len(quick.C()) != 10 || quick.Behind() {
		t.Errorf("quick reader has %d values, behind %v; want 10 and false", len(quick.C()), quick.Behind())
	}
	if hub.Readers("k") != 1 {
		t.Errorf("%d readers left, want 1", hub.Readers("k"))
	}
}

func TestEndAndCloseEndSubscriptionsOnce(t *testing.T) {
	t.Parallel()
	var hub feed.Hub[int, int]
	s := hub.Subscribe(1, 1)
	hub.End(1)
	s.Close()
	hub.Close()
	if _, open := <-s.C(); open {
		t.Error("channel is open after End")
	}
	if _, open := <-hub.Subscribe(1, 1).C(); open {
		t.Error("a subscription on a closed hub is open")
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
