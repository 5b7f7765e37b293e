package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine"
	"sensegate/motion/engine/management"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/store/storetest"
)

// watched is what a reader of a monitor has seen.
type watched struct {
	t       testing.TB
	batch   command.BatchID
	updates *management.Monitor
	states  map[command.ID]command.State
	count   int // updates
	done    bool
}

// watch monitors a batch.
func watch(t testing.TB, e *engine.Engine, batch command.BatchID) *watched {
	t.Helper()
	raw, updates, err := e.Commands.Monitor(context.Background(), batch)
	if err != nil {
		t.Fatal(err)
	}
	var snapshot management.MonitorSnapshot
	if err := json.Unmarshal(raw, &snapshot); err != nil || snapshot.Type != "snapshot" || snapshot.BatchID != batch {
		t.Fatalf("%v: %s", err, raw)
	}
	w := &watched{t: t, batch: batch, updates: updates, states: map[command.ID]command.State{}}
	for _, c := range snapshot.Actions {
		w.states[c.ID] = c.State
	}
	return w
}

// take takes in one message: a state that is not later than the one before is out
// of order.
func (w *watched) take(m state.Message) {
	w.t.Helper()
	var u management.MonitorUpdate
	if err := json.Unmarshal(m.JSON, &u); err != nil || u.BatchID != w.batch || w.done {
		w.t.Fatalf("after done %v, error %v: %s", w.done, err, m.JSON)
	}
	if u.Type == "done" {
		w.done = true
		return
	}
	w.count++
	if before := w.states[u.Action.ID]; u.Type != "update" || before >= u.Action.State {
		w.t.Errorf("command %d goes from %s to %s", u.Action.ID, before, u.Action.State)
	}
	w.states[u.Action.ID] = u.Action.State
}

// finish reads to the end, which must be done.
func (w *watched) finish() {
	w.t.Helper()
	for m := range w.updates.All() {
		w.take(m)
	}
	if !w.done || w.updates.Behind() {
		w.t.Errorf("ended after %d updates, done %v, behind %v", w.count, w.done, w.updates.Behind())
	}
}

func TestMonitorEndsWithItsBatch(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		batch := b.batch(3, func(i int) (string, string) {
			return peerID, []string{"", "#0", "#1"}[i]
		}, false)
		w := watch(t, b.Engine, batch.BatchID)
		if _, err := b.Commands.ChangeBatch(context.Background(), batch.BatchID, management.Execute); err != nil {
			t.Fatal(err)
		}
		b.report(peerKey, result(batch.Actions[0].ID, "100"))
		b.report(peerKey, result(batch.Actions[0].ID, "200"))
		b.report(peerKey, result(batch.Actions[1].ID, "404"))
		w.finish()
		if w.count != 6 || w.states[batch.Actions[2].ID] != "404" {
			t.Errorf("%d updates, %v", w.count, w.states)
		}
		late := watch(t, b.Engine, batch.BatchID)
		late.finish()
		if late.count != 0 || late.states[batch.Actions[2].ID] != "404" {
			t.Errorf("late: %+v", late)
		}
		if _, _, err := b.Commands.Monitor(context.Background(), 99); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown batch: %v", err)
		}
		if _, err := b.Commands.ChangeBatch(context.Background(), batch.BatchID, management.Execute); fault.KindOf(err) != fault.Conflict {
			t.Errorf("executed twice: %v", err)
		}
	})
}

func TestMonitorOfAThousandCommandsLosesNothing(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for name, size := range map[string]int{"all at once": 200, "one after another": 1000} {
			batch := b.batch(size, func(i int) (string, string) {
				if name == "all at once" || i == 0 {
					return masterID, ""
				}
				return peerID, fmt.Sprintf("#%d", i-1)
			}, false)
			w := watch(t, b.Engine, batch.BatchID)
			if _, err := b.Commands.ChangeBatch(context.Background(), batch.BatchID, management.Execute); err != nil {
				t.Fatal(err)
			}
			if name == "one after another" { // nobody reads while all fail in one moment
				b.report(masterKey, result(batch.Actions[0].ID, "400"))
				w.finish()
				if w.count != 1001 {
					t.Errorf("%s: %d updates", name, w.count)
				}
				continue
			}
			ended := make(chan struct{})
			go func() { w.finish(); close(ended) }()
			for answered := 0; answered < size; {
				synctest.Wait()
				for _, device := range []motion.DeviceKey{masterKey, peerKey} {
					for _, payload := range b.devices.commands(device, "manage") {
						b.report(device, result(idOf(t, payload), "100"))
						b.report(device, result(idOf(t, payload), "200"))
						answered++
					}
				}
			}
			<-ended
			for id, state := range w.states {
				if state != "200" {
					t.Errorf("%s: command %d ends in %s", name, id, state)
				}
			}
		}
	})
}

func TestDisconnectsAndCancelsReachTheMonitor(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		batch := b.batch(2, func(i int) (string, string) { return []string{masterID, peerID}[i], "" }, false)
		w := watch(t, b.Engine, batch.BatchID)
		b.State.Disconnected(peerKey, "gone")
		if _, err := b.Commands.ChangeBatch(context.Background(), batch.BatchID, management.Execute); err != nil {
			t.Fatal(err)
		}
		b.report(masterKey, result(batch.Actions[0].ID, "200"))
		b.reconnectPeer()
		time.Sleep(2 * time.Second)
		if _, err := b.Devices.DeleteNode(context.Background(), batch.Actions[1].NodeID); err != nil {
			t.Fatal(err)
		}
		w.finish()
		if w.count != 5 || w.states[batch.Actions[1].ID] != "409" { // 011, 002, 200, 011, 409
			t.Errorf("%d updates, %v", w.count, w.states)
		}
	})
}

func TestSlowReaderOfAMonitorIsCutOff(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		batch := b.batch(100, func(int) (string, string) { return peerID, "" }, true)
		w := watch(t, b.Engine, batch.BatchID)
		for answered := 0; answered < 100; { // 300 updates at the most, and room for 264
			synctest.Wait()
			for _, payload := range b.devices.commands(peerKey, "manage") {
				b.report(peerKey, result(idOf(t, payload), "100"))
				b.report(peerKey, result(idOf(t, payload), "200"))
				answered++
			}
		}
		for m := range w.updates.All() {
			w.take(m)
		}
		if w.done || !w.updates.Behind() {
			t.Errorf("done %v, behind %v after %d updates", w.done, w.updates.Behind(), w.count)
		}
	})
}

// Whatever happens at the same time, no command that was cancelled is sent
// afterwards, and every monitor is told everything in order.
func TestCancelledCommandIsNeverSent(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		id := b.node(peerID)
		batch := b.batch(300, func(int) (string, string) { return peerID, "" }, false)
		w := watch(t, b.Engine, batch.BatchID)
		var all sync.WaitGroup
		all.Go(w.finish)
		for worker := range 4 {
			all.Go(func() {
				for i := worker; i < 300; i += 4 {
					_, err := b.Commands.ChangeCommand(context.Background(), batch.Actions[i].ID, management.Execute)
					if kind := fault.KindOf(err); err != nil && kind != fault.Conflict {
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() { // the device: it comes, goes, and answers
			for i := range 100 {
				if i%7 == 0 {
					b.devices.deafen(peerKey, i%2 == 0)
				}
				_ = b.Report(context.Background(), peerKey, result(batch.Actions[rand.IntN(300)].ID, "200"))
			}
		})
		var sentBefore int
		all.Go(func() {
			time.Sleep(1500 * time.Millisecond)
			if _, err := b.Devices.DeleteNode(context.Background(), id); err != nil {
				t.Error(err)
			}
			sentBefore = len(b.devices.commands(peerKey, "manage"))
			b.devices.deafen(peerKey, false)
		})
		watchers := []*watched{w}
		for range 30 { // readers that come in the middle
			late := watch(t, b.Engine, batch.BatchID)
			watchers = append(watchers, late)
			all.Go(late.finish)
		}
		all.Wait()
		time.Sleep(10 * time.Minute)
		if got := b.devices.commands(peerKey, "manage"); len(got) > 0 {
			t.Errorf("%d commands sent after their end, %d before", len(got), sentBefore)
		}
		for _, c := range batch.Actions {
			state := b.stored(c.ID).State
			for _, w := range watchers {
				if state != w.states[c.ID] || !state.Final() {
					t.Errorf("command %d is in state %s, a monitor saw %s", c.ID, state, w.states[c.ID])
				}
			}
		}
	})
}

// BenchmarkMonitorOf1000 carries a batch of 1,000 commands, two answers each, to its
// end with a reader.
func BenchmarkMonitorOf1000(b *testing.B) {
	db := storetest.Open(b)
	e, err := engine.New(context.Background(), db, engine.Options{FirstWindow: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	d := &recordedDevices{}
	e.Introduce(d)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	a, err := e.Devices.Admit(ctx, master(), motion.Credentials{Address: address})
	if err != nil {
		b.Fatal(err)
	}
	key, err := e.Devices.Login(ctx, masterID, a.RadarToken)
	if err != nil {
		b.Fatal(err)
	}
	e.State.Connected(key, address)
	request := command.BatchRequest{NetworkID: a.Network}
	for range 1000 {
		request.Actions = append(request.Actions, command.Request{NodeID: 1, Payload: map[string]string{"command": "ping"}})
	}
	for b.Loop() {
		batch, err := e.Commands.CreateBatch(ctx, request)
		if err != nil {
			b.Fatal(err)
		}
		w := watch(b, e, batch.BatchID)
		over := make(chan struct{})
		go func() { w.finish(); close(over) }()
		if _, err := e.Commands.ChangeBatch(ctx, batch.BatchID, management.Execute); err != nil {
			b.Fatal(err)
		}
		for answered := 0; answered < 1000; {
			for _, payload := range d.commands(key, "manage") {
				var c struct{ ID command.ID }
				_ = json.Unmarshal([]byte(payload), &c)
				for _, state := range []string{"100", "200"} {
					if err := e.Report(ctx, key, result(c.ID, state)); err != nil {
						b.Fatal(err)
					}
				}
				answered++
			}
		}
		<-over
		b.ReportMetric(float64(w.count), "updates")
	}
}
