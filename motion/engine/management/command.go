// Package management has management commands sent to nodes: one event of commands at a time is
// committed, told to who watches, and sent.
package management

import (
	"context"
	"encoding/json"
	"sync"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/feed"
	"sensegate/store"
)

// Manager has management commands sent to nodes, and tells who watches. Make it with New.
type Manager struct {
	state *state.State
	open  commands
}

// New makes the manager; Load reads the commands that are open.
func New(s *state.State) *Manager { return &Manager{state: s, open: newCommands()} }

// commandWindow is how many commands a node may have been sent without a word
// about them: the queue towards a device is short. Further ones wait as if the node
// were not online.
const commandWindow = 16

// commands are the open management commands, as far as they must be known without
// a look into the database, and whoever watches them.
type commands struct {
	// mu is held for the whole of an event: its transaction, telling who watches and
	// sending. So updates are told in the order of their commits, a snapshot
	// misses none, and what was cancelled is not sent afterwards. It comes before
	// every other mutex.
	mu      sync.Mutex
	open    map[command.ID]openCommand
	nodes   map[motion.NodeID]commandLoad
	batches map[command.BatchID]int // open commands
	watch   feed.Hub[command.BatchID, state.Message]

	wake chan struct{} // a command that waits may have its turn
}

// openCommand is what decides when a command goes on.
type openCommand struct {
	command.Command      // without payload and result
	unsent          bool // it could not be sent when its state says so
}

// commandLoad is what a node has open.
type commandLoad struct{ sent, waiting int }

func newCommands() commands {
	return commands{
		open: map[command.ID]openCommand{}, nodes: map[motion.NodeID]commandLoad{}, batches: map[command.BatchID]int{},
		wake: make(chan struct{}, 1),
	}
}

// note takes in the present state of a command and reports whether its batch has
// no other open ones left now; c.mu is held.
func (c *commands) note(now command.Command) (batchDone bool) {
	before, wasOpen := c.open[now.ID]
	isOpen := !now.State.Final()
	c.count(before.NodeID, before.State, -1)
	c.count(now.NodeID, now.State, 1)
	if load := c.nodes[now.NodeID]; load.waiting > 0 && load.sent < commandWindow {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
	delete(c.open, now.ID)
	if isOpen {
		now.Payload, now.Result = nil, nil
		c.open[now.ID] = openCommand{Command: now}
	}
	if now.BatchID == nil || isOpen == wasOpen {
		return false
	}
	if isOpen {
		c.batches[*now.BatchID]++
		return false
	}
	c.batches[*now.BatchID]--
	if c.batches[*now.BatchID] > 0 {
		return false
	}
	delete(c.batches, *now.BatchID)
	return true
}

// count adds to what a node has open.
func (c *commands) count(node motion.NodeID, state command.State, by int) {
	load := c.nodes[node]
	switch {
	case state == command.WaitingForOnline:
		load.waiting += by
	case state >= command.Sent(1) && state <= command.Sent(command.MaxAttempts):
		load.sent += by
	}
	c.nodes[node] = load
	if load == (commandLoad{}) {
		delete(c.nodes, node)
	}
}

// drop forgets a command that was deleted with its network; c.mu is held.
func (c *commands) drop(id command.ID) {
	gone := c.open[id].Command
	gone.State = command.Cancelled
	if c.note(gone) {
		c.watch.End(*gone.BatchID)
	}
}

// settle makes one event happen to commands: first returns its steps from records
// that it reads. They and what follows from them are stored in one commit; then
// who watches is told, and what is to be sent is sent.
func (m *Manager) settle(ctx context.Context, first func(*commandTx) ([]command.Step, error)) error {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	var steps []command.Step
	var view *commandTx
	err := m.state.DB.Update(ctx, func(tx *store.Tx) error {
		view = m.beginCommands(tx)
		begun, err := first(view)
		if err != nil {
			return err
		}
		steps, err = command.Follow(begun, command.World{Now: view.now, Online: view.online, Waiting: tx.WaitingCommands})
		if err != nil {
			return err
		}
		for _, step := range steps {
			view.route(step.Command.NodeID) // for the sending, after the transaction
			if err := tx.PutCommand(step.Command); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, step := range steps {
		done := m.open.note(step.Command)
		m.tellWatchers(step.Command, done)
	}
	for _, step := range steps {
		if step.Send {
			m.sendCommand(step.Command, view.routes[step.Command.NodeID])
		}
	}
	return nil
}

// manageCommand is the manage command (device-protocol.md 2.7).
type manageCommand struct {
	ID      command.ID        `json:"id"`
	Command string            `json:"command"`
	Args    map[string]string `json:"args"`
}

// sendCommand sends a command to its node. One that the device was not there for,
// or not listening yet, is kept to be sent as soon as it is; m.open.mu is held.
func (m *Manager) sendCommand(c command.Command, to commandRoute) {
	payload, err := json.Marshal(manageCommand{ID: c.ID, Command: c.Name(), Args: c.Args()})
	switch {
	case err != nil:
	case to.device.ID == "" || to.network != c.NetworkID:
		err = fault.New(fault.Unavailable, "no device of node %d is connected", c.NodeID)
	default:
		err = m.state.Outbound.Send(to.device, "manage", payload, false)
	}
	open := m.open.open[c.ID]
	open.unsent = fault.KindOf(err) == fault.Unavailable
	m.open.open[c.ID] = open
	switch {
	case err == nil:
		m.state.Log.Info("command sent", "network", c.NetworkID, "node", c.NodeID, "command", c.ID, "device", to.device.String(), "attempt", c.Attempts)
	case !open.unsent:
		m.state.Log.Warn("command not sent", "network", c.NetworkID, "node", c.NodeID, "command", c.ID, "err", err)
	}
}

// Result takes in what a device answers to a command of its node
// (device-protocol.md 2.7). It returns once that is stored.
func (m *Manager) Result(ctx context.Context, key motion.DeviceKey, r motion.ManageResult) error {
	return m.settle(ctx, func(tx *commandTx) ([]command.Step, error) {
		unknown := fault.New(fault.NotFound, "manage-result: command %d is not known", r.ID)
		device, err := tx.Device(key)
		if err != nil {
			return nil, err
		}
		c, err := tx.Command(command.ID(r.ID))
		switch {
		case fault.KindOf(err) == fault.NotFound:
			return nil, unknown
		case err != nil:
			return nil, err
		case c.NodeID != device.NodeID || c.NetworkID != device.NetworkID:
			return nil, unknown
		}
		state, err := command.ParseState(r.State)
		if err != nil {
			return nil, err
		}
		return []command.Step{c.Answer(state, r.Result, tx.now)}, nil
	})
}

// Cancel cancels the open commands of a node, or of a whole network when
// node is 0. It comes before the deletion of the network, and must not be called
// within a transaction.
func (m *Manager) Cancel(ctx context.Context, network motion.NetworkID, node motion.NodeID) error {
	return m.settle(ctx, func(tx *commandTx) ([]command.Step, error) { return tx.cancel(network, node) })
}

// CancelWith is cancelCommands of a node in the transaction that removes it: remove does
// that, and returns the network that it was in.
func (m *Manager) CancelWith(ctx context.Context, node motion.NodeID, remove func(*store.Tx) (motion.NetworkID, error)) error {
	return m.settle(ctx, func(tx *commandTx) ([]command.Step, error) {
		network, err := remove(tx.Tx)
		if err != nil {
			return nil, err
		}
		return tx.cancel(network, node)
	})
}

// DropWith forgets the commands of a network that remove deletes, those that came since
// they were cancelled too.
func (m *Manager) DropWith(network motion.NetworkID, remove func() error) error {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	if err := remove(); err != nil {
		return err
	}
	for id, open := range m.open.open {
		if open.NetworkID == network {
			m.open.drop(id)
		}
	}
	return nil
}
