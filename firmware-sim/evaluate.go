package main

import (
	"context"
	"io"

	"sensegate/firmware-sim/evaluate"
)

// evaluateCaptures is the command evaluate.
func evaluateCaptures(_ context.Context, c command, args []string, out io.Writer) error {
	var options evaluate.Options
	set := c.flags()
	set.BoolVar(&options.JSON, "json", false, "print one JSON object instead of the table")
	set.Float64Var(&options.Sensitivity, "sensitivity", 0, "sensitivity of the detector, up to 100; 0 = the default")
	paths, err := c.parse(set, args, out)
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return usagef("name one directory of labelled captures")
	}
	return evaluate.Run(paths[0], out, options)
}
