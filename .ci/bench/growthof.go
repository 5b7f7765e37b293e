package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// growthRate is the messages a second that each network sends.
const growthRate = 1

// growNetworks measures what networks cost one appliance: each a guardian and its radar
// with an MQTT connection each, and a message of motion a second.
func (b *bench) growNetworks(ctx context.Context, quick bool) (growth, error) {
	sizes, window := []int{1, 10, 50, 200, 1000}, time.Minute
	if quick {
		sizes, window = []int{1, 10, 50}, 12*time.Second
		b.settings = []string{"SENSEGATE_STORE_FLUSH_INTERVAL=6s"}
		defer func() { b.settings = nil }()
	}
	g := growth{
		name: "growth-networks", title: "What networks cost one appliance", axis: "networks",
		costs: []cost{
			{"CPU", "% of a core"}, {"CPU of a message", "µs"}, {"own memory", "MB"}, {"written", "KB/min"}, {"start", "ms"},
			{"overview", "ms"}, {"week @ 60 s", "ms"}, {"find/meta, all match", "ms"},
		},
	}
	simulator := filepath.Join(b.dir, "firmware-sim")
	if err := b.goBuild(nil, "-o", simulator, "./firmware-sim"); err != nil {
		return g, err
	}
	for _, n := range sizes {
		values, err := b.costOfNetworks(ctx, simulator, n, window)
		if err != nil {
			return g, fmt.Errorf("%d networks: %w", n, err)
		}
		g.points = append(g.points, growthPoint{strconv.Itoa(n), float64(n), values})
		b.say("%d networks: %.3g", n, values)
	}
	return g, nil
}

// costOfNetworks returns the costs of n networks.
func (b *bench) costOfNetworks(ctx context.Context, simulator string, n int, window time.Duration) ([]float64, error) {
	dir, err := b.temp("networks")
	if err != nil {
		return nil, err
	}
	live, err := b.costOfLive(ctx, simulator, dir, n, window)
	if err != nil {
		return nil, err
	}
	past, err := b.start(ctx, nil, "past", dir)
	if err != nil {
		return nil, err
	}
	_, err = past.ask("own", 0)
	if err := errors.Join(err, past.stop()); err != nil {
		return nil, err
	}
	answers, err := b.costOfAnswers(ctx, dir, "/web/v1/overview", weekPath(), "/core/network/find/meta/meta-%3E%3E'name'?val=bench&array=true")
	return append(live, answers...), err
}

// costOfLive has n networks send to a new appliance, and returns the CPU time, as a share
// of a core in percent and of a message in µs, the own memory in MB and the KB written in
// a minute.
func (b *bench) costOfLive(ctx context.Context, simulator, dir string, n int, window time.Duration) (_ []float64, err error) {
	a, err := b.serve(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	l, err := b.simulate(ctx, simulator, a, n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	if err := rest(ctx, window/4); err != nil { // for what the adoption of so many leaves to do
		return nil, err
	}
	const measures = 2
	var before, after [measures]float64
	look := func(into *[measures]float64) error {
		used, err := threadTime(a.pid())
		bytes, unknown := written(a.pid())
		*into = [measures]float64{used.Seconds(), bytes}
		return errors.Join(err, unknown)
	}
	begin, sent := time.Now(), l.sent.Load()
	if err := errors.Join(look(&before), rest(ctx, window), look(&after)); err != nil {
		return nil, err
	}
	took, messages := time.Since(begin).Seconds(), float64(l.sent.Load()-sent)
	if want := float64(n*growthRate) * took; messages < 0.8*want-float64(n) {
		return nil, fmt.Errorf("%.0f messages were sent of %.0f: the machine is too busy", messages, want)
	}
	m, err := memoryOf(a.pid())
	used := after[0] - before[0]
	return []float64{100 * used / took, 1e6 * used / messages, m.own / 1e6, (after[1] - before[1]) / 1000 / took * 60}, err
}

// weekPath returns the history of the first network's last week, a value a minute.
func weekPath() string {
	now := time.Now().Unix() / 60 * 60
	return fmt.Sprintf("/core/network/1/motion/history/intensity?from=%d&to=%d&bucket=60", now-7*daySeconds+600, now)
}

// costOfAnswers returns the time of a start on a state directory with an owner, and of
// answers, in ms.
func (b *bench) costOfAnswers(ctx context.Context, dir string, paths ...string) (costs []float64, err error) {
	a, start, err := b.starts(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	s, err := a.signIn(ctx)
	if err == nil {
		err = a.makeKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	costs = []float64{start}
	for _, path := range paths {
		took, err := s.timed(ctx, path)
		if err != nil {
			return nil, err
		}
		costs = append(costs, took)
	}
	return costs, nil
}

// senders is a process of simulated devices that send.
type senders struct {
	cmd  *exec.Cmd
	sent atomic.Int64
	read sync.WaitGroup
}

// simulate starts the devices of n networks, and waits until they are adopted, connected and
// sending.
func (b *bench) simulate(ctx context.Context, simulator string, a *appliance, n int) (*senders, error) {
	l := &senders{cmd: exec.CommandContext(ctx, simulator, "load", "-networks", strconv.Itoa(n), "-rate", strconv.Itoa(growthRate), "-kind", "matrix",
		"-duration", "1h", "-every", "1s", "-appliance", a.http, "-token", accessToken)}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.cmd.Stderr = b.progress
	if err := l.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the devices: %w", err)
	}
	l.read.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if fields := strings.Fields(lines.Text()); len(fields) > 1 {
				sent, _ := strconv.ParseInt(fields[1], 10, 64) // 0 in the heading
				l.sent.Add(sent)
			}
		}
	})
	for deadline := time.Now().Add(3 * patience); l.sent.Load() == 0; {
		if time.Now().After(deadline) {
			return nil, errors.Join(errors.New("the devices do not send"), l.stop())
		}
		if err := rest(ctx, 100*time.Millisecond); err != nil {
			return nil, errors.Join(err, l.stop())
		}
	}
	return l, nil
}

// stop ends the devices.
func (l *senders) stop() error {
	err := l.cmd.Process.Signal(syscall.SIGTERM)
	l.read.Wait()
	_ = l.cmd.Wait() // reports the signal
	return err
}

// growHistory measures what the past of one network costs.
func (b *bench) growHistory(ctx context.Context, quick bool) (growth, error) {
	g := growth{
		name: "growth-history", title: "What the past of a home costs", axis: "history",
		costs: []cost{{"file", "MB"}, {"start", "ms"}, {"overview", "ms"}, {"week @ 60 s", "ms"}, {"month of the home", "ms"}, {"events of a day", "ms"}},
	}
	spans := []struct {
		label string
		days  int
	}{{"day", 1}, {"week", 7}, {"month", 30}, {"year", 365}, {"2 years", 730}}
	if quick {
		spans = spans[:3]
	}
	for _, span := range spans {
		past, err := b.startInNew(ctx, "past")
		if err != nil {
			return g, err
		}
		_, err = past.ask("live", span.days)
		size, unknown := past.ask("size", 0)
		if err := errors.Join(err, unknown, past.stop()); err != nil {
			return g, fmt.Errorf("%s: %w", span.label, err)
		}
		now := time.Now().Unix()
		answers, err := b.costOfAnswers(ctx, past.dir, "/web/v1/overview", weekPath(), "/web/v1/rooms/history?span=month",
			fmt.Sprintf("/core/network/1/events/history?from=%d&to=%d", now-daySeconds, now))
		if err != nil {
			return g, fmt.Errorf("%s: %w", span.label, err)
		}
		g.points = append(g.points, growthPoint{span.label, float64(span.days), append([]float64{size["bytes"] / 1e6}, answers...)})
		b.say("%s: %.3g", span.label, g.points[len(g.points)-1].values)
	}
	return g, nil
}
