package nodedoor

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fault"
)

// espectreAt is the identity of the node of these tests: nothing knows the MAC address of loopback.
const espectreAt, espectreNodeID = "3cf79180d3a0aca4", "node:espectre:3cf79180d3a0aca4"

// espectreServer plays a node; change answers otherwise, and returns false to go on as usual.
func espectreServer(t *testing.T, change func(http.ResponseWriter, *http.Request) bool) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if change != nil && change(w, r) {
			return
		}
		if r.Header.Get("Origin") != "https://espectre.dev" {
			http.Error(w, "Origin required", http.StatusForbidden)
			return
		}
		switch r.URL.Path {
		case "/espectre/v1/device":
			fmt.Fprintf(w, `{"device_id":%q,"name":"Hall"}`, espectreAt)
		case "/espectre/v1/wifi":
			fmt.Fprintf(w, `{"bssid":%q,"channel":6}`, router)
		case "/espectre/v1/sensing":
			fmt.Fprint(w, `{"threshold":0.2}`)
		case "/espectre/v1/events":
			fmt.Fprint(w, "retry: 3000\n: connected\n\n")
			for i := range 1000 {
				_, err := w.Write(nodewire.AppendESPectreMotion(nil, nodewire.ESPectreMotion{Uptime: uint64(i), Motion: true, Score: 0.3}))
				if err != nil || r.Context().Err() != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		case "/espectre/v1/csi":
			var session nodewire.ESPectreSession
			for i := range 1000 {
				f := nodewire.Frame{Seq: nodewire.Sequence{Number: uint32(i)}, Channel: 6, Flags: csi.ImagFirst, Data: slices.Repeat([]byte{byte(i), 3}, 64)}
				if _, err := w.Write(session.Append(nil, nodewire.ESP32C6, &f)); err != nil || r.Context().Err() != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// follows returns a household with the intake that follows nodes of ESPectre, and what lets it run for a test.
func follows(t *testing.T, c ESPectreConfig) (*household, *espectre) {
	t.Helper()
	h := newHousehold(t, nothingPicked)
	c.Origin = Defaults().ESPectre.Origin
	h.door.options.Now = time.Now
	h.door.options.Browse = func(context.Context, string) ([]netip.AddrPort, error) {
		return []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}, nil
	}
	return h, newESPectre(h.door, c)
}

// until runs the intake and the rest of the door until done reports true.
func (h *household) until(e *espectre, what string, done func() bool) {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.run(ctx) }()
	defer func() {
		cancel()
		<-ended
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		h.door.tend(ctx)
		h.door.handOver(ctx)
		h.door.repeat(ctx)
		h.mu.Lock()
		is := done()
		h.mu.Unlock()
		if is {
			return
		}
		if time.Now().After(end) {
			h.t.Fatalf("waited in vain for %s: %+v", what, e.figures())
		}
	}
}

func TestESPectreNodeIsAskedAndThenFollowed(t *testing.T) {
	events := false
	at := espectreServer(t, func(_ http.ResponseWriter, r *http.Request) bool {
		events = events || strings.HasSuffix(r.URL.Path, "events") || strings.HasSuffix(r.URL.Path, "csi")
		return false
	})
	h, e := follows(t, ESPectreConfig{Addresses: []string{at}})
	h.until(e, "a node that waits", func() bool { return slices.Contains(h.waiting, espectreNodeID) })
	if events {
		t.Error("its events are read before it is let in")
	}
	h.allowed[espectreNodeID] = true
	h.door.sources[source{kind: motion.ESPectre, address: netip.MustParseAddr("127.0.0.1"), where: espectreAt}].asked = time.Time{}
	h.until(newESPectre(h.door, e.config), "its motion", func() bool { return len(h.said) > 0 && math.Abs(h.said[len(h.said)-1]-0.75) < 1e-9 })
	if len(h.batches) > 0 {
		t.Error("its channel state is read, and nobody wanted that")
	}
}

func TestESPectreNodeWhoseChannelStateIsWanted(t *testing.T) {
	at := espectreServer(t, nil)
	h, e := follows(t, ESPectreConfig{Addresses: []string{at}, Raw: []string{strings.ToUpper(espectreAt)}})
	h.allowed[espectreNodeID] = true
	h.until(e, "its frames", func() bool { return h.frames()[router] > 50 })
	if len(h.said) > 0 {
		t.Error("its motion is read too")
	}
}

func TestESPectreNodesThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(http.ResponseWriter, *http.Request) bool
		want   string
	}{
		"another origin": {func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "Origin required", http.StatusForbidden)
			return true
		}, "nodes.espectre.origin"},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "http://192.0.2.99/", http.StatusFound)
			return true
		}, "302"},
		"an endless answer": {func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, `{"device_id":"`)
			for range 100 {
				fmt.Fprint(w, strings.Repeat("0", 1024))
			}
			return true
		}, "unexpected EOF"},
		"no number": {func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, `{"device_id":"hall"}`)
			return true
		}, "16 hexadecimal digits"},
		"too many listeners": {func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "events") {
				return false
			}
			http.Error(w, "full", http.StatusServiceUnavailable)
			return true
		}, "no room for one more"},
	} {
		t.Run(name, func(t *testing.T) {
			at := espectreServer(t, c.change)
			h, e := follows(t, ESPectreConfig{Addresses: []string{at}})
			h.allowed[espectreNodeID] = true
			h.until(e, "the reason", func() bool { return strings.Contains(e.figures().State, c.want) })
		})
	}
	t.Run("outside of this network", func(t *testing.T) {
		h, e := follows(t, ESPectreConfig{Addresses: []string{"198.51.100.9"}, Discover: true})
		h.until(e, "the reason", func() bool {
			return strings.Contains(e.figures().State, "not in a network that this box is connected to") && strings.Contains(e.figures().State, "127.0.0.1:1: ")
		})
	})
	t.Run("another MAC address", func(t *testing.T) {
		at := espectreServer(t, nil)
		h, e := follows(t, ESPectreConfig{Addresses: []string{at}})
		h.macs[netip.MustParseAddr("127.0.0.1")] = other
		h.until(e, "the reason", func() bool { return strings.Contains(e.figures().State, "something else answers there") })
	})
}

func TestESPectreNodeIsPointedAtOurBroker(t *testing.T) {
	var said, frontend = "", "native"
	at := espectreServer(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/espectre/v1/device":
			fmt.Fprintf(w, `{"device_id":%q,"frontend":%q}`, espectreAt, frontend)
		case r.Method == http.MethodPatch && r.URL.Path == "/espectre/v1/mqtt":
			body, _ := io.ReadAll(r.Body)
			said = string(body)
		default:
			return false
		}
		return true
	})
	h, e := follows(t, ESPectreConfig{Addresses: []string{at}})
	h.door.intakes = append(h.door.intakes, e)
	if _, err := h.door.Identity(espectreNodeID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("before it is met: %v", err)
	}
	h.until(e, "a node that waits", func() bool { return slices.Contains(h.waiting, espectreNodeID) })
	if id, err := h.door.Identity(espectreNodeID); err != nil || id != espectreAt {
		t.Errorf("its identity is %q, %v", id, err)
	}
	if err := h.door.PointHere(t.Context(), espectreNodeID, 1883, "espectre-1", "secret"); err != nil {
		t.Fatal(err)
	}
	const want = `{"host":"127.0.0.1","password":"secret","port":1883,"scheme":"mqtt","topic_prefix":"espectre/v1/devices","username":"espectre-1"}`
	if said != want {
		t.Errorf("it is told %s, want %s", said, want)
	}
	frontend = "esphome"
	if err := h.door.PointHere(t.Context(), espectreNodeID, 1883, "espectre-1", "secret"); fault.KindOf(err) != fault.Conflict {
		t.Errorf("another frontend: %v", err)
	}
}

func TestESPectreNodeIsKnownByItsMAC(t *testing.T) {
	at := espectreServer(t, nil)
	h, e := follows(t, ESPectreConfig{Addresses: []string{at}})
	h.macs[netip.MustParseAddr("127.0.0.1")] = nodeMAC // whose identity the server has
	h.until(e, "a node that waits", func() bool { return slices.Contains(h.waiting, "node:espectre:7c2c6742bbac") })
}
