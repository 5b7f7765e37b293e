package abusetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/motion"
)

// beat is how often each device publishes an event: 100 a second in all.
const beat = homes * time.Second / 100

// load is what paired devices publish, and how they are answered.
type load struct {
	name string // of its events; unique among the loads of a house
	text string // that each event carries

	mu           sync.Mutex
	acknowledged []string
	took         []time.Duration
	lost         []error
}

// run has all devices publish until ctx ends, and returns when the last one is
// answered. An event that is not acknowledged before the connection ends is noted
// as lost.
func (l *load) run(ctx context.Context, devices []*box.Device) {
	var wg sync.WaitGroup
	for i, d := range devices {
		wg.Go(func() { l.publish(ctx, i, d) })
	}
	wg.Wait()
}

// publish has one device publish at its beat; those of others lie between.
func (l *load) publish(ctx context.Context, place int, d *box.Device) {
	timer := time.NewTimer(beat * time.Duration(place) / homes)
	defer timer.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		timer.Reset(beat)
		event := motion.Event{
			Category: motion.CategorySystem, Event: fmt.Sprintf("%s_%d_%d", l.name, place, n), TS: motion.TimeOf(time.Now()),
			Detail: motion.Document{"text": l.text},
		}
		began := time.Now()
		waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), box.Patience)
		_, err := d.Publish(waiting, 1, motion.EventReport{Event: event})
		cancel()
		if !l.note(event.Event, time.Since(began), err) {
			return
		}
	}
}

// note takes what became of an event, and reports whether there can be another.
func (l *load) note(event string, took time.Duration, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.lost = append(l.lost, fmt.Errorf("%s: %w", event, err))
		return false
	}
	l.acknowledged, l.took = append(l.acknowledged, event), append(l.took, took)
	return true
}

// want wants every event to have been acknowledged, prints how long that took, and
// holds it against the figures.
func (l *load) want(t *testing.T) {
	t.Helper()
	if err := errors.Join(l.lost...); err != nil {
		t.Errorf("%d events were not acknowledged: %v", len(l.lost), err)
	}
	if len(l.took) == 0 {
		t.Fatal("nothing was published")
	}
	slices.Sort(l.took)
	t.Log(table(l.name, l.took))
	if p99 := quantile(l.took, 0.99); p99 > mostLatency {
		missed(t, "the 99th percentile of the acknowledgements is %v, want %v", p99, mostLatency)
	}
	if p999 := quantile(l.took, 0.999); p999 > wholeLatency {
		missed(t, "99.9 %% of the acknowledgements took up to %v, want %v", p999, wholeLatency)
	}
}

// quantile returns what a share of the sorted times is at most.
func quantile(sorted []time.Duration, share float64) time.Duration {
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// table lays out how long the acknowledgements of events took, which are sorted.
func table(name string, took []time.Duration) string {
	head, row := "events acknowledged", fmt.Sprintf("%-19d", len(took))
	for _, c := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"longest", 1}} {
		head += fmt.Sprintf(" %10s", c.name)
		row += fmt.Sprintf(" %10s", quantile(took, c.share).Round(10*time.Microsecond))
	}
	return strings.Join([]string{name, head, row}, "\n")
}
