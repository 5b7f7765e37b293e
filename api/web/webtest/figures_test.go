package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"sensegate/api/appliance"
	"sensegate/api/appliance/box"
	"sensegate/firmware-sim/demo"
	"sensegate/motion"
)

var (
	figures  = flag.Bool("figures", false, "measure the web app: go test ./api/web/webtest -run Figures -figures -v")
	liveView = flag.String("live", "#/live", "address of the live view, for the figures")
)

// TestFigures measures the web app and prints what is wanted of it beside what it is. It is no
// test: on a machine with other things to do, times are longer.
func TestFigures(t *testing.T) {
	if !*figures {
		t.Skip("run with -figures")
	}
	table := &strings.Builder{}
	row := func(what, wanted, format string, values ...any) {
		fmt.Fprintf(table, "%-58s %-12s %s\n", what, wanted, fmt.Sprintf(format, values...))
	}
	first, whole := sizes(t)
	row("first view: scripts and English words, compressed", "<= 30 KB", "%.1f KB", first)
	row("all files, compressed", "<= 150 KB", "%.1f KB", whole)
	for _, part := range []struct {
		name    string
		measure func(*testing.T, func(what, wanted, format string, values ...any))
	}{{"times", measureTimes}, {"live view", measureLive}, {"overview", measureOverview}, {"memory", measureMemory}} {
		t.Run(part.name, func(t *testing.T) { part.measure(t, row) })
	}
	t.Logf("\n%s", table)
}

// sizes returns the KB of what the first view loads of scripts, and of all files.
func sizes(t *testing.T) (first, whole float64) {
	t.Helper()
	page := fixedPage(t)
	files, err := os.ReadDir("../dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		kb := float64(info.Size()) / 1000
		whole += kb
		if name := strings.TrimSuffix(file.Name(), ".gz"); strings.HasSuffix(name, ".js") && strings.Contains(page, `"`+name+`"`) {
			first += kb
		}
	}
	return first, whole
}

// fixedPage returns index.html.
func fixedPage(t *testing.T) string {
	t.Helper()
	got, err := http.Get(fixed(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	page, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// sentenceTime keeps when the sentence about the home was shown, ms since the page was asked for.
const sentenceTime = `{
	globalThis.shownAfter = 0;
	const watch = new MutationObserver(() => {
		if (!document.querySelector(".truth h1")) return;
		watch.disconnect();
		requestAnimationFrame(() => (globalThis.shownAfter = performance.now()));
	});
	watch.observe(document, {childList: true, subtree: true});
}`

// measureTimes measures how long a browser that knows nothing takes to show the sentence about the
// home: the median of seven.
func measureTimes(t *testing.T, row func(what, wanted, format string, values ...any)) {
	b := open(t, 390, 844)
	b.tolerate("net::")
	s := play(b, false)
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.beforePages(sentenceTime)
	times := func() (all []float64) {
		for range 7 {
			b.do(chromedp.Navigate("about:blank"))
			command(b, network.ClearBrowserCache, struct{}{})
			b.do(chromedp.Navigate("http://" + s.HTTP))
			b.waitFor(`globalThis.shownAfter > 0`)
			all = append(all, read[float64](b, "shownAfter"))
		}
		slices.Sort(all)
		return all
	}
	all := times()
	row("cold cache to the sentence about the home", "< 300 ms", "%.0f ms (%.0f to %.0f)", all[3], all[0], all[6])
	b.network(network.Conditions{Latency: 40, DownloadThroughput: 5e6 / 8, UploadThroughput: 5e6 / 8})
	command(b, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 6})
	all = times()
	row("… at 5 Mbit/s, 40 ms, a sixth of the CPU", "< 1000 ms", "%.0f ms (%.0f to %.0f)", all[3], all[0], all[6])
}

// measureLive measures the share of 20 s that the page's one thread works while the live view of
// homes with many links is shown, by rooms and by links.
func measureLive(t *testing.T, row func(what, wanted, format string, values ...any)) {
	for _, home := range []struct {
		links  int
		wanted string
	}{{21, ""}, {30, "< 15 %"}, {120, "usable"}} {
		t.Run(fmt.Sprint(home.links), func(t *testing.T) { measureLinks(t, home.links, home.wanted, row) })
	}
}

// measureLinks is measureLive of one home.
func measureLinks(t *testing.T, links int, wanted string, row func(what, wanted, format string, values ...any)) {
	b := open(t, 1280, 800)
	page := manyLinks(b, links)
	b.do(chromedp.Navigate(page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	b.visitHere(*liveView)
	b.waitFor(`document.querySelector(".lines tbody tr") !== null`)
	command(b, performance.Enable, performance.EnableParams{})
	busy := func() float64 {
		for _, m := range command(b, performance.GetMetrics, struct{}{}).Metrics {
			if m.Name == "TaskDuration" {
				return m.Value
			}
		}
		t.Fatal("the browser does not tell TaskDuration")
		return 0
	}
	measure := func(kind string) {
		const seconds = 20
		before := busy()
		time.Sleep(seconds * time.Second)
		share := 100 * (busy() - before) / seconds
		row(fmt.Sprintf("live view of %d links, %s: the page's thread works", links, kind), wanted, "%.1f %%, %d lines drawn, %d listed", share,
			read[int](b, `document.querySelectorAll(".lines tbody input:checked").length`), read[int](b, `document.querySelectorAll(".lines tbody tr").length`))
	}
	measure("by rooms")
	b.pressAny("Links")
	measure("by links")
	b.pressAny("30 min")
	measure("half an hour of links")
	if read[bool](b, `document.querySelector(".lines + p button") !== null`) {
		b.pressAny("1 min")
		read[bool](b, `document.querySelector(".lines + p button").click() === undefined`)
		measure("all links listed")
	}
}

// aged is an appliance whose home has a past of two years, and a room for each of its devices.
type aged struct{ *appliance.Appliance }

const week = 7 * 24 * 3600

// Import takes the week that the demo has, 104 times.
func (a aged) Import(ctx context.Context, id motion.NetworkID, history []motion.History, events []motion.Event) error {
	for ago := 103; ago >= 0; ago-- {
		back := float64(ago * week)
		earlier, before := slices.Clone(history), slices.Clone(events)
		for i := range earlier {
			earlier[i].TS = earlier[i].TS.Add(-back)
		}
		for i := range before {
			before[i].TS = before[i].TS.Add(-back)
			before[i].ID = ""
		}
		if err := a.Appliance.Import(ctx, id, earlier, before); err != nil {
			return err
		}
	}
	return nil
}

// Settle makes the home two years old.
func (a aged) Settle(ctx context.Context, id motion.NetworkID, _ motion.Time) (string, error) {
	return a.Appliance.Settle(ctx, id, motion.TimeOf(time.Now()).Add(-104*week))
}

// PlaceNode puts a node in a room of its own.
func (a aged) PlaceNode(ctx context.Context, device, _, name string) error {
	return a.Appliance.PlaceNode(ctx, device, name, name)
}

// PlaceLeaf puts a leaf in a room of its own.
func (a aged) PlaceLeaf(ctx context.Context, id motion.NetworkID, mac motion.MAC, _, name string) error {
	return a.Appliance.PlaceLeaf(ctx, id, mac, name, name)
}

// measureOverview measures the first answer that the page asks for.
func measureOverview(t *testing.T, row func(what, wanted, format string, values ...any)) {
	b := open(t, 390, 844)
	s := playOn(b, false, func(a *appliance.Appliance) demo.Appliance { return aged{a} })
	ask := signIn(t, s)
	var o struct{ Rooms []struct{} }
	var times []float64
	for range 201 {
		begun := time.Now()
		raw := ask(http.MethodGet, "/web/v1/overview", "")
		times = append(times, 1000*time.Since(begun).Seconds())
		time.Sleep(100 * time.Millisecond) // as often as one may ask
		if err := json.Unmarshal(raw, &o); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(times)
	row(fmt.Sprintf("overview of two years and %d rooms, %d bytes", len(o.Rooms), len(ask(http.MethodGet, "/web/v1/overview", ""))), "< 10 ms",
		"%.1f ms (p99 %.1f)", times[100], times[198])
}

// signIn signs in with the link of the demo, as the page does, and returns how to ask.
func signIn(t *testing.T, s started) func(method, path, body string) []byte {
	t.Helper()
	var cookies []*http.Cookie
	proof := ""
	ask := func(method, path, body string) []byte {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.HTTP+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Sensegate", proof)
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		for _, c := range cookies {
			r.AddCookie(c)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		raw, err := io.ReadAll(got.Body)
		if err != nil || got.StatusCode >= 300 {
			t.Fatalf("%s: %d %s %v", path, got.StatusCode, raw, err)
		}
		cookies = append(cookies, got.Cookies()...)
		return raw
	}
	_, code, _ := strings.Cut(s.Page, "#demo=")
	var answer struct{ Proof string }
	if err := json.Unmarshal(ask(http.MethodPost, "/web/v1/demo-login", `{"code":"`+code+`"}`), &answer); err != nil {
		t.Fatal(err)
	}
	proof = answer.Proof
	return ask
}

// liveHeap is the live heap, MB, in a line of Go's garbage collector.
var liveHeap = regexp.MustCompile(`(?m)^gc .*\d+->\d+->(\d+) MB`)

// measureMemory measures what ten open apps cost the appliance: its real binary, with the demo's
// simulator in it.
func measureMemory(t *testing.T, row func(what, wanted, format string, values ...any)) {
	b := open(t, 390, 844)
	b.tolerate("net::", "WebSocket")
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(box.Build(t), "demo", "-json", "-seed", "1")
	cmd.Env = append(box.Environment(t.TempDir()), "GODEBUG=gctrace=1")
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.close()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it was told to end
	})
	lines := bufio.NewReader(out)
	line, err := lines.ReadBytes('\n')
	var s started
	if err != nil || json.Unmarshal(line, &s) != nil {
		t.Fatalf("the demo says %q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	b.do(chromedp.Navigate(s.Page), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	proof := read[string](b, `sessionStorage.getItem("sensegate-proof")`)
	b.do(chromedp.Navigate("about:blank"))
	settled := func() (resident float64) { // memory that was freed goes back slowly
		for range 12 {
			before := resident
			if resident = medianMB(t, cmd.Process.Pid); resident > before-0.5 && before != 0 {
				break
			}
		}
		return resident
	}
	memory := func() (resident, heap float64) {
		resident = settled()
		raw, err := os.ReadFile(log.Name())
		found := liveHeap.FindAllStringSubmatch(string(raw), -1)
		if err != nil || len(found) == 0 {
			t.Fatalf("no lines of the garbage collector: %v", err)
		}
		heap, _ = strconv.ParseFloat(found[len(found)-1][1], 64)
		return resident, heap
	}
	alone, heapAlone := memory()
	for range 10 {
		b.tab("http://"+s.HTTP, proof)
	}
	together, heapTogether := memory()
	row("resident memory, ten open apps more", "< +5 MB", "%+.1f MB (%.1f to %.1f)", together-alone, alone, together)
	row("live heap after the newest collection", "", "%.0f MB to %.0f MB", heapAlone, heapTogether)
}

// medianMB returns the median of a process's resident memory over 15 s.
func medianMB(t *testing.T, pid int) float64 {
	t.Helper()
	var all []float64
	for range 15 {
		time.Sleep(time.Second)
		all = append(all, residentMB(t, pid))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// tab opens the app in a further tab, signed in.
func (b *browser) tab(address, proof string) *browser {
	b.t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	further := &browser{t: b.t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // a tab is alive for as long as the context that it begins with, which a step's is not
		b.fail(err)
	}
	further.beforePages(`location.protocol === "http:" && sessionStorage.setItem("sensegate-proof", "` + proof + `")`)
	further.do(chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS(".truth h1")))
	return further
}

// residentMB returns the resident memory of a process.
func residentMB(t *testing.T, pid int) float64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, err := strconv.ParseFloat(strings.Fields(line)[0], 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes / 1000
}
