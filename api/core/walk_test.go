package core_test

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/broker"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store/storetest"
)

const walkFile = "../../docs/core.md"

// patience bounds every wait of the walk.
const patience = 40 * time.Second

// TestWalkIsAsDocumented runs every command of docs/core.md against an appliance
// with a simulated home over real MQTT and compares the answers with those of the
// document: fields, types and values, apart from times, ids that are made up and
// figures that were measured. With -update it writes the answers into it.
func TestWalkIsAsDocumented(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(walkFile)
	if err != nil {
		t.Fatal(err)
	}
	w := newWalk(t)
	lines := strings.Split(string(raw), "\n")
	all := blocks(string(raw))
	for i, b := range all {
		switch b.info {
		case "sh":
			w.plain = i+1 == len(all) || !strings.HasPrefix(all[i+1].info, "json")
			if err := w.shell.do(b.text); err != nil {
				t.Fatalf("line %d: %v", b.line, err)
			}
		case "json", "json of the moment":
			w.compare(b, []value{w.answer})
		case "json frames", "json frames of the moment":
			w.compare(b, w.frames(len(mustRead(t, b))))
		case "": // for people
		default:
			t.Fatalf("line %d: block %q", b.line, b.info)
		}
	}
	if *update {
		w.write(lines)
	}
	w.wantEveryOperation()
}

// walk is one run through the document.
type walk struct {
	*home
	shell   shell
	plain   bool  // no answer is documented for this block
	answer  value // of the last command
	socket  *websocket.Conn
	covered map[string]bool
	texts   map[int]block // new answers, by line
}

func newWalk(t *testing.T) *walk {
	w := &walk{home: newGateway(t), covered: map[string]bool{}, texts: map[int]block{}}
	w.shell = shell{
		variables: map[string]string{"KEY": w.all}, fixed: map[string]bool{"KEY": true}, run: w.call,
	}
	w.moveIn()
	return w
}

// newGateway assembles an appliance as main does, on free ports.
func newGateway(t *testing.T) *home {
	h := &home{t: t, db: storetest.Open(t), doc: document(t), network: 1}
	var err error
	if h.engine, err = engine.New(t.Context(), h.db, engine.Options{FirstWindow: time.Hour, Readopt: true}); err != nil {
		t.Fatal(err)
	}
	listen := broker.Defaults()
	listen.Listen = "127.0.0.1:0"
	door, err := broker.New(listen, broker.Intake{Engine: h.engine}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	h.engine.Introduce(door)
	if err := door.Listen(); err != nil {
		t.Fatal(err)
	}
	background(t, h.engine.Run)
	background(t, door.Run)
	h.all = h.key("laptop", 0, auth.Scopes()...)
	h.serve(func(s *api.Server) {
		port := door.Addr().(*net.TCPAddr).Port
		s.HandleAnyHost("/gatekeeper", broker.NewGatekeeper(broker.GatekeeperConfig{MQPort: port}, h.engine, slog.New(slog.DiscardHandler)))
	})
	return h
}

// serve starts the HTTP side with Core and what more mounts.
func (h *home) serve(more func(*api.Server)) {
	h.t.Helper()
	config := api.Defaults()
	config.Listen, config.Rate, config.Burst = "127.0.0.1:0", 1e6, 1e6
	h.server = api.New(config, slog.New(slog.NewTextHandler(troubleLog{h.t}, &slog.HandlerOptions{Level: slog.LevelError})))
	h.server.Mount(core.New(h.engine, h.db, auth.NewKeys(h.db)).Interface())
	more(h.server)
	if err := h.server.Listen(); err != nil {
		h.t.Fatal(err)
	}
	h.address = h.server.Addr().String()
	background(h.t, h.server.Run)
	h.t.Cleanup(http.DefaultClient.CloseIdleConnections)
}

// moveIn starts the home of the demo and gives the appliance three days of its past.
// Its nodes and leafs are made known one after the other, so that they get the same
// ids each time, and it waits until every link is there. The office extender loses its power again and again.
func (w *walk) moveIn() {
	home := sim.NewHome(0)
	for i, node := range home.Nodes {
		radar := motion.Radar{DeviceID: node.DeviceID, NodeName: node.Name, LocationID: home.GuardianID, RootMode: 1}
		if i == 0 {
			radar.RootMode = motion.RootModeMaster
		}
		post := motion.Bootstrap{Radar: radar, LocationID: home.GuardianID}
		if _, err := w.engine.Admit(w.t.Context(), post, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")}); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, leaf := range home.Leafs {
		if err := w.engine.PlaceLeaf(w.t.Context(), w.network, leaf.MAC, leaf.Location, leaf.FriendlyName); err != nil {
			w.t.Fatal(err)
		}
	}
	asleep := home
	asleep.Local = atNight(time.Now())
	play, err := sim.New(sim.Config{Seed: 1, Home: asleep, Scene: powerCuts, Gatekeeper: "http://" + w.address + "/gatekeeper"})
	if err != nil {
		w.t.Fatal(err)
	}
	background(w.t, play.Run)
	select {
	case <-play.Ready():
	case <-time.After(patience):
		w.t.Fatal("the home is not connected")
	}
	const past = 3 * 24 * 3600
	now := w.engine.Now()
	history, events := sim.Backfill(1, home, now.Add(-past), now)
	if err := w.engine.Import(w.t.Context(), w.network, history, events); err != nil {
		w.t.Fatal(err)
	}
	everything := `until curl -s -H "Authorization: $KEY" "http://127.0.0.1:8080/core/network/1/status" | jq -e '.health.network.links_ok == 11' >/dev/null; do sleep 1; done`
	if err := w.shell.do(everything); err != nil {
		w.t.Fatal(err)
	}
}

// atNight returns a time zone in which it is two o'clock in the night: hardly
// anybody walks then, and the leafs of the simulation do not drop.
func atNight(now time.Time) *time.Location {
	midnight := now.UTC().Truncate(24 * time.Hour)
	return time.FixedZone("night", int((2*time.Hour - now.Sub(midnight)).Seconds()))
}

// powerCuts is somebody in the kitchen, and an extender without power for three of
// every fifteen seconds, first when the walk is about to need that.
func powerCuts(h sim.Home, start motion.Time) sim.Scene {
	s := sim.Scene{Walks: []sim.Walk{{Location: "Kitchen", From: start.Add(1), To: start.Add(30), Vigour: 1}}}
	for from := start.Add(14); from < start.Add(120); from = from.Add(15) {
		s.Outages = append(s.Outages, sim.Outage{Node: 2, Leaf: -1, From: from, To: from.Add(3)})
	}
	return s
}

// call runs a command of the document.
func (w *walk) call(c wanted) (picked string, err error) {
	scheme, path, found := strings.Cut(c.url, "://127.0.0.1:8080/core")
	if !found || scheme != map[bool]string{false: "http", true: "ws"}[c.websocket] {
		return "", fmt.Errorf("%s is no address of Core", c.url)
	}
	w.cover(c.method, path)
	if c.websocket {
		return "", w.open(path, c.header["Authorization"])
	}
	if c.body != "" && c.header["Content-Type"] == "" {
		return "", fmt.Errorf("a body without a content type")
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(patience); ; <-again.C {
		a := w.as(c.header["Authorization"], c.method, path, c.body)
		if a.status == http.StatusNoContent {
			w.answer = value{}
			return "", nil
		}
		values, err := readValues(a.body)
		if err != nil || len(values) != 1 {
			return "", fmt.Errorf("answer %s: %w", a.body, err)
		}
		w.answer = values[0]
		if a.status >= 400 && (w.plain || c.pick != "") {
			return "", fmt.Errorf("status %d: %s", a.status, a.body)
		}
		picked, err = pick(w.answer, c.pick)
		switch {
		case err != nil:
			return "", err
		case !c.until:
			if c.assign == "" && c.pick != "" {
				w.answer, err = choose(w.answer, c.pick)
			}
			return picked, err
		case picked == c.equals:
			return picked, nil
		case time.Now().After(end):
			return "", fmt.Errorf("still %s", picked)
		}
	}
}

// open connects to a websocket, in place of the one before.
func (w *walk) open(path, key string) (err error) {
	if w.socket != nil {
		w.socket.Close()
	}
	w.socket, _, err = websocket.DefaultDialer.DialContext(w.t.Context(), "ws://"+w.address+"/core"+path, http.Header{"Authorization": {key}})
	if err != nil {
		return err
	}
	w.t.Cleanup(func() { w.socket.Close() })
	return w.socket.SetReadDeadline(time.Now().Add(patience))
}

// frames reads so many frames of the open websocket.
func (w *walk) frames(n int) (all []value) {
	for range n {
		_, raw, err := w.socket.ReadMessage()
		if err != nil {
			w.t.Fatal(err)
		}
		values, err := readValues(raw)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, values...)
		if kind, _ := values[0].get("type"); kind.scalar == "done" {
			_, _, err = w.socket.ReadMessage()
			if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
				w.t.Errorf("after done: %v, want close 1000", err)
			}
		}
	}
	return all
}

func mustRead(t testing.TB, b block) []value {
	t.Helper()
	values, err := readValues([]byte(b.text))
	if err != nil {
		t.Fatalf("line %d: %v", b.line, err)
	}
	return values
}

// compare checks what came against a block of the document, and notes the block as
// it is to be when they differ.
func (w *walk) compare(b block, got []value) {
	w.t.Helper()
	documented, r := mustRead(w.t, b), rule{moment: strings.HasSuffix(b.info, "of the moment")}
	var wrong []string
	if len(documented) != len(got) {
		wrong = append(wrong, fmt.Sprintf("documented %d values, got %d", len(documented), len(got)))
		documented = make([]value, len(got))
	} else {
		for i := range got {
			wrong = append(wrong, r.differences("", documented[i], got[i])...)
		}
	}
	if len(wrong) == 0 {
		return
	}
	if !*update {
		w.t.Errorf("docs/core.md line %d is not what comes; look at the change and run go test ./api/core -run Walk -update:\n%s",
			b.line, strings.Join(wrong, "\n"))
		return
	}
	text := ""
	for i := range got {
		text += shorten(documented[i], got[i]).text("") + "\n"
	}
	w.texts[b.line] = block{text: text, line: strings.Count(b.text, "\n")}
}

// write puts the noted blocks into the document.
func (w *walk) write(lines []string) {
	w.t.Helper()
	for i := len(lines); i > 0; i-- { // from the end, so that lines keep their numbers
		if b, ok := w.texts[i]; ok {
			lines = slices.Replace(lines, i-1, i-1+b.line, strings.TrimSuffix(b.text, "\n"))
		}
	}
	if err := os.WriteFile(walkFile, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// cover notes which operation a request is.
func (w *walk) cover(method, path string) {
	path, _, _ = strings.Cut(path, "?")
	if operation := w.operation(method, path); operation != nil {
		w.covered[operation.OperationID] = true
	}
}

// wantEveryOperation checks that the document shows each operation.
func (w *walk) wantEveryOperation() {
	w.t.Helper()
	for path, item := range w.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if !w.covered[operation.OperationID] {
				w.t.Errorf("docs/core.md does not show %s %s", method, path)
			}
		}
	}
}
