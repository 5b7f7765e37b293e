package hook

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "an invented secret"

// receiver answers every post with a status and hands it to see.
func receiver(t *testing.T, status int, see func(*http.Request, []byte)) *Hook {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		see(r, body)
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	h, err := New(Config{URL: server.URL + "/hook?token=hidden", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close(); server.Close() })
	return h
}

func TestPostIsSigned(t *testing.T) {
	t.Parallel()
	posts := 0
	h := receiver(t, http.StatusNoContent, func(r *http.Request, body []byte) {
		posts++
		id, stamp := r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp")
		if want := sign([]byte(secret), "msg_1", stamp, body); id != "msg_1" || r.Header.Get("webhook-signature") != want {
			t.Errorf("headers %v, want signature %s", r.Header, want)
		}
		sent, err := strconv.ParseInt(stamp, 10, 64)
		if age := time.Now().Unix() - sent; err != nil || age < 0 || age > 60 {
			t.Errorf("timestamp %s", stamp)
		}
		if r.Header.Get("Content-Type") != "application/json" || !json.Valid(body) {
			t.Errorf("%s: %s", r.Header.Get("Content-Type"), body)
		}
	})
	if result, asked, err := h.Post(t.Context(), "msg_1", []byte(`{"n":1}`)); result != Accepted || asked != 0 || err != nil || posts != 1 {
		t.Errorf("%v, %v, %v after %d posts", result, asked, err, posts)
	}
}

// TestSignatureIsTheStandardsOne checks the example of Standard Webhooks 1.0.
func TestSignatureIsTheStandardsOne(t *testing.T) {
	t.Parallel()
	key, err := Config{Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}.key()
	if err != nil {
		t.Fatal(err)
	}
	got := sign(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAnswersSayWhetherToTryAgain(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]Verdict{
		200: Accepted, 202: Accepted, 307: Refused, 400: Refused, 401: Refused, 404: Refused, 408: TryAgain, 410: Gone, 429: TryAgain, 500: TryAgain, 503: TryAgain,
	} {
		posts := 0
		h := receiver(t, status, func(*http.Request, []byte) { posts++ })
		if got, _, err := h.Post(t.Context(), "msg_1", []byte(`{}`)); got != want || (err == nil) != (want == Accepted) || posts != 1 {
			t.Errorf("%d: %v, %v after %d posts; want %v", status, got, err, posts, want)
		}
	}
}

func TestReceiverThatAsksForPatienceGetsIt(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "86400": mostAsked, "-1": 0, "Sat, 01 Jan 2028 00:00:00 GMT": 0} {
		answer := &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {header}}}
		if result, asked, err := Judge(answer); result != TryAgain || asked != want || err == nil {
			t.Errorf("%q: %v, %v, %v", header, result, asked, err)
		}
	}
}

func TestErrorsDoNotShowTheAddress(t *testing.T) {
	t.Parallel()
	h, err := New(Config{URL: "http://127.0.0.1:1/?token=hidden", Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	if result, _, err := h.Post(t.Context(), "msg_1", nil); result != TryAgain || err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("%v, %v", result, err)
	}
}

func TestEveryMistakeOfAConfigurationIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"nothing":              {Config{}, nil},
		"right":                {Config{"http://x/?q=1", strings.Repeat("s", minSecret)}, nil},
		"right base64":         {Config{"https://x/", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="}, nil},
		"no secret":            {Config{URL: "https://x/"}, []string{"secret"}},
		"no base64":            {Config{Secret: "whsec_!"}, []string{"secret"}},
		"password in the url":  {Config{"https://u:secret@x/", strings.Repeat("s", minSecret)}, []string{"url"}},
		"both wrong":           {Config{"ftp://x", "short"}, []string{"url", "secret"}},
		"unreadable and short": {Config{"http://secret\x7f", "short"}, []string{"url", "secret"}},
	} {
		var got []string
		err := c.config.Validate()
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range joined.Unwrap() {
				key, _, _ := strings.Cut(one.Error(), ":")
				got = append(got, key)
			}
		}
		if !slices.Equal(got, c.want) || err != nil && strings.Contains(err.Error(), "secret\x7f") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWaitDoublesUpToItsMost(t *testing.T) {
	t.Parallel()
	b := Backoff{First: time.Second, Most: time.Minute}
	for failures, full := range map[int]time.Duration{0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 7: time.Minute, 1 << 30: time.Minute} {
		for range 100 {
			if wait := b.After(failures); wait < full/2 || wait > full {
				t.Fatalf("after %d: %v, want %v to %v", failures, wait, full/2, full)
			}
		}
	}
}
