package uplink

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/hook"
)

const secret = "an invented secret"

// posted is one try as the receiver saw it.
type posted struct {
	id, timestamp, signature, kind string
	body                           []byte
}

// numbers returns the n of the frames {"n":…} of a post.
func (p posted) numbers(t *testing.T) (list []int) {
	t.Helper()
	var body struct {
		Frames []struct {
			Network motion.NetworkID `json:"network_id"`
			Channel string           `json:"channel"`
			Frame   struct{ N int }  `json:"frame"`
		} `json:"frames"`
	}
	if err := json.Unmarshal(p.body, &body); err != nil {
		t.Fatalf("%v: %s", err, p.body)
	}
	for _, f := range body.Frames {
		if f.Network != 1042 || f.Channel != "motion/1042" {
			t.Errorf("%+v", f)
		}
		list = append(list, f.Frame.N)
	}
	return list
}

// receiver answers posts with what answer says, and shows them.
func receiver(t *testing.T, answer func(n int, w http.ResponseWriter)) (*webhook, <-chan posted) {
	t.Helper()
	posts := make(chan posted, 1000)
	var mu sync.Mutex
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, err)
		}
		mu.Lock()
		n++
		count := n
		mu.Unlock()
		posts <- posted{r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), r.Header.Get("Content-Type"), body}
		answer(count, w)
	}))
	t.Cleanup(server.Close)
	sender, err := newWebhook(hook.Config{URL: server.URL + "/hook?token=hidden", Secret: secret}, discard())
	if err != nil {
		t.Fatal(err)
	}
	sender.wait = quick
	return sender, posts
}

func numbered(n int) []byte { return fmt.Appendf(nil, `{"n":%d}`, n) }

func accept(int, http.ResponseWriter) {}

func TestPostIsSigned(t *testing.T) {
	t.Parallel()
	sender, posts := receiver(t, accept)
	running(t, sender)
	sender.Deliver(1042, numbered(1))
	p := next(t, posts)
	if got := string(p.body); got != `{"frames":[{"network_id":1042,"channel":"motion/1042","frame":{"n":1}}]}` || p.kind != "application/json" {
		t.Errorf("%s %s", p.kind, got)
	}
	if !strings.HasPrefix(p.signature, "v1,") || !strings.HasPrefix(p.id, "msg_") {
		t.Errorf("id %s, signature %s", p.id, p.signature)
	}
	sent, err := strconv.ParseInt(p.timestamp, 10, 64)
	if age := time.Now().Unix() - sent; err != nil || age < 0 || age > 60 {
		t.Errorf("timestamp %s", p.timestamp)
	}
	eventually(t, "counted", func() bool { return sender.Counters() == Counters{Delivered: 1} })
}

func TestFailedPostIsSentAgain(t *testing.T) {
	t.Parallel()
	sender, posts := receiver(t, func(n int, w http.ResponseWriter) {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			w.WriteHeader(http.StatusTooManyRequests)
		case 3:
			panic(http.ErrAbortHandler) // the connection breaks
		}
	})
	running(t, sender)
	sender.Deliver(1042, numbered(1))
	first := next(t, posts)
	for range 3 {
		again := next(t, posts)
		if again.id != first.id || string(again.body) != string(first.body) {
			t.Errorf("%+v, want the same as %+v", again, first)
		}
	}
	eventually(t, "accepted at last", func() bool { return sender.Counters() == Counters{Delivered: 1, Failures: 3} })
}

func TestPostThatCannotBeDeliveredIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status, tries int
	}{
		"refused": {http.StatusBadRequest, 1}, "redirected": {http.StatusTemporaryRedirect, 1}, "failing": {http.StatusBadGateway, postTries},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sender, posts := receiver(t, func(n int, w http.ResponseWriter) {
				if n <= c.tries {
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(c.status)
				}
			})
			running(t, sender)
			sender.Deliver(1042, numbered(1))
			for range c.tries {
				next(t, posts)
			}
			eventually(t, "given up", func() bool { return sender.Counters() == Counters{Dropped: 1, Failures: uint64(c.tries)} })
			sender.Deliver(1042, numbered(2))
			if got := next(t, posts).numbers(t); len(got) != 1 || got[0] != 2 {
				t.Errorf("then %v", got)
			}
		})
	}
}

func TestReceiverThatIsGoneGetsNothingMore(t *testing.T) {
	t.Parallel()
	sender, posts := receiver(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
	running(t, sender)
	if err := sender.Ready(); err != nil {
		t.Error(err)
	}
	sender.Deliver(1042, numbered(1))
	next(t, posts)
	eventually(t, "gone", func() bool { return fault.KindOf(sender.Ready()) == fault.Conflict })
	sender.Deliver(1042, numbered(2))
	eventually(t, "both dropped", func() bool { return sender.Counters() == Counters{Dropped: 2, Failures: 1} })
	if len(posts) != 0 {
		t.Error("posted again")
	}
}

func TestSlowReceiverHoldsNobodyUpAndGetsTheNewest(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	sender, posts := receiver(t, func(n int, _ http.ResponseWriter) {
		if n == 1 {
			<-release
		}
	})
	running(t, sender)
	sender.Deliver(1042, numbered(0))
	next(t, posts) // hangs with the receiver
	for n := 1; n <= queueFrames+100; n++ {
		sender.Deliver(1042, numbered(n))
	}
	close(release)
	got := next(t, posts).numbers(t)
	if len(got) != queueFrames || got[0] != 101 || got[len(got)-1] != queueFrames+100 {
		t.Errorf("%d frames, %v", len(got), got)
	}
	eventually(t, "counted", func() bool { return sender.Counters() == Counters{Delivered: queueFrames + 1, Dropped: 100} })
}

func TestWhatPilesUpIsCutIntoPosts(t *testing.T) {
	t.Parallel()
	sender, posts := receiver(t, accept)
	large := []byte(`{"n":7,"pad":"` + strings.Repeat("x", postSize/2) + `"}`)
	for range 3 {
		sender.Deliver(1042, large)
	}
	running(t, sender)
	for range 3 {
		if got := next(t, posts).numbers(t); len(got) != 1 || got[0] != 7 {
			t.Errorf("%v", got)
		}
	}
}

func TestHangingReceiverDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	sender, posts := receiver(t, func(int, http.ResponseWriter) { <-release })
	t.Cleanup(func() { close(release) }) // before the receiver closes
	stop := running(t, sender)
	sender.Deliver(1042, numbered(1))
	next(t, posts)
	stop()
	if got := sender.Counters(); got != (Counters{Dropped: 1}) {
		t.Errorf("%+v", got)
	}
}
