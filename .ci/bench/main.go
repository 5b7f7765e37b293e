// Command bench measures the figures that the product was designed to reach, each
// against a peer that runs on the same machine at the same time, and prints them as a
// table:
//
//	cd .ci/bench && go run . [-only S1,S7] [-markdown]
//
// The whole appliance is the real binary, built from this checkout and reached over
// TCP; the store is used through its packages, in a process of its own, so that no
// measurement pays for another. Peers are Debian's mosquitto (apt-get install
// mosquitto), the Prometheus time-series database, SQLite, a plain gorilla server, and
// the cheapest thing that could do the work, such as memcpy. strace counts syncs.
//
// It takes some ten minutes on two cores, and ends after half an hour in any case: a
// machine that needs longer is too busy to measure on. Where a figure cannot be measured, its row
// says why, and the program ends with 1. A missed figure is no failure.
package main

import (
	"context"
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

// groups are all figures, in the order of the table. What shares a preparation is
// one group.
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

// longest is how long all measurements together may take.
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
	ctx, cancel := context.WithTimeout(ctx, longest)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	stop()
	os.Exit(code)
}

// run measures what the arguments ask for and returns the exit code.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errOut)
	only := flags.String("only", "", "measure these figures alone, such as `S1,S7`")
	markdown := flags.Bool("markdown", false, "print the table in Markdown, with date, machine and commit")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	wanted, err := choose(*only)
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
	began, measured := time.Now(), commit(ctx)
	figures := measure(ctx, b, wanted)
	b.say("all: %s", time.Since(began).Round(time.Second))
	if *markdown {
		command := strings.Join(append([]string{"cd .ci/bench && go run ."}, args...), " ")
		err = printMarkdown(out, describe(measured, command), figures)
	} else {
		err = printText(out, figures)
	}
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
			return nil, fmt.Errorf("-only %s: there is no figure %q, only %s", only, name, strings.Join(all, ", "))
		}
	}
	return wanted, nil
}

// measure measures the wanted figures one group after the other.
func measure(ctx context.Context, b *bench, wanted []string) []figure {
	var figures []figure
	for _, g := range groups() {
		names := slices.DeleteFunc(slices.Clone(g.names), func(name string) bool { return !slices.Contains(wanted, name) })
		if len(names) == 0 {
			continue
		}
		began := time.Now()
		b.say("%s …", strings.Join(names, ", "))
		found, err := g.run(ctx, b)
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
