package remotewrite_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/uplink"
)

// answers starts a receiver that answers each request in the same way.
func answers(t *testing.T, status int, header map[string]string, asked *atomic.Int32) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if name, password, _ := r.BasicAuth(); name != "box" || password != "p" {
			t.Errorf("user %q with %q", name, password)
		}
		for key, value := range header {
			w.Header().Set(key, value)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte("the receiver's\nwords"))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/v1/write"
}

func TestAnswersThatSomebodyHasToDoSomethingAboutAreTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		want   string
		step   uplink.Step
	}{
		"wrong password":   {401, "refuses this user name and password", uplink.Login},
		"no right":         {403, "refuses this user name and password", uplink.Login},
		"no receiver":      {404, "--web.enable-remote-write-receiver", uplink.Publish},
		"redirect":         {302, "sends elsewhere", uplink.Reach},
		"another protocol": {415, "takes no Remote Write 1.0 (415 Unsupported Media Type): the receiver's words", uplink.Publish},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			h := &house{box: "4f2a9c01", now: 1_790_000_030, cursor: 1_789_999_000}
			p := h.part(t, uplink.Config{URL: answers(t, test.status, nil, &asked), Username: "box", Password: "p"})
			var failure *uplink.Failure
			if err := p.Run(t.Context(), nil); !errors.As(err, &failure) || !failure.Slow || !strings.Contains(failure.Text, test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			steps := p.Test(t.Context())
			if last := steps[len(steps)-1]; last.OK || last.Step != test.step || !strings.Contains(last.Text, test.want) {
				t.Errorf("%+v", steps)
			}
			if asked.Load() != 2 || h.sentTo() != 1_789_999_000 {
				t.Errorf("asked %d times, cursor %v", asked.Load(), h.sentTo())
			}
		})
	}
}

func TestAReceiverThatAsksForTimeIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 500, 503} {
		var asked atomic.Int32
		h := &house{box: "4f2a9c01", now: 1_790_000_030, cursor: 1_789_999_000}
		p := h.part(t, uplink.Config{URL: answers(t, status, map[string]string{"Retry-After": "200"}, &asked), Username: "box", Password: "p"})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Run(ctx, nil) }()
		for limit := time.Now().Add(patience); p.Report().Trouble == "" && time.Now().Before(limit); time.Sleep(time.Millisecond) {
		}
		if r := p.Report(); !strings.Contains(r.Trouble, "asks to try again later") || r.Queue != 16 {
			t.Errorf("%d: %+v", status, r)
		}
		stop()
		if err := <-ended; err != nil || asked.Load() != 1 || h.sentTo() != 1_789_999_000 {
			t.Errorf("%d: %v, asked %d times", status, err, asked.Load())
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	secure := server.URL
	t.Cleanup(server.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for url, want := range map[string]string{secure: "the certificate of", gone.URL: "connection refused"} {
		h := &house{box: "4f2a9c01", now: 1_790_000_030, cursor: 1_789_999_000}
		var failure *uplink.Failure
		if err := h.part(t, uplink.Config{URL: url}).Run(t.Context(), nil); !errors.As(err, &failure) || !strings.Contains(failure.Text, want) {
			t.Errorf("%s: got %v, want %q", url, err, want)
		}
	}
}

// TestOneMinuteThatIsRefusedCostsNoOther plays a receiver that refuses whatever has the sample of one
// minute.
func TestOneMinuteThatIsRefusedCostsNoOther(t *testing.T) {
	t.Parallel()
	const bad, first, last = 1_789_998_060, 1_789_996_020, 1_789_999_980
	var taken atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		minutes := timesOf(t, r.Body)
		for at := range minutes {
			if at == bad+minute {
				http.Error(w, "out of order sample", http.StatusBadRequest)
				return
			}
		}
		taken.Add(int64(len(minutes)))
	}))
	t.Cleanup(server.Close)
	h := &house{box: "4f2a9c01", now: last + minute + 40, cursor: first}
	p := h.sends(t, database{write: server.URL})
	minutes := int64(last-first)/minute + 1
	if taken.Load() != minutes-1 || h.sentTo() != last+minute {
		t.Errorf("%d minutes taken of %d, cursor %v", taken.Load(), minutes, h.sentTo())
	}
	if r := p.Report(); r.Rejected == 0 || !strings.Contains(r.Trouble, "refused samples of 1 minutes, which are not sent again: out of order sample") {
		t.Errorf("%+v", r)
	}
}

func TestNothingIsSentBeforeTheClockIsSet(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	h := &house{box: "4f2a9c01", now: 0}
	p := h.part(t, uplink.Config{URL: answers(t, 204, nil, &asked), Username: "box", Password: "p"})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx, nil) }()
	for limit := time.Now().Add(patience); p.Report().Trouble == "" && time.Now().Before(limit); time.Sleep(time.Millisecond) {
	}
	stop()
	if err := <-ended; err != nil || asked.Load() != 0 || !strings.Contains(p.Report().Trouble, "the clock of this box is not set") {
		t.Errorf("%v, asked %d times: %+v", err, asked.Load(), p.Report())
	}
}

func TestAClockThatJumps(t *testing.T) {
	t.Parallel()
	for name, cursor := range map[string]motion.Time{"it was years behind": 60, "it was a year ahead": 1_821_000_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked.Add(1) }))
			t.Cleanup(server.Close)
			h := &house{box: "4f2a9c01", now: 1_790_000_000, cursor: cursor}
			p := h.part(t, uplink.Config{URL: server.URL})
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- p.Run(ctx, nil) }()
			for limit := time.Now().Add(patience); time.Now().Before(limit); time.Sleep(time.Millisecond) {
				if r := p.Report(); r.Queue == 0 && r.Sent > 0 || h.sentTo() < cursor {
					break
				}
			}
			stop()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if got, most := h.sentTo(), motion.Time(1_790_000_000); got > most || got < most-2*minute {
				t.Errorf("cursor %v, want the last minute before %v", got, most)
			}
			if asked.Load() > 200 {
				t.Errorf("asked %d times for a week", asked.Load())
			}
		})
	}
}
