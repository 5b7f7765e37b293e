package main

import (
	"context"
	"fmt"
	"io"

	"sensegate/firmware-sim/sim"
)

// replayCaptures is the command replay.
func replayCaptures(ctx context.Context, c command, args []string, out io.Writer) error {
	var to target
	set := c.flags()
	to.register(set)
	speed := set.Float64("speed", 1, "seconds of the capture per second, 1 to 1000; faster than 1, the stream ends at the present")
	loop := set.Bool("loop", false, "begin again at the end, until interrupted")
	paths, err := c.parse(set, args, out)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return usagef("name the captures (*.csv.gz, *.csi.jsonl) or a directory of them")
	}
	takes, err := sim.OpenTakes(paths...)
	if err != nil {
		return err
	}
	counts, err := sim.Replay(ctx, sim.ReplayConfig{
		Takes: takes, Speed: *speed, Loop: *loop, Gatekeeper: to.gatekeeper, AccessToken: to.token, Log: newLog(out),
	})
	if err != nil {
		return usagef("%v", err)
	}
	fmt.Fprintf(out, "%d recordings: %d frames in %d messages, %d dropped\n", len(takes), counts.Frames, counts.Messages, counts.Dropped)
	return nil
}
