package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

const (
	bootstrapTimeout = 10 * time.Second
	retryDefault     = 30 * time.Second // if the answer names no time (device-protocol.md 1)
	retryMost        = 60 * time.Second
	retryUnreachable = 2 * time.Second
)

// gatekeeper is an HTTP client of the appliance's gatekeeper.
type gatekeeper struct {
	url         string // of POST /gatekeeper
	accessToken string // the pre-shared token, "" = none
	client      *http.Client
	log         *slog.Logger
}

// newGatekeeper checks the address. The client does not keep connections.
func newGatekeeper(address, accessToken string, log *slog.Logger) (*gatekeeper, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("gatekeeper %q: want a URL such as http://127.0.0.1:8080/gatekeeper", address)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/gatekeeper"
	}
	return &gatekeeper{
		url: u.String(), accessToken: accessToken, log: log,
		client: &http.Client{Timeout: bootstrapTimeout, Transport: &http.Transport{DisableKeepAlives: true}},
	}, nil
}

// bootstrap posts the record until the gatekeeper gives access, and returns its
// answer; the only error is ctx's. bearer is the token of an earlier answer, or "".
// It logs the reason for a refusal when it changes.
func (g *gatekeeper) bootstrap(ctx context.Context, record motion.Bootstrap, bearer string) (*wire.LocalConfig, error) {
	log := g.log.With("device", record.Radar.DeviceID)
	told := ""
	for {
		answer, err := g.follow(ctx, record, bearer)
		if err == nil && answer.LocalConfig != nil && answer.LocalConfig.Radar != nil {
			return answer.LocalConfig, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		wait, reason := retryUnreachable, ""
		if err != nil {
			reason = err.Error()
		} else {
			wait, reason = retryAfter(answer), answer.Reason
		}
		if reason != told {
			told = reason
			log.Info("not adopted yet", "reason", reason, "retry", wait)
		}
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// follow posts the record and follows at most one redirect.
func (g *gatekeeper) follow(ctx context.Context, record motion.Bootstrap, bearer string) (wire.BootstrapAnswer, error) {
	body := wire.EncodeBootstrap(record)
	answer, err := g.post(ctx, g.url, body, bearer)
	if err != nil || answer.Redirect == "" {
		return answer, err
	}
	g.log.Info("redirected", "device", record.Radar.DeviceID, "gatekeeper", answer.Redirect)
	answer, err = g.post(ctx, answer.Redirect, body, bearer)
	if err == nil && answer.Redirect != "" {
		return answer, fmt.Errorf("the gatekeeper redirects twice, at last to %s", answer.Redirect)
	}
	return answer, err
}

func (g *gatekeeper) post(ctx context.Context, address string, body []byte, bearer string) (wire.BootstrapAnswer, error) {
	var answer wire.BootstrapAnswer
	u, err := url.Parse(address)
	if err != nil {
		return answer, fmt.Errorf("parse gatekeeper address: %w", err)
	}
	if g.accessToken != "" {
		query := u.Query()
		query.Set("access_token", g.accessToken)
		u.RawQuery = query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return answer, fmt.Errorf("make request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := g.client.Do(request)
	if err != nil {
		u.RawQuery = ""
		return answer, fmt.Errorf("the gatekeeper at %s does not answer: %w", u, hideQuery(err))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, wire.MaxMessage))
	if err != nil {
		return answer, fmt.Errorf("read the gatekeeper's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("the gatekeeper answers %s: %.200s", response.Status, text)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("read the gatekeeper's answer: %w", err)
	}
	return answer, nil
}

// hideQuery returns err without the address, whose query holds the pre-shared token.
func hideQuery(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// retryAfter returns the pause that the answer asks for, at most retryMost.
func retryAfter(answer wire.BootstrapAnswer) time.Duration {
	if answer.RetryAfterS <= 0 {
		return retryDefault
	}
	return min(retryMost, time.Duration(answer.RetryAfterS)*time.Second)
}

// pause waits for d, or returns ctx's error when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
