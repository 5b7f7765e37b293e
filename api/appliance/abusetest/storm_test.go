package abusetest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// The figures of a storm of log-ins.
const (
	guessers   = 40         // each from an address of its own
	mostMemory = 48_000_000 // bytes of its own that the product takes
)

// stormed lets strangers guess passwords, while devices publish. Each guess costs the
// product the memory of a password hash.
func stormed(t *testing.T, product string) {
	h := furnish(t, product, "SENSEGATE_HTTP_RATE=50", "SENSEGATE_HTTP_BURST=100") // as delivered
	devices := h.connect(t.Context())
	storm, end := context.WithTimeout(t.Context(), *lasting)
	defer end()
	var wg sync.WaitGroup
	var hashed, turnedAway atomic.Int64
	for i := range guessers {
		wg.Go(func() { h.guess(storm, i, &hashed, &turnedAway) })
	}
	most := 0
	wg.Go(func() { most = h.watchMemory(storm) })
	events := &load{name: "Storm"}
	events.run(storm, devices)
	wg.Wait()
	t.Log(table(events.name, slices.Sorted(slices.Values(events.took))))
	t.Logf("%d guesses from %d addresses, %d turned away; memory: at most %.1f MB", hashed.Load(), guessers, turnedAway.Load(), float64(most)/1e6)
	if hashed.Load() == 0 {
		t.Error("no guess was looked at: this is no storm")
	}
	if most > mostMemory {
		missed(t, "memory grows to %.1f MB, want %.1f MB", float64(most)/1e6, float64(mostMemory)/1e6)
	}
	for _, d := range devices {
		d.Close()
	}
	h.process.Stop()
	h.wantStored(events.acknowledged)
}

// guess tries to log in over one connection after the other until ctx ends, and counts
// the guesses that were looked at and those that were turned away.
func (h *house) guess(ctx context.Context, place int, hashed, turnedAway *atomic.Int64) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 2, byte(1+place))}}
	transport := &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}
	client := http.Client{Transport: transport}
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprintf(`{"email":"guess%d-%d@example.org","password":"not the right one"}`, place, n)
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.process.HTTP+"/api/v1/sessions", strings.NewReader(body))
		if err != nil {
			panic(err) // of constants
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			continue // the storm ends
		}
		_ = answer.Body.Close()
		switch answer.StatusCode {
		case http.StatusUnauthorized:
			hashed.Add(1)
		case http.StatusTooManyRequests:
			turnedAway.Add(1)
		default:
			h.t.Errorf("a guess is answered %d", answer.StatusCode)
		}
	}
}
