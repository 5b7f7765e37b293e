package relay

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
	hook, err := newWebhook(WebhookConfig{URL: server.URL + "/hook?token=hidden", Secret: secret}, discard())
	if err != nil {
		t.Fatal(err)
	}
	hook.wait = quick
	return hook, posts
}

func numbered(n int) []byte { return fmt.Appendf(nil, `{"n":%d}`, n) }

func accept(int, http.ResponseWriter) {}

func TestPostIsSigned(t *testing.T) {
	t.Parallel()
	hook, posts := receiver(t, accept)
	running(t, hook)
	hook.Deliver(1042, numbered(1))
	p := next(t, posts)
	if got := string(p.body); got != `{"frames":[{"network_id":1042,"channel":"motion/1042","frame":{"n":1}}]}` || p.kind != "application/json" {
		t.Errorf("%s %s", p.kind, got)
	}
	if want := sign([]byte(secret), p.id, p.timestamp, p.body); p.signature != want || !strings.HasPrefix(p.id, "msg_") {
		t.Errorf("id %s, signature %s, want %s", p.id, p.signature, want)
	}
	sent, err := strconv.ParseInt(p.timestamp, 10, 64)
	if age := time.Now().Unix() - sent; err != nil || age < 0 || age > 60 {
		t.Errorf("timestamp %s", p.timestamp)
	}
	eventually(t, "counted", func() bool { return hook.Counters() == Counters{Delivered: 1} })
}

// TestSignatureIsTheStandardsOne checks the example of Standard Webhooks 1.0.
func TestSignatureIsTheStandardsOne(t *testing.T) {
	t.Parallel()
	key, err := secretBytes("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFailedPostIsSentAgain(t *testing.T) {
	t.Parallel()
	hook, posts := receiver(t, func(n int, w http.ResponseWriter) {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			w.WriteHeader(http.StatusTooManyRequests)
		case 3:
			panic(http.ErrAbortHandler) // the connection breaks
		}
	})
	running(t, hook)
	hook.Deliver(1042, numbered(1))
	first := next(t, posts)
	for range 3 {
		again := next(t, posts)
		if again.id != first.id || string(again.body) != string(first.body) {
			t.Errorf("%+v, want the same as %+v", again, first)
		}
	}
	eventually(t, "accepted at last", func() bool { return hook.Counters() == Counters{Delivered: 1, Failures: 3} })
}

func TestReceiverThatAsksForPatienceGetsIt(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "86400": mostAsked, "-1": 0, "Sat, 01 Jan 2028 00:00:00 GMT": 0} {
		answer := &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {header}}}
		if result, asked, err := judge(answer); result != tryAgain || asked != want || err == nil {
			t.Errorf("%q: %v, %v, %v", header, result, asked, err)
		}
	}
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
			hook, posts := receiver(t, func(n int, w http.ResponseWriter) {
				if n <= c.tries {
					w.Header().Set("Location", "/elsewhere")
					w.WriteHeader(c.status)
				}
			})
			running(t, hook)
			hook.Deliver(1042, numbered(1))
			for range c.tries {
				next(t, posts)
			}
			eventually(t, "given up", func() bool { return hook.Counters() == Counters{Dropped: 1, Failures: uint64(c.tries)} })
			hook.Deliver(1042, numbered(2))
			if got := next(t, posts).numbers(t); len(got) != 1 || got[0] != 2 {
				t.Errorf("then %v", got)
			}
		})
	}
}

func TestReceiverThatIsGoneGetsNothingMore(t *testing.T) {
	t.Parallel()
	hook, posts := receiver(t, func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
	running(t, hook)
	if err := hook.Ready(); err != nil {
		t.Error(err)
	}
	hook.Deliver(1042, numbered(1))
	next(t, posts)
	eventually(t, "gone", func() bool { return fault.KindOf(hook.Ready()) == fault.Conflict })
	hook.Deliver(1042, numbered(2))
	eventually(t, "both dropped", func() bool { return hook.Counters() == Counters{Dropped: 2, Failures: 1} })
	if len(posts) != 0 {
		t.Error("posted again")
	}
}

func TestSlowReceiverHoldsNobodyUpAndGetsTheNewest(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hook, posts := receiver(t, func(n int, _ http.ResponseWriter) {
		if n == 1 {
			<-release
		}
	})
	running(t, hook)
	hook.Deliver(1042, numbered(0))
	next(t, posts) // hangs with the receiver
	for n := 1; n <= queueFrames+100; n++ {
		hook.Deliver(1042, numbered(n))
	}
	close(release)
	got := next(t, posts).numbers(t)
	if len(got) != queueFrames || got[0] != 101 || got[len(got)-1] != queueFrames+100 {
		t.Errorf("%d frames, %v", len(got), got)
	}
	eventually(t, "counted", func() bool { return hook.Counters() == Counters{Delivered: queueFrames + 1, Dropped: 100} })
}

func TestWhatPilesUpIsCutIntoPosts(t *testing.T) {
	t.Parallel()
	hook, posts := receiver(t, accept)
	large := []byte(`{"n":7,"pad":"` + strings.Repeat("x", postSize/2) + `"}`)
	for range 3 {
		hook.Deliver(1042, large)
	}
	running(t, hook)
	for range 3 {
		if got := next(t, posts).numbers(t); len(got) != 1 || got[0] != 7 {
			t.Errorf("%v", got)
		}
	}
}

func TestHangingReceiverDoesNotHoldUpTheEnd(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hook, posts := receiver(t, func(int, http.ResponseWriter) { <-release })
	t.Cleanup(func() { close(release) }) // before the receiver closes
	stop := running(t, hook)
	hook.Deliver(1042, numbered(1))
	next(t, posts)
	stop()
	if got := hook.Counters(); got != (Counters{Dropped: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestErrorsDoNotShowTheAddress(t *testing.T) {
	t.Parallel()
	hook, _ := receiver(t, accept)
	hook.url = "http://127.0.0.1:1/?token=hidden"
	if _, _, err := hook.post(t.Context(), "msg_1", nil); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v", err)
	}
}
