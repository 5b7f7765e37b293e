package abusetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// The figures that are wanted while strangers post large bodies. That of the answers is
// wanted of every run.
const (
	swampers    = 12         // connections, each from an address of its own
	swampKeys   = 84_600     // of one body: 930 KB
	mostAnswer  = 64_000     // bytes
	mostGrowing = 20_000_000 // bytes of memory, over what the product needs for its devices
)

// swamped has strangers post large bodies in which every key is a mistake, while
// devices publish.
func swamped(t *testing.T, product string) {
	h := furnish(t, product, "SENSEGATE_HTTP_RATE=50", "SENSEGATE_HTTP_BURST=100") // as delivered
	devices := h.connect(t.Context())
	calm, over := context.WithTimeout(t.Context(), *lasting/5)
	defer over()
	before := &load{name: "Calm"}
	before.run(calm, devices)
	t.Log(table(before.name, slices.Sorted(slices.Values(before.took))))
	least := h.resident()

	flood, end := context.WithTimeout(t.Context(), *lasting)
	defer end()
	s := &swamp{address: h.process.HTTP, body: unknownKeys(swampKeys), answers: map[int]int{}}
	for i := range swampers {
		s.wg.Go(func() { s.post(flood, i) })
	}
	most := 0
	s.wg.Go(func() { most = h.watchMemory(flood) })
	events := &load{name: "Swamp"}
	events.run(flood, devices)
	s.wg.Wait()
	t.Log(s)
	events.want(t)
	if s.largest > mostAnswer || s.largest == 0 {
		t.Errorf("the largest answer has %d bytes, want 1 to %d", s.largest, mostAnswer)
	}
	t.Logf("memory: %.1f MB before, at most %.1f MB", float64(least)/1e6, float64(most)/1e6)
	if most-least > mostGrowing {
		missed(t, "memory grows by %.1f MB, want %.1f MB", float64(most-least)/1e6, float64(mostGrowing)/1e6)
	}
	for _, d := range devices {
		d.Close()
	}
	h.process.Stop()
	h.wantStored(append(before.acknowledged, events.acknowledged...))
}

// watchMemory returns the most memory of its own that the product has until ctx ends.
func (h *house) watchMemory(ctx context.Context) (most int) {
	h.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-look.C:
			most = max(most, h.residentNow())
		}
	}
}

// unknownKeys returns a JSON object of n keys that no operation knows.
func unknownKeys(n int) []byte {
	body := []byte(`{"email":1`)
	for i := range n {
		body = fmt.Appendf(body, `,"x%05d":0`, i)
	}
	return append(body, '}')
}

// swamp is strangers who post one large body over and over, and what they are answered.
type swamp struct {
	address string
	body    []byte
	wg      sync.WaitGroup

	mu      sync.Mutex
	answers map[int]int // by status
	broken  int         // posts whose connection was closed before an answer was read
	largest int         // answer, bytes
}

// post posts over one connection at a time until ctx ends. Every second body is sent
// without its length, so that the product has to find out.
func (s *swamp) post(ctx context.Context, place int) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+place))}}
	transport := &http.Transport{DialContext: dialer.DialContext, MaxConnsPerHost: 1}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for n := 0; ctx.Err() == nil; n++ {
		var body io.Reader = bytes.NewReader(s.body)
		if n%2 == 1 {
			body = io.MultiReader(body)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/api/v1/sessions", body)
		if err != nil {
			panic(err) // of constants
		}
		request.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(request)
		if err != nil {
			s.note(0, 0)
			continue
		}
		size, _ := io.Copy(io.Discard, answer.Body) // what came of it counts
		_ = answer.Body.Close()
		s.note(answer.StatusCode, int(size))
	}
}

func (s *swamp) note(status, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if status == 0 {
		s.broken++
		return
	}
	s.answers[status]++
	s.largest = max(s.largest, size)
}

// String tells how the posts were answered.
func (s *swamp) String() string {
	text := fmt.Sprintf("%d connections posting %d bytes", swampers, len(s.body))
	for _, status := range slices.Sorted(maps.Keys(s.answers)) {
		text += fmt.Sprintf(", %d × %d", s.answers[status], status)
	}
	return text + fmt.Sprintf(", %d broken off; the largest answer has %d bytes", s.broken, s.largest)
}
