package command_test

import (
	"fmt"
	"testing"

	"sensegate/motion/command"
	"sensegate/motion/fault"
)

func TestStatesSayWhatTheyMean(t *testing.T) {
	t.Parallel()
	for state, want := range map[command.State]string{
		"000": "pending", "001": "waiting for trigger", "002": "waiting for the device",
		"011": "sent 1 time", "012": "sent 2 times", "015": "sent 5 times",
		"100": "accepted by the device, running", "200": "done", "204": "done",
		"400": "failed on device", "404": "unknown command", "408": "no answer after 5 attempts",
		"409": "cancelled", "418": "failed on device",
	} {
		if got := state.Text(); got != want {
			t.Errorf("state %s: text %q, want %q", state, got, want)
		}
	}
}

// TestOnlyKnownStatesAreRead tries every text of three digits.
func TestOnlyKnownStatesAreRead(t *testing.T) {
	t.Parallel()
	open := map[string]bool{"000": true, "001": true, "002": true, "011": true, "012": true, "013": true, "014": true, "015": true, "100": true}
	for i := range 1000 {
		text := fmt.Sprintf("%03d", i)
		final := text[0] == '2' || text[0] == '4'
		state, err := command.ParseState(text)
		if (err == nil) != (open[text] || final) || err == nil && state != command.State(text) {
			t.Errorf("state %s: read as %q, error %v", text, state, err)
		}
		if got := command.State(text).Final(); got != final {
			t.Errorf("state %s: final %v, want %v", text, got, final)
		}
		if got := command.State(text).Succeeded(); got != (text[0] == '2') {
			t.Errorf("state %s: succeeded %v", text, got)
		}
		if open[text] != (err == nil && command.State(text) < command.Done) {
			t.Errorf("state %s: an open state sorts before %s, and only that", text, command.Done)
		}
	}
	for _, text := range []string{"", "1", "0111", "01x", "2000", "2xx", " 200", "200 ", "๒00"} {
		if _, err := command.ParseState(text); fault.KindOf(err) != fault.Invalid {
			t.Errorf("state %q: error %v, want a fault Invalid", text, err)
		}
	}
}
