package fuse_test

import (
	"testing"

	"sensegate/motion/detect"
	"sensegate/motion/fuse"
)

// hundred returns a Fuser of 100 links in 10 zones that feeds an event machine,
// warmed up, and a function that gives it one tick of every link.
func hundred() func() {
	events := fuse.NewEvents(defaults)
	f := fuse.New(func(s *fuse.Step) {
		if s.Sample != nil {
			events.Add(s.Sample)
		}
	})
	zones := []string{"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"}
	keys := make([]fuse.Link, 100)
	for n := range keys {
		keys[n] = key(n + 1)
		f.SetZone(keys[n], zones[n%10], "")
	}
	f.SetPriority(zones[5:])
	quiet, _ := tick(start, 'q')
	strict, _ := tick(start, 's')
	i := 0
	step := func() {
		for n := range keys {
			k := quiet
			if n%3 == 0 {
				k = strict
			}
			k.Time = start.Add(float64(i) * detect.TickInterval)
			f.Add(keys[n], k)
		}
		i++
	}
	for range 100 {
		step()
	}
	return step
}

// BenchmarkHundredLinks measures one tick time of 100 links, a third of them in
// motion, with sample, location and event machine: 4 of these make a second.
func BenchmarkHundredLinks(b *testing.B) {
	step := hundred()
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

func TestNothingIsAllocatedPerTick(t *testing.T) {
	step := hundred()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations per tick of 100 links, want 0", n)
	}
}
