package main

import (
	"context"
	"io"

	"sensegate/firmware-sim/compare"
)

// compareCaptures is the command compare.
func compareCaptures(_ context.Context, c command, args []string, out io.Writer) error {
	paths, err := c.parse(c.flags(), args, out)
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return usagef("name one directory of labelled captures")
	}
	return compare.Run(paths[0], out)
}
