package command_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/fault"
)

const (
	start motion.Time   = 1764000000
	node  motion.NodeID = 134
	first command.ID    = 900
	ours  command.ID    = 901
)

// inState returns a command in a state that was entered at start.
func inState(state command.State) command.Command {
	trigger := first
	c := command.Command{
		ID: ours, NetworkID: 1042, NodeID: node, TriggerID: &trigger, Payload: map[string]string{"command": "reboot"},
		State: state, StateText: state.Text(), CreatedAt: start, UpdatedAt: start,
	}
	switch {
	case state >= "011" && state <= "015":
		c.Attempts = int(state[2] - '0')
	case state >= command.Running:
		c.Attempts = 1
	}
	return c
}

// trigger returns the command that the others wait for, in a state.
func trigger(state command.State) command.Command { return command.Command{ID: first, State: state} }

// happenings are the things that can happen to a command, by name, a second after
// it entered its state unless the name says otherwise.
func happenings() map[string]func(command.Command) command.Step {
	const now = start + 1
	return map[string]func(command.Command) command.Step{
		"execute, online":      func(c command.Command) command.Step { return c.Execute(true, now) },
		"execute, offline":     func(c command.Command) command.Step { return c.Execute(false, now) },
		"trigger 200, online":  func(c command.Command) command.Step { return c.TriggerDone(trigger("200"), true, now) },
		"trigger 200, offline": func(c command.Command) command.Step { return c.TriggerDone(trigger("200"), false, now) },
		"trigger 418":          func(c command.Command) command.Step { return c.TriggerDone(trigger("418"), true, now) },
		"trigger 100":          func(c command.Command) command.Step { return c.TriggerDone(trigger("100"), true, now) },
		"another trigger 200":  func(c command.Command) command.Step { return c.TriggerDone(inState("200"), true, now) },
		"device online":        func(c command.Command) command.Step { return c.DeviceOnline(now) },
		"answer 100":           func(c command.Command) command.Step { return c.Answer("100", nil, now) },
		"answer 200":           func(c command.Command) command.Step { return c.Answer("200", nil, now) },
		"answer 404":           func(c command.Command) command.Step { return c.Answer("404", nil, now) },
		"answer 011":           func(c command.Command) command.Step { return c.Answer("011", nil, now) },
		"29 s":                 func(c command.Command) command.Step { return c.Tick(start + 29) },
		"30 s":                 func(c command.Command) command.Step { return c.Tick(start + 30) },
		"299 s":                func(c command.Command) command.Step { return c.Tick(start + 299) },
		"300 s":                func(c command.Command) command.Step { return c.Tick(start + 300) },
		"cancel":               func(c command.Command) command.Step { return c.Cancel(now) },
	}
}

// TestTransitions holds the whole of payloads.md 4.13: what is not listed changes
// nothing. "!" is a state in which the command is sent.
func TestTransitions(t *testing.T) {
	t.Parallel()
	sent := func(next string) map[string]string {
		return map[string]string{
			"30 s": next, "299 s": next, "300 s": next,
			"answer 100": "100", "answer 200": "200", "answer 404": "404", "cancel": "409",
		}
	}
	table := map[command.State]map[string]string{
		"000": {"execute, online": "011!", "execute, offline": "002", "cancel": "409"},
		"001": {"trigger 200, online": "011!", "trigger 200, offline": "002", "trigger 418": "418", "cancel": "409"},
		"002": {"device online": "011!", "cancel": "409"},
		"011": sent("012!"), "012": sent("013!"), "013": sent("014!"), "014": sent("015!"), "015": sent("408"),
		"100": {"300 s": "408", "answer 200": "200", "answer 404": "404", "cancel": "409"},
		"200": {}, "400": {}, "404": {}, "408": {}, "409": {}, "418": {},
	}
	for state, transitions := range table {
		for name, happens := range happenings() {
			c := inState(state)
			step := happens(c)
			want, listed := transitions[name]
			wantState, wantSend := strings.CutSuffix(want, "!")
			if !listed {
				if diff := cmp.Diff(command.Step{Command: c}, step); diff != "" {
					t.Errorf("%s, %s: changes something:\n%s", state, name, diff)
				}
				continue
			}
			if got := step.Command.State; string(got) != wantState || step.Send != wantSend || !step.Changed {
				t.Errorf("%s, %s: %+v, want %s", state, name, step, want)
			}
			if got := step.Command.UpdatedAt; got <= start {
				t.Errorf("%s, %s: updated at %v", state, name, got)
			}
			if step.Send && step.Command.State != command.Sent(step.Command.Attempts) {
				t.Errorf("%s, %s: %d attempts in state %s", state, name, step.Command.Attempts, step.Command.State)
			}
		}
	}
	for state, transitions := range table {
		for name := range transitions {
			if _, ok := happenings()[name]; !ok {
				t.Errorf("%s: nothing is called %q", state, name)
			}
		}
	}
}

func TestInitialStateIsThatOfTheInterface(t *testing.T) {
	t.Parallel()
	waitFor := first
	for name, test := range map[string]struct {
		now     bool
		trigger *command.ID
		online  bool
		want    command.State
	}{
		"execute now, online":          {now: true, online: true, want: "011"},
		"execute now, offline":         {now: true, want: "002"},
		"execute now before a trigger": {now: true, trigger: &waitFor, online: true, want: "011"},
		"no trigger":                   {online: true, want: "000"},
		"trigger":                      {trigger: &waitFor, online: true, want: "001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := command.Request{NetworkID: 1042, NodeID: node, ExecuteNow: test.now, Payload: map[string]string{"command": "ping"}}
			step := command.New(r, test.trigger, test.online, start)
			want := command.Command{
				NetworkID: 1042, NodeID: node, TriggerID: test.trigger, ExecuteNow: test.now, Payload: r.Payload,
				State: test.want, StateText: test.want.Text(), CreatedAt: start, UpdatedAt: start,
			}
			if test.want == "011" {
				want.Attempts = 1
			}
			if diff := cmp.Diff(command.Step{Command: want, Changed: true, Send: test.want == "011"}, step); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRecordIsWrittenAsTheInterfaceShows(t *testing.T) {
	t.Parallel()
	batch := command.BatchID(77)
	c := command.Command{
		ID: 901, BatchID: &batch, NetworkID: 1042, NodeID: node, ExecuteNow: true, Payload: map[string]string{"command": "reboot"},
		CreatedAt: start, State: command.WaitingForOnline,
	}
	c = c.DeviceOnline(start + 1).Command
	got, err := json.Marshal(c)
	const want = `{"id":901,"batch_id":77,"network_id":1042,"node_id":134,"trigger_id":null,"executeNow":true,` +
		`"payload":{"command":"reboot"},"state":"011","state_text":"sent 1 time","attempts":1,"result":null,` +
		`"created_at":1764000000,"updated_at":1764000001}`
	if string(got) != want || err != nil {
		t.Errorf("%s, error %v, want\n%s", got, err, want)
	}
}

func TestTextSaysWhyACommandFailed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ got, want string }{
		"five attempts":     {inState("015").Tick(start + 30).Command.StateText, "no answer after 5 attempts"},
		"no result":         {inState("100").Tick(start + 300).Command.StateText, "no result within 300 s"},
		"the trigger's":     {inState("001").TriggerDone(trigger("408"), true, start).Command.StateText, "trigger 900 failed"},
		"408 of the device": {inState("100").Answer("408", nil, start).Command.StateText, "failed on device"},
		"unknown":           {inState("011").Answer("404", nil, start).Command.StateText, "unknown command"},
		"cancelled":         {inState("011").Cancel(start).Command.StateText, "cancelled"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", name, test.got, test.want)
		}
	}
}

func TestDueIsWhenTickChangesSomething(t *testing.T) {
	t.Parallel()
	for _, state := range []command.State{"000", "001", "002", "011", "015", "100", "200", "409"} {
		c := inState(state)
		for _, now := range []motion.Time{start - 1000, start - 0.001, start, start + 29.999, start + 30, start + 299.999, start + 300, start + 1e6} {
			at, waits := c.Due(now)
			if step := c.Tick(now); step.Changed != (waits && at <= now) {
				t.Errorf("%s at %v: due at %v, %v, but the tick gives %+v", state, now-start, at-start, waits, step)
			}
		}
	}
}

func TestClockSetBackBeginsTheWaitAnew(t *testing.T) {
	t.Parallel()
	for _, state := range []command.State{"012", "100"} {
		step := inState(state).Tick(start - 1e6)
		at, waits := step.Command.Due(start - 1e6)
		if step.Send || step.Command.State != state || !waits || at < start-1e6+30 || at > start-1e6+300 {
			t.Errorf("%s: %+v, due at %v, %v", state, step, at, waits)
		}
	}
}

func TestArgumentsAreThePayloadWithoutTheCommand(t *testing.T) {
	t.Parallel()
	c := inState("000")
	c.Payload = map[string]string{"command": "log", "lines": "20"}
	args := c.Args()
	if c.Name() != "log" || !maps.Equal(args, map[string]string{"lines": "20"}) {
		t.Errorf("command %q with %v, want log with lines 20", c.Name(), args)
	}
	args["lines"] = "0"
	if c.Payload["lines"] != "20" {
		t.Error("the arguments are not the caller's own")
	}
}

func TestOnlyPendingCommandsAreStartable(t *testing.T) {
	t.Parallel()
	pending, sent, done := inState("000"), inState("011"), inState("200")
	got, err := command.Startable([]command.Command{sent, pending, done})
	if err != nil || len(got) != 1 || got[0].State != "000" {
		t.Errorf("%v, error %v, want the pending one", got, err)
	}
	for name, commands := range map[string][]command.Command{"command 901 is": {sent}, "batch": {sent, done}, "no": {}} {
		_, err := command.Startable(commands)
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v, want a conflict that says %q", commands, err, name)
		}
	}
}

func TestLongResultIsCut(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]motion.Document{
		"text":           {"out": strings.Repeat("log ", 1<<16)},
		"multi-byte":     {"out": "x" + strings.Repeat("é", 1<<15)},
		"escaped":        {"out": strings.Repeat("\x01", 1<<14)},
		"other keys":     {"out": "ok", "list": strings.Repeat("x", 1<<15)},
		"no out":         {"list": strings.Repeat("x", 1<<15)},
		"not a document": {"out": "ok", "f": func() {}},
	} {
		got := inState("100").Answer("200", result, start).Command.Result
		encoded, err := json.Marshal(got)
		out := got.Text("out")
		if err != nil || len(encoded) > command.MaxResult || got["truncated"] != true || !strings.HasPrefix(result.Text("out"), out) {
			t.Errorf("%s: %d bytes, error %v: %.60s", name, len(encoded), err, encoded)
		}
		if name == "text" && len(out) < command.MaxResult/4 || name == "other keys" && out != "ok" {
			t.Errorf("%s: only %d bytes of the output are kept", name, len(out))
		}
	}
	short := motion.Document{"out": "pong", "ms": 3.5}
	if diff := cmp.Diff(short, inState("011").Answer("200", short, start).Command.Result); diff != "" {
		t.Error(diff)
	}
}

// stepIDs returns the ids of the commands of steps, sorted.
func stepIDs(steps []command.Step) []command.ID {
	var ids []command.ID
	for _, s := range steps {
		ids = append(ids, s.Command.ID)
	}
	slices.Sort(ids)
	return ids
}
