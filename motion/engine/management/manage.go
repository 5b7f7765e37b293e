package management

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/fault"
	"sensegate/store"
)

// BatchActions is a batch with its commands, in the order of its actions.
type BatchActions struct {
	BatchID command.BatchID   `json:"batch_id"`
	Actions []command.Command `json:"actions"`
}

// CreateCommand stores a new command, in a batch of its own when batch is set, and
// starts it where the request says so. Invalid: the request, with every mistake.
// NotFound: its network, node or trigger.
func (m *Manager) CreateCommand(ctx context.Context, r command.Request, batch bool) (command.Command, error) {
	if err := r.Check(); err != nil {
		return command.Command{}, err
	}
	made, err := m.createCommands(ctx, r.NetworkID, []command.Request{r}, batch, "")
	if err != nil {
		return command.Command{}, err
	}
	return made.Actions[0], nil
}

// CreateBatch stores a new batch with its commands and starts those that say so.
// Errors are as those of CreateCommand.
func (m *Manager) CreateBatch(ctx context.Context, b command.BatchRequest) (BatchActions, error) {
	requests, err := b.Requests()
	if err != nil {
		return BatchActions{}, err
	}
	return m.createCommands(ctx, b.NetworkID, requests, true, b.Name)
}

// createCommands stores commands of one network in one commit.
func (m *Manager) createCommands(ctx context.Context, network motion.NetworkID, requests []command.Request, batch bool, name string) (BatchActions, error) {
	var made BatchActions
	if err := m.state.Known(network); err != nil {
		return made, err
	}
	err := m.settle(ctx, func(tx *commandTx) ([]command.Step, error) {
		var group *command.BatchID
		if batch {
			stored, err := tx.CreateBatch(command.Batch{NetworkID: network, Name: name, CreatedAt: tx.now})
			if err != nil {
				return nil, err
			}
			group, made.BatchID = &stored.ID, stored.ID
		}
		var steps []command.Step
		var earlier []command.ID
		made.Actions = nil
		for _, r := range requests {
			step, err := tx.create(r, group, r.TriggerID.Of(earlier))
			if err != nil {
				return nil, err
			}
			steps, earlier = append(steps, step), append(earlier, step.Command.ID)
			made.Actions = append(made.Actions, step.Command)
		}
		return steps, nil
	})
	if err != nil {
		return BatchActions{}, err
	}
	m.state.Log.Info("commands created", "network", network, "batch", made.BatchID, "first", made.Actions[0].ID, "count", len(made.Actions))
	return made, nil
}

// create stores one new command. When its trigger has ended already it goes on, or
// fails, at once.
func (tx *commandTx) create(r command.Request, batch *command.BatchID, trigger *command.ID) (command.Step, error) {
	node, err := tx.Node(r.NodeID)
	if err == nil && node.NetworkID != r.NetworkID {
		err = fault.New(fault.NotFound, "node %d: not found", r.NodeID)
	}
	if err != nil {
		return command.Step{}, err
	}
	step := command.New(r, trigger, r.ExecuteNow && tx.online(r.NodeID), tx.now)
	step.Command.BatchID = batch
	if step.Command, err = tx.CreateCommand(step.Command); err != nil || step.Command.State != command.WaitingForTrigger {
		return step, err
	}
	before, err := tx.Command(*trigger)
	if err != nil {
		return step, err
	}
	next := step.Command.TriggerDone(before, before.State.Succeeded() && tx.online(r.NodeID), tx.now)
	if !next.Changed {
		return step, nil
	}
	return next, tx.PutCommand(next.Command)
}

// Change is what a caller has done to commands: to which of those it names, and how it
// changes one.
type Change struct {
	done   string // for the log
	choose func([]command.Command) ([]command.Command, error)
	step   func(*commandTx, command.Command) command.Step
}

// The changes. Execute starts commands that are pending. Cancel ends those that have not
// ended: what was sent to the device cannot be taken back, but it is not sent again.
var (
	Execute = Change{"commands executed", command.Startable, func(tx *commandTx, c command.Command) command.Step {
		return c.Execute(tx.online(c.NodeID), tx.now)
	}}
	Cancel = Change{"commands cancelled", command.Cancellable, func(tx *commandTx, c command.Command) command.Step {
		return c.Cancel(tx.now)
	}}
)

// ChangeCommand changes a command. NotFound: the command. Conflict: the change is not for it.
func (m *Manager) ChangeCommand(ctx context.Context, id command.ID, change Change) (command.Command, error) {
	changed, err := m.change(ctx, change, func(tx *store.Tx) ([]command.Command, error) {
		c, err := tx.Command(id)
		return []command.Command{c}, err
	})
	if err != nil {
		return command.Command{}, err
	}
	return changed[0], nil
}

// ChangeBatch changes those commands of a batch that the change is for and returns all of
// them. NotFound: the batch. Conflict: the change is for none.
func (m *Manager) ChangeBatch(ctx context.Context, id command.BatchID, change Change) (BatchActions, error) {
	actions, err := m.change(ctx, change, func(tx *store.Tx) ([]command.Command, error) {
		if _, err := tx.Batch(id); err != nil {
			return nil, err
		}
		return tx.BatchCommands(id)
	})
	if err != nil {
		return BatchActions{}, err
	}
	return BatchActions{BatchID: id, Actions: actions}, nil
}

// change changes those of the commands that it is for and returns all as they are then.
func (m *Manager) change(ctx context.Context, change Change, read func(*store.Tx) ([]command.Command, error)) ([]command.Command, error) {
	var list []command.Command
	err := m.settle(ctx, func(tx *commandTx) (steps []command.Step, err error) {
		if list, err = read(tx.Tx); err != nil {
			return nil, err
		}
		chosen, err := change.choose(list)
		if err != nil {
			return nil, err
		}
		for _, c := range chosen {
			step := change.step(tx, c)
			i := slices.IndexFunc(list, func(one command.Command) bool { return one.ID == c.ID })
			list[i], steps = step.Command, append(steps, step)
		}
		return steps, nil
	})
	if err != nil {
		return nil, err
	}
	m.state.Log.Info(change.done, "network", list[0].NetworkID, "first", list[0].ID, "count", len(list))
	return list, nil
}
