package motion_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"sensegate/motion"
)

var update = flag.Bool("update", false, "rewrite docs/events.md")

// TestEveryNamedKindIsInTheTable holds the constants of event.go against the table.
func TestEveryNamedKindIsInTheTable(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || spec.Type != nil || len(spec.Values) != 1 {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		named++
		name, _ := strconv.Unquote(literal.Value)
		if _, known := motion.EventKindOf(name); !known {
			t.Errorf("%s is not in the table", name)
		}
		return true
	})
	if kinds := motion.EventKinds(); len(kinds) != named {
		t.Errorf("%d kinds in the table, %d named", len(kinds), named)
	}
	for _, k := range motion.EventKinds() {
		if k.Category == "" || k.Meaning == "" || !motion.IsEventKind(k.Name) {
			t.Errorf("%+v", k)
		}
		if n := len(k.Words); n > 0 && k.Words[n-1].If != "" {
			t.Errorf("%s: no wording applies always", k.Name)
		}
	}
}

func TestCategoriesThatAKindTakes(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		motion.MotionDetectedEvent: "Motion", motion.LinkCreatedEvent: "Link Network System User Device Internal",
		motion.MemberLeftEvent: "Network System User Device Internal",
	} {
		k, _ := motion.EventKindOf(kind)
		var takes []string
		for _, c := range []motion.Category{"Link", "Network", "Motion", "System", "User", "Device", "Internal"} {
			if k.Takes(c) {
				takes = append(takes, string(c))
			}
		}
		if got := strings.Join(takes, " "); got != want {
			t.Errorf("%s takes %s, want %s", kind, got, want)
		}
	}
}

func TestSentenceIsTheFirstWordingThatApplies(t *testing.T) {
	t.Parallel()
	say := func(kind string, values map[string]string) string {
		k, _ := motion.EventKindOf(kind)
		return k.Sentence(func(name string) string { return values[name] })
	}
	for want, got := range map[string]string{
		"Motion in Kitchen":                       say(motion.MotionDetectedEvent, map[string]string{"place": "Kitchen"}),
		"Motion detected":                         say(motion.MotionDetectedEvent, nil),
		"A took the place of B":                   say(motion.DeviceReplacedEvent, map[string]string{"device": "A", "replaced": "B"}),
		"Device added":                            say(motion.DeviceAddedEvent, nil),
		"Filter soiled":                           say("FilterSoiledEvent", nil),
		"7 more requests of devices were refused": say(motion.DeviceRefusedEvent, map[string]string{"more": "7"}),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEventKindsAreDocumented(t *testing.T) {
	t.Parallel()
	const path = "../docs/events.md"
	var text strings.Builder
	text.WriteString(`# Kinds of events

Made from the table in the source; a test keeps it current. *Raised by*: what the appliance finds itself, devices by MQTT
(docs/device.md; they may raise further kinds, with names of their own), and callers of events/create (docs/core.md).
*Pushed*: what phones are sent unless ` + "`push.messages`" + ` says otherwise; motion only while the scene is away.

| Kind | Category | When | Raised by | In the app | Pushed |
|---|---|---|---|---|---|
`)
	for _, k := range motion.EventKinds() {
		raised := []string{"appliance"}
		if k.Devices {
			raised = append(raised, "devices")
		}
		if k.Callers {
			raised = append(raised, "callers")
		}
		var words []string
		for _, w := range k.Words {
			words = append(words, w.Text)
		}
		if words == nil {
			words = []string{k.Sentence(nil)}
		}
		pushed := "never"
		if k.Push != nil {
			pushed = "no title by default"
			if k.Push.Title != "" {
				pushed = k.Push.Title
			}
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n", k.Name, k.Category, k.Meaning, strings.Join(raised, ", "), strings.Join(words, "; "), pushed)
	}
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || string(have) != text.String() {
		t.Errorf("%s is not current (%v): go test ./motion -run Documented -update", path, err)
	}
}
