package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// ping returns a command without an id.
func ping(network motion.NetworkID, node motion.NodeID, state command.State) command.Command {
	return command.Command{
		NetworkID: network, NodeID: node, Payload: map[string]string{"command": "ping"},
		State: state, StateText: state.Text(), CreatedAt: 1764000000, UpdatedAt: 1764000000.25,
	}
}

// pointer returns a pointer to a copy of v.
func pointer[T any](v T) *T { return &v }

// createCommand stores a command and returns it.
func createCommand(t testing.TB, db *store.DB, c command.Command) (stored command.Command) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		stored, err = tx.CreateCommand(c)
		return err
	})
	return stored
}

// commandIDs returns the ids in their order.
func commandIDs(list []command.Command) []command.ID {
	ids := []command.ID{}
	for _, c := range list {
		ids = append(ids, c.ID)
	}
	return ids
}

func TestCommandIsKeptAsGiven(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	network := newNetwork(t, db, "g")
	var batch command.Batch
	update(t, db, func(tx *store.Tx) (err error) {
		batch, err = tx.CreateBatch(command.Batch{NetworkID: network, Name: "fw"})
		return err
	})
	if want := (command.Batch{ID: 1, NetworkID: network, Name: "fw", CreatedAt: 1764000000}); batch != want {
		t.Errorf("batch %+v, want %+v", batch, want)
	}
	c := ping(network, 134, command.Sent(1))
	c.BatchID, c.Attempts = &batch.ID, 1
	c = createCommand(t, db, c)
	waits := ping(network, 134, command.WaitingForTrigger)
	waits.TriggerID = &c.ID
	waits = createCommand(t, db, waits)
	if c.ID != 1 || waits.ID != 2 {
		t.Errorf("ids %d and %d, want 1 and 2", c.ID, waits.ID)
	}
	c = c.Answer("200", motion.Document{"out": "pong"}, 1764000002.5).Command
	update(t, db, func(tx *store.Tx) error { return tx.PutCommand(c) })
	view(t, db, func(tx *store.Tx) error {
		got, err1 := tx.Command(c.ID)
		second, err2 := tx.Command(waits.ID)
		group, err3 := tx.Batch(batch.ID)
		for _, diff := range []string{cmp.Diff(c, got), cmp.Diff(waits, second), cmp.Diff(batch, group)} {
			if diff != "" {
				t.Error(diff)
			}
		}
		return errors.Join(err1, err2, err3)
	})
}

func TestCommandRefersToItsOwnNetworkOnly(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	ours, theirs := newNetwork(t, db, "ours"), newNetwork(t, db, "theirs")
	foreign := createCommand(t, db, ping(theirs, 1, command.Pending))
	var batch command.Batch
	update(t, db, func(tx *store.Tx) (err error) {
		batch, err = tx.CreateBatch(command.Batch{NetworkID: theirs})
		return err
	})
	with := func(change func(*command.Command)) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			c := ping(ours, 1, command.Pending)
			change(&c)
			_, err := tx.CreateCommand(c)
			return err
		}
	}
	for name, try := range map[string]func(*store.Tx) error{
		"unknown network": with(func(c *command.Command) { c.NetworkID = 99 }),
		"unknown batch":   with(func(c *command.Command) { c.BatchID = pointer(command.BatchID(99)) }),
		"foreign batch":   with(func(c *command.Command) { c.BatchID = &batch.ID }),
		"unknown trigger": with(func(c *command.Command) { c.TriggerID = pointer(command.ID(99)) }),
		"foreign trigger": with(func(c *command.Command) { c.TriggerID = &foreign.ID }),
		"batch of an unknown network": func(tx *store.Tx) error {
			_, err := tx.CreateBatch(command.Batch{NetworkID: 99})
			return err
		},
		"put of an unknown command": func(tx *store.Tx) error { return tx.PutCommand(command.Command{ID: 99, NetworkID: ours}) },
		"unknown command":           func(tx *store.Tx) error { _, err := tx.Command(0); return err },
		"a batch that is not there": func(tx *store.Tx) error { _, err := tx.Batch(99); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantKind(t, db.Update(t.Context(), try), fault.NotFound)
		})
	}
}

// TestCommandsAreFoundInEveryWay compares every query with a filter over all
// commands, after random changes.
func TestCommandsAreFoundInEveryWay(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	networks := []motion.NetworkID{newNetwork(t, db, "a"), newNetwork(t, db, "b")}
	states := []command.State{"000", "001", "002", "011", "015", "100", "200", "204", "400", "409"}
	var batches []command.BatchID
	for i := range 4 {
		update(t, db, func(tx *store.Tx) error {
			b, err := tx.CreateBatch(command.Batch{NetworkID: networks[i%2]})
			batches = append(batches, b.ID)
			return err
		})
	}
	var all []command.Command // every network has two batches and two nodes
	rapid.Check(t, func(t *rapid.T) {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			for range rapid.IntRange(1, 8).Draw(t, "changes") {
				var err error
				if all, err = changeCommand(t, tx, all, networks, states, batches); err != nil {
					return err
				}
			}
			compareCommands(t, tx, all, drawCommandQuery(t, states, batches))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// changeCommand creates a random command or changes the state of one, in both tx
// and all.
func changeCommand(
	t *rapid.T, tx *store.Tx, all []command.Command, networks []motion.NetworkID, states []command.State, batches []command.BatchID,
) ([]command.Command, error) {
	state := rapid.SampledFrom(states).Draw(t, "state")
	if len(all) > 0 && rapid.Bool().Draw(t, "existing") {
		c := &all[rapid.IntRange(0, len(all)-1).Draw(t, "position")]
		c.State = state
		return all, tx.PutCommand(*c)
	}
	i := rapid.IntRange(0, 1).Draw(t, "network")
	c := ping(networks[i], motion.NodeID(1+i+2*rapid.IntRange(0, 1).Draw(t, "node")), state)
	if j := rapid.IntRange(0, 2).Draw(t, "batch"); j < 2 {
		c.BatchID = &batches[i+2*j]
	}
	for _, other := range all {
		if other.NetworkID == c.NetworkID && rapid.IntRange(0, 3).Draw(t, "trigger") == 0 {
			c.TriggerID = pointer(other.ID)
			break
		}
	}
	c, err := tx.CreateCommand(c)
	return append(all, c), err
}

func drawCommandQuery(t *rapid.T, states []command.State, batches []command.BatchID) store.CommandQuery {
	return store.CommandQuery{
		Network: motion.NetworkID(rapid.IntRange(0, 3).Draw(t, "of network")),
		Node:    motion.NodeID(rapid.IntRange(0, 5).Draw(t, "of node")),
		Batch:   rapid.SampledFrom(append(batches, 0, 0, 0, 99)).Draw(t, "of batch"),
		State:   rapid.SampledFrom(append(states, "", "", "", "", "0")).Draw(t, "in state"),
		Before:  command.ID(rapid.SampledFrom([]int{0, 0, 1, 3, 10, 1000}).Draw(t, "before")),
		Last:    rapid.SampledFrom([]int{0, 1, 3, 1000}).Draw(t, "last"),
	}
}

// compareCommands asks for commands in every way.
func compareCommands(t *rapid.T, tx *store.Tx, all []command.Command, q store.CommandQuery) {
	same := func(what string, got []command.Command, err error, want func(command.Command) bool) {
		t.Helper()
		wanted := slices.DeleteFunc(slices.Clone(all), func(c command.Command) bool { return !want(c) })
		if diff := cmp.Diff(commandIDs(wanted), commandIDs(got)); diff != "" || err != nil {
			t.Fatalf("%s: error %v\n%s", what, err, diff)
		}
	}
	open, err := tx.OpenCommands(q.Network, q.Node)
	same(fmt.Sprintf("open %+v", q), open, err, func(c command.Command) bool {
		return c.NetworkID == q.Network && !c.State.Final() && (q.Node == 0 || c.NodeID == q.Node)
	})
	batch, err := tx.BatchCommands(q.Batch)
	same(fmt.Sprintf("batch %+v", q), batch, err, func(c command.Command) bool { return c.BatchID != nil && *c.BatchID == q.Batch })
	trigger := command.ID(rapid.IntRange(0, len(all)).Draw(t, "trigger"))
	waiting, err := tx.WaitingCommands(trigger)
	same(fmt.Sprintf("waiting for %d", trigger), waiting, err, func(c command.Command) bool {
		return c.TriggerID != nil && *c.TriggerID == trigger && c.State == command.WaitingForTrigger
	})
	list, err := tx.Commands(q)
	slices.Reverse(list)
	last := q.Last
	if last == 0 {
		last = store.DefaultCommandLast
	}
	skip := -last
	matches := func(c command.Command) bool {
		return (q.Network == 0 || c.NetworkID == q.Network) && (q.Node == 0 || c.NodeID == q.Node) &&
			(q.Batch == 0 || c.BatchID != nil && *c.BatchID == q.Batch) && (q.State == "" || c.State == q.State) && (q.Before == 0 || c.ID < q.Before)
	}
	for _, c := range all {
		if matches(c) {
			skip++
		}
	}
	same(fmt.Sprintf("%+v", q), list, err, func(c command.Command) bool {
		if !matches(c) {
			return false
		}
		skip--
		return skip < 0
	})
}

func TestDeletedNetworkTakesItsCommandsAlong(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	gone, stays := newNetwork(t, db, "gone"), newNetwork(t, db, "stays")
	for _, network := range []motion.NetworkID{gone, stays} {
		update(t, db, func(tx *store.Tx) error {
			batch, err := tx.CreateBatch(command.Batch{NetworkID: network})
			if err != nil {
				return err
			}
			c := ping(network, motion.NodeID(network), command.Pending)
			c.BatchID = &batch.ID
			_, err1 := tx.CreateCommand(c)
			_, err2 := tx.CreateCommand(ping(network, motion.NodeID(network), command.Done))
			return errors.Join(err1, err2)
		})
	}
	update(t, db, func(tx *store.Tx) error { return tx.DeleteNetwork(gone) })
	view(t, db, func(tx *store.Tx) error {
		list, err := tx.Commands(store.CommandQuery{})
		if !slices.Equal(commandIDs(list), []command.ID{4, 3}) {
			t.Errorf("commands %v are left, want 4 and 3", commandIDs(list))
		}
		_, noBatch := tx.Batch(1)
		wantKind(t, noBatch, fault.NotFound)
		_, kept := tx.Batch(2)
		return errors.Join(err, kept)
	})
	if c := createCommand(t, db, ping(stays, 1, command.Pending)); c.ID != 5 {
		t.Errorf("id %d after 4: ids are not used again", c.ID)
	}
}

// TestBatchOf1000SurvivesRestarts carries a chain to its end in one database,
// opened again on the way.
func TestBatchOf1000SurvivesRestarts(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/sensegate.db"
	reopen := func(db *store.DB) *store.DB {
		if db != nil {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		db, err := store.Open(store.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := reopen(nil)
	network := newNetwork(t, db, "g")
	linkCommands(t, db, network, 1000)
	db = reopen(db)
	update(t, db, func(tx *store.Tx) error {
		open, err := tx.OpenCommands(network, 0)
		if err != nil || len(open) != 1000 {
			return fmt.Errorf("%d open commands, want 1000: %w", len(open), err)
		}
		return settle(tx, open[0].Execute(true, tx.Now()))
	})
	db = reopen(db)
	update(t, db, func(tx *store.Tx) error {
		first, err := tx.Command(1)
		if err != nil {
			return err
		}
		return settle(tx, first.Answer("400", nil, tx.Now()))
	})
	view(t, db, func(tx *store.Tx) error {
		open, err1 := tx.OpenCommands(network, 0)
		batch, err2 := tx.BatchCommands(1)
		failed, err3 := tx.Commands(store.CommandQuery{Network: network, State: "400", Last: 2000})
		if len(open) != 0 || len(batch) != 1000 || len(failed) != 1000 {
			t.Errorf("%d open, %d in the batch, %d failed, want 0, 1000, 1000", len(open), len(batch), len(failed))
		}
		return errors.Join(err1, err2, err3)
	})
	storetest.Close(t, db)
}

// linkCommands stores a batch of n commands, each waiting for the one before it.
func linkCommands(t testing.TB, db *store.DB, network motion.NetworkID, n int) {
	t.Helper()
	update(t, db, func(tx *store.Tx) error {
		batch, err := tx.CreateBatch(command.Batch{NetworkID: network})
		if err != nil {
			return err
		}
		before, err := tx.CreateCommand(command.Command{NetworkID: network, BatchID: &batch.ID, State: command.Pending})
		for i := 1; i < n && err == nil; i++ {
			c := ping(network, motion.NodeID(i%7+1), command.WaitingForTrigger)
			c.BatchID, c.TriggerID = &batch.ID, pointer(before.ID)
			before, err = tx.CreateCommand(c)
		}
		return err
	})
}

// settle stores a step and all that follows.
func settle(tx *store.Tx, step command.Step) error {
	steps, err := command.Follow([]command.Step{step}, command.World{
		Now: tx.Now(), Online: func(motion.NodeID) bool { return true }, Waiting: tx.WaitingCommands,
	})
	for _, s := range steps {
		err = errors.Join(err, tx.PutCommand(s.Command))
	}
	return err
}

// BenchmarkCommandStep stores one change of a state among 10,000 commands.
func BenchmarkCommandStep(b *testing.B) {
	db := storetest.Open(b)
	network := newNetwork(b, db, "g")
	for range 10 {
		linkCommands(b, db, network, 1000)
	}
	i := 0
	for b.Loop() {
		i++
		update(b, db, func(tx *store.Tx) error {
			c, err := tx.Command(command.ID(i%10_000 + 1))
			if err != nil {
				return err
			}
			c.State = []command.State{command.Running, command.WaitingForOnline}[i/10_000%2]
			return tx.PutCommand(c)
		})
	}
}
