package app_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion"
	"sensegate/motion/home"
)

// The size of BenchmarkHouseholds.
const (
	benchHomes   = 200
	benchMembers = 4 // of a home, each with a websocket
	benchLinks   = 6 // of a network
	benchRounds  = 20
	frameEvery   = 500 * time.Millisecond
)

// viewersEnv names the address whose homes the second process of BenchmarkHouseholds
// watches.
const viewersEnv = "SENSEGATE_BENCH_VIEWERS"

// BenchmarkHouseholds serves live motion to 200 households of 4 members, a frame each
// 500 ms, spread evenly over that time; the viewers are another process. It reports the
// time from a guardian's report to its frame being read, and what this process, the
// server with its tests, holds in memory at the end. Wanted: p99 < 50 ms, < 100 MB.
func BenchmarkHouseholds(b *testing.B) {
	h := newHousehold(b)
	guardians, tokens := h.benchHomes()
	h.Doc = nil
	debug.FreeOSMemory() // what the preparations left over
	b.ReportMetric(resident(b), "MB-before")
	for b.Loop() {
		viewers := h.startViewers(tokens)
		h.broadcast(guardians, 2) // that are not measured
		fmt.Fprintln(viewers.in, "begin")
		h.broadcast(guardians, benchRounds)
		b.ReportMetric(resident(b), "MB-resident")
		times := viewers.end()
		if want := benchRounds * benchHomes * benchMembers; len(times) < want {
			b.Errorf("%d frames read, want %d", len(times), want)
		}
		for name, at := range map[string]float64{"ms-p50": 0.5, "ms-p99": 0.99, "ms-max": 1} {
			b.ReportMetric(times[int(at*float64(len(times)-1))], name)
		}
	}
}

// benchHomes makes the homes and returns their guardians and the tokens of all members.
func (h *household) benchHomes() (guardians []motion.DeviceKey, tokens []string) {
	h.T.Helper()
	for i := range benchHomes {
		location, node := fmt.Sprintf("guardian-%06d", i), fmt.Sprintf("GW%06d", i)
		radar := motion.Radar{DeviceID: "csi-" + node, NodeName: node, LocationID: location, RootMode: motion.RootModeMaster, APBSSID2GHz: benchMAC(i, 0)}
		for l := range benchLinks {
			radar.Links = append(radar.Links, motion.RadarLink{MAC: benchMAC(i, byte(l+1)), PeerType: motion.PeerClient, RSSI: "-59"})
		}
		address := netip.MustParseAddr("127.0.0.1")
		admission, err := h.engine.Devices.Admit(h.T.Context(), motion.Bootstrap{Radar: radar, LocationID: location}, motion.Credentials{Address: address})
		if err != nil || admission.Network == 0 {
			h.T.Fatalf("admit %s: %+v %v", node, admission, err)
		}
		key, err := h.engine.Devices.Login(h.T.Context(), location, admission.GuardianToken)
		if err != nil {
			h.T.Fatal(err)
		}
		h.engine.State.Connected(key, address)
		report := motion.StatusReport{TS: h.engine.State.Now(), MotionEnabled: 1, Radars: map[string]motion.Radar{node: radar}}
		if err := h.engine.Report(h.T.Context(), key, report); err != nil {
			h.T.Fatal(err)
		}
		guardians = append(guardians, key)
		id := h.newHome(admission.Network)
		for m := range benchMembers {
			p := h.person(fmt.Sprintf("member%d@home%d.example.com", m, i))
			h.join(p, id, []home.Role{home.OwnerRole, home.MemberRole}[min(m, 1)])
			tokens = append(tokens, p.token)
		}
	}
	return guardians, tokens
}

func benchMAC(i int, low byte) motion.MAC { return motion.MAC{2, 0xdd, byte(i >> 8), byte(i), 0, low} }

// broadcast has every guardian report, so many times.
func (h *household) broadcast(guardians []motion.DeviceKey, rounds int) {
	h.T.Helper()
	ticker := time.NewTicker(frameEvery / benchHomes)
	defer ticker.Stop()
	for range rounds {
		for i, key := range guardians {
			<-ticker.C
			if err := h.engine.Report(h.T.Context(), key, benchMatrix(i, h.engine.State.Now())); err != nil {
				h.T.Fatal(err)
			}
		}
	}
}

// benchMatrix is a report of motion at all links of a home.
func benchMatrix(i int, at motion.Time) *motion.Matrix {
	m := &motion.Matrix{
		TS: at, Interval: 500, Count: 1, MotionEnabled: 1,
		Loc: []motion.MatrixLoc{{MAC: benchMAC(i, 1), Confidence: 0.82}},
	}
	for l := range benchLinks {
		m.Links = append(m.Links, motion.LinkName(fmt.Sprintf("GW%06d", i), benchMAC(i, byte(l+1)).Name()))
	}
	for name, figure := range map[motion.Figure]float64{motion.MKAI: 0.35, motion.LRaw: 0.4, motion.Throughput: 0.98, motion.MSAD: 132.7, motion.MConf: 84.85} {
		m.Values[name] = [][]float64{slices.Repeat([]float64{figure}, benchLinks)}
	}
	return m
}

// resident returns the megabytes that this process holds in memory.
func resident(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("the resident memory is told by Linux")
	}
	_, line, _ := strings.Cut(string(status), "VmRSS:")
	kilobytes, err := strconv.ParseFloat(strings.Fields(line)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kilobytes / 1000
}

// viewers is the process that watches.
type viewers struct {
	t       testing.TB
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// startViewers starts the process and waits until it watches with all tokens.
func (h *household) startViewers(tokens []string) *viewers {
	h.T.Helper()
	v := &viewers{t: h.T, command: exec.CommandContext(h.T.Context(), os.Args[0], "-test.run=^TestViewersOfTheBenchmark$", "-test.v")}
	v.command.Env = append(os.Environ(), viewersEnv+"="+h.Address)
	v.command.Stderr = os.Stderr
	in, err := v.command.StdinPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	out, err := v.command.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	v.in, v.out = in, bufio.NewReader(out)
	if err := v.command.Start(); err != nil {
		h.T.Fatal(err)
	}
	fmt.Fprintln(v.in, strings.Join(tokens, " "))
	v.line("watching")
	return v
}

// line returns what follows prefix on the next line that has it.
func (v *viewers) line(prefix string) string {
	v.t.Helper()
	for {
		line, err := v.out.ReadString('\n')
		if rest, found := strings.CutPrefix(line, prefix); found {
			return rest
		}
		if err != nil {
			v.t.Fatalf("viewers: %v", err)
		}
	}
}

// end ends the process and returns how long each frame took, sorted, ms.
func (v *viewers) end() (times []float64) {
	v.t.Helper()
	fmt.Fprintln(v.in, "end")
	if err := json.Unmarshal([]byte(v.line("times ")), &times); err != nil {
		v.t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, v.out); err != nil {
		v.t.Fatal(err)
	}
	if err := v.command.Wait(); err != nil {
		v.t.Fatal(err)
	}
	slices.Sort(times)
	return times
}

// TestViewersOfTheBenchmark is the second process of BenchmarkHouseholds. It reads
// tokens, watches with each, and answers "end" with how long each frame since "begin"
// took from its time of origin until it was read, ms.
func TestViewersOfTheBenchmark(t *testing.T) {
	address := os.Getenv(viewersEnv)
	if address == "" {
		t.Skip("runs as the second process of BenchmarkHouseholds")
	}
	in := bufio.NewReader(os.Stdin)
	said := func() string {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	var reading sync.WaitGroup
	var sockets []*websocket.Conn
	logs := make([]frameLog, benchHomes*benchMembers)
	for i, token := range strings.Fields(said()) {
		ws, _, err := websocket.DefaultDialer.Dial("ws://"+address+"/api/v1/motions", http.Header{"Authorization": {token}})
		if err != nil {
			t.Fatal(err)
		}
		sockets = append(sockets, ws)
		reading.Go(func() { logs[i].read(ws) })
	}
	fmt.Println("watching")
	said()
	begun := float64(time.Now().UnixMicro()) / 1e6
	said()
	for _, ws := range sockets {
		ws.Close()
	}
	reading.Wait()
	times := []float64{}
	for _, log := range logs {
		for i, ts := range log.sent {
			if ts >= begun {
				times = append(times, 1000*(log.taken[i]-ts))
			}
		}
	}
	raw, err := json.Marshal(times)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("times %s\n", raw)
}

// frameLog is when the frames of one viewer were sent and read, seconds.
type frameLog struct{ sent, taken []float64 }

// read logs frames until the connection ends.
func (l *frameLog) read(ws *websocket.Conn) {
	for {
		_, frame, err := ws.ReadMessage()
		if err != nil {
			return
		}
		now := float64(time.Now().UnixMicro()) / 1e6
		rest, _ := bytes.CutPrefix(frame, []byte(`{"ts":`))
		number, _, _ := bytes.Cut(rest, []byte(","))
		if ts, err := strconv.ParseFloat(string(number), 64); err == nil {
			l.sent, l.taken = append(l.sent, ts), append(l.taken, now)
		}
	}
}
