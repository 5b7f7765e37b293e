// Command firmware-sim simulates the devices of a home for an appliance: it simulates
// homes (run), sets a home up device by device (install), replays captured CSI (replay),
// puts an appliance under load (load), plays many boxes at an engine (fleet), plays nodes of other makers (node) and serves a sensor cloud
// (sensorcloud). Without an
// appliance it measures detection on labelled captures and simulated homes (evaluate), and
// compares synthetic with real CSI (compare).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// command is a subcommand; run gets the arguments after its name.
type command struct {
	name, args, summary string
	run                 func(ctx context.Context, c command, args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"run", "[flags]", "simulate homes: people who walk, and devices that report them", runHomes},
		{"install", "[flags]", "set up a home device by device, with faults; commands come from standard input", playInstallation},
		{"replay", "[flags] FILE…|DIR…", "publish captured CSI (*.csv.gz, *.csi.jsonl) as a device would; send *.pcap of nexmon, serve *.csv of esp-csi as such nodes do", replayCaptures},
		{"load", "[flags]", "let many networks send at a steady rate, and time the acknowledgements", makeLoad},
		{"fleet", "[flags]", "play many boxes that send to an engine, and say what that costs", playFleet},
		{"node", "KIND [flags]", "play nodes of another maker: ruview, micro-espectre, nexmon, lines, espectre or mqtt", playNodes},
		{"evaluate", "[flags] DIR…", "measure detection on labelled captures (*.csv.gz), or on scenarios", evaluateDetection},
		{"compare", "DIR", "compare synthetic CSI with labelled captures (*.csv.gz)", compareCaptures},
		{"sensorcloud", "[flags]", "serve a sensor cloud whose doors open and close by themselves", playCloud},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
	}()
	os.Exit(dispatch(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return usageError{fmt.Sprintf(format, args...)} }

// dispatch runs the subcommand that args begin with and returns the exit code.
func dispatch(ctx context.Context, args []string, out, errs io.Writer) int {
	if len(args) == 0 {
		printUsage(errs)
		return exitUsage
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		printUsage(out)
		return exitOK
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		err := c.run(ctx, c, args[1:], out)
		var usage usageError
		switch {
		case err == nil, errors.Is(err, flag.ErrHelp):
			return exitOK
		case errors.As(err, &usage):
			fmt.Fprintf(errs, "firmware-sim %s: %v\nSee: firmware-sim %s -h\n", c.name, err, c.name)
			return exitUsage
		}
		fmt.Fprintf(errs, "firmware-sim %s: %v\n", c.name, err)
		return exitError
	}
	fmt.Fprintf(errs, "firmware-sim: unknown command %q, want one of %s\n\n", args[0], strings.Join(names(), ", "))
	printUsage(errs)
	return exitUsage
}

func names() []string {
	var list []string
	for _, c := range commands() {
		list = append(list, c.name)
	}
	return append(list, "help")
}

func printUsage(w io.Writer) {
	fmt.Fprint(w, "Usage: firmware-sim COMMAND [flags]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-32s %s\n", c.name+" "+c.args, c.summary)
	}
	fmt.Fprintf(w, "  %-32s %s\n\nfirmware-sim COMMAND -h lists the flags of a command.\n", "help", "print this text")
}

// flags returns an empty, silent flag set: dispatch reports mistakes, and parse prints
// help.
func (c command) flags() *flag.FlagSet {
	set := flag.NewFlagSet(c.name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	return set
}

// parse reads args into set and returns what follows the flags.
func (c command) parse(set *flag.FlagSet, args []string, out io.Writer) ([]string, error) {
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "Usage: firmware-sim %s %s\n\n%s.\n\n", c.name, c.args, c.summary)
		set.SetOutput(out)
		set.PrintDefaults()
		return nil, err
	case err != nil:
		return nil, usagef("%v", err)
	}
	return set.Args(), nil
}
