// Command bench measures the figures for which the product has goals, each against a
// peer on the same machine at the same time, and prints a table:
//
//	cd .ci/bench && go run . [-only S1,S7] [-times 3] [-markdown]
//	cd .ci/bench && go run . -growth [-quick]
//	cd .ci/bench && go run . -instructions
//
// The whole appliance is the real binary, built from this checkout and used over TCP;
// the store is used through its packages in a separate process, so that measurements do
// not affect each other. Peers are Debian's mosquitto (apt-get install mosquitto), the
// Prometheus time-series database, SQLite, a plain gorilla server, and the cheapest
// thing that could do the work, such as memcpy. strace counts syncs.
//
// It takes about ten minutes on two cores, and ends after half an hour in any case, three times that
// with -times 3: a machine that needs longer is too busy to measure on. If a figure cannot be measured,
// its row says why, and the program exits with 1. A missed figure is not a failure.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// groups returns all figures in the order of the table, grouped by shared preparation.
func groups() []group {
	return []group{
		{[]string{"S1", "S2", "S6", "S7"}, measureDay},
		{[]string{"S3", "S4"}, measureFlash},
		{[]string{"S5"}, measureSyncs},
		{[]string{"S8", "S9", "S10"}, measureWeek},
		{[]string{"M1"}, sideBySide(measureIngest).onNewBox},
		{[]string{"M2"}, measureIdle},
		{[]string{"L1"}, sideBySide(measureLatency).onNewBox},
		{[]string{"W1"}, measureFanOut},
		{[]string{"F1"}, sideBySide(measureResident).onNewBox},
		{[]string{"F2"}, measureBinary},
	}
}

// longest is the time limit of all measurements together, done once.
const longest = 30 * time.Minute

func main() {
	if name, args, ok := workerOf(os.Args); ok {
		if err := serveWorker(name, args, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run measures the figures of the arguments, prints them and returns the exit code.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errOut)
	only := flags.String("only", "", "measure only these figures, such as `S1,S7`")
	times := flags.Int("times", 1, "measure each figure so many times, and print the medians")
	markdown := flags.Bool("markdown", false, "print the table in Markdown")
	growth := flags.Bool("growth", false, "measure instead how cost grows with networks and with history, and draw it in docs/")
	instructions := flags.Bool("instructions", false, "count instead instructions for arm64 and amd64, by QEMU (apt-get install qemu-user gcc)")
	quick := flags.Bool("quick", false, "with -growth: small sizes only, and nothing is drawn")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	wanted, err := choose(*only)
	if *times < 1 {
		err = errors.New("-times is less than 1")
	}
	if err != nil {
		fmt.Fprintln(errOut, "bench:", err)
		return 2
	}
	b, err := newBench(errOut)
	if err != nil {
		fmt.Fprintln(errOut, "bench:", err)
		return 1
	}
	defer b.close()
	ctx, cancel := context.WithTimeout(ctx, time.Duration(*times)*longest)
	defer cancel()
	began, measured := time.Now(), commit(ctx)
	command := strings.Join(append([]string{"cd .ci/bench && go run ."}, args...), " ")
	if *growth || *instructions {
		if *growth {
			err = b.growth(ctx, out, describe(measured, command), *quick)
		} else {
			err = b.instructions(ctx, out, describe(measured, command))
		}
		b.say("all: %s", time.Since(began).Round(time.Second))
		if err != nil {
			fmt.Fprintln(errOut, "bench:", err)
			return 1
		}
		return 0
	}
	figures := measure(ctx, b, wanted, *times)
	b.say("all: %s", time.Since(began).Round(time.Second))
	printed := printText
	if *markdown {
		printed = printMarkdown
	}
	err = printed(out, describe(measured, command), figures)
	if err != nil || slices.ContainsFunc(figures, figure.failed) {
		return 1
	}
	return 0
}

// choose returns the names of the figures to measure.
func choose(only string) ([]string, error) {
	var all []string
	for _, g := range groups() {
		all = append(all, g.names...)
	}
	if only == "" {
		return all, nil
	}
	wanted := strings.Split(only, ",")
	for _, name := range wanted {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("-only %s: unknown figure %q, want some of %s", only, name, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}

// measure measures the wanted figures, group by group, each group so many times.
func measure(ctx context.Context, b *bench, wanted []string, times int) []figure {
	var figures []figure
	for _, g := range groups() {
		names := slices.DeleteFunc(slices.Clone(g.names), func(name string) bool { return !slices.Contains(wanted, name) })
		if len(names) == 0 {
			continue
		}
		began := time.Now()
		b.say("%s …", strings.Join(names, ", "))
		found, err := g.medians(ctx, b, times)
		for _, f := range found {
			if slices.Contains(names, f.Name) {
				figures = append(figures, f)
			}
		}
		if err != nil {
			figures = append(figures, figure{Name: strings.Join(names, ", "), Err: err})
			b.say("%s: %v", strings.Join(names, ", "), err)
		}
		b.say("%s: %s", strings.Join(names, ", "), time.Since(began).Round(time.Second))
	}
	return figures
}

// medians measures a group so many times and returns the medians of each row, in the words of the first time.
func (g group) medians(ctx context.Context, b *bench, times int) ([]figure, error) {
	var figures []figure
	var ours, peers [][]float64
	for n := range times {
		found, err := g.run(ctx, b)
		if err != nil {
			return found, err
		}
		if n == 0 {
			figures, ours, peers = found, make([][]float64, len(found)), make([][]float64, len(found))
		}
		for i, f := range found[:min(len(found), len(figures))] {
			ours[i], peers[i] = append(ours[i], f.Ours), append(peers[i], f.Peers)
		}
	}
	for i := range figures {
		figures[i].Ours, figures[i].Peers = median(ours[i]), median(peers[i])
	}
	return figures, nil
}
