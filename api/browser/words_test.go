package browser_test

import (
	"os"
	"regexp"
	"testing"

	"sensegate/motion"
)

// TestEveryKindOfEventHasWords: in English, from which the type check asks the other languages
// for theirs.
func TestEveryKindOfEventHasWords(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../web/src/words/event.en.ts")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^  event(\w+): "(.+)",$`).FindAllStringSubmatch(string(source), -1) {
		words[line[1]] = line[2]
	}
	for _, kind := range motion.EventKinds() {
		if kind.Name == motion.SensorChangedValue || kind.Name == motion.MotionEventPair { // no events of the history
			continue
		}
		if words[kind.Name] == "" {
			t.Errorf("event%s is not in words/event.en.ts: say there what happened", kind.Name)
		}
		for _, wording := range kind.Words {
			if name := kind.Name + "_" + wording.If; wording.If != "" && words[name] == "" {
				t.Errorf("event%s is not in words/event.en.ts: %s says more where %s is known", name, kind.Name, wording.If)
			}
		}
	}
}
