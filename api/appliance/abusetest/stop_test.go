package abusetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// longestLife is the longest time until the product is stopped, from the moment that
// everybody is at work.
const longestLife = 1500 * time.Millisecond

// stopped stops the product, again and again, while devices publish, a program
// writes, viewers do not read and strangers connect.
func stopped(t *testing.T, product string) {
	h := furnish(t, product)
	var acknowledged []string
	var longest time.Duration
	written := 0
	for n := range *stops {
		if n > 0 {
			h.start()
		}
		events := &load{name: fmt.Sprintf("Stop%d", n)}
		took := h.stopAtWork(events, &written)
		longest = max(longest, took)
		if took > stopWithin {
			missed(t, "stop %d took %v, want %v", n+1, took, stopWithin)
		}
		acknowledged = append(acknowledged, events.acknowledged...)
	}
	t.Logf("%d stops under load, the longest took %v; %d events and %d settings were acknowledged", *stops, longest, len(acknowledged), written)
	h.wantStored(acknowledged)
	h.start()
	var meta struct{ Abuse string }
	_, raw := h.request(http.MethodGet, "/core/network/1/meta", h.key, "")
	if err := json.Unmarshal(raw, &meta); err != nil {
		t.Fatal(err)
	}
	// what was written after it may have been stored without an answer
	if got, err := strconv.Atoi(meta.Abuse); err != nil || got < written || got > written+*stops {
		t.Errorf("setting %d was acknowledged, %q is stored", written, meta.Abuse)
	}
	h.process.Stop()
}

// stopAtWork stops a busy product at a random moment and returns how long that took.
func (h *house) stopAtWork(events *load, written *int) time.Duration {
	h.t.Helper()
	devices := h.connect(h.t.Context())
	working, end := context.WithCancel(h.t.Context())
	defer end()
	for range 10 {
		defer h.watch(working).Close()
	}
	c := &crowd{http: h.process.HTTP, mqtt: h.process.MQTT}
	c.stay(working, 50, silent)
	c.come(working, *rate)
	var wg sync.WaitGroup
	wg.Go(func() { events.run(working, devices) })
	wg.Go(func() { h.write(working, written) })
	<-time.After(time.Duration(rand.Int64N(int64(longestLife))))
	took := h.process.Stop()
	end()
	wg.Wait()
	c.wg.Wait()
	for _, d := range devices {
		d.Close()
	}
	return took
}

// write changes a setting until the product ends, to one more than what was
// acknowledged last.
func (h *house) write(ctx context.Context, written *int) {
	for {
		status, answer, err := h.try(ctx, http.MethodPatch, "/core/network/1/meta", h.key, fmt.Sprintf(`{"abuse": "%d"}`, *written+1))
		switch {
		case err != nil || status == http.StatusServiceUnavailable:
			return // it has ended, or is about to
		case status != http.StatusOK:
			h.t.Errorf("a setting is answered %d: %s", status, answer)
			return
		}
		*written++
	}
}
