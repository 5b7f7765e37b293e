package nodedoor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// This file asks a node of ESPectre.

// stream reads an endless answer until it ends, is silent for too long, or ctx ends.
func (e *espectre) stream(ctx context.Context, url string, read func(body io.Reader, alive func()) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := time.AfterFunc(silentStream, func() { cancel(errors.New("nothing has come for 30 s")) })
	defer silent.Stop()
	response, err := e.request(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read only
	err = read(response.Body, func() { silent.Reset(silentStream) })
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("its stream ended: %w", err)
}

// get asks for a JSON answer.
func (e *espectre) get(ctx context.Context, url string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	response, err := e.request(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was read only
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("%s: its answer is not understood (%.80q)", url, err.Error())
	}
	return nil
}

// request asks for an answer; one that is not 200 is an error that says what to do.
func (e *espectre) request(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Origin", e.config.Origin)
	response, err := e.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	_ = response.Body.Close() // it is of no use
	hint := ""
	switch response.StatusCode {
	case http.StatusForbidden:
		hint = ": it does not take the Origin header that nodes.espectre.origin says"
	case http.StatusServiceUnavailable:
		hint = ": others listen already, and it has no room for one more; close a page that shows it"
	case http.StatusConflict:
		hint = ": somebody else reads its channel state"
	}
	return nil, fmt.Errorf("%s: it answers %s%s", url, response.Status, hint)
}
