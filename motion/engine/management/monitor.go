package management

import (
	"context"
	"encoding/json"

	"sensegate/motion/command"
	"sensegate/motion/engine/state"
	"sensegate/motion/feed"
	"sensegate/store"
)

// Monitor is a reader's queue of what happens to the commands of a batch: an
// update for every change, in order, and "done" when none can change any more.
// Then it ends.
type Monitor = feed.Subscription[command.BatchID, state.Message]

// The messages of a monitor (payloads.md 4.13).
type (
	// MonitorSnapshot is the first one.
	MonitorSnapshot struct {
		Type string `json:"type"` // snapshot
		BatchActions
	}
	// MonitorUpdate says that a command has changed.
	MonitorUpdate struct {
		Type    string          `json:"type"` // update
		BatchID command.BatchID `json:"batch_id"`
		Action  command.Command `json:"action"`
	}
	// MonitorDone is the last one.
	MonitorDone struct {
		Type    string          `json:"type"` // done
		BatchID command.BatchID `json:"batch_id"`
	}
)

// Monitor subscribes to a batch. The snapshot, as JSON, is how its commands stand;
// the updates are what happens afterwards, none lost between the two. The caller closes the
// subscription. NotFound: the batch.
func (m *Manager) Monitor(ctx context.Context, id command.BatchID) (snapshot []byte, updates *Monitor, err error) {
	actions, updates, err := m.monitor(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	snapshot, err = json.Marshal(MonitorSnapshot{Type: "snapshot", BatchActions: BatchActions{BatchID: id, Actions: actions}})
	if err != nil {
		updates.Close()
		return nil, nil, err
	}
	return snapshot, updates, nil
}

// monitorQueue is how many messages a reader may be behind, beside those of the commands
// that its batch has.
const monitorQueue = 64

// monitor reads the commands of a batch and subscribes to them in one moment.
func (m *Manager) monitor(ctx context.Context, id command.BatchID) (actions []command.Command, updates *Monitor, err error) {
	m.open.mu.Lock()
	defer m.open.mu.Unlock()
	err = m.state.DB.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Batch(id); err != nil {
			return err
		}
		actions, err = tx.BatchCommands(id)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	// One event brings at most one update per command; so many may wait twice.
	updates = m.open.watch.Subscribe(id, 2*len(actions)+monitorQueue)
	if m.open.batches[id] == 0 {
		m.tellDone(id)
	}
	return actions, updates, nil
}

// tellWatchers tells who watches the batch of a command that it has changed, and
// when done that no other one will; m.open.mu is held.
func (m *Manager) tellWatchers(c command.Command, done bool) {
	if c.BatchID == nil {
		return
	}
	id := *c.BatchID
	if m.open.watch.Readers(id) > 0 {
		m.publishMonitor(id, MonitorUpdate{Type: "update", BatchID: id, Action: c})
	}
	if done {
		m.tellDone(id)
	}
}

// tellDone tells who watches a batch that nothing more will happen, and ends that.
func (m *Manager) tellDone(id command.BatchID) {
	if m.open.watch.Readers(id) > 0 {
		m.publishMonitor(id, MonitorDone{Type: "done", BatchID: id})
	}
	m.open.watch.End(id)
}

// publishMonitor hands a message to who watches a batch.
func (m *Manager) publishMonitor(id command.BatchID, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		m.state.Log.Error("command update not sent", "batch", id, "err", err)
		m.open.watch.End(id) // rather than lose an update
		return
	}
	m.open.watch.Publish(id, state.NewMessage(raw, nil, nil))
}
