package remotecore_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/remotecore"
	"sensegate/motion/uplink/uplinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const now = 1_790_000_000

// box answers requests at a real broker with an interface that says what it was asked.
type box struct {
	t       *testing.T
	centre  uplink.Connection
	replies *uplinktest.Reader
	part    *remotecore.Part
	clock   atomic.Int64
	ran     atomic.Int32
	hold    chan struct{} // closed: requests to /core/slow end
}

// answer is what came back.
type answer struct {
	ID     string
	Status int
	Body   json.RawMessage
}

func newBox(t *testing.T) *box {
	t.Helper()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := &box{t: t, centre: broker.Connect("centre"), replies: broker.Listen("sensegate/4f2a9c01/core/reply/+"), hold: make(chan struct{})}
	b.clock.Store(now)
	b.part = remotecore.New(uplink.Uplink{Config: uplink.Config{Name: "engine"}, Box: "4f2a9c01", Base: "sensegate/4f2a9c01"},
		http.HandlerFunc(b.serve), func() motion.Time { return motion.Time(b.clock.Load()) }, slog.New(slog.DiscardHandler))
	b.run(broker.Connect("box"))
	return b
}

// run runs the part on a connection until the end of the test, and waits until it hears.
func (b *box) run(conn uplink.Connection) {
	b.t.Helper()
	ctx := b.t.Context() // ends before the clean-up
	ended := make(chan error, 1)
	go func() { ended <- b.part.Run(ctx, conn) }()
	b.t.Cleanup(func() {
		if err := <-ended; err != nil {
			b.t.Error(err)
		}
	})
	for n := 0; ; n++ { // what is sent before the subscription is lost
		before := b.part.Report().Refused
		b.say("sensegate/4f2a9c01/core", "no request", false)
		b.say("sensegate/4f2a9c01/core/reply/there", fmt.Sprint(n), false)
		b.replies.Await("sensegate/4f2a9c01/core/reply/there")
		if b.part.Report().Refused > before {
			return
		}
	}
}

// serve is the interface.
func (b *box) serve(w http.ResponseWriter, r *http.Request) {
	b.ran.Add(1)
	switch r.URL.Path {
	case "/core/slow":
		<-b.hold
	case "/core/status/200", "/core/status/400", "/core/status/401", "/core/status/403", "/core/status/404", "/core/status/405", "/core/status/429", "/core/status/503":
		status, _ := strconv.Atoi(path.Base(r.URL.Path))
		w.WriteHeader(status)
		return
	case "/core/large":
		for range 1000 {
			if _, err := w.Write([]byte(strings.Repeat("x", 1000))); err != nil {
				return
			}
		}
	case "/core/broken":
		panic(http.ErrAbortHandler)
	case "/core/text":
		_, _ = io.WriteString(w, "a <text>")
		return
	}
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]string{
		"method": r.Method, "path": r.URL.String(), "body": string(body), "key": r.Header.Get("Authorization"), "from": r.RemoteAddr,
	})
}

func (b *box) say(topic, payload string, retain bool) {
	b.t.Helper()
	if err := b.centre.Publish(b.t.Context(), uplink.Message{Topic: topic, Payload: []byte(payload), QoS: 1, Retain: retain}); err != nil {
		b.t.Fatal(err)
	}
}

// request returns a request; fields are added to the usual ones, or take their place.
func (b *box) request(id string, fields map[string]any) []byte {
	b.t.Helper()
	all := map[string]any{"id": id, "method": "GET", "path": "/core/network/1042/topology?offline=true", "key": "k", "deadline": now + 60}
	for key, value := range fields {
		all[key] = value
	}
	raw, err := json.Marshal(all)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// ask sends a request.
func (b *box) ask(id string, fields map[string]any) {
	b.t.Helper()
	b.say("sensegate/4f2a9c01/core", string(b.request(id, fields)), false)
}

// hear returns the answer to a request.
func (b *box) hear(id string) (a answer) {
	b.t.Helper()
	m := b.replies.Await("sensegate/4f2a9c01/core/reply/" + id)
	if err := json.Unmarshal(m.Payload, &a); err != nil || a.ID != id {
		b.t.Fatalf("%s: %v", m.Payload, err)
	}
	return a
}

func TestRequestIsAnsweredAsOverHTTP(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.ask("r-1", map[string]any{"method": "PUT", "body": map[string]int{"armed": 1}})
	want := `{"body":"{\"armed\":1}","from":"uplink engine","key":"Bearer k","method":"PUT","path":"http://localhost/core/network/1042/topology?offline=true"}`
	if got := b.hear("r-1"); got.Status != 201 || string(got.Body) != want {
		t.Errorf("%d %s\nwant %s", got.Status, got.Body, want)
	}
	b.ask("r-2", map[string]any{"path": "/core/text"})
	if got := b.hear("r-2"); got.Status != 200 || string(got.Body) != `"a \u003ctext\u003e"` {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}

// TestWhatChangesNothingTakesNoRoom: whoever has no key cannot keep others from asking, and who has to wait
// may ask again with the same id.
func TestWhatChangesNothingTakesNoRoom(t *testing.T) {
	t.Parallel()
	for name, fields := range map[string]map[string]any{
		"no key":     {"method": "POST", "path": "/core/status/401"},
		"malformed":  {"method": "POST", "path": "/core/status/400"},
		"no right":   {"method": "POST", "path": "/core/status/403"},
		"no room":    {"method": "POST", "path": "/core/status/503"},
		"no address": {"method": "POST", "path": "/core/status/404"},
		"no method":  {"method": "PUT", "path": "/core/status/405"},
		"too many":   {"method": "POST", "path": "/core/status/429"},
		"a read":     {"method": "GET", "path": "/core/status/200"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			const many, together = 1024, 16 // that are remembered, and that wait, at most
			for n := range many {
				b.centre.Offer(uplink.Message{Topic: "sensegate/4f2a9c01/core", Payload: b.request(fmt.Sprint("r", n), fields)})
				if n%together < together-1 {
					continue
				}
				for range together {
					var got answer
					if err := json.Unmarshal(b.replies.Next().Payload, &got); err != nil || "/core/status/"+fmt.Sprint(got.Status) != fields["path"] {
						t.Fatalf("%d %s %v", got.Status, got.Body, err)
					}
				}
			}
			b.ask("r0", map[string]any{"method": "POST"})
			if got := b.hear("r0"); got.Status != http.StatusCreated {
				t.Errorf("after %d of them: %d %s", many, got.Status, got.Body)
			}
		})
	}
}

func TestWhatMustNotBeRunIsRefusedInWords(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for id, test := range map[string]struct {
		fields map[string]any
		status int
		words  string
	}{
		"past":      {map[string]any{"deadline": now - 1}, 408, "has passed"},
		"none":      {map[string]any{"deadline": nil}, 408, "has passed"},
		"far":       {map[string]any{"deadline": now + 3600}, 400, "at most 300 s ahead"},
		"app":       {map[string]any{"path": "/app/v1/login"}, 404, "below /core/"},
		"climbing":  {map[string]any{"path": "/core/../app/v1/login"}, 404, "below /core/"},
		"hidden":    {map[string]any{"path": "/core/%2e%2e/app/v1/login"}, 404, "below /core/"},
		"elsewhere": {map[string]any{"path": "http://example.org/core/x"}, 404, "below /core/"},
		"nowhere":   {map[string]any{"path": ""}, 404, "below /core/"},
		"method":    {map[string]any{"method": "CONNECT"}, 405, "want GET"},
	} {
		b.ask(id, test.fields)
		if got := b.hear(id); got.Status != test.status || !strings.Contains(string(got.Body), test.words) {
			t.Errorf("%s: %d %s, want %d %q", id, got.Status, got.Body, test.status, test.words)
		}
	}
	b.clock.Store(0)
	b.ask("clock", nil)
	if got := b.hear("clock"); got.Status != 503 || !strings.Contains(string(got.Body), "the clock of this box is not set") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if n := b.ran.Load(); n != 0 {
		t.Errorf("%d requests were run", n)
	}
}

func TestSameIDIsRunOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for range 3 {
		b.ask("once", map[string]any{"method": "POST"})
		if got := b.hear("once"); got.Status != 201 {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	b.ask("once", map[string]any{"method": "POST", "key": "another"})
	if got := b.hear("once"); got.Status != 409 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if n := b.ran.Load(); n != 1 {
		t.Errorf("run %d times", n)
	}
	b.clock.Add(61) // its deadline has passed: it is forgotten, and would be refused
	b.ask("once", map[string]any{"method": "POST", "deadline": now + 100})
	if got := b.hear("once"); got.Status != 201 || b.ran.Load() != 2 {
		t.Errorf("%d %s, run %d times", got.Status, got.Body, b.ran.Load())
	}
}

func TestRubbishAndKeptMessagesAreCounted(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.ask("first", nil) // behind what newBox has sent to see whether somebody listens
	b.hear("first")
	before := b.part.Report().Refused
	for _, payload := range []string{"", "{", `[]`, `{"id":"a/b"}`, `{"id":""}`, `{"id":"` + strings.Repeat("x", 65) + `"}`, `{"id":"x","deadline":"soon"}`, strings.Repeat("x", 250_000)} {
		b.say("sensegate/4f2a9c01/core", payload, false)
	}
	b.ask("last", nil)
	b.hear("last")
	if got := b.part.Report().Refused - before; got != 8 || b.ran.Load() != 2 {
		t.Errorf("%d counted, %d run", got, b.ran.Load())
	}
}

func TestAKeptRequestIsNotRun(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := &box{t: t, centre: broker.Connect("centre"), replies: broker.Listen("sensegate/4f2a9c01/core/reply/+")}
	b.clock.Store(now)
	b.say("sensegate/4f2a9c01/core", fmt.Sprintf(`{"id":"kept","method":"GET","path":"/core/network","key":"k","deadline":%d}`, now+60), true)
	b.part = remotecore.New(uplink.Uplink{Base: "sensegate/4f2a9c01"}, http.HandlerFunc(b.serve),
		func() motion.Time { return now }, slog.New(slog.DiscardHandler))
	b.run(broker.Connect("box"))
	b.ask("fresh", nil)
	b.hear("fresh")
	if n := b.ran.Load(); n != 1 {
		t.Errorf("%d requests were run, want that of now alone", n)
	}
}

func TestTooManyAndTooLarge(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.ask("large", map[string]any{"path": "/core/large"})
	if got := b.hear("large"); got.Status != 507 || !strings.Contains(string(got.Body), "ask for less") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	b.ask("broken", map[string]any{"path": "/core/broken"})
	if got := b.hear("broken"); got.Status != 500 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	const many = 40
	for n := range many {
		b.ask(fmt.Sprint("slow", n), map[string]any{"path": "/core/slow"})
	}
	var first answer // the others wait
	if err := json.Unmarshal(b.replies.Next().Payload, &first); err != nil || first.Status != 503 || !strings.Contains(string(first.Body), "too many requests at once") {
		t.Errorf("%+v %v", first, err)
	}
	close(b.hold)
	statuses := map[int]int{first.Status: 1}
	for range many - 1 {
		var a answer
		if err := json.Unmarshal(b.replies.Next().Payload, &a); err != nil {
			t.Fatal(err)
		}
		statuses[a.Status]++
	}
	if statuses[201]+statuses[503] != many || statuses[201] < 16 || statuses[201] == many {
		t.Errorf("answers %v of %d", statuses, many)
	}
}
