package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// group measures figures that share a preparation.
type group struct {
	names []string
	run   func(context.Context, *bench) ([]figure, error)
}

// figure is a row of the table.
type figure struct {
	Name  string // S1
	What  string
	Unit  string
	Ours  float64
	Reach bound

	Peer  string // "" = none
	Peers float64

	Err error // why it could not be measured, or nil
}

func (f figure) failed() bool { return f.Err != nil }

// bound is the goal of a figure. The zero bound is no goal.
type bound struct {
	Limit   float64
	AtLeast bool    // Limit is the minimum, otherwise the maximum
	OfPeer  bool    // Limit is a multiple of the peer's figure
	Then    float64 // further goal, 0 = none

	// PeersThen is the peer's figure on the machine that a limit of time was set for, 0 = the limit is none of
	// time. On a machine where the peer takes longer the limit is as many times as high.
	PeersThen float64
}

// What the peers took, by profile of the homes, on the machine that the limits of time are for: two cores of an
// AMD EPYC on 2026-11-29, with commit 7b0abf18.
var (
	rowThen  = map[string]float64{"sparse": 175, "noisy3": 228}   // ns
	dayThen  = map[string]float64{"sparse": 2.09, "noisy3": 3.29} // ms
	weekThen = map[string]float64{"sparse": 13.3, "noisy3": 22.8} // ms
)

const startThen = 8.65 // ms

func atMost(limit float64) bound       { return bound{Limit: limit} }
func atMostOfPeer(limit float64) bound { return bound{Limit: limit, OfPeer: true} }
func atLeastOfPeer(l float64) bound    { return bound{Limit: l, OfPeer: true, AtLeast: true} }

func (b bound) then(goal float64) bound {
	b.Then = goal
	return b
}

func (b bound) wherePeerTook(time float64) bound {
	b.PeersThen = time
	return b
}

// limit returns the limit on this machine.
func (f figure) limit() float64 {
	if f.Reach.PeersThen > 0 {
		return f.Reach.Limit * max(1, f.Peers/f.Reach.PeersThen)
	}
	return f.Reach.Limit
}

// ratio returns ours over the peer's, 0 without a peer.
func (f figure) ratio() float64 {
	if f.Peers == 0 {
		return 0
	}
	return f.Ours / f.Peers
}

// verdict says whether the goal is met, or by how much it is missed.
func (f figure) verdict() string {
	value := f.Ours
	if f.Reach.OfPeer {
		value = f.ratio()
	}
	missed := func(limit float64) float64 {
		if f.Reach.AtLeast {
			return 1 - value/limit
		}
		return value/limit - 1
	}
	switch {
	case f.Reach.Limit == 0:
		return ""
	case missed(f.limit()) > 0:
		return fmt.Sprintf("missed by %s", percent(missed(f.limit())))
	case f.Reach.Then > 0 && missed(f.Reach.Then) > 0:
		return fmt.Sprintf("met; %s from the further goal", percent(missed(f.Reach.Then)))
	}
	return "met"
}

func percent(share float64) string { return number(100*share) + " %" }

// bench is shared by all measurements.
type bench struct {
	dir      string // for files of the measurements, removed by close
	root     string // of the checkout
	progress io.Writer
	settings []string     // of the product, as environment variables
	build    func() error // builds the product's binary, once
}

func newBench(progress io.Writer) (*bench, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, fmt.Errorf("find the checkout: %w", err)
	}
	if _, err := os.Stat(filepath.Join(root, "config.example.yaml")); err != nil {
		return nil, fmt.Errorf("run it in .ci/bench: %w", err)
	}
	dir, err := os.MkdirTemp("", "sensegate-bench-")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	b := &bench{dir: dir, root: root, progress: progress}
	b.build = sync.OnceValue(func() error { return b.compile(b.product()) })
	return b, nil
}

func (b *bench) close() {
	if err := os.RemoveAll(b.dir); err != nil {
		b.say("%v", err)
	}
}

// say prints progress.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.progress, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// temp makes a new directory.
func (b *bench) temp(name string) (string, error) {
	dir, err := os.MkdirTemp(b.dir, name+"-")
	if err != nil {
		return "", fmt.Errorf("make a directory: %w", err)
	}
	return dir, nil
}

func (b *bench) product() string { return filepath.Join(b.dir, "sensegate") }

// compile builds the stripped product as it is shipped; environment may set another
// target.
func (b *bench) compile(to string, environment ...string) error {
	small, err := os.ReadFile(filepath.Join(b.root, ".ci/gcflags"))
	if err != nil {
		return fmt.Errorf("flags of the compiler: %w", err)
	}
	return b.goBuild(environment, slices.Concat([]string{"-trimpath", "-ldflags", "-s -w"}, strings.Fields(string(small)), []string{"-o", to, "."})...)
}

// goBuild runs go build in the checkout.
func (b *bench) goBuild(environment []string, arguments ...string) error {
	return command(b.root, append([]string{"CGO_ENABLED=0"}, environment...), append([]string{"go", "build"}, arguments...)...)
}

// command runs a command in a directory; what it says is in the error.
func command(dir string, environment []string, line ...string) error {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, said)
	}
	return nil
}

// median returns the median of values, 0 without any.
func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile returns the q-quantile of values, 0 without any.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// lookFor returns the path of a program: from PATH, or otherwise if that exists.
func lookFor(program, otherwise string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		return path, nil
	}
	if _, err := os.Stat(otherwise); err == nil {
		return otherwise, nil
	}
	return "", fmt.Errorf("%s is missing: apt-get install %s", program, program)
}
