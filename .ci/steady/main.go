// Command steady runs the tests repeatedly, shuffled, and names those that fail by
// chance: go run ./.ci/steady [flags] [packages]. It exits with 1 if any fails.
//
//	go run ./.ci/steady -load 2 -nice 19 -clocks ./broker/... ./api/app
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"sensegate/firmware-sim/clocktest"
)

// options say how the tests run.
type options struct {
	runs, load, nice  int
	clocks, race      bool
	only, skip, limit string
	packages          []string
}

// zones are the values of TZ that runs with -clocks take in turn.
var zones = []string{"UTC", "America/Toronto", "Asia/Kolkata", "Pacific/Auckland"}

func main() {
	var o options
	flag.IntVar(&o.runs, "n", 10, "number of runs")
	flag.IntVar(&o.load, "load", 0, "number of busy loops during the runs")
	flag.IntVar(&o.nice, "nice", 0, "niceness of the tests, 0 to 19")
	flag.BoolVar(&o.clocks, "clocks", false, "use the next fixed clock and another TZ in each run")
	flag.BoolVar(&o.race, "race", false, "use the race detector")
	flag.StringVar(&o.only, "run", "", "as in go test")
	flag.StringVar(&o.skip, "skip", "", "as in go test")
	flag.StringVar(&o.limit, "timeout", "30m", "as in go test")
	flag.Parse()
	if o.packages = flag.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	failures, err := repeat(ctx, o)
	stop()
	failures.print(os.Stdout, o.runs)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || len(failures) > 0 {
		os.Exit(1)
	}
}

// repeat runs the tests and returns the failures.
func repeat(ctx context.Context, o options) (failures, error) {
	loaded, relax := context.WithCancel(ctx)
	defer relax()
	for range o.load {
		go func() {
			for loaded.Err() == nil {
			}
		}()
	}
	failed := failures{}
	for i := range o.runs {
		seed := strconv.FormatInt(rand.Int64N(1e9)+1, 10)
		cmd := o.command(ctx, seed)
		how := "seed " + seed
		if o.clocks {
			clock, zone := clocktest.Names()[i%len(clocktest.Names())], zones[i%len(zones)]
			cmd.Env = append(os.Environ(), clocktest.Variable+"="+clock, "TZ="+zone)
			how += ", clock " + clock + ", TZ " + zone
		}
		began := time.Now()
		n, err := failed.run(cmd, how)
		if err != nil {
			return failed, fmt.Errorf("run %d: %w", i+1, err)
		}
		fmt.Printf("run %d of %d (%s): %d failed, %v\n", i+1, o.runs, how, n, time.Since(began).Round(time.Second))
	}
	return failed, nil
}

// command returns the command of one run.
func (o options) command(ctx context.Context, seed string) *exec.Cmd {
	line := []string{"nice", "-n", strconv.Itoa(o.nice), "go", "test", "-json", "-count=1", "-shuffle=" + seed, "-timeout=" + o.limit, "-run=" + o.only, "-skip=" + o.skip}
	if o.race {
		line = append(line, "-race")
	}
	line = append(line, o.packages...)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Stderr = os.Stderr
	return cmd
}
