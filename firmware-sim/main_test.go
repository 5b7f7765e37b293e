package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestCommandLineMistakesExitWithTwo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, args, want string
	}{
		{"nothing", "", "Usage: firmware-sim COMMAND"},
		{"unknown command", "dance", "want one of run, install, replay, load, fleet, node, evaluate, compare, sensorcloud, help"},
		{"unknown flag", "run -colour blue", "flag provided but not defined: -colour"},
		{"argument of run", "run home", "run takes flags only"},
		{"mode", "run -mode radar", "want csi, matrix or event"},
		{"speed without an end", "run -speed 10", "say with -duration how long"},
		{"longer than a day", "run -speed 1000 -duration 10m", "run shorter or slower"},
		{"homes", "run -homes 0", "want 1 to 100"},
		{"gatekeeper", "run -gatekeeper box", "want a URL such as"},
		{"argument of install", "install home", "install takes flags only"},
		{"refusal of install", "install -refused rudely", "want password or network"},
		{"pause of install", "install -pause -1s", "want 0 or more"},
		{"duration of install", "install -duration -1s", "want 0 or more"},
		{"replay of nothing", "replay", "name the captures"},
		{"replay of two nodes", "replay a.pcap b.pcap", "a.pcap: is replayed alone"},
		{"scenario", "run -scenario castle", "want one of flat, house"},
		{"node of nothing", "node", "name the kind of node first: ruview, micro-espectre"},
		{"node of an unknown kind", "node toaster", "name the kind of node first"},
		{"argument of node", "node ruview home", "a kind and flags only"},
		{"flag of another kind", "node nexmon -mixed", "flag provided but not defined: -mixed"},
		{"nodes", "node ruview -nodes 65", "want 1 to 64"},
		{"number of a node", "node ruview -number 255 -nodes 2", "want 0 to 255"},
		{"rate of a node", "node lines -rate 0", "want more than 0"},
		{"duration of a node", "node lines -duration -1s", "want 0 or more"},
		{"header of a node", "node ruview -header 4", "want 1, 2 or 3"},
		{"foreign frames", "node ruview -foreign 2", "want 0 to 1"},
		{"address of a node", "node micro-espectre -bind home", "-bind"},
		{"router of a node", "node ruview -router home", "-router"},
		{"listener of a node", "node lines -listen home", "want host:port"},
		{"MAC of a node", "node espectre -listen 127.0.0.1:0 -mac home", "-mac"},
		{"node without a user", "node mqtt", "-user"},
		{"form of a node", "node mqtt -user a -form morse", "want esphome, micro or native"},
		{"walk of nobody", "node ruview -walk Kitchen", "want ROOM@TIME"},
		{"walk nowhere", "node ruview -walk Attic@1s", "want one of Living room"},
		{"walk in a recording", "node ruview -walk Kitchen@1s -from a.csv.gz", "nobody walks in a recording"},
		{"evaluate of nothing", "evaluate", "name directories"},
		{"evaluate beyond the scale", "evaluate -sensitivity 101 dir", "want 0 to 100"},
		{"evaluate the recipe's constants", "evaluate -cross -detector lm1 dir", "leave out -detector lm1"},
		{"report of what has no page", "evaluate -report page.html -cross dir", "leave out -cross, -nights, -rooms, -quiet and -stay"},
		{"report of nights", "evaluate -report page.html -scenario flat -nights 1", "leave out -cross, -nights, -rooms, -quiet and -stay"},
		{"evaluate a stay without end", "evaluate -scenario flat -stay 99h", "want at most 12h"},
		{"evaluate less than no quiet", "evaluate -scenario flat -quiet -6h", "want a multiple of 6h"},
		{"evaluate a home twice", "evaluate -scenario flat,flat", "named twice"},
		{"evaluate a home at a sensitivity", "evaluate -scenario flat -sensitivity 30", "are of captures"},
		{"evaluate pets of a day", "evaluate -scenario flat -with pets", "belong to -quiet"},
		{"evaluate scenarios as JSON", "evaluate -scenario flat -json", "leave out -scenario"},
		{"evaluate links of captures", "evaluate -links dir", "plays homes of its own"},
		{"evaluate of both", "evaluate -scenario flat dir", "plays no captures"},
		{"evaluate for ever", "evaluate -scenario flat -length 99h", "want more than 0"},
		{"evaluate nights without end", "evaluate -scenario flat -nights 9999", "want at most 400"},
		{"compare of nothing", "compare", "name one directory"},
		{"load of nobody", "load -networks 0", "want 1 to 1000"},
		{"load of a flood", "load -rate 1e9", "at most 400"},
		{"load of another machine", "load -appliance 192.0.2.1", "say -elsewhere"},
		{"load of another name", "load -appliance example.net:80", "say -elsewhere"},
	} {
		var out, errs bytes.Buffer
		code := dispatch(t.Context(), strings.Fields(test.args), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), test.want) || out.Len() > 0 {
			t.Errorf("%s: exit %d, want 2 with %q; got %q and %q", test.name, code, test.want, errs.String(), out.String())
		}
	}
}

func TestHelpIsNoMistake(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"help": "replay", "-h": "evaluate", "run -h": "-gatekeeper URL", "install -h": "-refused", "replay -h": "-loop", "node espectre -h": "-mdns", "node -h": "-walk", "evaluate -help": "-json",
	} {
		var out, errs bytes.Buffer
		if code := dispatch(t.Context(), strings.Fields(args), &out, &errs); code != exitOK || !strings.Contains(out.String(), want) {
			t.Errorf("%s: exit %d, %q", args, code, out.String())
		}
	}
}

func TestAReportSaysWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a page.html")
	var out, errs bytes.Buffer
	code := dispatch(t.Context(), []string{"evaluate", "-report", file, "-scenario", "flat", "-length", "1s"}, &out, &errs)
	text, err := os.ReadFile(file)
	if code != exitOK || err != nil {
		t.Fatalf("exit %d, %q, %v", code, errs.String(), err)
	}
	command := "firmware-sim evaluate -report &#34;" + file + "&#34; -scenario flat -length 1s"
	if !strings.Contains(string(text), command) || !strings.Contains(string(text), "version ") {
		t.Errorf("no %s in\n%s", command, text)
	}
}

func TestMissingCaptureIsNamed(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	code := dispatch(t.Context(), []string{"replay", t.TempDir() + "/none.csv.gz"}, &out, &errs)
	if code != exitError || !strings.Contains(errs.String(), "none.csv.gz") {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

// nodeData returns a recording of a real node.
func nodeData(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{dir, "nodes"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the recordings are missing: %v", err)
		}
		t.Skipf("no recordings on this machine (set SENSEGATE_DATA): %v", err)
	}
	return path
}

func TestRecordedRadioIsReplayed(t *testing.T) {
	t.Parallel()
	path := nodeData(t, "nexmon", "example_4358.pcap")
	var config net.ListenConfig
	socket, err := config.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var out, errs bytes.Buffer
	code := dispatch(t.Context(), []string{"replay", "-to", socket.LocalAddr().String(), path}, &out, &errs)
	if code != exitOK || !strings.Contains(out.String(), "4 datagrams sent") || !strings.Contains(out.String(), "0 other packets") {
		t.Errorf("exit %d, %q and %q", code, out.String(), errs.String())
	}
	for range 4 {
		buffer := make([]byte, 2048)
		n, _, err := socket.ReadFrom(buffer)
		if err != nil || n != 18+4*256 || buffer[0] != 0x11 || buffer[1] != 0x11 {
			t.Errorf("%d bytes % x, %v", n, buffer[:2], err)
		}
	}
}

func TestRecordedLinesAreServed(t *testing.T) {
	t.Parallel()
	path := nodeData(t, "esp32_csi_tool", "example_data.csv")
	read, write := io.Pipe()
	var errs bytes.Buffer
	code := make(chan int, 1)
	go func() {
		code <- dispatch(t.Context(), []string{"replay", "-listen", "127.0.0.1:0", "-speed", "1000", path}, write, &errs)
		write.Close()
	}()
	out := bufio.NewScanner(read)
	out.Scan()
	connection, err := net.Dial("tcp", strings.TrimPrefix(out.Text(), "serving 61 lines at "))
	if err != nil {
		t.Fatalf("%q: %v", out.Text(), err)
	}
	defer connection.Close()
	got, err := io.ReadAll(connection)
	if err != nil {
		t.Error(err)
	}
	if want, _ := os.ReadFile(path); !bytes.Equal(got, want) {
		t.Errorf("%d bytes came of %d", len(got), len(want))
	}
	if !out.Scan() || out.Text() != "61 lines sent" {
		t.Errorf("says %q", out.Text())
	}
	if c := <-code; c != exitOK {
		t.Errorf("exit %d, %q", c, errs.String())
	}
}

func TestRunWithoutAnApplianceSaysSoAndEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := until{ends: cancel, text: "does not answer"}
	var errs bytes.Buffer
	code := dispatch(ctx, []string{"run", "-gatekeeper", "http://127.0.0.1:1/gatekeeper"}, &out, &errs)
	if code != exitOK || !out.came.Load() {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

func TestInstallObeysItsInput(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := until{ends: cancel, text: "here     Fridge"}
	c := commands()[slices.IndexFunc(commands(), func(c command) bool { return c.name == "install" })]
	args := []string{"-gatekeeper", "http://127.0.0.1:1", "-pause", "0"}
	if err := installFrom(ctx, c, args, strings.NewReader("dance\nall\nlist\n"), &out); err != nil || !out.came.Load() {
		t.Errorf("%v, or the list did not come", err)
	}
}

// until ends a run when a text is written.
type until struct {
	ends context.CancelFunc
	text string
	came atomic.Bool
}

func (u *until) Write(p []byte) (int, error) {
	if strings.Contains(string(p), u.text) {
		u.came.Store(true)
		u.ends()
	}
	return len(p), nil
}
