package command_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"sensegate/motion"
	"sensegate/motion/command"
)

// chain returns a home with n linked commands, "#0" waiting for nothing, each other
// one for the one before it.
func chain(t testing.TB, n int) *home {
	t.Helper()
	b := command.BatchRequest{NetworkID: 1042}
	for i := range n {
		r := command.Request{NodeID: motion.NodeID(1 + i%nodes), Payload: map[string]string{"command": "ping"}}
		if i > 0 {
			r.TriggerID = command.Trigger(fmt.Sprintf("#%d", i-1))
		}
		b.Actions = append(b.Actions, r)
	}
	requests, err := b.Requests()
	if err != nil {
		t.Fatal(err)
	}
	h := newHome(t)
	h.create(requests)
	return h
}

func TestLinkedCommandsRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	h := chain(t, command.MaxActions)
	h.connect()
	h.step(h.commands[1].Execute(true, h.now))
	for id := command.ID(1); id <= command.MaxActions; id++ {
		for other, c := range h.commands {
			wantSent := other == id
			if wantSent != (c.State == "011") {
				t.Fatalf("while command %d runs, %v", id, c)
			}
		}
		if id > 20 { // the first ones tell; the check is quadratic
			break
		}
		h.step(h.commands[id].Answer("200", nil, h.now))
	}
	for id := command.ID(21); id <= command.MaxActions; id++ {
		h.step(h.commands[id].Answer("100", nil, h.now))
		h.step(h.commands[id].Answer("200", nil, h.now))
	}
	for id, c := range h.commands {
		if c.State != command.Done || h.sends[id] != 1 {
			t.Errorf("%v after %d sends, want 200 after one", c, h.sends[id])
		}
	}
}

func TestFailureGoesDownTheWholeChain(t *testing.T) {
	t.Parallel()
	h := chain(t, command.MaxActions)
	h.connect()
	h.step(h.commands[1].Execute(true, h.now))
	h.step(h.commands[1].Answer("418", nil, h.now))
	for id, c := range h.commands {
		if c.State != "418" || id > 1 && (h.sends[id] != 0 || c.StateText != fmt.Sprintf("trigger %d failed", id-1)) {
			t.Errorf("%v, %q, sent %d times, want 418", c, c.StateText, h.sends[id])
		}
	}
}

func TestSilentDeviceFailsTheWholeChain(t *testing.T) {
	t.Parallel()
	h := chain(t, 100)
	h.connect()
	h.step(h.commands[1].Execute(true, h.now))
	h.wait()
	for id, c := range h.commands {
		if c.State != command.NoAnswer || id == 1 && h.sends[id] != command.MaxAttempts || id > 1 && h.sends[id] != 0 {
			t.Errorf("%v after %d sends, want 408", c, h.sends[id])
		}
	}
	if took := h.now.Since(start); took != 150 {
		t.Errorf("given up after %v s, want 150", took)
	}
}

func TestEveryCommandFollowsOnce(t *testing.T) {
	t.Parallel()
	// 1 ← 2 ← 3, and 1 ← 4: with 1 and 2 cancelled together, 3 and 4 follow, and 2
	// is not failed once more by 1.
	waits := func(id, trigger command.ID) command.Command {
		c := inState(command.WaitingForTrigger)
		c.ID, c.TriggerID = id, &trigger
		return c
	}
	one := inState("011")
	one.ID = 1
	two, three, four := waits(2, 1), waits(3, 2), waits(4, 1)
	world := command.World{
		Now:    start,
		Online: func(motion.NodeID) bool { return true },
		Waiting: func(id command.ID) ([]command.Command, error) {
			return map[command.ID][]command.Command{1: {two, four}, 2: {three}}[id], nil
		},
	}
	unchanged := inState("200")
	steps, err := command.Follow([]command.Step{one.Cancel(start), unchanged.Cancel(start), two.Cancel(start)}, world)
	if err != nil || !slices.Equal(stepIDs(steps), []command.ID{1, 2, 3, 4}) {
		t.Fatalf("%v, error %v, want steps of 1, 2, 3, 4", steps, err)
	}
	for _, s := range steps {
		if s.Command.State != command.Cancelled || s.Send {
			t.Errorf("%+v, want 409, not sent", s)
		}
	}
}

func TestFollowReportsWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	reason := errors.New("reason")
	_, err := command.Follow([]command.Step{inState("011").Cancel(start)}, command.World{
		Waiting: func(command.ID) ([]command.Command, error) { return nil, reason },
	})
	if !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
}

// BenchmarkFollow1000 fails a chain of 1,000 commands.
func BenchmarkFollow1000(b *testing.B) {
	h := chain(b, command.MaxActions)
	h.connect()
	h.step(h.commands[1].Execute(true, h.now))
	failed := h.commands[1].Answer("400", nil, h.now)
	b.ReportAllocs()
	for b.Loop() {
		steps, err := command.Follow([]command.Step{failed}, h.world())
		if err != nil || len(steps) != command.MaxActions {
			b.Fatalf("%d steps, error %v", len(steps), err)
		}
	}
}
