package remotewrite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/remotewrite"
)

const patience = 60 * time.Second

// database is a real receiver of Remote Write that answers Prometheus' queries.
type database struct{ address, write string }

// start starts a program on a free port of loopback until the end of the test. Where it is not
// installed the test is skipped, and fails when CI is true.
func start(t *testing.T, name, path string, args func(dir, address string) []string) database {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(name + " is not installed")
		}
		t.Skip(name + " is not installed")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	process := exec.Command(program, args(t.TempDir(), address)...)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	d := database{address, "http://" + address + path}
	for limit := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := d.get("/api/v1/query", url.Values{"query": {"vector(1)"}}); err == nil {
			return d
		}
		if time.Now().After(limit) {
			t.Fatalf("%s does not answer", name)
		}
	}
}

// prometheus starts Debian's Prometheus with an out-of-order window; "" for none.
func prometheus(t *testing.T, window string) database {
	t.Helper()
	return start(t, "prometheus", "/api/v1/write", func(dir, address string) []string {
		config := "global: {}\n"
		if window != "" {
			config = "storage:\n  tsdb:\n    out_of_order_time_window: " + window + "\n"
		}
		file := filepath.Join(dir, "prometheus.yml")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{
			"--config.file=" + file, "--storage.tsdb.path=" + filepath.Join(dir, "data"), "--web.listen-address=" + address,
			"--web.enable-remote-write-receiver", "--log.level=error",
		}
	})
}

func victoria(t *testing.T) database {
	t.Helper()
	return start(t, "victoria-metrics", "/api/v1/write", func(dir, address string) []string {
		return []string{"-httpListenAddr=" + address, "-storageDataPath=" + dir, "-search.latencyOffset=0s", "-loggerLevel=ERROR", "-retentionPeriod=1y"}
	})
}

// get returns the result of a query.
func (d database) get(path string, values url.Values) (json.RawMessage, error) {
	response, err := http.Get("http://" + d.address + path + "?" + values.Encode())
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	var answer struct {
		Status, Error string
		Data          struct{ Result json.RawMessage }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", answer.Status, answer.Error)
	}
	return answer.Data.Result, nil
}

// samples returns the raw samples of the only series that a selector finds, by their time.
func (d database) samples(t *testing.T, selector string, until motion.Time) map[motion.Time]float64 {
	t.Helper()
	raw, err := d.get("/api/v1/query", url.Values{"query": {selector + "[30h]"}, "time": {fmt.Sprint(until.Second())}})
	if err != nil {
		t.Fatal(err)
	}
	var series []struct {
		Values [][2]any `json:"values"`
	}
	if err := json.Unmarshal(raw, &series); err != nil || len(series) > 1 {
		t.Fatalf("%s: %s %v", selector, raw, err)
	}
	found := map[motion.Time]float64{}
	for _, one := range series {
		for _, point := range one.Values {
			value, err := strconv.ParseFloat(point[1].(string), 64)
			if err != nil {
				t.Fatal(err)
			}
			if !math.IsNaN(value) { // VictoriaMetrics shows the ends of series too
				found[motion.Time(point[0].(float64))] = value
			}
		}
	}
	return found
}

// instant returns the number of series that a query has at a time.
func (d database) instant(t *testing.T, query string, at motion.Time) int {
	t.Helper()
	raw, err := d.get("/api/v1/query", url.Values{"query": {query}, "time": {fmt.Sprint(at.Second())}})
	if err != nil {
		t.Fatal(err)
	}
	var series []any
	if err := json.Unmarshal(raw, &series); err != nil {
		t.Fatal(err)
	}
	return len(series)
}

// sends runs a part until all minutes up to the house's time are sent.
func (h *house) sends(t *testing.T, to database) *remotewrite.Part {
	t.Helper()
	p := h.part(t, uplink.Config{URL: to.write})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx, nil) }()
	begun := false
	for limit := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		r := p.Report()
		begun = begun || r.Sent+r.Rejected > 0
		if begun && r.Queue == 0 {
			break
		}
		if time.Now().After(limit) {
			t.Fatalf("not sent: %+v", r)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return p
}

// want returns the samples of minutes that begin in [from, to), by their end.
func want(from, to motion.Time) map[motion.Time]float64 {
	all := map[motion.Time]float64{}
	for ts := from; ts < to; ts += minute {
		if hasData(ts) {
			all[ts+minute] = valueAt(ts)
		}
	}
	return all
}

// lastMinute returns the end of the last complete minute.
func lastMinute() motion.Time {
	second := time.Now().Unix() - 60
	return motion.Time(second - second%minute)
}

const networkMotion = `sensegate_network_motion_ratio{box="4f2a9c01",network="1042"}`

// outage sends up to a time so long ago, has another box write all the time, and then sends the rest.
func outage(t *testing.T, d database, length motion.Time) (from, now motion.Time, p *remotewrite.Part) {
	t.Helper()
	now = lastMinute()
	from = now - length - 20*minute
	h := &house{box: "4f2a9c01", now: now - length + 40, cursor: from}
	h.sends(t, d)
	other := &house{box: "0000beef", now: now + 40, cursor: now - 2*minute}
	other.sends(t, d)
	h.set(now + 40)
	return from, now, h.sends(t, d)
}

func TestOutageOfAnHourLeavesNoGap(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) database{
		"Prometheus":      func(t *testing.T) database { return prometheus(t, "2h") },
		"VictoriaMetrics": victoria,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := start(t)
			from, now, p := outage(t, d, 60*minute)
			eventually(t, d, networkMotion, now, want(from, now))
			if r := p.Report(); r.Rejected != 0 || r.Trouble != "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestWhatAReceiverFindsTooOldIsLeftOutAndTheRestIsSent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		window string
		behind motion.Time // how old a sample may be
	}{
		"window of two hours": {"2h", 120 * minute},
		"no window":           {"", 60 * minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := prometheus(t, test.window)
			from, now, p := outage(t, d, 240*minute)
			sent := want(from, now-240*minute)
			maps.Copy(sent, want(now-test.behind-minute, now)) // by the end of the minute
			eventually(t, d, networkMotion, now, sent)
			r := p.Report()
			if r.Rejected == 0 || !strings.Contains(r.Trouble, "refused samples of") {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestWithoutDataASeriesEnds(t *testing.T) {
	t.Parallel()
	d := prometheus(t, "2h")
	_, now, _ := outage(t, d, 60*minute)
	for ts := now - 30*minute; ts < now; ts += minute {
		want := 1
		if !hasData(ts) {
			want = 0
		}
		if got := d.instant(t, networkMotion, ts+minute); got != want {
			t.Errorf("at the end of minute %d: %d series, want %d", ts.Second()/minute, got, want)
		}
	}
}

func TestHealthIsSentOfWhatIsNoPhone(t *testing.T) {
	t.Parallel()
	d := prometheus(t, "2h")
	_, now, _ := outage(t, d, minute)
	for query, want := range map[string]int{
		`sensegate_device_online{box="4f2a9c01",device="GWA1000133",place="Hall"} == 1`:      1,
		`sensegate_device_online{box="4f2a9c01",device="02bb00000031",place="Kitchen"} == 0`: 1,
		`sensegate_device_online{box="4f2a9c01",device="02bb00000032",place="Office"} == 0`:  1,
		`sensegate_device_online{box="4f2a9c01"}`:                                            3,
		`sensegate_link_signal_dbm{box="4f2a9c01"}`:                                          1, // of the one that is online
		`sensegate_link_online{box="4f2a9c01",link="GWA1000133.02bb00000031"} == 1`:          1,
		`sensegate_link_signal_dbm{box="4f2a9c01"} == -51`:                                   1,
	} {
		if got := d.instant(t, query, now); got != want {
			t.Errorf("%s: %d series, want %d", query, got, want)
		}
	}
}

// TestSignalOfALinkThatGoesDownEnds at once: a database would show the former one for five minutes.
func TestSignalOfALinkThatGoesDownEnds(t *testing.T) {
	t.Parallel()
	d := prometheus(t, "2h")
	now := lastMinute()
	h := &house{box: "4f2a9c01", now: now - minute + 40, cursor: now - 3*minute}
	h.sends(t, d)
	h.set(now + 40)
	h.setDown()
	h.sends(t, d)
	for query, want := range map[string][2]int{ // before, after
		`sensegate_link_signal_dbm == -51`: {1, 0},
		`sensegate_link_signal_dbm`:        {1, 0},
		`sensegate_link_online == 1`:       {1, 0},
		`sensegate_link_online == 0`:       {1, 2},
	} {
		if got := [2]int{d.instant(t, query, now-minute), d.instant(t, query, now)}; got != want {
			t.Errorf("%s: %d series before and after, want %d", query, got, want)
		}
	}
}

// eventually waits until a database shows samples: VictoriaMetrics takes a second.
func eventually(t *testing.T, d database, selector string, now motion.Time, want map[motion.Time]float64) {
	t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		got := d.samples(t, selector, now+minute)
		if maps.Equal(got, want) {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%s has %d samples %v, want %d %v", selector, len(got), slices.Sorted(maps.Keys(got)), len(want), slices.Sorted(maps.Keys(want)))
		}
	}
}
