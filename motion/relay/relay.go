// Package relay delivers live motion of networks to external services: an MQTT broker and a
// webhook, each only if it is configured. It knows frames as JSON, queues, and the protocol of
// each service. It must not know who requested a delivery or for how long, the content of a
// frame, the store, the appliance's own broker or its interfaces.
//
// Concurrency. All exported methods may be called concurrently. Deliver never blocks: every
// provider has a bounded queue that drops its oldest frame when full, and one goroutine, owned
// by Run, that drains it.
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

// Provider is one configured external service.
type Provider interface {
	// Ready returns the fault that ended delivery for good, or nil. A service that is only
	// unreachable is ready: the provider tries again.
	Ready() error
	// Deliver queues a live frame of a network without blocking. It keeps json, which must not
	// be changed afterwards.
	Deliver(network motion.NetworkID, json []byte)
	// Counters returns the counters since the start.
	Counters() Counters

	run(ctx context.Context) error
}

// Counters counts frames and failed tries.
type Counters struct {
	Delivered uint64 // frames handed over
	Dropped   uint64 // frames lost: queue full, rejected, or service gone
	Failures  uint64 // failed connections or posts
}

// Relay holds the configured providers. Create it with New and start it with Run.
type Relay struct {
	providers map[string]Provider
}

// New returns a relay with the providers of a valid configuration. It opens no connection
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

// Run delivers until ctx ends. It discards frames still queued.
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

// Channel returns the name of a network's live motion, such as "motion/1042".
func Channel(network motion.NetworkID) string { return fmt.Sprintf("motion/%d", network) }

// defaultBackoff returns the back-off between tries of a provider.
func defaultBackoff() hook.Backoff { return hook.Backoff{First: time.Second, Most: time.Minute} }
