package sim

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/firmware-sim/chance"
	"sensegate/motion"
)

// Limits of a load.
const (
	MaxLoadNetworks = 1000
	MaxLoadRate     = 400 // messages a second and network; the broker slows devices down at 500

	loadInFlight   = 64 // unacknowledged messages of a network at a time
	loadConnecting = 16 // networks that bootstrap at a time
	loadPatience   = 2 * time.Minute
	loadDrain      = 5 * time.Second // for the last acknowledgements
)

// LoadConfig configures Load.
type LoadConfig struct {
	Networks    int              // 1..MaxLoadNetworks
	Rate        float64          // messages a second and network, up to MaxLoadRate
	Duration    time.Duration    // from when all are connected
	Kind        LoadKind         // "" = LoadEvents
	Gatekeeper  string           // URL of the gatekeeper
	AccessToken string           // pre-shared token of the gatekeeper; "" waits for adoption
	Log         *slog.Logger     // nil = no log
	Every       time.Duration    // between two calls of OnReport; 0 = none
	OnReport    func(LoadReport) // gets the figures since the last call; may be nil
}

// LoadReport counts the messages of a load by outcome.
type LoadReport struct {
	Elapsed      time.Duration // since all networks were connected
	Sent         int64
	Acknowledged int64
	Failed       int64 // without a connection, or lost with it
	Late         int64 // not sent, because too many were unacknowledged
	// Latency of the acknowledged, from when the message was due.
	P50, P99, Max time.Duration
}

// Load starts networks, each a guardian and its radar that bootstrap at the
// gatekeeper and connect by MQTT over TCP. Each sends at a steady rate, however
// slow the answers (open loop); while 64 messages are unacknowledged, it skips
// further ones and counts them as late. When the duration is over or ctx ends, Load
// closes all connections and returns the figures of the whole time.
func Load(ctx context.Context, c LoadConfig) (LoadReport, error) {
	if err := c.Validate(); err != nil {
		return LoadReport{}, err
	}
	if c.Kind == "" {
		c.Kind = LoadEvents
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	gate, err := newGatekeeper(c.Gatekeeper, c.AccessToken, c.Log)
	if err != nil {
		return LoadReport{}, err
	}
	l := &load{config: c}
	running, stop := context.WithCancel(ctx)
	defer l.stop()
	defer stop()
	for i := range c.Networks {
		home := loadHome(i)
		l.fleets = append(l.fleets, newFleet(&home, gate, true, time.Now, c.Log))
	}
	if err := l.connect(running); err != nil {
		return LoadReport{}, err
	}
	return l.run(running), nil
}

// Validate returns an error if a field is invalid.
func (c *LoadConfig) Validate() error {
	switch {
	case c.Networks < 1 || c.Networks > MaxLoadNetworks:
		return fmt.Errorf("networks %d: want 1 to %d", c.Networks, MaxLoadNetworks)
	case !(c.Rate > 0 && c.Rate <= MaxLoadRate):
		return fmt.Errorf("rate %v: want more than 0, at most %d", c.Rate, MaxLoadRate)
	case c.Duration <= 0:
		return fmt.Errorf("duration %s: want more than 0", c.Duration)
	case c.Kind != "" && c.Kind != LoadEvents && c.Kind != LoadMatrix && c.Kind != LoadCSI:
		return fmt.Errorf("kind %q: want %s, %s or %s", c.Kind, LoadEvents, LoadMatrix, LoadCSI)
	}
	return nil
}

// load is one run of Load.
type load struct {
	config LoadConfig
	fleets []*fleet
	whole  loadTally
	part   atomic.Pointer[loadTally] // since the last report
}

// loadTally counts; it may be used concurrently.
type loadTally struct {
	sent, acknowledged, failed, late atomic.Int64
	latencies                        latencies
}

func (t *loadTally) report(elapsed time.Duration) LoadReport {
	return LoadReport{
		Elapsed: elapsed, Sent: t.sent.Load(), Acknowledged: t.acknowledged.Load(),
		Failed: t.failed.Load(), Late: t.late.Load(),
		P50: t.latencies.quantile(0.5), P99: t.latencies.quantile(0.99), Max: time.Duration(t.latencies.most.Load()),
	}
}

// connect connects all networks, loadConnecting at a time.
func (l *load) connect(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	var connected atomic.Int64
	var group errgroup.Group
	group.SetLimit(loadConnecting)
	for _, f := range l.fleets {
		group.Go(func() error {
			if f.connectWithin(ctx, waiting) {
				connected.Add(1)
			}
			return nil
		})
	}
	_ = group.Wait() // always nil: failures are counted
	if n := int(connected.Load()); n < len(l.fleets) {
		return fmt.Errorf("connect networks: %d of %d are connected after %s; are they adopted?", n, len(l.fleets), loadPatience)
	}
	return nil
}

// stop ends all connections.
func (l *load) stop() {
	var group errgroup.Group
	for _, f := range l.fleets {
		group.Go(func() error { f.stop(); return nil })
	}
	_ = group.Wait() // always nil
}

// run sends until the duration is over.
func (l *load) run(ctx context.Context) LoadReport {
	l.part.Store(&loadTally{})
	began := time.Now()
	sending, cancel := context.WithDeadline(ctx, began.Add(l.config.Duration))
	defer cancel()
	answering, endAnswering := context.WithCancel(context.WithoutCancel(ctx))
	defer endAnswering()
	context.AfterFunc(sending, func() { time.AfterFunc(loadDrain, endAnswering) })
	var networks sync.WaitGroup
	for i, f := range l.fleets {
		networks.Go(func() { l.drive(sending, answering, f, uint64(i)) })
	}
	l.tell(sending, began)
	networks.Wait()
	return l.whole.report(time.Since(began))
}

// tell calls OnReport at the interval Every until ctx ends.
func (l *load) tell(ctx context.Context, began time.Time) {
	if l.config.OnReport == nil || l.config.Every <= 0 {
		return
	}
	tick := time.NewTicker(l.config.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.config.OnReport(l.part.Swap(&loadTally{}).report(time.Since(began)))
		}
	}
}

// drive sends the messages of one network at its rate, starting at a random moment
// of the first interval.
func (l *load) drive(ctx, answering context.Context, f *fleet, number uint64) {
	interval := time.Duration(float64(time.Second) / l.config.Rate)
	due := time.Now().Add(time.Duration(chance.Unit(number) * float64(interval)))
	slots := make(chan struct{}, loadInFlight)
	var sending sync.WaitGroup
	defer sending.Wait()
	source := newLoadSource(l.config.Kind, f)
	for n := 0; pause(ctx, time.Until(due)) == nil; n++ {
		select {
		case slots <- struct{}{}:
			m := source.message(n, motion.TimeOf(time.Now()))
			at := due
			sending.Go(func() {
				l.send(answering, source.agent, m, at)
				<-slots
			})
		default:
			l.count(func(t *loadTally) { t.late.Add(1) })
		}
		due = due.Add(interval)
	}
}

// count applies add to both tallies.
func (l *load) count(add func(*loadTally)) {
	add(&l.whole)
	add(l.part.Load())
}

// send sends a message and counts its outcome; due is when it was due.
func (l *load) send(ctx context.Context, a *agent, m loadMessage, due time.Time) {
	s := a.session.Load()
	if s == nil || !s.usable() {
		l.count(func(t *loadTally) { t.failed.Add(1) })
		return
	}
	l.count(func(t *loadTally) { t.sent.Add(1) })
	send := s.deliver
	if m.live {
		send = s.write
	}
	err := send(ctx, m.topic, m.payload)
	took := time.Since(due)
	l.count(func(t *loadTally) {
		switch {
		case err != nil:
			t.failed.Add(1)
		case !m.live:
			t.acknowledged.Add(1)
			t.latencies.add(took)
		}
	})
}
