package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/fault"
	"sensegate/store"
)

// commandTick is the time between two looks at what has come due. A device that
// has just connected listens by the next one.
const commandTick = time.Second

// loadCommands takes in the open commands of a network at the start: they go on
// where they stopped.
func (e *Engine) loadCommands(tx *store.Tx, network motion.NetworkID) error {
	open, err := tx.OpenCommands(network, 0)
	if err != nil {
		return err
	}
	for _, c := range open {
		e.commands.note(c)
	}
	return nil
}

// runCommands moves commands on until ctx ends: those whose time is up, whose node
// has come online, or that could not be sent.
func (e *Engine) runCommands(ctx context.Context) error {
	ticker := time.NewTicker(commandTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-e.commands.wake:
		}
		err := e.contained.run("move commands", func() error { return e.moveCommands(ctx) })
		switch {
		case ctx.Err() != nil:
			return nil
		case fault.KindOf(err) != 0:
			e.log.Error("commands not moved on, will be tried again", "err", err)
		case err != nil:
			return err
		}
	}
}

// moveCommands moves on what is due now.
func (e *Engine) moveCommands(ctx context.Context) error {
	due, err := e.dueCommands(ctx)
	if err != nil {
		return err
	}
	if len(due) > 0 {
		err = e.settle(ctx, func(tx *commandTx) ([]command.Step, error) { return tx.moveOn(due) })
	}
	if err != nil {
		return err
	}
	return e.sendUnsent(ctx)
}

// dueCommands returns the commands that may have to move on, by id.
func (e *Engine) dueCommands(ctx context.Context) (due []command.ID, err error) {
	e.commands.mu.Lock()
	defer e.commands.mu.Unlock()
	now := e.now()
	var waiting []openCommand
	for id, c := range e.commands.open {
		if c.State == command.WaitingForOnline {
			waiting = append(waiting, c)
		}
		if at, waits := c.Due(now); waits && at <= now {
			due = append(due, id)
		}
	}
	if len(waiting) > 0 {
		slices.SortFunc(waiting, func(a, b openCommand) int { return cmp.Compare(a.ID, b.ID) })
		err = e.db.View(ctx, func(tx *store.Tx) error {
			view := e.beginCommands(tx)
			for _, c := range waiting {
				if view.online(c.NodeID) {
					due = append(due, c.ID)
				}
			}
			return nil
		})
	}
	slices.Sort(due)
	return due, err
}

// moveOn returns the steps of commands that are due.
func (tx *commandTx) moveOn(due []command.ID) ([]command.Step, error) {
	var steps []command.Step
	for _, id := range due {
		c, err := tx.Command(id)
		if fault.KindOf(err) == fault.NotFound { // its network was deleted
			tx.engine.commands.drop(id)
			continue
		}
		if err != nil {
			return nil, err
		}
		if c.State == command.WaitingForOnline && tx.online(c.NodeID) {
			steps = append(steps, c.DeviceOnline(tx.now))
		} else {
			steps = append(steps, c.Tick(tx.now))
		}
	}
	return steps, nil
}

// sendUnsent sends what could not be sent at its time, unless something happened
// to it meanwhile.
func (e *Engine) sendUnsent(ctx context.Context) error {
	e.commands.mu.Lock()
	defer e.commands.mu.Unlock()
	var unsent []command.ID
	for id, c := range e.commands.open {
		if c.unsent {
			unsent = append(unsent, id)
		}
	}
	if len(unsent) == 0 {
		return nil
	}
	slices.Sort(unsent)
	return e.db.View(ctx, func(tx *store.Tx) error {
		view := e.beginCommands(tx)
		for _, id := range unsent {
			c, err := tx.Command(id)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			e.sendCommand(c, view.route(c.NodeID))
		}
		return nil
	})
}
