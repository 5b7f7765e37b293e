package management

import (
	"context"
	"slices"
	"sort"
	"time"

	"sensegate/motion/command"
	"sensegate/motion/fault"
	"sensegate/store"
)

// commandTick is the time between two looks at what has come due. A device that
// has just connected listens by the next one.
const commandTick = time.Second

// Load takes in the open commands of all networks at the start: they go on where they
// stopped.
func (m *Manager) Load(tx *store.Tx) error {
	networks, err := tx.Networks()
	if err != nil {
		return err
	}
	for _, n := range networks {
		open, err := tx.OpenCommands(n.ID, 0)
		if err != nil {
			return err
		}
		for _, c := range open {
			m.open.note(c)
		}
	}
	return nil
}

// Close ends what who watches commands is told.
func (m *Manager) Close() { m.open.watch.Close() }

// Run moves commands on until ctx ends: those whose time is up, whose node
// has come online, or that could not be sent.
func (m *Manager) Run(ctx context.Context) error {
	ticker := time.NewTicker(commandTick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		case <-m.open.wake:
		}
		err := m.state.Contained.Run("move commands", func() error { return m.moveCommands(ctx) })
		switch {
		case ctx.Err() != nil:
			return nil
		case fault.KindOf(err) != 0:
			m.state.Log.Error("commands not advanced, will retry", "err", err)
		case err != nil:
			return err
		}
	}
}

// moveCommands moves on what is due now.
func (m *Manager) moveCommands(ctx context.Context) error {
	due, err := m.dueCommands(ctx)
	if err != nil {
		return err
	}
	if len(due) > 0 {
		err = m.settle(ctx, func(tx *commandTx) ([]command.Step, error) { return tx.moveOn(due) })
	}
	if err != nil {
		return err
	}
	return m.sendUnsent(ctx)
}

// dueCommands returns the commands that may have to move on, by id.
func (m *Manager) dueCommands(ctx context.Context) (due []command.ID, err error) {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	now := m.state.Now()
	var waiting []openCommand
	for id, c := range m.open.open {
		if c.State == command.WaitingForOnline {
			waiting = append(waiting, c)
		}
		if at, waits := c.Due(now); waits && at <= now {
			due = append(due, id)
		}
	}
	if len(waiting) > 0 {
		sort.Slice(waiting, func(i, j int) bool { return waiting[i].ID < waiting[j].ID })
		err = m.state.DB.View(ctx, func(tx *store.Tx) error {
			view := m.beginCommands(tx)
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
			tx.engine.open.drop(id)
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
func (m *Manager) sendUnsent(ctx context.Context) error {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	var unsent []command.ID
	for id, c := range m.open.open {
		if c.unsent {
			unsent = append(unsent, id)
		}
	}
	if len(unsent) == 0 {
		return nil
	}
	slices.Sort(unsent)
	return m.state.DB.View(ctx, func(tx *store.Tx) error {
		view := m.beginCommands(tx)
		for _, id := range unsent {
			c, err := tx.Command(id)
			if fault.KindOf(err) == fault.NotFound {
				continue
			}
			if err != nil {
				return err
			}
			m.sendCommand(c, view.route(c.NodeID))
		}
		return nil
	})
}
