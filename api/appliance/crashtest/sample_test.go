package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store"
)

// grace is how late a flush may be on a machine with other things to do.
const grace = 4 * time.Second

// film is the motion samples of a guardian: not acknowledged, and stored at the
// latest a flush interval after they came.
type film struct {
	taken []sample // since the last start
	due   []int64  // the seconds that must be there, ascending
}

// sample is one that came.
type sample struct{ second, came motion.Time }

// shoot sends motion until the connection ends. A heartbeat after it, which is
// acknowledged, shows that it came.
func (f *film) shoot(ctx context.Context, v *visit) error {
	ticks := time.NewTicker(250 * time.Millisecond)
	defer ticks.Stop()
	for {
		at := now()
		frame := &motion.Matrix{
			TS: at, Interval: 500, Count: 1, MotionEnabled: 1, Links: []string{"GWA1000133.02bb00000031"},
			Values: motion.Figures{motion.MKAI: {{0.5}}, motion.LRaw: {{0.5}}, motion.Throughput: {{1}}},
		}
		if _, err := v.guardian.Publish(ctx, 0, frame); err != nil {
			return err
		}
		heartbeat := motion.StatusReport{TS: at, NetworkID: network, GuardianID: guardianID, MotionEnabled: 1}
		if _, err := v.guardian.Publish(ctx, 1, heartbeat); err != nil {
			return err
		}
		f.taken = append(f.taken, sample{motion.Time(at.Second()), now()})
		select {
		case <-ticks.C:
		case <-v.guardian.Gone:
			return box.ErrGone
		}
	}
}

// cut says when the product ended, once shoot has returned.
func (f *film) cut(end motion.Time) {
	for _, s := range f.taken {
		known := len(f.due) > 0 && f.due[len(f.due)-1] >= s.second.Second()
		if !known && s.came.Add(motion.Seconds((box.FlushInterval+grace).Seconds())) < end {
			f.due = append(f.due, s.second.Second())
		}
	}
	f.taken = nil
}

// check wants all seconds that are due.
func (f *film) check(ctx context.Context, db *store.DB) error {
	if len(f.due) == 0 {
		return nil
	}
	samples, err := store.OpenSamples(ctx, db)
	if err != nil {
		return err
	}
	from, to := f.due[0], f.due[len(f.due)-1]+1
	set, err := samples.Set(ctx, network, from, to, 1)
	if err != nil {
		return err
	}
	raw, _, err := set.AppendJSON(nil, series.Query{Series: series.Network, Measure: series.Intensity, From: from, To: to, Bucket: 1})
	if err != nil {
		return err
	}
	var points [][2]*float64
	if err := json.Unmarshal(raw, &points); err != nil {
		return err
	}
	held := map[int64]bool{}
	for _, p := range points {
		held[int64(*p[1])] = p[0] != nil
	}
	for _, second := range f.due {
		if !held[second] {
			return fmt.Errorf("no sample of second %d, which came more than %v before the end", second, box.FlushInterval+grace)
		}
	}
	return nil
}
