package abusetest

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"
)

// flooded has strangers connect without end while devices publish and a program with
// a key reads.
func flooded(t *testing.T, product string) {
	h := furnish(t, product, "SENSEGATE_HTTP_RATE=50", "SENSEGATE_HTTP_BURST=100") // as delivered
	devices := h.connect(t.Context())
	calm, over := context.WithTimeout(t.Context(), *lasting/5)
	defer over()
	before := &load{name: "Calm"} // what this machine does at best
	before.run(calm, devices)
	t.Log(table(before.name, slices.Sorted(slices.Values(before.took))))
	flood, end := context.WithTimeout(t.Context(), *lasting)
	defer end()
	c := &crowd{http: h.process.HTTP, mqtt: h.process.MQTT}
	c.stay(flood, *idle, silent)
	c.come(flood, *rate)
	events := &load{name: "Flood"}
	var asked []time.Duration
	c.wg.Go(func() { asked = h.ask(flood) })
	events.run(flood, devices)
	c.wg.Wait()
	t.Log(c)
	events.want(t)
	slices.Sort(asked)
	t.Log(table("Requests of a program with a key", asked))
	for _, d := range devices {
		d.Close()
	}
	h.process.Stop()
	h.wantStored(append(before.acknowledged, events.acknowledged...))
}

// ask makes a request ten times a second until ctx ends, and returns how long the
// answers took.
func (h *house) ask(ctx context.Context) (took []time.Duration) {
	ticks := time.NewTicker(time.Second / 10)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return took
		case <-ticks.C:
			began := time.Now()
			status, answer, err := h.try(context.WithoutCancel(ctx), http.MethodGet, "/core/network/1/events/history?last=10", h.key, "")
			if err != nil || status != http.StatusOK {
				h.t.Errorf("a program with a key is answered %d, %v: %s", status, err, answer)
			}
			took = append(took, time.Since(began))
		}
	}
}

// idleConnections tells what connections that say nothing cost, at each door.
func idleConnections(t *testing.T, product string) {
	for name, most := range map[string]int{"MQTT": mostMQTT, "HTTP": mostHTTP} {
		s := stranger{mqtt: name == "MQTT"}
		h := furnish(t, product, "GOMEMLIMIT=1MiB") // gives back at once what is not in use
		visit, end := context.WithCancel(t.Context())
		c := &crowd{http: h.process.HTTP, mqtt: h.process.MQTT}
		// the first half takes what memory is in store
		c.stay(visit, *idle/2, []stranger{s})
		h.until(func() bool { return h.descriptors() >= *idle/2 })
		before, descriptors := h.resident(), h.descriptors()
		c.stay(visit, *idle/2, []stranger{s})
		h.until(func() bool { return h.descriptors() >= descriptors+*idle*4/10 }) // some have ended, and come again
		open := h.descriptors() - descriptors
		each := (h.resident() - before) / open
		t.Logf("%s: %d connections that say nothing, on top of as many, %d bytes of memory each", name, open, each)
		if each > most {
			missed(t, "%s: a connection costs %d bytes, want %d", name, each, most)
		}
		end()
		c.wg.Wait()
		h.process.Stop()
	}
}

// until waits for something that is bound to happen.
func (h *house) until(happened func() bool) {
	h.t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	patience, give := context.WithTimeout(h.t.Context(), time.Minute)
	defer give()
	for !happened() {
		select {
		case <-patience.Done():
			h.t.Fatal("waited for too long")
		case <-look.C:
		}
	}
}

// resident returns how much memory of its own the product has, bytes: the least of
// some moments, for garbage comes and goes.
func (h *house) resident() int {
	h.t.Helper()
	least, moments := math.MaxInt, 0
	h.until(func() bool {
		least = min(least, h.residentNow())
		moments++
		return moments == 50
	})
	return least
}

func (h *house) residentNow() (bytesOfMemory int) {
	h.t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", h.process.PID())) // exact, unlike the numbers of status
	if err != nil {
		h.t.Skipf("memory is told by Linux: %v", err)
	}
	_, after, _ := bytes.Cut(maps, []byte("\nAnonymous:"))
	if _, err := fmt.Sscanf(string(after), "%d kB", &bytesOfMemory); err != nil {
		h.t.Fatal(err)
	}
	return bytesOfMemory << 10
}

// descriptors returns how many files and sockets the product has open.
func (h *house) descriptors() int {
	h.t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.process.PID()))
	if err != nil {
		h.t.Fatal(err)
	}
	return len(open)
}
