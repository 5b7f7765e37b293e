package support

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sensegate/api/logtail"
)

// Whoever adds an uplink, adopts a device, tries a password, renews a certificate or comes home with a phone
// that logs in finds no time of it, nor does who looks for motion.
func TestLogDoesNotTellWhenSomebodyDidSomething(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := map[time.Duration]string{
		-time.Second:                 `uplink started uplink=old`,
		0:                            `ready http=:8080`,
		time.Second:                  `device connected device=radar/a`,
		2 * time.Second:              `bad input device=client/phone reason="publish refused: topic"`,
		time.Hour:                    `device disconnected device=radar/a reason="connection lost"`,
		time.Hour + time.Second:      `device connected device=radar/a address=10.0.0.1`,
		2 * time.Hour:                `device connected device=radar/new`,
		3 * time.Hour:                `uplink started uplink=new`,
		3*time.Hour + time.Second:    `uplink failed uplink=old err="i/o timeout"`,
		3*time.Hour + 2*time.Second:  `uplink failed uplink=new err="no such host"`,
		4 * time.Hour:                `uplink failed uplink=new err="connection refused"`,
		5 * time.Hour:                `certificate of the owner loaded`,
		6 * time.Hour:                `device connected device=radar/new address=10.0.0.2`,
		7 * time.Hour:                `device disconnected device=radar/a reason="device removed"`,
		8 * time.Hour:                `bad input device=client/x reason="login refused: wrong"`,
		8*time.Hour + time.Minute:    `bad input device=sensors/zigbee2mqtt reason="event: the network is sensed by the appliance itself; the event is not used"`,
		8*time.Hour + 2*time.Minute:  `bridge state online=false`,
		9 * time.Hour:                `damaged samples skipped network=1`,
		10 * time.Hour:               `event cannot be sent uplink=old`,
		10*time.Hour + 1*time.Second: `step panicked panic=x`,
		12 * time.Hour:               `uplink failed uplink=old err="the broker at nas:1883 closed the connection"`,
		12*time.Hour + time.Second:   `uplink connected uplink=old`,
		13 * time.Hour:               `uplink connected uplink=old`,
		22 * time.Hour:               `database backed up bytes=123456`,
	}
	for i := range 12 {
		at[11*time.Hour+time.Duration(i)] = `bad input device=address/10.0.0.9 reason="device not found"`
	}
	var lines []logtail.Line
	for after, text := range at {
		lines = append(lines, logtail.Line{At: start.Add(after), Text: text})
	}
	slices.SortFunc(lines, func(a, b logtail.Line) int { return b.At.Compare(a.At) })
	var names Names
	want := `2026-03-04 05:06:06 INFO  uplink started uplink=uplink-1
2026-03-04 05:06:07 INFO  ready
2026-03-04 05:06:08 INFO  device connected device=device-1
2026-03-05 03:06:07 INFO  database backed up bytes=120000

Without their times, as somebody or motion may have brought them about:
INFO  bad input device=device-2 reason=publish refused: …
INFO  bad input device=device-4 reason=login refused: …
INFO  bad input device=device-5 reason=event: the network is sensed by the appliance itself; the event is not used
INFO  bad input device=device-6 reason=… not found (about 10 times)
INFO  bridge state online=false
INFO  certificate of the owner loaded
INFO  damaged samples skipped network=network-1
INFO  device connected device=device-1
INFO  device connected device=device-3 (several times)
INFO  device disconnected device=device-1 reason=connection lost
INFO  device disconnected device=device-1 reason=device removed
INFO  event cannot be sent uplink=uplink-1
INFO  step panicked panic=…
INFO  uplink connected uplink=uplink-1 (several times)
INFO  uplink failed uplink=uplink-1 err=i/o timeout
INFO  uplink failed uplink=uplink-1 err=the broker at … closed the connection
INFO  uplink failed uplink=uplink-2 err=connection refused
INFO  uplink failed uplink=uplink-2 err=no such host
INFO  uplink started uplink=uplink-2

Lines left out, as they tell what people do or where motion was, or are not known here: none.
`
	if got := names.Log(lines); got != want {
		t.Error(got)
	}
}

// Of all messages that the program logs, a bundle tells the time of those alone that machine says so of.
func TestMessageHasNoTimeUnlessItIsSaidToKeepIt(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	messages := logged(t)
	for message := range messages {
		for after, keeps := range map[time.Duration]bool{time.Hour: machine[message] == always, time.Second: machine[message] != never} {
			var names Names
			got := names.Log([]logtail.Line{{At: start.Add(after), Text: message + " device=radar/a uplink=b"}, {At: start, Text: "ready"}})
			if strings.Contains(got, start.Add(after).Format(time.DateTime)) != keeps {
				t.Errorf("%q, %v after a start: %s", message, after, got)
			}
		}
	}
	if len(messages) < 200 {
		t.Errorf("%d messages alone are found", len(messages))
	}
}

// Every message that may be shown is one that the program logs, and one that keeps its time stands for one
// thing: the same words about something else would keep it too.
func TestMessagesAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	messages := logged(t)
	const atUpdate = "the last update" // at a start, in several places
	for message, keeps := range machine {
		switch from := messages[message]; {
		case len(from) == 0:
			t.Errorf("nothing logs %q", message)
		case keeps == always && len(from) > 1 && message != atUpdate:
			t.Errorf("%q keeps its time and is logged by %q", message, from)
		}
	}
}

// logged returns the messages that the program logs, and the files that do.
func logged(t *testing.T) map[string][]string {
	t.Helper()
	messages := map[string][]string{}
	const root = "../../.."
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), "test") || entry.Name() == "firmware-sim"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				if message := messageOf(call); message != "" && !slices.Contains(messages[message], path) {
					messages[message] = append(messages[message], path)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// messageOf returns the message that a call logs, "" when it does not, or not a constant one.
func messageOf(call *ast.CallExpr) string {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	at := map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "Log": 3, "LogAttrs": 3}[method.Sel.Name]
	if at == 0 || len(call.Args) < at {
		return ""
	}
	return textOf(call.Args[at-1])
}

// textOf returns the text of a literal, or of several with + between; "" of anything else.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err == nil {
			return text
		}
	case *ast.BinaryExpr:
		if a, b := textOf(e.X), textOf(e.Y); a != "" && b != "" {
			return a + b
		}
	}
	return ""
}
