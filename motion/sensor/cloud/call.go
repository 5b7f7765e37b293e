package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/hook"
)

const (
	callLimit = 8 * time.Second // for one call including repetitions
	maxTries  = 3
	maxAnswer = 1 << 20 // bytes
)

// call makes a call, up to three times while the cloud has trouble, and decodes the answer
// unless answer is nil. Its errors are faults: NotFound, Conflict if the cloud rejects the
// call, otherwise Unavailable.
func (c *Cloud) call(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode call of the sensor cloud: %w", err)
		}
	}
	for try := 1; ; try++ {
		again, wait, err := c.try(ctx, method, path, raw, answer)
		if err == nil || !again {
			return err
		}
		if try == maxTries || wait > time.Second {
			return err
		}
		select {
		case <-time.After(max(wait, c.wait.After(try))):
		case <-ctx.Done():
			return err
		}
	}
}

// try makes a call once. again reports whether repeating it can help, wait is the cloud's
// Retry-After.
func (c *Cloud) try(ctx context.Context, method, path string, body []byte, answer any) (again bool, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return false, 0, fmt.Errorf("call the sensor cloud: %w", hook.WithoutURL(err))
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.client.Do(request)
	if err != nil {
		c.log.Debug("sensor cloud unreachable", "err", hook.WithoutURL(err))
		return true, 0, away(0)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return true, 0, away(0)
	}
	verdict, wait, _ := hook.Judge(response)
	switch {
	case verdict == hook.TryAgain:
		return true, wait, away(wait)
	case verdict == hook.Accepted && answer == nil:
		return false, 0, nil
	case verdict == hook.Accepted:
		if len(raw) > maxAnswer || json.Unmarshal(raw, answer) != nil {
			c.log.Error("answer of the sensor cloud unreadable", "method", method, "bytes", len(raw))
			return false, 0, away(0)
		}
		return false, 0, nil
	}
	return false, 0, c.refused(response.StatusCode, method)
}

// refused returns the fault for an answer of 4xx.
func (c *Cloud) refused(status int, method string) error {
	switch status {
	case http.StatusNotFound:
		return fault.New(fault.NotFound, "the sensor cloud does not know it")
	case http.StatusGone:
		return errGone
	case http.StatusUnauthorized, http.StatusForbidden:
		c.log.Error("sensor cloud rejected the appliance's key", "method", method, "status", status)
		return away(0)
	}
	return fault.New(fault.Conflict, "the sensor cloud refuses: %s", strings.ToLower(http.StatusText(status)))
}

// errGone is the error for a cursor that the cloud no longer knows.
var errGone = fault.New(fault.NotFound, "the sensor cloud has forgotten the cursor")

// away returns an Unavailable fault to retry after wait, or after half a minute if wait is 0.
func away(wait time.Duration) error {
	err := fault.New(fault.Unavailable, "the sensor cloud cannot be reached")
	err.RetryAfter = max(wait, 30*time.Second)
	return err
}
