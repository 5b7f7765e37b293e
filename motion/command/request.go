package command

import (
	"fmt"

	"sensegate/motion"
)

// The limits of a request, so that a record stays small and a command fits a
// packet.
const (
	MaxEntries = 32   // of a payload
	MaxKey     = 64   // bytes; also of the name of a command
	MaxValue   = 4096 // bytes
	MaxName    = 128  // bytes, of a batch
	MaxActions = 1000 // of a batch
)

// Request is the body of POST /manage/create, and an action of a batch.
type Request struct {
	NetworkID  motion.NetworkID  `json:"network_id"` // in a batch: 0 for that of the batch
	NodeID     motion.NodeID     `json:"node_id"`
	ExecuteNow bool              `json:"executeNow"`
	TriggerID  Trigger           `json:"trigger_id"`
	Payload    map[string]string `json:"payload"`
}

// BatchRequest is the body of POST /manage/batch.
type BatchRequest struct {
	Name      string           `json:"name"`
	NetworkID motion.NetworkID `json:"network_id"`
	Actions   []Request        `json:"actions"`
}

// Selection is the body of POST /manage/execute and /manage/cancel: one of both.
type Selection struct {
	ID      *ID      `json:"id"`
	BatchID *BatchID `json:"batch_id"`
}

// Check returns an Invalid fault with every mistake of the request, nil when
// there is none. Which commands a device knows is for the device to say: it
// answers 404 to others.
func (r Request) Check() error {
	var m mistakes
	if r.NetworkID == 0 {
		m.add("body.network_id", "must be the id of a network")
	}
	r.check(&m, "body", false, 0)
	return m.fault()
}

// Requests returns the actions of the batch, each with its network, or an
// Invalid fault with every mistake. An action may name a command by its id or
// an earlier action by its position as its trigger.
func (b BatchRequest) Requests() ([]Request, error) {
	var m mistakes
	if len(b.Name) > MaxName {
		m.add("body.name", "must have at most %d bytes", MaxName)
	}
	if b.NetworkID == 0 {
		m.add("body.network_id", "must be the id of a network")
	}
	if len(b.Actions) == 0 || len(b.Actions) > MaxActions {
		m.add("body.actions", "must be 1 to %d actions", MaxActions)
		return nil, m.fault()
	}
	requests := make([]Request, len(b.Actions))
	for i, action := range b.Actions {
		at := fmt.Sprintf("body.actions[%d]", i)
		if action.NetworkID != 0 && action.NetworkID != b.NetworkID {
			m.add(at+".network_id", "must be the network of the batch")
		}
		action.NetworkID = b.NetworkID
		action.check(&m, at, true, i)
		requests[i] = action
	}
	if err := m.fault(); err != nil {
		return nil, err
	}
	return requests, nil
}

// Check returns an Invalid fault with every mistake of the request, nil when
// there is none.
func (e Selection) Check() error {
	var m mistakes
	if (e.ID == nil) == (e.BatchID == nil) {
		m.add("body", "must have either id or batch_id")
	}
	if e.ID != nil && *e.ID <= 0 {
		m.add("body.id", "must be the id of a command")
	}
	if e.BatchID != nil && *e.BatchID <= 0 {
		m.add("body.batch_id", "must be the id of a batch")
	}
	return m.fault()
}

// check notes the mistakes of a request at a place of the body, but for its
// network. actions of the batch stand before it.
func (r Request) check(m *mistakes, at string, inBatch bool, actions int) {
	if r.NodeID == 0 {
		m.add(at+".node_id", "must be the id of a node")
	}
	if message := r.TriggerID.mistake(inBatch, actions); message != "" {
		m.add(at+".trigger_id", "%s", message)
	}
	at += ".payload"
	if name := r.Payload[nameKey]; name == "" || len(name) > MaxKey {
		m.add(at+"."+nameKey, "must be the name of a command, 1 to %d bytes", MaxKey)
	}
	if len(r.Payload) > MaxEntries {
		m.add(at, "must have at most %d entries", MaxEntries)
		return
	}
	for key, value := range r.Payload {
		switch {
		case len(key) == 0 || len(key) > MaxKey:
			m.add(at, "key %.16q: must have 1 to %d bytes", key, MaxKey)
		case len(value) > MaxValue:
			m.add(at+"."+key, "must have at most %d bytes", MaxValue)
		}
	}
}
