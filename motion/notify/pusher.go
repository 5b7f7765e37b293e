package notify

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"
	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/hook"
	"sensegate/store"
)

const (
	pushKept     = 6 * time.Hour // how long a push is tried; later it is useless
	pushesAtOnce = 16            // deliveries per round
	parallel     = 4             // concurrent deliveries
	mostWaiting  = 4096          // deliveries in total; further pushes wait in their own queue
)

// Pusher sends messages to the phones of a household and to a webhook.
type Pusher struct {
	db     *store.DB
	config PushConfig
	fcm    *fcm       // nil: not configured
	hook   *hook.Hook // nil: not configured
	log    *slog.Logger
	wait   hook.Backoff
	look   time.Duration

	gone   atomic.Bool // the webhook answered 410
	queued atomic.Int64
	counts struct{ sent, refused, failed, dead, expired, loadTest atomic.Uint64 }
}

func newPusher(db *store.DB, c PushConfig, log *slog.Logger) (p *Pusher, err error) {
	p = &Pusher{db: db, config: c, log: log, wait: hook.Backoff{First: 10 * time.Second, Most: 10 * time.Minute}, look: lookEvery}
	if p.fcm, err = newFCM(c.FCM); err != nil {
		return nil, fmt.Errorf("fcm: %w", err)
	}
	if c.Webhook.URL != "" {
		if p.hook, err = hook.New(c.Webhook); err != nil {
			return nil, fmt.Errorf("webhook: %w", err)
		}
	}
	return p, nil
}

// enabled reports whether a service is configured. Without one pushes stay in their bounded
// queue.
func (p *Pusher) enabled() bool {
	return p.fcm != nil || p.hook != nil || p.config.LoadTestToken != ""
}

// run sends deliveries until ctx ends.
func (p *Pusher) run(ctx context.Context) error {
	if !p.enabled() {
		<-ctx.Done()
		return nil
	}
	defer p.close()
	return every(ctx, p.look, func(ctx context.Context) error {
		if err := p.expand(ctx); err != nil {
			return err
		}
		for {
			more, err := p.deliver(ctx)
			if !more || err != nil {
				return err
			}
		}
	})
}

// close closes the connections.
func (p *Pusher) close() {
	if p.fcm != nil {
		p.fcm.client.CloseIdleConnections()
	}
	if p.hook != nil {
		p.hook.Close()
	}
}

// job is a delivery with the data that it needs, and its outcome.
type job struct {
	store.Delivery
	token string  // of the mobile device
	home  home.ID // home of the push
	void  bool    // the receiver is no longer a member
	out   outcome
}

// deliver tries the due deliveries, a few at a time, and reports whether there may be more.
func (p *Pusher) deliver(ctx context.Context) (more bool, err error) {
	jobs, err := store.Read(ctx, p.db, p.due)
	if err != nil || len(jobs) == 0 {
		return false, err
	}
	var group errgroup.Group
	group.SetLimit(parallel)
	for i := range jobs {
		group.Go(func() error {
			p.try(ctx, &jobs[i])
			return nil
		})
	}
	_ = group.Wait() // the tries return no error
	if ctx.Err() != nil {
		return false, nil // counts as not tried
	}
	return len(jobs) == pushesAtOnce, p.db.Update(ctx, func(tx *store.Tx) error {
		for i := range jobs {
			if err := p.settle(tx, &jobs[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// due returns the due deliveries. Those to former members are void.
func (p *Pusher) due(tx *store.Tx) ([]job, error) {
	list, err := tx.DeliveriesDue(pushesAtOnce)
	if err != nil {
		return nil, err
	}
	jobs := make([]job, len(list))
	for i, d := range list {
		jobs[i].Delivery = d
		if err := p.prepare(tx, &jobs[i]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// prepare looks up the data that a delivery needs.
func (p *Pusher) prepare(tx *store.Tx, j *job) error {
	h, ok, err := tx.HomeOfNetwork(j.NetworkID)
	if err != nil {
		return err
	}
	j.home, j.void = h.ID, !ok
	if !ok {
		return nil
	}
	var members []home.UserID
	for _, user := range append(j.UserIDs, j.UserID) {
		m, ok, err := tx.MembershipOf(h.ID, user)
		if err != nil {
			return err
		}
		if ok && !m.Muted {
			members = append(members, user)
		}
	}
	j.void = len(members) == 0
	if j.Mobile == 0 || j.void {
		j.UserIDs = members
		return nil
	}
	mobile, ok, err := tx.FindMobile(j.Mobile)
	j.token, j.void = mobile.Token, !ok || mobile.UserID != j.UserID
	return err
}

// pushed is the body of a post to the webhook.
type pushed struct {
	Type      string       `json:"type"`
	Timestamp motion.Stamp `json:"timestamp"`
	Data      pushedData   `json:"data"`
}

type pushedData struct {
	Network home.ID         `json:"network_id"` // App Cloud id
	Users   []home.UserID   `json:"user_ids"`
	Payload motion.Document `json:"payload"`
}

// try makes one try of a delivery.
func (p *Pusher) try(ctx context.Context, j *job) {
	switch {
	case j.void:
	case j.Mobile == 0:
		j.out = p.post(ctx, j)
	case p.isLoadTest(j.token):
		_, err := fcmMessage(j.token, j.Payload)
		if j.out.err = err; err != nil {
			j.out.verdict = hook.Refused
		}
	case p.fcm == nil:
		j.out = outcome{verdict: hook.Refused, err: fmt.Errorf("no push service is configured any more")}
	default:
		j.out = p.fcm.send(ctx, j.token, j.Payload)
	}
}

// post makes one try of a post to the webhook.
func (p *Pusher) post(ctx context.Context, j *job) outcome {
	if p.hook == nil || p.gone.Load() {
		return outcome{verdict: hook.Refused, err: fmt.Errorf("the webhook is not configured any more, or gone")}
	}
	body, err := json.Marshal(pushed{"push", j.CreatedAt, pushedData{j.home, j.UserIDs, j.Payload}})
	if err != nil {
		return outcome{verdict: hook.Refused, err: err}
	}
	verdict, asked, err := p.hook.Post(ctx, j.Message, body)
	if verdict == hook.Gone {
		p.gone.Store(true)
		verdict = hook.Refused
	}
	return outcome{verdict: verdict, asked: asked, err: err}
}

// metrics writes the counters.
func (p *Pusher) metrics(w io.Writer) {
	for _, c := range []struct {
		result string
		count  *atomic.Uint64
	}{
		{"sent", &p.counts.sent}, {"refused", &p.counts.refused}, {"failed", &p.counts.failed}, {"dead", &p.counts.dead},
		{"expired", &p.counts.expired}, {"load_test", &p.counts.loadTest},
	} {
		metrics.WriteCounterUint64(w, `sensegate_pushes_total{result="`+c.result+`"}`, c.count.Load())
	}
	metrics.WriteGaugeUint64(w, "sensegate_pushes_queued", uint64(p.queued.Load()))
}
