package relay

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
)

const (
	postLimit  = 10 * time.Second // for one try
	postTries  = 6                // of one post, over about half a minute in all
	postSize   = 512 << 10        // bytes of frames in one post
	answerSize = 4 << 10          // bytes of an answer that are read
	mostAsked  = 5 * time.Minute  // of a Retry-After that is obeyed
)

// webhook posts what waits to a URL, signed (sign.go), one post at a time: whatever
// has piled up meanwhile goes with the next.
type webhook struct {
	url    string
	key    []byte
	client *http.Client
	log    *slog.Logger
	wait   backoff

	queue     *queue
	gone      atomic.Bool // the receiver wants nothing any more
	delivered atomic.Uint64
	failures  atomic.Uint64
	row       int // failures in a row; run alone uses it
}

func newWebhook(c WebhookConfig, log *slog.Logger) (*webhook, error) {
	key, err := secretBytes(c.Secret)
	if err != nil {
		return nil, fmt.Errorf("relay: webhook.secret: %w", err)
	}
	return &webhook{
		url: c.URL, key: key, log: log.With("relay", Webhook), wait: defaultBackoff(), queue: newQueue(),
		client: &http.Client{
			Timeout:   postLimit,
			Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConns: 1, IdleConnTimeout: time.Minute},
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // a signed post goes where it was meant to go
			},
		},
	}, nil
}

// Ready is a Conflict once the receiver has answered 410 Gone.
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

// Counters counts frames that the receiver has accepted, and posts that failed.
func (w *webhook) Counters() Counters {
	return Counters{Delivered: w.delivered.Load(), Dropped: w.queue.lost(), Failures: w.failures.Load()}
}

// run posts until ctx ends.
func (w *webhook) run(ctx context.Context) error {
	defer w.client.CloseIdleConnections()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.queue.wake:
		}
		for batch := w.queue.take(postSize); len(batch) > 0 && ctx.Err() == nil; batch = w.queue.take(postSize) {
			w.deliver(ctx, batch)
		}
	}
}

// delivery is the body of a post; frames are as the live stream shows them
// (payloads.md 4.7), oldest first.
type delivery struct {
	Frames []deliveredFrame `json:"frames"`
}

type deliveredFrame struct {
	Network motion.NetworkID `json:"network_id"`
	Channel string           `json:"channel"`
	Frame   json.RawMessage  `json:"frame"`
}

// verdict is what became of one try.
type verdict int

const (
	accepted verdict = iota
	refused          // sending it again would not help
	tryAgain
	goneForGood
)

// deliver posts a batch until it is accepted or given up.
func (w *webhook) deliver(ctx context.Context, batch []frame) {
	body := delivery{Frames: make([]deliveredFrame, len(batch))}
	for i, f := range batch {
		body.Frames[i] = deliveredFrame{Network: f.network, Channel: Channel(f.network), Frame: f.json}
	}
	raw, err := json.Marshal(body)
	if err != nil { // a frame was no JSON
		w.log.Error("frames not sent", "err", err)
		w.queue.drop(len(batch))
		return
	}
	id := "msg_" + rand.Text()
	for try := 1; ; try++ {
		result, asked, err := w.post(ctx, id, raw)
		if ctx.Err() != nil {
			w.queue.drop(len(batch))
			return
		}
		if result == accepted {
			w.succeeded(len(batch))
			return
		}
		w.failed(err)
		if result == goneForGood {
			w.gone.Store(true)
			w.queue.clear()
		}
		if result != tryAgain || try == postTries {
			w.queue.drop(len(batch))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(max(asked, w.wait.after(w.row))):
		}
	}
}

// succeeded counts the frames of a post that was accepted.
func (w *webhook) succeeded(frames int) {
	if w.row > 0 {
		w.log.Info("webhook accepts again")
	}
	w.row = 0
	w.delivered.Add(uint64(frames))
}

// failed counts a failure; the first in a row is logged.
func (w *webhook) failed(err error) {
	w.failures.Add(1)
	w.row++
	if w.row == 1 {
		w.log.Warn("webhook not delivered", "err", err)
	}
}

// post makes one try. asked is how long the receiver asked to be left alone.
func (w *webhook) post(ctx context.Context, id string, body []byte) (result verdict, asked time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(body))
	if err != nil {
		return refused, 0, withoutURL(err)
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "sensegate")
	request.Header.Set(headerID, id)
	request.Header.Set(headerTimestamp, timestamp)
	request.Header.Set(headerSignature, sign(w.key, id, timestamp, body))
	response, err := w.client.Do(request)
	if err != nil {
		return tryAgain, 0, withoutURL(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, answerSize) // so that the connection can be used again
	if response.StatusCode/100 == 2 {
		return accepted, 0, nil
	}
	return judge(response)
}

// judge says what an answer other than 2xx means.
func judge(response *http.Response) (verdict, time.Duration, error) {
	err := fmt.Errorf("the receiver answered %s", response.Status)
	switch code := response.StatusCode; {
	case code == http.StatusGone:
		return goneForGood, 0, err
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return tryAgain, min(time.Duration(max(seconds, 0))*time.Second, mostAsked), err
	}
	return refused, 0, err
}

// withoutURL leaves the address out of an error: it may hold a secret.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
