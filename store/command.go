package store

import (
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/fault"
)

// commands is the table of management commands. Commands of one node, batch or
// state are in the order of their ids.
var commands = table[command.ID, command.Command]{
	name: "commands", noun: "command", key: key64ID[command.ID], grows: true,
	indexes: []index[command.Command]{
		{
			name: "commands_by_network", noun: "network",
			keys: func(c command.Command) [][]byte { return [][]byte{key32(c.NetworkID)} },
		},
		{
			name: "commands_by_node", noun: "node",
			keys: func(c command.Command) [][]byte { return [][]byte{key32(c.NodeID)} },
		},
		{
			name: "commands_by_batch", noun: "batch", grows: true,
			keys: func(c command.Command) [][]byte {
				if c.BatchID == nil {
					return nil
				}
				return [][]byte{key64ID(*c.BatchID)}
			},
		},
		{
			name: "commands_by_state", noun: "state",
			keys: func(c command.Command) [][]byte { return [][]byte{commandState(c.NetworkID, c.State)} },
		},
		{
			name: "commands_by_trigger", noun: "trigger",
			keys: func(c command.Command) [][]byte {
				if c.TriggerID == nil || c.State != command.WaitingForTrigger {
					return nil
				}
				return [][]byte{key64ID(*c.TriggerID)}
			},
		},
	},
}

// batches is the table of batches.
var batches = table[command.BatchID, command.Batch]{
	name: "batches", noun: "batch", key: key64ID[command.BatchID], grows: true,
	indexes: []index[command.Batch]{{
		name: "batches_by_network", noun: "network",
		keys: func(b command.Batch) [][]byte { return [][]byte{key32(b.NetworkID)} },
	}},
}

// key64ID returns a positive id as 8 bytes, big-endian.
func key64ID[T ~int64](id T) []byte { return key64(uint64(id)) }

// commandState returns the key of the commands of a network in a state; states
// have three characters.
func commandState(network motion.NetworkID, state command.State) []byte {
	return join(key32(network), keyText(string(state)))
}

// CreateCommand stores a new command under the next id, as given, and returns
// it. A batch, and a trigger, of another network are NotFound.
func (tx *Tx) CreateCommand(c command.Command) (command.Command, error) {
	if err := tx.requireNetwork(c.NetworkID); err != nil {
		return c, err
	}
	if err := tx.requireReferences(c); err != nil {
		return c, err
	}
	sequence, err := tx.bucket(commands.name).NextSequence()
	if err != nil {
		return c, err
	}
	c.ID = command.ID(sequence)
	return c, commands.put(tx, c.ID, c)
}

// requireReferences returns a NotFound fault unless the batch and the trigger of
// a command are in its network.
func (tx *Tx) requireReferences(c command.Command) error {
	if c.BatchID != nil {
		b, err := tx.Batch(*c.BatchID)
		if err != nil {
			return err
		}
		if b.NetworkID != c.NetworkID {
			return fault.New(fault.NotFound, "batch %d: not found", b.ID)
		}
	}
	if c.TriggerID != nil {
		trigger, err := tx.Command(*c.TriggerID)
		if err != nil {
			return err
		}
		if trigger.NetworkID != c.NetworkID {
			return fault.New(fault.NotFound, "command %d: not found", trigger.ID)
		}
	}
	return nil
}

// PutCommand stores c over the command with its id, as given.
func (tx *Tx) PutCommand(c command.Command) error { return commands.replace(tx, c.ID, c) }

// Command returns the command with the id.
func (tx *Tx) Command(id command.ID) (command.Command, error) { return commands.must(tx, id) }

// CreateBatch stores a new batch under the next id and returns it. CreatedAt is
// set to now unless given.
func (tx *Tx) CreateBatch(b command.Batch) (command.Batch, error) {
	if err := tx.requireNetwork(b.NetworkID); err != nil {
		return b, err
	}
	sequence, err := tx.bucket(batches.name).NextSequence()
	if err != nil {
		return b, err
	}
	b.ID = command.BatchID(sequence)
	b.CreatedAt = tx.orNow(b.CreatedAt)
	return b, batches.put(tx, b.ID, b)
}

// Batch returns the batch with the id.
func (tx *Tx) Batch(id command.BatchID) (command.Batch, error) { return batches.must(tx, id) }

// BatchCommands returns the commands of a batch, in the order of its actions.
func (tx *Tx) BatchCommands(batch command.BatchID) ([]command.Command, error) {
	return commands.allBy(tx, "commands_by_batch", key64ID(batch))
}

// WaitingCommands returns the commands that still wait for the one with the id,
// by id.
func (tx *Tx) WaitingCommands(trigger command.ID) ([]command.Command, error) {
	return commands.allBy(tx, "commands_by_trigger", key64ID(trigger))
}

// deleteCommands removes the commands and the batches of a network.
func (tx *Tx) deleteCommands(network motion.NetworkID) error {
	list, err := commands.allBy(tx, "commands_by_network", key32(network))
	if err := each(list, err, func(c command.Command) error { return commands.delete(tx, c.ID) }); err != nil {
		return err
	}
	groups, err := batches.allBy(tx, "batches_by_network", key32(network))
	return each(groups, err, func(b command.Batch) error { return batches.delete(tx, b.ID) })
}
