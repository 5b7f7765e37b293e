// Package notify stores mails in the outbox, sends them if a mail server is configured, and
// pushes messages to the phones and the webhook of a household (payloads.md 5.2 and 6 no. 8).
//
// It knows kinds of mails and pushes, which mails an owner may read, the queues in the store,
// and the protocol of each service. It must not know HTTP interfaces or what raises an event,
// and must not name a person in a push.
//
// Concurrency. All exported methods may be called concurrently. Queues are durable before
// anything is sent, so a restart repeats at most the sends in progress.
package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/motion/fault"
	"sensegate/store"
)

// lookEvery is the interval between two checks for due deliveries.
const lookEvery = time.Second

// Options configure New.
type Options struct {
	Mail MailConfig
	Push PushConfig
	// Base returns the base address for links, such as http://192.168.1.10:8080. It is called
	// for each mail.
	Base func() string
	Log  *slog.Logger
}

// Notifier sends mails and pushes. Create it with New and start it with Run.
type Notifier struct {
	Outbox *Outbox
	Pusher *Pusher
}

// New returns a notifier for a database; the configuration must be valid. It opens no connection
// before Run.
func New(db *store.DB, o Options) (*Notifier, error) {
	if err := errors.Join(o.Mail.Validate(), o.Push.Validate()); err != nil {
		return nil, fmt.Errorf("notify: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	outbox, err := newOutbox(db, o.Mail.SMTP, o.Base, o.Log)
	if err != nil {
		return nil, fmt.Errorf("notify: %w", err)
	}
	pusher, err := newPusher(db, o.Push, o.Log)
	if err != nil {
		return nil, fmt.Errorf("notify: %w", err)
	}
	return &Notifier{Outbox: outbox, Pusher: pusher}, nil
}

// Run sends until ctx ends. Mails and pushes still queued are sent after the next start.
func (n *Notifier) Run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return n.Outbox.run(running) })
	group.Go(func() error { return n.Pusher.run(running) })
	return group.Wait()
}

// Metrics writes the counters since the start in the Prometheus text format.
func (n *Notifier) Metrics(w io.Writer) {
	n.Outbox.metrics(w)
	n.Pusher.metrics(w)
}

// every calls step immediately and then once per interval until ctx ends or step fails. A full
// disk is no failure: every tries again.
func every(ctx context.Context, interval time.Duration, step func(context.Context) error) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := step(ctx); err != nil && ctx.Err() == nil && fault.KindOf(err) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
