package insight

import "sensegate/motion"

// MotionState tells per quarter of an hour whether a household was away with motion armed
// (payloads.md 5.6): 1 if it was for at least half of the known part of the bucket, otherwise 0;
// null where nothing is known.
type MotionState struct {
	FirstBucket int64   `json:"first_bucket"` // s since the epoch, a multiple of Interval
	Interval    int64   `json:"interval"`     // 900 s
	Data        []Value `json:"data"`
}

// MotionStateOf returns the motion state of [from, to), in seconds since the epoch. changes must
// be in time order and begin with the last one at or before from, if there is one. In the first
// and last bucket only the time inside [from, to) counts. The caller limits (to−from)/900.
func MotionStateOf(changes []motion.ArmedChange, from, to int64) MotionState {
	from = max(from, 0)
	m := MotionState{FirstBucket: floorTo(from, bucketS), Interval: bucketS, Data: []Value{}}
	for at := m.FirstBucket; at < to; at += bucketS {
		first, end := motion.Time(max(at, from)), motion.Time(min(at+bucketS, to))
		for len(changes) > 1 && changes[1].At <= first {
			changes = changes[1:]
		}
		m.Data = append(m.Data, armedIn(changes, first, end))
	}
	return m
}

// armedIn returns the state between first and end.
func armedIn(changes []motion.ArmedChange, first, end motion.Time) Value {
	armed, known := 0.0, 0.0
	for i, c := range changes {
		if c.At >= end {
			break
		}
		until := end
		if i+1 < len(changes) {
			until = min(end, changes[i+1].At)
		}
		seconds := until.Since(max(first, c.At))
		known += seconds
		if c.Armed {
			armed += seconds
		}
	}
	switch {
	case known == 0:
		return Unknown()
	case 2*armed >= known:
		return 1
	}
	return 0
}
