package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"sensegate/firmware-sim/install"
	"sensegate/firmware-sim/sim"
)

// playInstallation is the command install.
func playInstallation(ctx context.Context, c command, args []string, out io.Writer) error {
	return installFrom(ctx, c, args, os.Stdin, out)
}

// installFrom is the command install with its commands from in.
func installFrom(ctx context.Context, c command, args []string, in io.Reader, out io.Writer) error {
	var to target
	config := install.Config{Refused: sim.WrongPassword}
	set := c.flags()
	to.register(set)
	set.Uint64Var(&config.Seed, "seed", 1, "the same seed gives the same walks and the same radio")
	set.DurationVar(&config.Pause, "pause", 10*time.Second, "from one device to the next; 0 = each on the command next")
	set.StringVar((*string)(&config.Refused), "refused", string(sim.WrongPassword), "why the "+install.RefusedNode+" is refused: password, network or off")
	set.BoolVar(&config.Deaf, "deaf", true, "the "+install.DeafNode+" is connected, without frames")
	set.BoolVar(&config.Moved, "moved", true, "the "+install.MovedLeaf+" stands in the bedroom, not in the office")
	duration := set.Duration("duration", 0, "end after this much time; 0 = until interrupted")
	rest, err := c.parse(set, args, out)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return usagef("unexpected %q: install takes flags only", rest[0])
	case *duration < 0:
		return usagef("-duration %s: want 0 or more", *duration)
	case config.Refused == "off":
		config.Refused = sim.NotRefused
	}
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	config.Gatekeeper, config.AccessToken, config.Log = to.gatekeeper, to.token, newLog(out)
	play, err := install.New(config)
	if err != nil {
		return usagef("%v", err)
	}
	fmt.Fprintf(out, "Type a command, then Enter:\n%s", install.Help)
	go obey(play, in, out) // ends with in, or with the program: nothing else ends a read
	if err := play.Run(ctx); err != nil {
		return err
	}
	counts := play.Counters()
	fmt.Fprintf(out, "network %d: %d messages, %d frames, %d connections\n", play.Network(), counts.Messages, counts.Frames, counts.Connections)
	return nil
}

// obey carries out the commands in lines of in.
func obey(play *install.Installation, in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		text, err := play.Do(lines.Text())
		if err != nil {
			text = err.Error() + "\n"
		}
		_, _ = io.WriteString(out, text)
	}
}
