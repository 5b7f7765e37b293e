package store

import (
	"bytes"
	"sort"

	"sensegate/motion"
	"sensegate/motion/command"
)

// DefaultCommandLast is how many commands a query returns unless it says how
// many.
const DefaultCommandLast = 100

// OpenCommands returns the commands of a network that have not reached a final
// state, by id; those of one node unless node is 0. It reads no others but the
// open ones of the network.
func (tx *Tx) OpenCommands(network motion.NetworkID, node motion.NodeID) ([]command.Command, error) {
	open := []command.Command{}
	end := commandState(network, command.Done)
	cursor := tx.bucket("commands_by_state").Cursor()
	for key, primary := cursor.Seek(key32(network)); key != nil && bytes.Compare(key, end) < 0; key, primary = cursor.Next() {
		c, ok, err := commands.indexed(tx, "commands_by_state", key, primary)
		if err != nil {
			return nil, err
		}
		if ok && (node == 0 || c.NodeID == node) {
			open = append(open, c)
		}
	}
	sort.Slice(open, func(i, j int) bool { return open[i].ID < open[j].ID })
	return open, nil
}

// CommandQuery selects commands; what is zero selects all.
type CommandQuery struct {
	Network motion.NetworkID
	Node    motion.NodeID
	Batch   command.BatchID
	State   command.State
	Before  command.ID                  // only smaller ids; 0: all
	Last    int                         // 0: DefaultCommandLast
	Among   func(motion.NetworkID) bool // only of networks for which it is true; nil: of all
}

// Commands returns the Last newest commands that q selects, newest first, never
// nil. It reads the commands of the batch, else of the node, else of the network
// and state, else of the network, else all, until it has enough.
func (tx *Tx) Commands(q CommandQuery) ([]command.Command, error) {
	last := q.Last
	if last <= 0 {
		last = DefaultCommandLast
	}
	list := []command.Command{}
	bucket, prefix := q.source()
	cursor := tx.bucket(bucket).Cursor()
	end := bytes.Repeat([]byte{0xff}, 9) // behind every id
	if q.Before != 0 {
		end = key64ID(q.Before)
	}
	key, value := lastBefore(cursor, join(prefix, end))
	for ; key != nil && bytes.HasPrefix(key, prefix) && len(list) < last; key, value = cursor.Prev() {
		c, ok, err := tx.listedCommand(bucket, key, value)
		if err != nil {
			return nil, err
		}
		if ok && q.selects(c) {
			list = append(list, c)
		}
	}
	return list, nil
}

// listedCommand returns the command of an entry of the table or of an index; ok is false
// when it cannot be read.
func (tx *Tx) listedCommand(bucket string, key, value []byte) (c command.Command, ok bool, err error) {
	if bucket == commands.name {
		c, ok = commands.readable(tx, key, value)
		return c, ok, nil
	}
	return commands.indexed(tx, bucket, key, value)
}

// source returns the bucket with the fewest commands that q can select, in the
// order of ids behind the prefix.
func (q CommandQuery) source() (bucket string, prefix []byte) {
	switch {
	case q.Batch != 0:
		return "commands_by_batch", key64ID(q.Batch)
	case q.Node != 0:
		return "commands_by_node", key32(q.Node)
	case q.Network != 0 && q.State != "":
		return "commands_by_state", commandState(q.Network, q.State)
	case q.Network != 0:
		return "commands_by_network", key32(q.Network)
	}
	return commands.name, nil
}

// selects reports whether q selects the command.
func (q CommandQuery) selects(c command.Command) bool {
	return (q.Network == 0 || c.NetworkID == q.Network) && (q.Among == nil || q.Among(c.NetworkID)) && (q.Node == 0 || c.NodeID == q.Node) &&
		(q.Batch == 0 || c.BatchID != nil && *c.BatchID == q.Batch) && (q.State == "" || c.State == q.State)
}
