package appliance

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"sensegate/api/admin"
	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/api/caller"
	"sensegate/api/pki"
	"sensegate/api/server"
	"sensegate/api/update"
	"sensegate/broker"
	"sensegate/broker/nodedoor"
	"sensegate/motion/notify"
	"sensegate/motion/sensor/zigbee2mqtt"
	"sensegate/motion/uplink"
	"sensegate/store"
	"sensegate/store/regular"
)

// Config is the whole configuration; config.example.yaml explains each key. Begin
// with Defaults.
type Config struct {
	StateDir   string             `yaml:"state_dir" env:"STATE_DIR"`
	Provision  string             `yaml:"provision_file" env:"PROVISION_FILE"` // "": provision.yaml in StateDir, if it is there
	Log        LogConfig          `yaml:"log" envPrefix:"LOG_"`
	HTTP       server.Config      `yaml:"http" envPrefix:"HTTP_"`
	Web        WebConfig          `yaml:"web" envPrefix:"WEB_"`
	Core       CoreConfig         `yaml:"core" envPrefix:"CORE_"`
	TLS        pki.Config         `yaml:"tls" envPrefix:"TLS_"`
	MQTT       broker.Config      `yaml:"mqtt" envPrefix:"MQTT_"`
	Gatekeeper GatekeeperConfig   `yaml:"gatekeeper" envPrefix:"GATEKEEPER_"`
	Store      StoreConfig        `yaml:"store" envPrefix:"STORE_"`
	Insights   InsightsConfig     `yaml:"insights" envPrefix:"INSIGHTS_"`
	Relay      uplink.RelayConfig `yaml:"relay" envPrefix:"RELAY_"`

	Auth auth.Config       `yaml:"auth" envPrefix:"AUTH_"`
	Mail notify.MailConfig `yaml:"mail" envPrefix:"MAIL_"`
	Push notify.PushConfig `yaml:"push" envPrefix:"PUSH_"`

	Sensors SensorsConfig `yaml:"sensors" envPrefix:"SENSORS_"`

	Nodes nodedoor.Config `yaml:"nodes" envPrefix:"NODES_"`

	Uplinks []uplink.Config `yaml:"uplinks" envPrefix:"UPLINKS_"`

	Sources *admin.Sources `yaml:"-"` // where Load found the values; nil: nowhere
	Trial   *update.Trial  `yaml:"-"` // of an update that is not over; nil: none
}

// LogConfig is the log part: what is logged, as what, and where.
type LogConfig struct {
	Level    slog.Level `yaml:"level" env:"LEVEL"`
	Format   string     `yaml:"format" env:"FORMAT"`       // text or json
	File     string     `yaml:"file" env:"FILE"`           // "": standard error, which a supervisor keeps
	FileSize Size       `yaml:"file_size" env:"FILE_SIZE"` // of one, before the next is begun
	Files    int        `yaml:"files" env:"FILES"`         // former ones that are kept

	InForce *slog.LevelVar `yaml:"-"` // the level, once there is a Logger
}

// WebConfig configures the web app.
type WebConfig struct {
	Admin string `yaml:"admin" env:"ADMIN"` // caller.AdminPrivate and the others
}

// CoreConfig can give Core and /metrics a listener of their own.
type CoreConfig struct {
	Listen    string `yaml:"listen" env:"LISTEN"`         // host:port; empty: they are served with the rest
	TLSListen string `yaml:"tls_listen" env:"TLS_LISTEN"` // host:port for https beside it; "" or off = none
}

// GatekeeperConfig configures how devices join (device-protocol.md 1).
type GatekeeperConfig struct {
	MQTTServer  string        `yaml:"mqtt_server" env:"MQTT_SERVER"`
	AccessToken string        `yaml:"access_token" env:"ACCESS_TOKEN" secret:"true"`
	Readopt     string        `yaml:"readopt" env:"READOPT"`
	FirstWindow time.Duration `yaml:"first_window" env:"FIRST_WINDOW"`
}

// StoreConfig configures how often samples are written, how much of the disk stays free, and
// how long records are kept.
type StoreConfig struct {
	FlushInterval time.Duration   `yaml:"flush_interval" env:"FLUSH_INTERVAL"`
	MinFree       Size            `yaml:"min_free" env:"MIN_FREE"`
	Retention     store.Retention `yaml:"retention" envPrefix:"RETENTION_"`

	EventsOfNetwork Size `yaml:"events_of_network" env:"EVENTS_OF_NETWORK"` // 0: any number
}

// InsightsConfig switches the household insights.
type InsightsConfig struct {
	Enabled bool `yaml:"enabled" env:"ENABLED"`
}

// Defaults returns what runs without any configuration.
func Defaults() Config {
	return Config{
		StateDir:   "./data",
		Log:        LogConfig{Format: "text", FileSize: 10 * mebibyte, Files: 3},
		HTTP:       server.Defaults(),
		Web:        WebConfig{Admin: caller.AdminPrivate},
		MQTT:       broker.Defaults(),
		Gatekeeper: GatekeeperConfig{Readopt: "same-address", FirstWindow: 24 * time.Hour},
		Store:      StoreConfig{FlushInterval: time.Minute, MinFree: 64 * mebibyte, EventsOfNetwork: 32 * mebibyte, Retention: store.DefaultRetention()},
		Insights:   InsightsConfig{Enabled: true},
		Relay:      uplink.RelayDefaults(),
		Auth:       auth.Defaults(),
		Mail:       notify.MailDefaults(),
		Push:       notify.PushDefaults(),
		Sensors:    SensorsConfig{Provider: zigbee2mqtt.Name, Zigbee2MQTT: zigbee2mqtt.Defaults()},
		Nodes:      nodedoor.Defaults(),
		Uplinks:    []uplink.Config{},
	}
}

// Validate returns every rule that the configuration breaks.
func (c *Config) Validate() error {
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
	rule(c.Log.Format == "text" || c.Log.Format == "json", fmt.Sprintf("log.format: want text or json, found %.40q", c.Log.Format))
	rule(c.Log.FileSize >= mebibyte, "log.file_size: want 1MiB or more")
	rule(c.Log.Files >= 1 && c.Log.Files <= 100, fmt.Sprintf("log.files: want 1 to 100, found %d", c.Log.Files))
	check("http.", c.HTTP.Validate())
	admin := []string{caller.AdminPrivate, caller.AdminAny, caller.AdminOff}
	rule(slices.Contains(admin, c.Web.Admin), fmt.Sprintf("web.admin: want private, any or off, found %.40q", c.Web.Admin))
	check("core.", c.Core.Validate())
	check("tls.", c.TLS.Validate())
	check("mqtt.", c.MQTT.Validate())
	readopt := c.Gatekeeper.Readopt
	rule(readopt == "same-address" || readopt == "never", fmt.Sprintf("gatekeeper.readopt: want same-address or never, found %.40q", readopt))
	rule(c.Gatekeeper.FirstWindow >= 0, "gatekeeper.first_window: want 0 or more")
	token := len(c.Gatekeeper.AccessToken)
	rule(token == 0 || token >= 16, "gatekeeper.access_token: want at least 16 characters")
	rule(c.Store.FlushInterval >= time.Second && c.Store.FlushInterval <= 10*time.Minute, "store.flush_interval: want 1s to 10m")
	rule(c.Store.MinFree >= mebibyte, "store.min_free: want 1MiB or more")
	rule(c.Store.EventsOfNetwork == 0 || c.Store.EventsOfNetwork >= mebibyte, "store.events_of_network: want 1MiB or more, or 0KiB for any number")
	check("store.retention.", c.Store.Retention.Validate())
	check("relay.", c.Relay.Validate())
	check("auth.", c.Auth.Validate())
	check("mail.", c.Mail.Validate())
	check("push.", c.Push.Validate())
	check("sensors.", c.Sensors.Validate())
	check("nodes.", c.Nodes.Validate())
	check("uplinks.", uplink.ValidateAll(c.Uplinks, c.Relay))
	return errors.Join(wrong...)
}

// Validate returns all mistakes at once.
func (c CoreConfig) Validate() error {
	isAddress := func(text string) bool { _, _, err := net.SplitHostPort(text); return err == nil }
	var wrong []error
	if c.Listen != "" && !isAddress(c.Listen) {
		wrong = append(wrong, errors.New("listen: want host:port such as 127.0.0.1:8081, or nothing"))
	}
	switch none := c.TLSListen == "" || c.TLSListen == "off"; {
	case !none && !isAddress(c.TLSListen):
		wrong = append(wrong, errors.New("tls_listen: want host:port such as :8444, or off"))
	case !none && c.Listen == "":
		wrong = append(wrong, errors.New("tls_listen: needs listen; without, Core is served on http.tls_listen"))
	}
	return errors.Join(wrong...)
}

// Load reads the configuration file at path ("" = none) and the environment over the defaults.
// Mistakes come as an *admin.ConfigError.
func Load(path string) (Config, error) {
	c := Defaults()
	sources, err := admin.LoadConfig(path, os.Environ(), &c, c.Validate)
	c.Sources = sources
	return c, err
}

// Settings returns every key of the configuration, without secrets.
func (c *Config) Settings() box.Settings { return c.Sources.Settings(c, Defaults()) }

// Logger returns a logger to the configured file, to w without one, or where it is a pipe that nobody may read, which
// Preflight refuses. InForce changes its level.
func (c *LogConfig) Logger(w io.Writer) *slog.Logger {
	c.InForce = new(slog.LevelVar)
	c.InForce.Set(c.Level)
	if c.File != "" && regular.Mistake(c.File) == nil {
		w = &lumberjack.Logger{Filename: c.File, MaxSize: int(c.FileSize / mebibyte), MaxBackups: c.Files}
	}
	options := &slog.HandlerOptions{Level: c.InForce}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// Size is a number of bytes, written as 64MiB, with KiB, MiB or GiB.
type Size int64

const (
	kibibyte Size = 1 << 10
	mebibyte Size = 1 << 20
	gibibyte Size = 1 << 30
)

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	for unit, bytes := range map[string]Size{"KiB": kibibyte, "MiB": mebibyte, "GiB": gibibyte} {
		digits, ok := strings.CutSuffix(string(text), unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 32)
		if err != nil {
			break
		}
		*s = Size(n) * bytes
		return nil
	}
	return errors.New("want a size such as 64MiB")
}

// MarshalText writes the size in the largest unit that divides it.
func (s Size) MarshalText() ([]byte, error) {
	switch {
	case s%gibibyte == 0 && s > 0:
		return fmt.Appendf(nil, "%dGiB", s/gibibyte), nil
	case s%mebibyte == 0:
		return fmt.Appendf(nil, "%dMiB", s/mebibyte), nil
	}
	return fmt.Appendf(nil, "%dKiB", s/kibibyte), nil
}

// spareFiles is how many files and sockets the appliance opens at most beside the limited
// connections: unlimited ones of loopback, outgoing ones, the database.
const spareFiles = 1024

// openFiles returns how many files and sockets the process may open, 0 when the system does
// not say. Go has raised the soft limit to the hard one.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}

// connections returns how many connections may be open at once, over HTTP and MQTT.
func (c *Config) connections() int {
	all := c.HTTP.MaxConnections + c.MQTT.Guard.MaxConnections
	if c.Core.Listen != "" {
		all += c.HTTP.MaxConnections
	}
	return all
}

// fitConnections lowers the maximum numbers of connections when the process may not open as
// many files: otherwise no listener would know that it is full, and silent connections would
// never give way.
func (c *Config) fitConnections(files int, log *slog.Logger) {
	http, mqtt, wanted := c.HTTP.MaxConnections, c.MQTT.Guard.MaxConnections, c.connections()
	left := max(files-spareFiles, files/4)
	if files == 0 || wanted <= left {
		return
	}
	c.HTTP.MaxConnections, c.MQTT.Guard.MaxConnections = max(1, http*left/wanted), max(1, mqtt*left/wanted)
	log.Info("fewer connections than configured, for want of open files", "files", files,
		"http.max_connections", c.HTTP.MaxConnections, "mqtt.max_connections", c.MQTT.Guard.MaxConnections)
}
