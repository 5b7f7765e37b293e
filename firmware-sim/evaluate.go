package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sensegate/firmware-sim/compare"
	"sensegate/firmware-sim/evaluate"
	"sensegate/firmware-sim/scenario"
)

// evaluateDetection is the command evaluate.
func evaluateDetection(_ context.Context, c command, args []string, out io.Writer) error {
	endAtOnce()
	options := evaluate.Defaults()
	if isTerminal(os.Stderr) {
		options.Progress = showProgress(os.Stderr)
	}
	play := evaluate.DefaultPlay()
	set := c.flags()
	set.BoolVar(&options.JSON, "json", false, "print one JSON object instead of the table of captures")
	set.Float64Var(&options.Sensitivity, "sensitivity", options.Sensitivity, "sensitivity of the detector on captures, 0 (Very Low) to 100")
	cross := set.Bool("cross", false, "choose the detector's constants anew for each group of captures, on the others, and score them on it")
	detector := set.String("detector", "product", "detector to measure on captures: product, or lm1, the published recipe to the letter")
	names := set.String("scenario", "", "instead of captures, play scenarios: all, or names and FILE.yaml with commas between")
	set.Uint64Var(&play.Seed, "seed", play.Seed, "seed of the scenarios' people and radio")
	set.DurationVar(&play.Length, "length", play.Length, "length of each scored part of a scenario's day: at night, in the morning, before noon and in the evening")
	nights := set.Int("nights", 0, "instead of parts of a day, score the sleep times of this many nights of each home and habit; 0 = none")
	seeds := set.Int("homes", 2, "with -nights, -rooms, -links and -stay: number of homes per scenario or size, with the seeds from -seed on")
	rooms := set.Bool("rooms", false, "instead of parts of a day, score the room of motion in minutes in which people walk, over -homes homes of each scenario")
	links := set.Bool("links", false, "instead of captures, play -homes homes each of 2, 4, 8, 16 and 30 links, quiet and with people who walk, with links that are in trouble in several ways")
	stay := set.Duration("stay", 0, "instead of parts of a day, have somebody stay alone in each room for so long, in -homes homes of each scenario, and count the minutes in which they are seen; 0 = none")
	quiet := evaluate.Quiet{}
	set.DurationVar(&quiet.Length, "quiet", 0, "instead of parts of a day, play so much quiet time of each home, in pieces of 6 hours, and count what is taken for motion; 0 = none")
	set.StringVar(&quiet.With, "with", evaluate.Nobody, "with -quiet: who is there: nobody, next-door (somebody behind an outer wall), pets, or sleeper (people in bed)")
	set.StringVar(&quiet.File, "file", "", "with -quiet: file that keeps each piece that is done; a later run goes on from there")
	file := set.String("report", "", "also write this HTML file: figures, and over time the statistic, its thresholds, labels and decisions, the worst moments first")
	paths, err := c.parse(set, args, out)
	options.Page = evaluate.Page{File: *file, Command: "firmware-sim " + c.name + quoted(args), Version: program()}
	options.LM1 = *detector == "lm1"
	switch {
	case err != nil:
		return err
	case *detector != "product" && !options.LM1:
		return usagef("-detector %q: want product or lm1", *detector)
	case !(options.Sensitivity >= 0 && options.Sensitivity <= 100):
		return usagef("-sensitivity %v: want 0 to 100", options.Sensitivity)
	case *links && (*names != "" || len(paths) > 0 || *file != "" || *cross || *nights > 0 || *rooms || quiet.Length > 0 || *stay > 0):
		return usagef("-links plays homes of its own: leave out captures, -scenario, -cross, -nights, -rooms, -quiet, -stay and -report")
	case *links && (*seeds < 1 || *seeds > maxNights):
		return usagef("-homes %d: want 1 to %d", *seeds, maxNights)
	case *links:
		return evaluate.RunLinks(evaluate.Links{Seed: play.Seed, Homes: *seeds, Progress: options.Progress}, out)
	case *names == "" && len(paths) == 0:
		return usagef("name directories of labelled captures, or scenarios with -scenario")
	case *file != "" && (*cross && *names == "" || *nights > 0 || *rooms || quiet.Length > 0 || *stay > 0):
		return usagef("-report shows captures, or parts of the day of scenarios: leave out -cross, -nights, -rooms, -quiet and -stay")
	case *names == "" && *cross && options.LM1:
		return usagef("-cross chooses constants of the product, with LM1 beside it: leave out -detector lm1")
	case *names == "" && *cross:
		return evaluate.Cross(paths, out, options)
	case *names == "":
		return evaluate.Run(paths, out, options)
	case len(paths) > 0:
		return usagef("-scenario plays no captures: leave out %q", paths[0])
	case play.Length <= 0 || play.Length > maxPlay:
		return usagef("-length %s: want more than 0, at most %s", play.Length, maxPlay)
	case *cross || options.JSON || options.LM1 || options.Sensitivity != evaluate.Defaults().Sensitivity:
		return usagef("-cross, -json, -detector and -sensitivity are of captures: leave out -scenario")
	case *nights < 0 || *nights > maxNights:
		return usagef("-nights %d: want at most %d", *nights, maxNights)
	case *seeds < 1 || *seeds > maxNights:
		return usagef("-homes %d: want 1 to %d", *seeds, maxNights)
	case quiet.Length == 0 && (quiet.With != evaluate.Nobody || quiet.File != ""):
		return usagef("-with and -file belong to -quiet")
	case *stay < 0 || *stay > evaluate.LongestStay:
		return usagef("-stay %s: want at most %s", *stay, evaluate.LongestStay)
	}
	if quiet.Length < 0 || quiet.Length%evaluate.QuietPiece != 0 || quiet.Length > maxQuiet {
		return usagef("-quiet %s: want a multiple of %s, at most %s", quiet.Length, evaluate.QuietPiece, maxQuiet)
	}
	if !slices.Contains(evaluate.Company(), quiet.With) {
		return usagef("-with %q: want one of %s", quiet.With, strings.Join(evaluate.Company(), ", "))
	}
	homes, err := openScenarios(*names)
	if err != nil {
		return usagef("%v", err)
	}
	if quiet.Length > 0 {
		quiet.Seed, quiet.Progress = play.Seed, options.Progress
		return evaluate.RunQuiet(homes, quiet, out)
	}
	if *stay > 0 {
		return evaluate.RunStays(homes, evaluate.Stays{Seed: play.Seed, Homes: *seeds, Length: *stay, Progress: options.Progress}, out)
	}
	if *rooms {
		return evaluate.RunRooms(homes, evaluate.Rooms{Seed: play.Seed, Homes: *seeds}, out)
	}
	if *nights > 0 {
		return evaluate.RunNights(homes, evaluate.Nights{Seed: play.Seed, Homes: *seeds, Nights: *nights}, out)
	}
	play.Page = options.Page
	return evaluate.RunScenarios(homes, play, out)
}

// endAtOnce lets the first signal end the program: a measurement has nothing to finish.
func endAtOnce() { signal.Reset(os.Interrupt, syscall.SIGTERM) }

// quoted returns arguments, each after a space, in quotes where they need some.
func quoted(args []string) string {
	var text strings.Builder
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\") {
			arg = strconv.Quote(arg)
		}
		text.WriteString(" " + arg)
	}
	return text.String()
}

// program says which version of the program runs.
func program() string {
	info, known := debug.ReadBuildInfo()
	if !known {
		return "of unknown version"
	}
	text := "version " + info.Main.Version
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			text += ", commit " + setting.Value
		}
	}
	return text + ", " + info.GoVersion
}

// maxPlay is the longest part of a scenario that is scored.
const maxPlay = 2 * time.Hour

// maxQuiet is the longest quiet time.
const maxQuiet = 8760 * time.Hour

// maxNights is the maximum of -nights and of -homes.
const maxNights = 400

// openScenarios opens the scenarios of a list with commas, or "all".
func openScenarios(list string) ([]*scenario.Scenario, error) {
	names := strings.Split(list, ",")
	if list == "all" {
		names = scenario.Names()
	}
	var homes []*scenario.Scenario
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		home, err := scenario.Open(names[i])
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, fmt.Errorf("%s is named twice", names[i])
		}
		homes = append(homes, home)
	}
	return homes, nil
}

// compareCaptures is the command compare.
func compareCaptures(_ context.Context, c command, args []string, out io.Writer) error {
	endAtOnce()
	paths, err := c.parse(c.flags(), args, out)
	if err != nil {
		return err
	}
	if len(paths) != 1 {
		return usagef("name one directory of labelled captures")
	}
	return compare.Run(paths[0], out)
}
