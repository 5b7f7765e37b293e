// Sensegate is a motion-sensing appliance in one binary: guardians, access points
// and sensing nodes connect to its MQTT broker, apps and tools to its HTTP and
// websocket interfaces. This file holds the command line, the configuration and
// the wiring; everything else is in the packages that ARCHITECTURE.md maps.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/api"
	"sensegate/api/admin"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/broker"
	"sensegate/firmware-sim/demo"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
)

const usage = `sensegate senses motion from Wi-Fi signals, on this box alone.

  serve [-config FILE]         run the appliance (also without any argument)
  demo [-duration D] [-speed N] [-seed N] [-json]
                               run it on a simulated home, with temporary state
  config check [-config FILE]  check a configuration
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
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run carries out a command line and returns the exit code.
func run(args []string, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	var err error
	switch name {
	case "serve":
		err = serve(ctx, args, errOut)
	case "demo":
		err = runDemo(ctx, args, out, errOut)
	case "config":
		err = checkConfig(args, out, errOut)
	case "apikey", "device", "mqttuser":
		err = administer(ctx, name, args, out, errOut)
	case "version":
		fmt.Fprintln(out, "sensegate", version())
	case "help":
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

// version returns the version that the binary was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return info.Main.Version
}

// config is the whole configuration; config.example.yaml explains each key.
type config struct {
	StateDir   string           `yaml:"state_dir" env:"STATE_DIR"`
	Log        logConfig        `yaml:"log" envPrefix:"LOG_"`
	HTTP       api.Config       `yaml:"http" envPrefix:"HTTP_"`
	Core       coreConfig       `yaml:"core" envPrefix:"CORE_"`
	MQTT       broker.Config    `yaml:"mqtt" envPrefix:"MQTT_"`
	Gatekeeper gatekeeperConfig `yaml:"gatekeeper" envPrefix:"GATEKEEPER_"`
	Store      storeConfig      `yaml:"store" envPrefix:"STORE_"`
}

type logConfig struct {
	Level  slog.Level `yaml:"level" env:"LEVEL"`
	Format string     `yaml:"format" env:"FORMAT"`
}

type coreConfig struct {
	Listen string `yaml:"listen" env:"LISTEN"`
}

type gatekeeperConfig struct {
	MQTTServer  string        `yaml:"mqtt_server" env:"MQTT_SERVER"`
	AccessToken string        `yaml:"access_token" env:"ACCESS_TOKEN"`
	Readopt     string        `yaml:"readopt" env:"READOPT"`
	FirstWindow time.Duration `yaml:"first_window" env:"FIRST_WINDOW"`
}

type storeConfig struct {
	FlushInterval time.Duration `yaml:"flush_interval" env:"FLUSH_INTERVAL"`
}

func defaults() config {
	return config{
		StateDir:   "./data",
		Log:        logConfig{Format: "text"},
		HTTP:       api.Defaults(),
		MQTT:       broker.Defaults(),
		Gatekeeper: gatekeeperConfig{Readopt: "same-address", FirstWindow: 24 * time.Hour},
		Store:      storeConfig{FlushInterval: time.Minute},
	}
}

// Validate returns every rule that the configuration breaks.
func (c *config) Validate() error {
	var wrong []error
	check := func(key string, err error) {
		for line := range strings.Lines(fmt.Sprint(err)) {
			if err != nil {
				wrong = append(wrong, errors.New(key+strings.TrimSpace(line)))
			}
		}
	}
	rule := func(ok bool, text string) {
		if !ok {
			wrong = append(wrong, errors.New(text))
		}
	}
	rule(c.StateDir != "", "state_dir: want a directory")
	rule(c.Log.Format == "text" || c.Log.Format == "json", "log.format: want text or json")
	check("http.", c.HTTP.Validate())
	if c.Core.Listen != "" {
		_, _, err := net.SplitHostPort(c.Core.Listen)
		rule(err == nil, "core.listen: want host:port such as 127.0.0.1:8081, or nothing")
	}
	check("mqtt.", c.MQTT.Validate())
	rule(c.Gatekeeper.Readopt == "same-address" || c.Gatekeeper.Readopt == "never", "gatekeeper.readopt: want same-address or never")
	rule(c.Gatekeeper.FirstWindow >= 0, "gatekeeper.first_window: want 0 or more")
	token := len(c.Gatekeeper.AccessToken)
	rule(token == 0 || token >= 16, "gatekeeper.access_token: want at least 16 characters")
	rule(c.Store.FlushInterval >= time.Second && c.Store.FlushInterval <= 10*time.Minute, "store.flush_interval: want 1s to 10m")
	return errors.Join(wrong...)
}

// load reads the configuration.
func load(path string) (config, error) {
	c := defaults()
	err := admin.LoadConfig(path, os.Environ(), &c, c.Validate)
	return c, err
}

func (c logConfig) logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: c.Level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// parse reads the flags of a command that takes no arguments.
func parse(flags *flag.FlagSet, args []string, errOut io.Writer) error {
	flags.SetOutput(errOut)
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return err
	case err != nil:
		return admin.ErrUsage
	case flags.NArg() > 0:
		fmt.Fprintf(errOut, "%s: takes no %q\n", flags.Name(), flags.Arg(0))
		return admin.ErrUsage
	}
	return nil
}

func checkConfig(args []string, out, errOut io.Writer) error {
	if len(args) == 0 || args[0] != "check" {
		fmt.Fprint(errOut, "want: sensegate config check [-config FILE]\n")
		return admin.ErrUsage
	}
	flags := flag.NewFlagSet("sensegate config check", flag.ContinueOnError)
	path := flags.String("config", "", "configuration file")
	if err := parse(flags, args[1:], errOut); err != nil {
		return err
	}
	if _, err := load(*path); err != nil {
		return err
	}
	fmt.Fprintln(out, "the configuration is fine")
	return nil
}

// administer runs a command against the appliance of the state directory.
func administer(ctx context.Context, name string, args []string, out, errOut io.Writer) error {
	stateDir := defaults().StateDir
	if dir := os.Getenv(admin.EnvPrefix + "STATE_DIR"); dir != "" {
		stateDir = dir
	}
	return admin.Run(ctx, stateDir, append([]string{name}, args...), out, errOut)
}

func serve(ctx context.Context, args []string, errOut io.Writer) error {
	flags := flag.NewFlagSet("sensegate serve", flag.ContinueOnError)
	path := flags.String("config", "", "configuration file; none is needed")
	if err := parse(flags, args, errOut); err != nil {
		return err
	}
	c, err := load(*path)
	if err != nil {
		return err
	}
	a, err := open(ctx, c, c.Log.logger(errOut))
	if err != nil {
		return err
	}
	return errors.Join(a.run(ctx), a.db.Close())
}

// appliance is the assembled product.
type appliance struct {
	config config
	log    *slog.Logger
	db     *store.DB
	engine *engine.Engine
	broker *broker.Server
	http   *api.Server
	core   *api.Server // nil: on http
	admin  *admin.Server
}

// open assembles an appliance and binds its ports; run starts it.
func open(ctx context.Context, c config, log *slog.Logger) (_ *appliance, err error) {
	db, err := store.Open(store.Options{Path: admin.Database(c.StateDir), Logger: log})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	a := &appliance{config: c, log: log, db: db}
	a.engine, err = engine.New(ctx, db, engine.Options{
		FlushInterval: c.Store.FlushInterval, AccessToken: c.Gatekeeper.AccessToken,
		Readopt: c.Gatekeeper.Readopt == "same-address", FirstWindow: c.Gatekeeper.FirstWindow, Log: log,
	})
	if err != nil {
		return nil, err
	}
	if a.broker, err = broker.New(c.MQTT, broker.Intake{Engine: a.engine}, log); err != nil {
		return nil, err
	}
	a.engine.Introduce(a.broker)
	a.admin = admin.NewServer(a.engine, db, log)
	if err = a.broker.Listen(); err != nil {
		return nil, err
	}
	a.mount()
	if err = a.http.Listen(); err != nil {
		return nil, err
	}
	if a.core != nil {
		if err = a.core.Listen(); err != nil {
			return nil, err
		}
	}
	return a, a.admin.Listen(c.StateDir)
}

// mount puts every door in its place.
func (a *appliance) mount() {
	a.http = api.New(a.config.HTTP, a.log)
	private := a.http
	if a.config.Core.Listen != "" {
		own := a.config.HTTP
		own.Listen = a.config.Core.Listen
		a.core = api.New(own, a.log)
		private = a.core
	}
	keys := auth.NewKeys(a.db)
	private.Mount(core.New(a.engine, a.db, keys).Interface())
	private.Metrics(core.MetricsGuard(keys), a.metrics)
	private.Docs()
	a.http.Health(a.ready)
	a.http.HandleAnyHost("/gatekeeper", a.gatekeeper())
	a.http.Handle("/", http.RedirectHandler("/docs/", http.StatusFound))
}

// gatekeeper returns the door at which devices ask to join.
func (a *appliance) gatekeeper() http.Handler {
	where := broker.GatekeeperConfig{
		MQServer: a.config.Gatekeeper.MQTTServer, MQPort: portOf(a.broker.Addr()),
		TurnedAway: func(address netip.Addr, reason string, err error) {
			text := "gatekeeper: " + reason
			if err != nil {
				text += ": " + err.Error()
			}
			a.engine.BadInput("address/"+address.String(), text, nil)
		},
	}
	return broker.NewGatekeeper(where, a.engine, a.log)
}

func portOf(address net.Addr) int {
	tcp, _ := address.(*net.TCPAddr)
	return tcp.Port
}

// ready says why the appliance cannot work, nil when it can.
func (a *appliance) ready() error { return a.db.Err() }

// metrics writes what the broker counts.
func (a *appliance) metrics(w io.Writer) {
	counters := a.broker.Counters()
	fmt.Fprintf(w, "sensegate_mqtt_sessions %d\n", counters.Sessions)
	fmt.Fprintf(w, "sensegate_mqtt_messages_total{result=\"taken\"} %d\n", counters.Ingested)
	fmt.Fprintf(w, "sensegate_mqtt_messages_total{result=\"not_stored\"} %d\n", counters.NotStored)
	fmt.Fprintf(w, "sensegate_mqtt_refused_total %d\n", counters.Refused)
}

// run serves until ctx ends. The doors close first, then the engine writes what
// it holds; the caller closes the database last.
func (a *appliance) run(ctx context.Context) error {
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()
	worked := make(chan error, 1)
	go func() { worked <- a.engine.Run(working) }()

	doors, open := errgroup.WithContext(ctx)
	doors.Go(func() error { return a.broker.Run(open) })
	doors.Go(func() error { return a.http.Run(open) })
	if a.core != nil {
		doors.Go(func() error { return a.core.Run(open) })
	}
	doors.Go(func() error { return a.admin.Run(open) })
	doors.Go(func() error {
		select {
		case <-open.Done():
			return nil
		case err := <-worked:
			worked <- err
			return err
		case <-a.db.Failed():
			return a.db.Err()
		}
	})
	a.log.Info("ready", "http", a.http.Addr().String(), "mqtt", a.broker.Addr().String(), "state", a.config.StateDir)
	err := doors.Wait()
	stopWorking()
	return errors.Join(err, <-worked)
}

func runDemo(ctx context.Context, args []string, out, errOut io.Writer) error {
	flags := flag.NewFlagSet("sensegate demo", flag.ContinueOnError)
	c := demo.Config{Out: out}
	flags.DurationVar(&c.Duration, "duration", 0, "end after this time; 0 = when interrupted")
	flags.Float64Var(&c.Speed, "speed", 1, "simulated seconds per second, 1 to 60")
	flags.Uint64Var(&c.Seed, "seed", uint64(time.Now().UnixNano()), "the same seed gives the same people")
	flags.BoolVar(&c.JSON, "json", false, "print one JSON object per line, and a summary at the end")
	level := flags.String("log", "error", "what to log: debug, info, warn or error")
	if err := parse(flags, args, errOut); err != nil {
		return err
	}
	settings := defaults()
	if err := settings.Log.Level.UnmarshalText([]byte(*level)); err != nil || c.Speed < 1 || c.Speed > 60 || c.Duration < 0 {
		fmt.Fprintln(errOut, "demo: want -speed 1 to 60, -duration 0 or more, -log debug, info, warn or error")
		return admin.ErrUsage
	}
	c.Log = settings.Log.logger(errOut)
	c.Open = func(ctx context.Context, stateDir, http, mqtt string) (demo.Appliance, error) {
		settings.StateDir, settings.HTTP.Listen, settings.MQTT.Listen = stateDir, http, mqtt
		a, err := open(ctx, settings, c.Log)
		return demoAppliance{a}, err
	}
	return demo.Run(ctx, c)
}

// demoAppliance is the appliance as the demo sees it.
type demoAppliance struct{ *appliance }

func (a demoAppliance) Run(ctx context.Context) error { return errors.Join(a.run(ctx), a.db.Close()) }
func (a demoAppliance) HTTP() net.Addr                { return a.http.Addr() }
func (a demoAppliance) MQTT() net.Addr                { return a.broker.Addr() }

func (a demoAppliance) Key(ctx context.Context) (secret string, err error) {
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		_, secret, err = tx.CreateAPIKey(store.APIKey{Name: "demo", Scopes: []string{auth.ScopeRead, auth.ScopeWrite}})
		return err
	})
	return secret, err
}

func (a demoAppliance) Import(ctx context.Context, network motion.NetworkID, history []motion.History, events []motion.Event) error {
	return a.engine.Import(ctx, network, history, events)
}

func (a demoAppliance) PlaceLeaf(ctx context.Context, network motion.NetworkID, mac motion.MAC, location, friendlyName string) error {
	return a.engine.PlaceLeaf(ctx, network, mac, location, friendlyName)
}

func (a demoAppliance) Watch(ctx context.Context, network motion.NetworkID, see func(motion.Event)) error {
	events, err := a.engine.LiveEvents(network)
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m, open := <-events.C():
			if !open {
				return nil
			}
			see(*m.Event)
		}
	}
}
