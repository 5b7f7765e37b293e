package uplink_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
	"sensegate/store"
)

// TestMinutesAreSentWithNullForNoData stores a minute with motion, one without data and a quiet one.
func TestMinutesAreSentWithNullForNoData(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := newBench(t)
	samples, err := store.OpenSamples(t.Context(), b.db)
	if err != nil {
		t.Fatal(err)
	}
	mac := motion.MAC{2, 0, 0, 0, 0, 1}
	begin := now()
	begin = begin.Add(-motion.Seconds(begin.Second()%60) + 120) // of the minute after the next: another may begin before the uplink is made
	for s := range 60 {
		intensity, share := 0.0, 0.0
		if s < 30 {
			intensity, share = 0.5, 0.75
		}
		samples.Add(b.network, begin.Add(motion.Seconds(s)), []store.Value{{ID: series.Network, Value: intensity}, {ID: series.Location(mac), Value: share}})
		samples.Add(b.network, begin.Add(motion.Seconds(120+s)), []store.Value{{ID: series.Network, Value: 0}, {ID: series.Location(mac), Value: 0}})
	}
	o := b.options()
	var clock atomic.Int64
	clock.Store(begin.Second() - 60)
	o.Now = func() motion.Time { return motion.Time(clock.Load()) }
	o.Minutes = uplink.MinuteReader{
		Samples: func(ctx context.Context, id motion.NetworkID, from, to, bucket int64, _ ...series.ID) (*series.Set, error) {
			return samples.Set(ctx, id, from, to, bucket)
		},
		Topology: func(motion.NetworkID, bool) (motion.Topology, error) {
			return motion.Topology{Devices: []motion.TopologyDevice{{Name: "k", Location: "Kitchen", MACs: []string{mac.String()}}, {Name: "h", Location: "Hall"}}}, nil
		},
	}
	o.Configured = []uplink.Config{{Name: "engine", URL: broker.URL(), Use: []uplink.Use{uplink.History}}}
	reader := broker.Listen("sensegate/+/+/history")
	b.run(t, o)
	clock.Store(begin.Second() + 180 + 29) // the third minute may not be complete yet
	first := begin.Second()
	next := func(from int64, want string) {
		t.Helper()
		var row uplink.Minute
		m := reader.Next()
		for { // the minute in which the uplink was made, and what comes twice after a stop
			if err := json.Unmarshal(m.Payload, &row); err != nil {
				t.Fatalf("%v: %s", err, m.Payload)
			}
			if row.TS >= motion.Time(from) {
				break
			}
			m = reader.Next()
		}
		if got := string(m.Payload); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	next(first, fmt.Sprintf(`{"ts":%d,"interval":60,"motion":0.5,"intensity":0.5,"places":[{"name":"Hall","motion":null,"intensity":null},{"name":"Kitchen","motion":0.375,"intensity":0.75}]}`, first))
	next(first+60, fmt.Sprintf(`{"ts":%d,"interval":60,"motion":null,"intensity":null,"places":[{"name":"Hall","motion":null,"intensity":null},{"name":"Kitchen","motion":null,"intensity":null}]}`, first+60))
	b.stop()
	b.run(t, o) // goes on where it was
	clock.Store(begin.Second() + 180 + 31)
	next(first+120, fmt.Sprintf(`{"ts":%d,"interval":60,"motion":0,"intensity":0,"places":[{"name":"Hall","motion":null,"intensity":null},{"name":"Kitchen","motion":0,"intensity":0}]}`, first+120))
}
