package uplink

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/hook"
)

const (
	postTries = 6         // of one post, over about half a minute in total
	postSize  = 512 << 10 // bytes of frames in one post
)

// webhook posts the queued frames to a URL, signed (package hook), one post at a time: the
// next post contains all frames queued meanwhile.
type webhook struct {
	hook *hook.Hook
	log  *slog.Logger
	wait hook.Backoff

	queue     *queue
	gone      atomic.Bool // the receiver answered 410
	delivered atomic.Uint64
	failures  atomic.Uint64
	row       int // failures in a row; used by run only
}

func newWebhook(c hook.Config, log *slog.Logger) (*webhook, error) {
	receiver, err := hook.New(c)
	if err != nil {
		return nil, fmt.Errorf("relay: webhook.%w", err)
	}
	return &webhook{hook: receiver, log: log.With("relay", Webhook), wait: defaultBackoff(), queue: newQueue()}, nil
}

// Ready returns a Conflict fault after the receiver answered 410 Gone.
func (w *webhook) Ready() error {
	if w.gone.Load() {
		return fault.New(fault.Conflict, "webhook: the receiver has answered 410 Gone; nothing is sent until the appliance is started again")
	}
	return nil
}

// Deliver queues a frame.
func (w *webhook) Deliver(network motion.NetworkID, json []byte) {
	if w.gone.Load() {
		w.queue.drop(1)
		return
	}
	w.queue.push(frame{network: network, json: json})
}

// Counters returns the numbers of frames that the receiver accepted, and of failed posts.
func (w *webhook) Counters() Counters {
	return Counters{Delivered: w.delivered.Load(), Dropped: w.queue.lost(), Failures: w.failures.Load()}
}

// run posts until ctx ends.
func (w *webhook) run(ctx context.Context) {
	defer w.hook.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.queue.wake:
		}
		for batch := w.queue.take(postSize); len(batch) > 0 && ctx.Err() == nil; batch = w.queue.take(postSize) {
			w.deliver(ctx, batch)
		}
	}
}

// delivery is the body of a post; frames are in the form of the live stream (payloads.md 4.7),
// oldest first.
type delivery struct {
	Frames []deliveredFrame `json:"frames"`
}

type deliveredFrame struct {
	Network motion.NetworkID `json:"network_id"`
	Channel string           `json:"channel"`
	Frame   json.RawMessage  `json:"frame"`
}

// deliver posts a batch until it is accepted or fails for good.
func (w *webhook) deliver(ctx context.Context, batch []frame) {
	body := delivery{Frames: make([]deliveredFrame, len(batch))}
	for i, f := range batch {
		body.Frames[i] = deliveredFrame{Network: f.network, Channel: Channel(f.network), Frame: f.json}
	}
	raw, err := json.Marshal(body)
	if err != nil { // a frame was not JSON
		w.log.Error("frames not sent", "err", err)
		w.queue.drop(len(batch))
		return
	}
	id := "msg_" + rand.Text()
	for try := 1; ; try++ {
		result, asked, err := w.hook.Post(ctx, id, raw)
		if ctx.Err() != nil {
			w.queue.drop(len(batch))
			return
		}
		if result == hook.Accepted {
			w.succeeded(len(batch))
			return
		}
		w.failed(err)
		if result == hook.Gone {
			w.gone.Store(true)
			w.queue.clear()
		}
		if result != hook.TryAgain || try == postTries {
			w.queue.drop(len(batch))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(asked, w.wait.After(w.row))):
		}
	}
}

// succeeded counts the frames of an accepted post.
func (w *webhook) succeeded(frames int) {
	if w.row > 0 {
		w.log.Info("webhook accepts again")
	}
	w.row = 0
	w.delivered.Add(uint64(frames))
}

// failed counts a failure and logs the first in a row.
func (w *webhook) failed(err error) {
	w.failures.Add(1)
	w.row++
	if w.row == 1 {
		w.log.Warn("webhook not delivered", "err", err)
	}
}
