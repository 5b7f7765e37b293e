package uplink

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"sensegate/motion"
	"sensegate/motion/hook"
)

// The names of the providers of the section relay, as in motion/{realtime_provider} (payloads.md 4.7).
const (
	MQTT    = "mqtt"
	Webhook = "webhook"
)

// RelayConfig is the section relay of the configuration: an MQTT broker and a webhook for live motion.
// The broker is an uplink named relay, with topics of its own. Start from RelayDefaults.
type RelayConfig struct {
	MQTT    RelayMQTT   `yaml:"mqtt" envPrefix:"MQTT_"`
	Webhook hook.Config `yaml:"webhook" envPrefix:"WEBHOOK_"`
}

// RelayMQTT is the broker of the section relay.
type RelayMQTT struct {
	URL      string `yaml:"url" env:"URL"` // mqtt://host[:1883] or mqtts://host[:8883]; empty: disabled
	Username string `yaml:"username" env:"USERNAME"`
	Password string `yaml:"password" env:"PASSWORD" secret:"true"`
	Prefix   string `yaml:"prefix" env:"PREFIX"`       // of every topic
	ClientID string `yaml:"client_id" env:"CLIENT_ID"` // empty: sensegate-<host name>
	CA       string `yaml:"ca" env:"CA"`               // certificates (PEM) to verify the broker; empty: the system's
}

// RelayDefaults returns a section without providers.
func RelayDefaults() RelayConfig { return RelayConfig{MQTT: RelayMQTT{Prefix: DefaultPrefix}} }

// Validate returns all mistakes joined, or nil. It also checks the settings of a provider
// without a url, so that they are right when it gets one.
func (c RelayConfig) Validate() error {
	wrong := []error{c.MQTT.validate()}
	if err := c.Webhook.Validate(); err != nil {
		for _, line := range mistakes(err) {
			wrong = append(wrong, errors.New("webhook."+line))
		}
	}
	return errors.Join(wrong...)
}

func (c RelayMQTT) validate() error {
	var wrong []error
	u := c.uplink()
	if _, err := u.address(); c.URL != "" && (err != nil || !strings.HasPrefix(c.URL, "mqtt")) {
		wrong = append(wrong, errors.New("mqtt.url: want mqtt://host[:port] or mqtts://host[:port]; user name and password have keys of their own"))
	}
	if !soundPrefix(c.Prefix) {
		wrong = append(wrong, errors.New("mqtt.prefix: want one or more topic levels such as home/sensegate, without # and +"))
	}
	if _, mistaken := u.tls(); len(mistaken) > 0 {
		wrong = append(wrong, fmt.Errorf("mqtt.%w", mistaken[0]))
	}
	return errors.Join(wrong...)
}

// uplink returns the uplink of the section.
func (c RelayMQTT) uplink() Config {
	return Config{
		Name: relayName, URL: c.URL, Username: c.Username, Password: c.Password, Prefix: c.Prefix, ClientID: c.ClientID, CA: c.CA,
		Use: []Use{Live}, relay: true,
	}
}

// Provider is an outside service that live motion of a network can be delivered to for a while. Its
// methods may be called concurrently.
type Provider interface {
	// Ready returns the fault that ended delivery for good, or nil. A service that is only
	// unreachable is ready: it is tried again.
	Ready() error
	// Deliver queues a live frame of a network without waiting. It keeps json, which must not
	// be changed afterwards.
	Deliver(network motion.NetworkID, json []byte)
}

// Counters counts frames and failed tries of a provider.
type Counters struct {
	Delivered uint64 // frames handed over
	Dropped   uint64 // frames lost: queue full, rejected, or service gone
	Failures  uint64 // failed connections or posts
}

// Providers returns the providers of now: mqtt and webhook of the section relay, and by its name each
// uplink that is used for live motion.
func (s *Set) Providers() map[string]Provider {
	all := map[string]Provider{}
	if s.webhook != nil {
		all[Webhook] = s.webhook
	}
	for _, r := range s.list() {
		if l := r.live(); l != nil {
			all[l.provider()] = l
		}
	}
	return all
}

// live returns the part of the runner that delivers live motion, nil for none.
func (r *runner) live() *live {
	i := slices.IndexFunc(r.parts, func(p Part) bool { _, ok := p.(*live); return ok })
	if i < 0 {
		return nil
	}
	return r.parts[i].(*live)
}

// relayMetrics writes the counters of the section relay in the Prometheus text format.
func (s *Set) relayMetrics(w io.Writer) {
	write := func(name string, c Counters) {
		metrics.WriteCounterUint64(w, `sensegate_relay_frames_total{provider="`+name+`",result="delivered"}`, c.Delivered)
		metrics.WriteCounterUint64(w, `sensegate_relay_frames_total{provider="`+name+`",result="dropped"}`, c.Dropped)
		metrics.WriteCounterUint64(w, `sensegate_relay_failures_total{provider="`+name+`"}`, c.Failures)
	}
	for _, r := range s.list() {
		if l := r.live(); r.uplink.relay && l != nil {
			write(MQTT, Counters{Delivered: l.delivered.Load(), Dropped: l.queue.lost(), Failures: r.state().Failures})
		}
	}
	if s.webhook != nil {
		write(Webhook, s.webhook.Counters())
	}
}

// Channel returns the name of a network's live motion in the section relay, such as "motion/1042".
func Channel(network motion.NetworkID) string { return fmt.Sprintf("motion/%d", network) }

// ChannelOf is Channel of a provider, which of an uplink stands below its base.
func ChannelOf(provider string, network motion.NetworkID) string {
	if provider == MQTT || provider == Webhook {
		return Channel(network)
	}
	return fmt.Sprintf("%d/live", network)
}

// defaultBackoff returns the back-off between tries of the webhook.
func defaultBackoff() hook.Backoff { return hook.Backoff{First: time.Second, Most: time.Minute} }

// newRelay adds the providers of the section relay to the set.
func (s *Set) newRelay(c RelayConfig, log *slog.Logger) (err error) {
	if c.Webhook.URL != "" {
		s.webhook, err = newWebhook(c.Webhook, log)
	}
	if c.MQTT.URL != "" {
		s.runners = append(s.runners, s.newRunner(c.MQTT.uplink(), OfConfiguration))
	}
	return err
}
