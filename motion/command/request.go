package command

import (
	"fmt"
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Limits of a request, so that a record stays small and a command fits in a packet.
const (
	MaxEntries = 32   // of a payload
	MaxKey     = 64   // bytes; also of the name of a command
	MaxValue   = 4096 // bytes
	MaxName    = 128  // bytes, of a batch
	MaxActions = 1000 // of a batch
)

// Request is a requested command, by itself or as an action of a batch (payloads.md 4.13).
type Request struct {
	NetworkID  motion.NetworkID // in a batch: 0 = the batch's
	NodeID     motion.NodeID
	ExecuteNow bool
	TriggerID  Trigger
	Payload    map[string]string // "command" and its arguments
}

// BatchRequest is a requested batch.
type BatchRequest struct {
	Name      string
	NetworkID motion.NetworkID
	Actions   []Request
}

// Check returns an Invalid fault with every mistake of the request, or nil. It does not check the
// name of the command: a device answers 404 to an unknown one.
func (r Request) Check() error {
	var m fault.Details
	if r.NetworkID == 0 {
		m.Add("body.network_id", nil, "must be the id of a network")
	}
	r.check(&m, "body", false, 0)
	m.Sort()
	return m.Err()
}

// Requests returns the actions of the batch, each with its network, or an Invalid fault with
// every mistake. The trigger of an action is the id of a command or the position of an earlier
// action.
func (b BatchRequest) Requests() ([]Request, error) {
	var m fault.Details
	if len(b.Name) > MaxName {
		m.Add("body.name", nil, "must have at most %d bytes", MaxName)
	}
	if b.NetworkID == 0 {
		m.Add("body.network_id", nil, "must be the id of a network")
	}
	if len(b.Actions) == 0 || len(b.Actions) > MaxActions {
		m.Add("body.actions", nil, "must be 1 to %d actions", MaxActions)
		m.Sort()
		return nil, m.Err()
	}
	requests := make([]Request, len(b.Actions))
	for i, action := range b.Actions {
		at := fmt.Sprintf("body.actions[%d]", i)
		if action.NetworkID != 0 && action.NetworkID != b.NetworkID {
			m.Add(at+".network_id", nil, "must be the network of the batch")
		}
		action.NetworkID = b.NetworkID
		action.check(&m, at, true, i)
		requests[i] = action
	}
	m.Sort()
	return requests, m.Err()
}

// check adds the mistakes of a request at a place of the body, except its network. actions is the
// number of earlier actions of the batch.
func (r Request) check(m *fault.Details, at string, inBatch bool, actions int) {
	if r.NodeID == 0 {
		m.Add(at+".node_id", nil, "must be the id of a node")
	}
	if message := r.TriggerID.mistake(inBatch, actions); message != "" {
		m.Add(at+".trigger_id", nil, "%s", message)
	}
	at += ".payload"
	if name := r.Payload[nameKey]; name == "" || len(name) > MaxKey {
		m.Add(at+"."+nameKey, nil, "must be the name of a command, 1 to %d bytes", MaxKey)
	}
	if len(r.Payload) > MaxEntries {
		m.Add(at, nil, "must have at most %d entries", MaxEntries)
		return
	}
	for _, key := range slices.Sorted(maps.Keys(r.Payload)) {
		switch {
		case len(key) == 0 || len(key) > MaxKey:
			m.Add(at, nil, "key %.16q: must have 1 to %d bytes", key, MaxKey)
		case len(r.Payload[key]) > MaxValue:
			m.Add(at+"."+key, nil, "must have at most %d bytes", MaxValue)
		}
	}
}
