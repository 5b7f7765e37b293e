package uplink_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
)

// A week at 2,000 events a day.
const (
	weekOfEvents = 14_000
	liveFrames   = 200
)

// BenchmarkCatchUp has a broker come back after a week: how long until all events are there, and how
// late live motion is meanwhile, beside how late it is without; medians of alternating runs.
func BenchmarkCatchUp(b *testing.B) {
	var with, without, took []float64
	for b.Loop() {
		without = append(without, catchUp(b, 0, nil))
		with = append(with, catchUp(b, weekOfEvents, &took))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(took), "s-to-catch-up")
	b.ReportMetric(median(with), "ms-live-with")
	b.ReportMetric(median(without), "ms-live-without")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// catchUp returns the median delay of live frames, in ms, while so many events wait; took gets the
// seconds until all were there in order.
func catchUp(b *testing.B, events int, took *[]float64) float64 {
	b.StopTimer()
	broker := uplinktest.Start(b, uplinktest.Options{})
	set := newBench(b)
	o := set.options()
	c := eventsTo(broker)
	c.Use = append(c.Use, uplink.Live)
	o.Configured = []uplink.Config{c}
	set.run(b, o)
	set.stop()
	ids := set.add(b, set.network, motion.Time(time.Now().Unix()-7*24*3600), events)
	frames := broker.Listen("sensegate/+/+/live")
	reader := broker.Listen("sensegate/+/+/event")
	b.StartTimer()
	began := time.Now()
	set.run(b, o)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, id := range ids {
			if got := idOf(b, reader.Next().Payload); got != id {
				b.Errorf("event %s, want %s", got, id)
				return
			}
		}
		if took != nil {
			*took = append(*took, time.Since(began).Seconds())
		}
	}()
	eventually(b, "connected", func() bool { return set.state(b, "engine").Phase == uplink.Connected })
	var delays []float64
	for n := range liveFrames {
		sent := time.Now()
		set.Providers()["engine"].Deliver(set.network, fmt.Appendf(nil, `{"n":%d}`, n))
		frames.Next()
		delays = append(delays, float64(time.Since(sent).Microseconds())/1000)
		time.Sleep(20 * time.Millisecond)
	}
	<-done
	set.stop()
	return median(delays)
}
