// Package relay delivers live motion of networks to outside services: an MQTT broker and a
// webhook, each only when it is configured. It knows frames as JSON, queues, and the protocol
// of each service. It must not know who asked for a delivery and for how long, the content of
// a frame, the store, the appliance's own broker or its interfaces.
//
// Concurrency. Deliver never waits: every provider has a bounded queue that drops
// its oldest frame when it is full, and one goroutine, owned by Run, that empties
// it. All exported methods may be called concurrently.
package relay

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/hook"
)

// The names of the providers, as in motion/{realtime_provider} (payloads.md 4.7).
const (
	MQTT    = "mqtt"
	Webhook = "webhook"
)

// Provider is one configured outside service.
type Provider interface {
	// Ready returns the fault for which nothing can be delivered any more, nil while frames
	// are queued. A service that is unreachable for the moment is ready: it will be tried
	// again.
	Ready() error
	// Deliver queues a live frame of a network. It never waits and keeps json, which
	// must not be changed afterwards.
	Deliver(network motion.NetworkID, json []byte)
	// Counters returns what was counted since the start.
	Counters() Counters

	run(ctx context.Context) error
}

// Counters count frames, and tries that failed.
type Counters struct {
	Delivered uint64 // frames handed over
	Dropped   uint64 // frames given up: queue full, refused, or service gone
	Failures  uint64 // connections or posts that failed
}

// Relay holds the configured providers. Make it with New, start it with Run.
type Relay struct {
	providers map[string]Provider
}

// New returns the providers that a valid configuration has. Nothing is connected
// before Run.
func New(c Config, log *slog.Logger) (*Relay, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	r := &Relay{providers: map[string]Provider{}}
	if c.MQTT.URL != "" {
		p, err := newMQTT(c.MQTT, log)
		if err != nil {
			return nil, err
		}
		r.providers[MQTT] = p
	}
	if c.Webhook.URL != "" {
		p, err := newWebhook(c.Webhook, log)
		if err != nil {
			return nil, err
		}
		r.providers[Webhook] = p
	}
	return r, nil
}

// Providers returns the configured providers by name. The map must not be changed.
func (r *Relay) Providers() map[string]Provider { return r.providers }

// Run delivers until ctx ends. Frames that wait then are not delivered.
func (r *Relay) Run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	for _, p := range r.providers {
		group.Go(func() error { return p.run(running) })
	}
	return group.Wait()
}

// Metrics writes the counters in the Prometheus text format.
func (r *Relay) Metrics(w io.Writer) {
	for _, name := range slices.Sorted(maps.Keys(r.providers)) {
		c := r.providers[name].Counters()
		metrics.WriteCounterUint64(w, `sensegate_relay_frames_total{provider="`+name+`",result="delivered"}`, c.Delivered)
		metrics.WriteCounterUint64(w, `sensegate_relay_frames_total{provider="`+name+`",result="dropped"}`, c.Dropped)
		metrics.WriteCounterUint64(w, `sensegate_relay_failures_total{provider="`+name+`"}`, c.Failures)
	}
}

// Channel returns the name under which a network's live motion is delivered,
// "motion/1042".
func Channel(network motion.NetworkID) string { return fmt.Sprintf("motion/%d", network) }

// defaultBackoff returns the wait between tries of a provider.
func defaultBackoff() hook.Backoff { return hook.Backoff{First: time.Second, Most: time.Minute} }
