package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// measureFlash measures the writes and syncs of the whole appliance in its steady state
// (S3, S4) with the engine's benchmark, which simulates two hours. The peer stores the
// same rows, a commit a minute, under strace.
func measureFlash(ctx context.Context, b *bench) ([]figure, error) {
	var written, syncs []figure
	for _, profile := range []string{"sparse", "noisy3"} {
		ours, err := b.engineFlash(ctx, profile)
		if err != nil {
			return nil, err
		}
		peer, err := b.sqliteFlash(ctx, profile)
		if err != nil {
			return nil, err
		}
		written = append(written, figure{
			Name: "S3", What: "written by the whole appliance, 50 networks, " + profile, Unit: "KB/min", Ours: ours["KB/min"],
			Reach: atMost(90).then(40), Peer: sqlite + ", the samples alone", Peers: peer["KB/min"],
		})
		syncs = append(syncs, figure{
			Name: "S4", What: "syncs of the whole appliance, 50 networks, " + profile, Unit: "/min", Ours: ours["syncs/min"],
			Reach: atMost(3), Peer: sqlite, Peers: peer["syncs/min"],
		})
	}
	return append(written, syncs...), nil
}

// engineFlash runs the engine's benchmark and returns its figures, by unit.
func (b *bench) engineFlash(ctx context.Context, profile string) (map[string]float64, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./motion/engine", "-run", "^$", "-bench", "^BenchmarkFlash$/^"+profile+"$", "-benchtime", "1x")
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("run BenchmarkFlash: %w\n%s", err, out)
	}
	printed := map[string]float64{}
	for _, match := range regexp.MustCompile(`([0-9.]+) (\S+/min)`).FindAllStringSubmatch(string(out), -1) {
		if printed[match[2]], err = strconv.ParseFloat(match[1], 64); err != nil {
			return nil, err
		}
	}
	if len(printed) == 0 {
		return nil, fmt.Errorf("BenchmarkFlash prints no figures:\n%s", out)
	}
	return printed, nil
}

// sqliteFlash stores an hour of the same rows in SQLite and returns its figures.
func (b *bench) sqliteFlash(ctx context.Context, profile string) (_ map[string]float64, err error) {
	const minutes = 60
	dir, err := b.temp("sqlite")
	if err != nil {
		return nil, err
	}
	t, err := b.tracer(dir)
	if err != nil {
		return nil, err
	}
	peer, err := b.start(ctx, t.line, "sqlite", dir, profile)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, peer.stop()) }()
	if _, err := peer.ask("live", 10); err != nil { // warm-up
		return nil, err
	}
	before, err := t.syncs()
	if err != nil {
		return nil, err
	}
	values, err := peer.ask("live", minutes)
	if err != nil {
		return nil, err
	}
	after, err := t.syncs()
	return map[string]float64{"KB/min": values["bytes"] / 1000 / minutes, "syncs/min": float64(after-before) / minutes}, err
}

// tracer counts the syncs of a program that runs under its command line.
type tracer struct {
	line []string
	log  string
}

func (b *bench) tracer(dir string) (*tracer, error) {
	strace, err := lookFor("strace", "/usr/bin/strace")
	if err != nil {
		return nil, err
	}
	t := &tracer{log: filepath.Join(dir, "syncs")}
	t.line = []string{strace, "-f", "--seccomp-bpf", "-qq", "-e", "trace=fsync,fdatasync", "-e", "signal=none", "-o", t.log}
	return t, nil
}

// syncs returns the number of syncs so far.
func (t *tracer) syncs() (int, error) {
	raw, err := os.ReadFile(t.log)
	return strings.Count(string(raw), "fsync(") + strings.Count(string(raw), "fdatasync("), err
}
