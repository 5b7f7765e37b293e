package apitest

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// patience bounds every wait of a walk.
const patience = 40 * time.Second

// documentedAt is the address that the commands of a walk name.
const documentedAt = "127.0.0.1:8080"

// Walk runs every command of a document against running interfaces and compares the
// answers with those of the document: fields, types and values, apart from times, ids
// that are made up and figures that were measured.
type Walk struct {
	T         testing.TB
	File      string            // the document
	Update    bool              // write the answers into it
	Variables map[string]string // that the test gives, and the document only pretends to set
	Clients   []*Client         // the interfaces that its commands call
	Called    *Client           // the one of which it is to show every operation

	shell   shell
	plain   bool  // no answer is documented for this block
	answer  value // of the last command
	socket  *websocket.Conn
	covered map[string]bool
	texts   map[int]block // new answers, by line
}

// Do runs commands that do not stand in the document.
func (w *Walk) Do(commands string) {
	w.T.Helper()
	w.begin()
	if err := w.shell.do(commands); err != nil {
		w.T.Fatal(err)
	}
}

func (w *Walk) begin() {
	if w.covered != nil {
		return
	}
	w.covered, w.texts = map[string]bool{}, map[int]block{}
	w.shell = shell{variables: w.Variables, fixed: map[string]bool{}, run: w.call}
	for name := range w.Variables {
		w.shell.fixed[name] = true
	}
}

// Check runs the document.
func (w *Walk) Check() {
	w.T.Helper()
	w.begin()
	raw, err := os.ReadFile(w.File)
	if err != nil {
		w.T.Fatal(err)
	}
	lines := strings.Split(string(raw), "\n")
	all := blocks(string(raw))
	for i, b := range all {
		switch b.info {
		case "sh":
			w.plain = i+1 == len(all) || !strings.HasPrefix(all[i+1].info, "json")
			if err := w.shell.do(b.text); err != nil {
				w.T.Fatalf("line %d: %v", b.line, err)
			}
		case "json", "json of the moment":
			w.compare(b, []value{w.answer})
		case "json frames", "json frames of the moment":
			w.compare(b, w.frames(len(mustRead(w.T, b))))
		case "": // for people
		default:
			w.T.Fatalf("line %d: block %q", b.line, b.info)
		}
	}
	if w.Update {
		w.write(lines)
	}
	w.wantEveryOperation()
}

// client returns the interface at an address of the document, and the path below it.
func (w *Walk) client(address string) (*Client, string) {
	for _, c := range w.Clients {
		if path, found := strings.CutPrefix(address, documentedAt+c.Base); found {
			return c, path
		}
	}
	return nil, ""
}

// call runs a command of the document.
func (w *Walk) call(c wanted) (picked string, err error) {
	scheme, address, _ := strings.Cut(c.url, "://")
	client, path := w.client(address)
	if client == nil || scheme != map[bool]string{false: "http", true: "ws"}[c.websocket] {
		return "", fmt.Errorf("%s is no address of the interfaces", c.url)
	}
	if client == w.Called {
		w.cover(c.method, path)
	}
	if c.websocket {
		return "", w.open(client, path, c.header["Authorization"])
	}
	if c.body != "" && c.header["Content-Type"] == "" {
		return "", fmt.Errorf("a body without a content type")
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(patience); ; <-again.C {
		a := client.Send(c.header["Authorization"], c.method, path, c.header["Content-Type"], c.body)
		if a.Status == http.StatusNoContent {
			w.answer = value{}
			return "", nil
		}
		values, err := readValues(a.Body)
		if err != nil || len(values) != 1 {
			return "", fmt.Errorf("answer %s: %w", a.Body, err)
		}
		w.answer = values[0]
		if a.Status >= 400 && (w.plain || c.pick != "") {
			return "", fmt.Errorf("status %d: %s", a.Status, a.Body)
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
func (w *Walk) open(client *Client, path, token string) (err error) {
	if w.socket != nil {
		w.socket.Close()
	}
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", token)
	}
	w.socket, _, err = websocket.DefaultDialer.DialContext(w.T.Context(), "ws://"+client.Address+client.Base+path, header)
	if err != nil {
		return err
	}
	w.T.Cleanup(func() { w.socket.Close() })
	return w.socket.SetReadDeadline(time.Now().Add(patience))
}

// frames reads so many frames of the open websocket.
func (w *Walk) frames(n int) (all []value) {
	for range n {
		_, raw, err := w.socket.ReadMessage()
		if err != nil {
			w.T.Fatal(err)
		}
		values, err := readValues(raw)
		if err != nil {
			w.T.Fatal(err)
		}
		all = append(all, values...)
		if kind, _ := values[0].get("type"); kind.scalar == "done" {
			_, _, err = w.socket.ReadMessage()
			if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
				w.T.Errorf("after done: %v, want close 1000", err)
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
func (w *Walk) compare(b block, got []value) {
	w.T.Helper()
	documented, r := mustRead(w.T, b), rule{moment: strings.HasSuffix(b.info, "of the moment")}
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
	if !w.Update {
		w.T.Errorf("%s line %d is not what comes; look at the change and run go test . -run Walk -update beside this test:\n%s",
			w.File, b.line, strings.Join(wrong, "\n"))
		return
	}
	text := ""
	for i := range got {
		text += shorten(documented[i], got[i]).text("") + "\n"
	}
	w.texts[b.line] = block{text: text, line: strings.Count(b.text, "\n")}
}

// write puts the noted blocks into the document.
func (w *Walk) write(lines []string) {
	w.T.Helper()
	for i := len(lines); i > 0; i-- { // from the end, so that lines keep their numbers
		if b, ok := w.texts[i]; ok {
			lines = slices.Replace(lines, i-1, i-1+b.line, strings.TrimSuffix(b.text, "\n"))
		}
	}
	if err := os.WriteFile(w.File, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		w.T.Fatal(err)
	}
}

// cover notes which operation a request is.
func (w *Walk) cover(method, path string) {
	path, _, _ = strings.Cut(path, "?")
	if operation := w.Called.Operation(method, path); operation != nil {
		w.covered[operation.OperationID] = true
	}
}

// wantEveryOperation checks that the document shows each operation.
func (w *Walk) wantEveryOperation() {
	w.T.Helper()
	for path, item := range w.Called.Doc.Paths.Map() {
		for method, operation := range item.Operations() {
			if !w.covered[operation.OperationID] {
				w.T.Errorf("%s does not show %s %s", w.File, method, path)
			}
		}
	}
}
