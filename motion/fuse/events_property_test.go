package fuse_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fuse"
)

// action is one thing that happens to an event machine.
type action struct {
	time    motion.Time
	sample  *fuse.Sample // nil: configure, or advance
	config  *fuse.Config // nil: advance
	restart bool         // the machine is stored and restored before this
}

func (a action) apply(e *fuse.Events) (fuse.Transition, bool) {
	switch {
	case a.sample != nil:
		return e.Add(a.sample)
	case a.config != nil:
		return e.Configure(a.time, *a.config)
	}
	return e.Advance(a.time)
}

// configs draws a configuration.
func configs(t *rapid.T) fuse.Config {
	return fuse.Config{
		Enabled: rapid.IntRange(0, 5).Draw(t, "enabled") > 0,
		Armed:   rapid.Bool().Draw(t, "armed"),
		Paused:  rapid.IntRange(0, 5).Draw(t, "paused") == 0,

		DensityWindow:    rapid.IntRange(1, 12).Draw(t, "window"),
		DensityThreshold: rapid.SampledFrom([]float64{0.1, 0.5, 0.75, 1}).Draw(t, "threshold"),
		Cooldown:         float64(rapid.IntRange(0, 10).Draw(t, "cooldown")),
	}
}

// actions draws a history: runs of samples of one kind, gaps, clocks set back,
// changes of the configuration, restarts.
func actions(t *rapid.T) []action {
	var all []action
	i := 0
	for range rapid.IntRange(1, 40).Draw(t, "runs") {
		switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); kind {
		case 0:
			i = max(0, i+rapid.SampledFrom([]int{-1, 5, 100, 1300, -400}).Draw(t, "gap"))
		case 1:
			c := configs(t)
			all = append(all, action{time: start.Add(float64(i) / 2), config: &c})
		case 2:
			all = append(all, action{time: start.Add(float64(i) / 2)})
		default:
			letter := rapid.SampledFrom([]byte("0011-")).Draw(t, "letter")
			for range rapid.IntRange(1, 25).Draw(t, "length") {
				s := sampleAt(i, letter)
				all = append(all, action{time: s.Time, sample: s, restart: rapid.IntRange(0, 20).Draw(t, "restart") == 0})
				i++
			}
		}
	}
	return all
}

func TestTransitionsAlternate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := fuse.NewEvents(configs(t))
		var open *fuse.Detection
		for _, a := range actions(t) {
			tr, ok := a.apply(e)
			if !ok {
				continue
			}
			switch {
			case tr.Kind == fuse.Detected && open != nil:
				t.Fatalf("detected at %v while the detection at %v is open", tr.Time, open.Time)
			case tr.Kind == fuse.Detected:
				open = &tr.Detection
			case open == nil:
				t.Fatalf("stopped at %v without a detection", tr.Time)
			default:
				if tr.Time < open.Time || fmt.Sprint(tr.Detection) != fmt.Sprint(*open) || tr.Reason == "" {
					t.Fatalf("stopped %+v does not end %+v", tr, *open)
				}
				open = nil
			}
			if d, ok := e.Open(); ok != (open != nil) || ok && d.Time != open.Time {
				t.Fatalf("open %v %v, the transitions say %v", d, ok, open)
			}
		}
	})
}

func TestRestartChangesNoLaterTransition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		config := configs(t)
		steady, restarted := fuse.NewEvents(config), fuse.NewEvents(config)
		for _, a := range actions(t) {
			if a.config != nil {
				config = *a.config
			}
			if a.restart {
				restarted = reborn(t, restarted, config)
			}
			want, wantOK := a.apply(steady)
			got, gotOK := a.apply(restarted)
			if gotOK != wantOK || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Fatalf("at %v after a restart: %v %+v, without: %v %+v", a.time, gotOK, got, wantOK, want)
			}
		}
	})
}

// reborn stores a machine and makes a new one of it.
func reborn(t *rapid.T, e *fuse.Events, config fuse.Config) *fuse.Events {
	stored, err := json.Marshal(e.State())
	if err != nil {
		t.Fatal(err)
	}
	var state fuse.State
	if err := json.Unmarshal(stored, &state); err != nil {
		t.Fatalf("%s: %v", stored, err)
	}
	next := fuse.NewEvents(config)
	next.Restore(state)
	return next
}
