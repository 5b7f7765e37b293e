package command_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/command"
)

// nodes is how many nodes a home has.
const nodes = 3

// failer is what *rapid.T and testing.TB share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// home is an appliance that only carries out what the rules say, and its devices.
// It fails the test as soon as a step is against an invariant.
type home struct {
	t        failer
	now      motion.Time
	commands map[command.ID]command.Command
	waiting  map[command.ID][]command.ID // by trigger, from the requests
	online   map[motion.NodeID]bool
	sends    map[command.ID]int
}

func newHome(t failer) *home {
	return &home{
		t: t, now: start, commands: map[command.ID]command.Command{}, waiting: map[command.ID][]command.ID{},
		online: map[motion.NodeID]bool{}, sends: map[command.ID]int{},
	}
}

// world is what Follow asks.
func (h *home) world() command.World {
	return command.World{
		Now:    h.now,
		Online: func(n motion.NodeID) bool { return h.online[n] },
		Waiting: func(trigger command.ID) ([]command.Command, error) {
			var list []command.Command
			for _, id := range h.waiting[trigger] {
				list = append(list, h.commands[id])
			}
			return list, nil
		},
	}
}

// create stores new commands; positions count from the first of them.
func (h *home) create(requests []command.Request) {
	h.t.Helper()
	var earlier []command.ID
	for _, r := range requests {
		trigger := r.TriggerID.Of(earlier)
		step := command.New(r, trigger, h.online[r.NodeID], h.now)
		id := command.ID(len(h.commands) + 1)
		earlier = append(earlier, id)
		step.Command.ID = id
		h.commands[id] = command.Command{ID: id, State: command.Pending} // what accept compares with
		if step.Command.State == command.Pending {
			h.commands[id] = step.Command
			continue
		}
		h.accept(step)
		if trigger != nil {
			h.waiting[*trigger] = append(h.waiting[*trigger], id)
			h.step(step.Command.TriggerDone(h.commands[*trigger], h.online[r.NodeID], h.now))
		}
	}
}

// step carries steps out with all that follows.
func (h *home) step(first ...command.Step) {
	h.t.Helper()
	steps, err := command.Follow(first, h.world())
	if err != nil {
		h.t.Fatalf("follow: %v", err)
	}
	for _, s := range steps {
		h.accept(s)
	}
}

// accept stores and sends what one step says.
func (h *home) accept(s command.Step) {
	h.t.Helper()
	c, before := s.Command, h.commands[s.Command.ID]
	switch {
	case before.State.Final():
		h.t.Fatalf("%v has ended and becomes %v", before, c)
	case c.State < before.State, c.State == before.State && s.Send:
		h.t.Fatalf("%v becomes %v: a circle", before, c)
	case s.Send != (c.Attempts == before.Attempts+1), s.Send && c.State != command.Sent(c.Attempts):
		h.t.Fatalf("%v after %d attempts becomes %v after %d, sent: %v", before, before.Attempts, c, c.Attempts, s.Send)
	}
	if s.Send {
		h.sends[c.ID]++
	}
	if h.sends[c.ID] > command.MaxAttempts {
		h.t.Fatalf("%v was sent %d times", c, h.sends[c.ID])
	}
	h.commands[c.ID] = c
}

// connect brings every device online.
func (h *home) connect() {
	h.t.Helper()
	for n := range motion.NodeID(nodes) {
		h.online[n+1] = true
		h.each(func(c command.Command) command.Step {
			if c.NodeID != n+1 {
				return command.Step{Command: c}
			}
			return c.DeviceOnline(h.now)
		})
	}
}

// each lets the same happen to every command, together.
func (h *home) each(happens func(command.Command) command.Step) {
	h.t.Helper()
	var steps []command.Step
	for _, id := range slices.Sorted(maps.Keys(h.commands)) {
		steps = append(steps, happens(h.commands[id]))
	}
	h.step(steps...)
}

// wait lets time pass until it changes nothing more.
func (h *home) wait() {
	h.t.Helper()
	for range 10 * (len(h.commands) + 1) {
		next := motion.Time(0)
		for _, c := range h.commands {
			if at, waits := c.Due(h.now); waits && (next == 0 || at < next) {
				next = at
			}
		}
		if next == 0 {
			return
		}
		h.now = max(h.now, next)
		h.each(func(c command.Command) command.Step { return c.Tick(h.now) })
	}
	h.t.Fatalf("time passes and something is always due")
}

// restart writes and reads every record.
func (h *home) restart() {
	h.t.Helper()
	for id, c := range h.commands {
		data, err := json.Marshal(c)
		var read command.Command
		if err == nil {
			err = json.Unmarshal(data, &read)
		}
		if err != nil || !cmp.Equal(c, read) {
			h.t.Fatalf("%s is read as %+v, error %v", data, read, err)
		}
		h.commands[id] = read
	}
}

// draw returns one of the commands; it skips the action when there are none.
func (h *home) draw(t *rapid.T) command.Command {
	if len(h.commands) == 0 {
		t.Skip("no commands")
	}
	return h.commands[command.ID(rapid.IntRange(1, len(h.commands)).Draw(t, "id"))]
}

// drawBatch draws up to eight requests, which wait for each other, for older
// commands or for nothing.
func (h *home) drawBatch(t *rapid.T) []command.Request {
	b := command.BatchRequest{NetworkID: 1042}
	for i := range rapid.IntRange(1, 8).Draw(t, "actions") {
		r := command.Request{
			NodeID: motion.NodeID(rapid.IntRange(1, nodes).Draw(t, "node")), ExecuteNow: rapid.IntRange(0, 3).Draw(t, "now") == 0,
			Payload: map[string]string{"command": "ping"},
		}
		switch kind := rapid.IntRange(0, 3).Draw(t, "trigger"); {
		case kind < 2 && i > 0:
			r.TriggerID = command.Trigger(fmt.Sprintf("#%d", rapid.IntRange(0, i-1).Draw(t, "position")))
		case kind == 2 && len(h.commands) > 0:
			r.TriggerID = command.Trigger(fmt.Sprint(rapid.IntRange(1, len(h.commands)).Draw(t, "older")))
		}
		b.Actions = append(b.Actions, r)
	}
	requests, err := b.Requests()
	if err != nil {
		t.Fatalf("%+v: %v", b, err)
	}
	return requests
}

// actions are what can happen in a home, in any order.
func (h *home) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"create":  func(t *rapid.T) { h.create(h.drawBatch(t)) },
		"execute": func(t *rapid.T) { c := h.draw(t); h.step(c.Execute(h.online[c.NodeID], h.now)) },
		"cancel":  func(t *rapid.T) { h.step(h.draw(t).Cancel(h.now)) },
		"delete a node": func(t *rapid.T) {
			gone := motion.NodeID(rapid.IntRange(1, nodes).Draw(t, "node"))
			h.each(func(c command.Command) command.Step {
				if c.NodeID != gone {
					return command.Step{Command: c}
				}
				return c.Cancel(h.now)
			})
		},
		"connect":    func(*rapid.T) { h.connect() },
		"disconnect": func(t *rapid.T) { delete(h.online, motion.NodeID(rapid.IntRange(1, nodes).Draw(t, "node"))) },
		"restart":    func(*rapid.T) { h.restart() },
		"answer": func(t *rapid.T) {
			id := h.draw(t).ID
			state := rapid.SampledFrom([]command.State{"100", "200", "204", "400", "404", "409", "011", "000", "300", ""}).Draw(t, "state")
			h.step(h.commands[id].Answer(state, motion.Document{"out": "x"}, h.now))
			if again := h.commands[id].Answer(state, motion.Document{"out": "y"}, h.now+1); again.Changed || again.Send {
				t.Fatalf("the answer %s again: %+v", state, again)
			}
		},
		"time": func(t *rapid.T) {
			h.now += motion.Time(rapid.SampledFrom([]float64{1, 29, 30, 31, 299, 301, 4000, -20, -1e6}).Draw(t, "seconds"))
			h.each(func(c command.Command) command.Step { return c.Tick(h.now) })
		},
	}
}

// TestNoCommandIsStuck lets anything happen in any order and then, with the
// devices there and everything executed, either all devices answer or they are
// silent and time passes: every command ends.
func TestNoCommandIsStuck(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHome(t)
		t.Repeat(h.actions())
		answering := rapid.Bool().Draw(t, "answering")
		h.connect()
		h.each(func(c command.Command) command.Step { return c.Execute(true, h.now) })
		for range len(h.commands) {
			if answering {
				h.each(func(c command.Command) command.Step { return c.Answer("100", nil, h.now) })
				h.each(func(c command.Command) command.Step { return c.Answer("200", nil, h.now) })
			}
		}
		if !answering {
			h.wait()
		}
		for _, c := range h.commands {
			if !c.State.Final() {
				t.Fatalf("%v is stuck", c)
			}
		}
	})
}
