// Sensegate is a motion-sensing appliance in one binary: guardians, access points
// and sensing nodes connect to its MQTT broker, apps and tools to its HTTP and
// websocket interfaces. This file is the command line; ARCHITECTURE.md maps the
// rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"sensegate/api/admin"
	"sensegate/api/appliance"
	"sensegate/api/box"
	"sensegate/api/box/preflight"
	"sensegate/api/update"
	"sensegate/firmware-sim/demo"
	"sensegate/motion"
	"sensegate/motion/timezone"
)

const usage = `sensegate senses motion from Wi-Fi signals, on this box alone.

  serve [-config FILE]         run the appliance (also without any argument)
  demo [-duration D] [-speed N] [-seed N] [-json] [-vacant] [-nodes ruview]
                               run it on a simulated home, with temporary state
  doctor [-config FILE]        whether this machine lets it work: disk, clock, ports
  config check [-config FILE]  check a configuration
  config show [-config FILE] [-json | KEY]
                               every setting, and where its value comes from; the value of one
` + admin.Usage + `  version

Each command explains itself with -h. Settings: config.example.yaml, or the
environment (SENSEGATE_STATE_DIR, SENSEGATE_HTTP_LISTEN, ...).
`

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	timezone.SetLocal()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit code.
func run(args []string, out, errOut io.Writer) int {
	ctx, stopped := appliance.Stoppable()
	defer stopped()
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	var err error
	switch name {
	case "serve":
		if err = serve(ctx, stopped, args, out, errOut); errors.Is(err, appliance.ErrRestart) {
			err = startAnew(err, stopped, errOut)
		}
	case "demo":
		err = runDemo(ctx, args, out, errOut)
	case "doctor":
		err = examine(args, out, errOut)
	case "config":
		err = configure(args, out, errOut)
	case "apikey", "audit", "backup", "calibrate", "db", "device", "links", "log", "mqttuser", "network", "outbox", "record", "restore", "setup-code", "status", "support", "update", "uplink", "user":
		err = administer(ctx, name, args, out, errOut)
	case "version":
		fmt.Fprintln(out, box.ThisBuild())
	case "help":
		if len(args) > 0 {
			return run(append(args, "-h"), out, errOut)
		}
		fmt.Fprint(out, usage)
	default:
		fmt.Fprintf(errOut, "%s: no such command\n\n%s", name, usage)
		err = admin.ErrUsage
	}
	var wrong *admin.ConfigError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, admin.ErrUsage):
		return exitUsage
	case errors.As(err, &wrong):
		fmt.Fprintln(errOut, err)
		return exitUsage
	}
	fmt.Fprintln(errOut, "sensegate:", err)
	return exitFailed
}

// parse reads the flags of a command that takes no arguments.
func parse(flags *flag.FlagSet, args []string, errOut io.Writer) error {
	return parseSome(flags, args, 0, errOut)
}

// parseSome reads the flags of a command that takes that many arguments at most.
func parseSome(flags *flag.FlagSet, args []string, most int, errOut io.Writer) error {
	flags.SetOutput(errOut)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return admin.ErrUsage
	case flags.NArg() > most:
		fmt.Fprintf(errOut, "%s: takes no %q\n", flags.Name(), flags.Arg(most))
		return admin.ErrUsage
	}
	return nil
}

// configure checks or shows a configuration.
func configure(args []string, out, errOut io.Writer) error {
	if len(args) == 0 || args[0] != "check" && args[0] != "show" {
		fmt.Fprint(errOut, "want: sensegate config check [-config FILE], or config show [-config FILE] [-json | KEY]\n")
		return admin.ErrUsage
	}
	flags := flag.NewFlagSet("sensegate config "+args[0], flag.ContinueOnError)
	path := flags.String("config", "", "configuration file")
	asJSON, most := new(bool), 0
	if args[0] == "show" {
		asJSON, most = flags.Bool("json", false, "print the settings as JSON"), 1
	}
	if err := parseSome(flags, args[1:], most, errOut); err != nil {
		return err
	}
	c, err := appliance.Load(*path)
	if err != nil {
		return err
	}
	switch {
	case flags.NArg() > 0:
		return admin.ShowSetting(out, c.Settings(), flags.Arg(0))
	case args[0] == "show":
		return admin.ShowSettings(out, c.Settings(), *asJSON)
	}
	fmt.Fprintln(out, "the configuration is fine")
	return nil
}

// examine looks whether this machine lets the appliance work.
func examine(args []string, out, errOut io.Writer) error {
	flags := flag.NewFlagSet("sensegate doctor", flag.ContinueOnError)
	path := flags.String("config", appliance.Installed(), "configuration file")
	if err := parse(flags, args, errOut); err != nil {
		return err
	}
	c, err := appliance.Load(*path)
	if err != nil {
		return err
	}
	found := c.Examine()
	preflight.Show(out, found, preflight.Fine)
	if preflight.Worst(found) == preflight.Wrong {
		return errors.New("it does not work here until that is put right")
	}
	return nil
}

// administer runs a command against the appliance of the state directory.
func administer(ctx context.Context, name string, args []string, out, errOut io.Writer) error {
	return admin.Run(ctx, appliance.StateDir(), appliance.Offline, append([]string{name}, args...), out, errOut)
}

// startAnew replaces the process when the appliance has ended for that: ended may also tell
// what could not be closed.
func startAnew(ended error, stopped func() bool, errOut io.Writer) error {
	if told := ended.Error(); told != appliance.ErrRestart.Error() {
		fmt.Fprintln(errOut, "sensegate:", told)
	}
	return appliance.StartAnew(stopped)
}

// serve runs the appliance to its end.
func serve(ctx context.Context, stopped func() bool, args []string, out, errOut io.Writer) error {
	flags := flag.NewFlagSet("sensegate serve", flag.ContinueOnError)
	path := flags.String("config", "", "configuration file; none is needed")
	if err := parse(flags, args, errOut); err != nil {
		return err
	}
	c, err := appliance.Load(*path)
	log := c.Log.Logger(errOut)
	trial, begun := update.Begin(c.StateDir, stopped, log) // also when the configuration is refused, which may be another program's
	if errors.Is(begun, update.ErrStopped) {
		return nil
	}
	if begun != nil {
		return begun
	}
	c.Trial = trial
	if err == nil {
		err = serveOn(ctx, c, *path, log, out, errOut)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, appliance.ErrRestart) && trial.Fail(err.Error()) {
		return errors.New(err.Error()) // and no mistake in the configuration, after which nobody might start it again
	}
	return err
}

// serveOn runs the appliance with the configuration that was read at a path.
func serveOn(ctx context.Context, c appliance.Config, path string, log *slog.Logger, out, errOut io.Writer) error {
	a, err := openHere(ctx, c, log, errOut)
	if err != nil {
		return err
	}
	go func() {
		<-a.Serving()
		c.Trial.Ready()
	}()
	a.Restartable(func() error {
		_, err := appliance.Load(path)
		return err
	})
	code, err := a.SetupCode(ctx)
	if err != nil {
		fmt.Fprintln(errOut, "sensegate:", err)
	}
	defer showSetup(ctx, a, code, out, errOut)()
	defer onHangup(a.ReloadCertificate)()
	return untilFailed(ctx, a)
}

// openHere assembles the appliance where the machine lets it work.
func openHere(ctx context.Context, c appliance.Config, log *slog.Logger, errOut io.Writer) (*appliance.Appliance, error) {
	found := c.Preflight()
	for _, f := range found {
		switch f.Grade {
		case preflight.Wrong:
			preflight.Show(errOut, found, preflight.Wrong)
			if c.Trial.OnTrial() { // which notes why, for who cannot see the above, and whose doctor is gone then
				return nil, errors.New(f.String())
			}
			return nil, errors.New("it does not work here until that is put right; sensegate doctor looks again")
		case preflight.Warning:
			log.Warn(f.String())
		}
	}
	appliance.HoldMemory(log)
	return appliance.Open(ctx, c, log)
}

// showSetup writes how to begin with a setup code, unless that is "", as soon as the running
// appliance knows its names; stop waits for that or ends it. The QR code is drawn for a
// terminal only: in a journal it would be 20 lines of blocks, each behind the journal's own
// words, at every start; setup-code draws it when somebody wants it.
func showSetup(ctx context.Context, a *appliance.Appliance, code string, out, errOut io.Writer) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		if code == "" {
			return
		}
		setup := a.Setup(ctx, code)
		fmt.Fprintf(out, "No network has an owner yet. Setup code: %s (a new one: sensegate setup-code)\n", code)
		if err := admin.ShowSetup(out, setup, admin.IsTerminal(out)); err != nil {
			fmt.Fprintln(errOut, "sensegate:", err)
		}
	}()
	return func() {
		cancel()
		<-shown
	}
}

// failedTime is how long an appliance may take to stop whose store has failed: what waits
// for the store may wait for ever.
const failedTime = 10 * time.Second

// untilFailed runs an appliance to its end, and no longer than failedTime after its store
// has failed.
func untilFailed(ctx context.Context, a *appliance.Appliance) error {
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-a.Failed():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(failedTime):
		return errors.New("the store has failed and what waits for it does not end: start again")
	}
}

// onHangup calls reload at each SIGHUP, until stop has returned.
func onHangup(reload func()) (stop func()) {
	hangups, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer close(done)
		for range hangups {
			reload()
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
		<-done
	}
}

// unless returns text, "" when it is the usual one.
func unless(usual, text string) string {
	if text == usual {
		return ""
	}
	return text
}

func runDemo(ctx context.Context, args []string, out, errOut io.Writer) error {
	flags := flag.NewFlagSet("sensegate demo", flag.ContinueOnError)
	c := demo.Config{Out: out}
	flags.DurationVar(&c.Duration, "duration", 0, "end after this time; 0 = when interrupted")
	flags.Float64Var(&c.Speed, "speed", 1, "simulated seconds per second, 1 to 60")
	flags.Uint64Var(&c.Seed, "seed", uint64(time.Now().UnixNano()), "the same seed gives the same people")
	flags.BoolVar(&c.JSON, "json", false, "print one JSON object per line, and a summary at the end")
	flags.BoolVar(&c.Vacant, "vacant", false, "leave the home without an owner and print a setup code, as docs/app.md needs it")
	others := flags.String("nodes", "", "ruview: beside the home is a workshop with two RuView nodes, which send to it by UDP")
	level := flags.String("log", "error", "what to log: debug, info, warn or error")
	if err := parse(flags, args, errOut); err != nil {
		return err
	}
	settings, err := appliance.Load("") // the defaults, and what the environment says
	if err != nil {
		return err
	}
	if err := settings.Log.Level.UnmarshalText([]byte(*level)); err != nil || c.Speed < 1 || c.Speed > 60 || c.Duration < 0 {
		fmt.Fprintln(errOut, "demo: want -speed 1 to 60, -duration 0 or more, -log debug, info, warn or error")
		return admin.ErrUsage
	}
	if c.RuView = *others == string(motion.RuView); *others != "" && !c.RuView || c.RuView && c.Speed > 1 {
		fmt.Fprintln(errOut, "demo: want -nodes ruview, which play at -speed 1 alone")
		return admin.ErrUsage
	}
	c.Log = settings.Log.Logger(errOut)
	usual := appliance.Defaults()
	c.HTTP, c.MQTT = unless(usual.HTTP.Listen, settings.HTTP.Listen), unless(usual.MQTT.Listen, settings.MQTT.Listen)
	c.Open = func(ctx context.Context, stateDir, http, mqtt string) (demo.Appliance, error) {
		settings.StateDir, settings.HTTP.Listen, settings.MQTT.Listen = stateDir, http, mqtt
		if c.RuView {
			settings.Nodes.RuView.Listen = "127.0.0.1:0"
		}
		settings.HTTP.TLSListen, settings.MQTT.TLSListen = "", "" // nobody comes to trust what is gone in a moment
		return appliance.Open(ctx, settings, c.Log)
	}
	return demo.Run(ctx, c)
}
