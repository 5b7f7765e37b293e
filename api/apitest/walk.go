package apitest

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// patience bounds every wait of a walk.
const patience = time.Minute

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
	Received  <-chan []byte     // what a receiver of pushes gets, in order

	// Before is told each block of commands before it runs; nil = it is told nothing.
	Before func(commands string)

	// Publish sends what mosquitto_pub is told to.
	Publish func(user, password, topic, payload string) error

	shell   shell
	plain   bool   // no answer is documented for this block
	answer  value  // of the last command
	written string // by curl -w instead
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
	w.shell = shell{variables: w.Variables, fixed: map[string]bool{}, run: w.call, publish: w.Publish}
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
			w.plain = i+1 == len(all) || !strings.HasPrefix(all[i+1].info, "json") && all[i+1].info != "text"
			if w.Before != nil {
				w.Before(b.text)
			}
			if err := w.shell.do(b.text); err != nil {
				w.T.Fatalf("line %d: %v", b.line, err)
			}
		case "json", "json of the moment":
			w.compare(b, []value{w.answer})
		case "json frames", "json frames of the moment":
			w.compare(b, w.frames(len(mustRead(w.T, b))))
		case "text":
			w.compareText(b)
		case "json received":
			w.receive(b)
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
		if c.write != "" {
			w.written = strings.NewReplacer("%{http_code}", fmt.Sprint(a.Status), "%{content_type}", a.Header.Get("Content-Type"), `\n`, "\n").Replace(c.write)
			return "", nil
		}
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
		case err != nil && !c.until:
			return "", err
		case !c.until:
			if c.assign == "" && c.pick != "" {
				w.answer, err = choose(w.answer, c.pick)
			}
			return picked, err
		case err == nil && picked == c.equals:
			return picked, nil
		case time.Now().After(end):
			return "", fmt.Errorf("still %s: %s", picked, a.Body)
		}
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
