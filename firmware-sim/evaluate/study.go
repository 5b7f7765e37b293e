package evaluate

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/capture"
	"sensegate/motion/detect"
)

// study is the recordings that are scored together. Those of a group are a set: one place, or
// one way of recording.
type study struct {
	recordings []*capture.Recording // loaded, ordered by group
	groups     []string             // in that order
	problems   []error              // what could not be read
}

// open loads the labelled captures below dirs. It fails only if there are none.
func open(dirs []string) (*study, error) {
	var s study
	recordings, err := capture.Scan(dirs...)
	if err != nil {
		s.problems = append(s.problems, err)
	}
	failures := make([]error, len(recordings))
	concurrently(len(recordings), func(i int) { failures[i] = recordings[i].Load() })
	for i, r := range recordings {
		if failures[i] != nil {
			s.problems = append(s.problems, failures[i])
			continue
		}
		s.recordings = append(s.recordings, r)
		if n := len(s.groups); n == 0 || s.groups[n-1] != r.Group {
			s.groups = append(s.groups, r.Group)
		}
	}
	if len(s.recordings) == 0 {
		return nil, errors.Join(fmt.Errorf("evaluate %q: no labelled captures (*.csv.gz)", dirs), err)
	}
	return &s, nil
}

// concurrently calls work with 0 … n−1, on all processors.
func concurrently(n int, work func(i int)) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		group.Go(func() error {
			work(i)
			return nil
		})
	}
	_ = group.Wait() // always nil
}

// concurrentlyTold is concurrently, and tells progress, unless nil, how many calls have ended, one call at a time.
func concurrentlyTold(n int, progress func(done, of int), work func(i int)) {
	var mu sync.Mutex
	done := 0
	concurrently(n, func(i int) {
		work(i)
		mu.Lock()
		defer mu.Unlock()
		if done++; progress != nil {
			progress(done, n)
		}
	})
}

// worker scores a draw of a recording under a condition: a score per variant of the detector.
type worker func(r *capture.Recording, c condition, frames []capture.Frame) ([]score, error)

// sweep runs work on every draw of every condition that a recording reaches. Result: by variant,
// recording and condition; nil where the recording does not reach the condition. progress is told
// of every recording and condition.
func (s *study) sweep(conditions []condition, variants int, progress func(done, of int), work worker) ([][][]*score, error) {
	scores := make([][][]*score, variants)
	for v := range scores {
		scores[v] = make([][]*score, len(s.recordings))
		for i := range scores[v] {
			scores[v][i] = make([]*score, len(conditions))
		}
	}
	type job struct{ recording, condition int }
	var jobs []job
	for k, c := range conditions {
		for i, r := range s.recordings {
			if c.reached(r) {
				jobs = append(jobs, job{i, k})
			}
		}
	}
	var mutex sync.Mutex
	var failures []error
	done := 0
	concurrently(len(jobs), func(i int) {
		j := jobs[i]
		r, c := s.recordings[j.recording], conditions[j.condition]
		sums := make([]score, variants)
		var failure error
		for draw := range c.draws() {
			all, err := work(r, c, c.apply(r, draw))
			if err != nil {
				failure = err
				break
			}
			for v := range all {
				sums[v].add(all[v])
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		if failure != nil {
			failures = append(failures, failure)
		}
		for v := range sums {
			scores[v][j.recording][j.condition] = &sums[v]
		}
		done++
		if progress != nil {
			progress(done, len(jobs))
		}
	})
	return scores, errors.Join(failures...)
}

// config returns the configuration of the detector that is measured.
func (o Options) config() detect.Config {
	config := detect.Defaults()
	config.Sensitivity, config.LM1 = o.Sensitivity, o.LM1
	return config
}

// scored returns what runs a detector and scores it. It shows shown, if that is not nil, the run over each recording
// as it was recorded.
func scored(config detect.Config, shown *gallery) worker {
	return func(r *capture.Recording, c condition, frames []capture.Frame) ([]score, error) {
		t, err := follow(r, frames, config)
		if err != nil {
			return nil, err
		}
		if shown != nil && c.asRecorded() {
			shown.hang(r, t)
		}
		return []score{t.score()}, nil
	}
}

// pool adds the scores of each group's recordings: by group and condition, nil where no
// recording of the group reaches the condition.
func (s *study) pool(scores [][]*score) [][]*score {
	pooled := make([][]*score, len(s.groups))
	g := -1
	for i, r := range s.recordings {
		if g < 0 || s.groups[g] != r.Group {
			g++
			pooled[g] = make([]*score, len(scores[i]))
		}
		for k, one := range scores[i] {
			if one == nil {
				continue
			}
			if pooled[g][k] == nil {
				pooled[g][k] = &score{}
			}
			pooled[g][k].add(*one)
		}
	}
	return pooled
}
