// Package hook posts to outside HTTP services, one try at a time, signed by Standard Webhooks
// 1.0, and judges the answer. It knows signatures, answers and the wait between tries. It must
// not know what is posted, keep a queue, or decide how often something is tried.
//
// All functions and methods may be called concurrently.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	postLimit  = 10 * time.Second // for one try
	answerSize = 4 << 10          // bytes of an answer that are read
	mostAsked  = 5 * time.Minute  // longest Retry-After that is obeyed
)

// Verdict is the result of one try.
type Verdict int

// The verdicts.
const (
	Accepted Verdict = iota
	Refused          // sending it again would not help
	TryAgain
	Gone // the receiver wants no more posts
)

// Hook is a receiver of signed posts. Make it with New.
type Hook struct {
	url    string
	key    []byte
	client *http.Client
}

// New returns the receiver of a valid configuration that has a url.
func New(c Config) (*Hook, error) {
	key, err := c.key()
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	return &Hook{url: c.URL, key: key, client: Client()}, nil
}

// Client returns a client with a time limit of ten seconds a try. It follows no redirect, so
// that secrets reach only the configured service.
func Client() *http.Client {
	return &http.Client{
		Timeout: postLimit,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes connections that are not in use.
func (h *Hook) Close() { h.client.CloseIdleConnections() }

// Post makes one try to deliver a JSON body; id is the same for every try of it. asked
// is how long the receiver asked to be left alone. The error says why it was not
// accepted, without the address, which may hold a secret.
func (h *Hook) Post(ctx context.Context, id string, body []byte) (result Verdict, asked time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return Refused, 0, WithoutURL(err)
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "sensegate")
	request.Header.Set(HeaderID, id)
	request.Header.Set(HeaderTimestamp, timestamp)
	request.Header.Set(HeaderSignature, sign(h.key, id, timestamp, body))
	response, err := h.client.Do(request)
	if err != nil {
		return TryAgain, 0, WithoutURL(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, answerSize) // so that the connection can be used again
	return Judge(response)
}

// Judge returns the verdict of an answer: 2xx is accepted; 5xx, 429 and 408 ask to try again,
// after Retry-After seconds, at most five minutes; 410 is gone; anything else is refused.
func Judge(response *http.Response) (Verdict, time.Duration, error) {
	if response.StatusCode/100 == 2 {
		return Accepted, 0, nil
	}
	err := fmt.Errorf("the receiver answered %s", response.Status)
	switch code := response.StatusCode; {
	case code == http.StatusGone:
		return Gone, 0, err
	case code >= 500, code == http.StatusTooManyRequests, code == http.StatusRequestTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return TryAgain, min(time.Duration(max(seconds, 0))*time.Second, mostAsked), err
	}
	return Refused, 0, err
}

// WithoutURL returns an error without its address, which may hold a secret.
func WithoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Backoff is the time between tries: twice as long after every failure, with jitter,
// so that many appliances do not come back to a service at once.
type Backoff struct{ First, Most time.Duration }

// After returns the wait after so many failures in a row (0: as after one): between
// half of the time and all of it.
func (b Backoff) After(failures int) time.Duration {
	full := min(b.Most, b.First<<min(max(failures-1, 0), 10))
	return full/2 + rand.N(full/2+1)
}
