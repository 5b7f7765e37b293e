package core

import (
	"context"
	"encoding/json"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/live"
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine/management"
	"sensegate/motion/fault"
	"sensegate/store"
)

// newCommand is what a command is asked for with.
type newCommand struct {
	NetworkID motion.NetworkID `json:"network_id" minimum:"1" doc:"Core network id" example:"1042"`
	Action
}

// Action is what of a command its network does not say.
type Action struct {
	NodeID     motion.NodeID `json:"node_id" minimum:"1" doc:"Node that is to do it" example:"134"`
	ExecuteNow bool          `json:"executeNow,omitempty" doc:"Start at once: when the node is online, else as soon as it is. Without it the command waits for its trigger, or for execute" example:"true"`
	TriggerID  trigger       `json:"trigger_id,omitempty" doc:"Id of the command whose success starts this one, and whose failure fails it; in a batch also \"#\" and the position of an earlier action, \"#0\" being the first"`
	Payload    payload       `json:"payload"`
}

// request returns the request in the words of the rules.
func (a Action) request(network motion.NetworkID) command.Request {
	return command.Request{
		NetworkID: network, NodeID: a.NodeID, ExecuteNow: a.ExecuteNow, TriggerID: a.TriggerID.Trigger, Payload: a.Payload,
	}
}

type createCommandIn struct {
	CreateBatch bool `query:"createBatch" default:"false" doc:"Put the command into a batch of its own, so that it can be monitored"`
	Body        newCommand
}

func (c *Core) createCommand(ctx context.Context, who auth.Key, in *createCommandIn) (*api.Answer[commandRecord], error) {
	if err := who.Open(in.Body.NetworkID); err != nil {
		return nil, err
	}
	made, err := c.engine.Commands.CreateCommand(ctx, in.Body.request(in.Body.NetworkID), in.CreateBatch)
	return api.Answered(commandOf(made), err)
}

type createBatchIn struct {
	Body struct {
		Name      string           `json:"name,omitempty" maxLength:"128" doc:"For people" example:"fw"`
		NetworkID motion.NetworkID `json:"network_id" minimum:"1" doc:"Core network id" example:"1042"`
		Actions   []batchAction    `json:"actions" nullable:"false" minItems:"1" maxItems:"1000" doc:"In their order"`
	}
}

// batchAction is an action of a batch.
type batchAction struct {
	NetworkID motion.NetworkID `json:"network_id,omitempty" minimum:"1" doc:"That of the batch, if given" example:"1042"`
	Action
}

// request returns the batch in the words of the rules.
func (in *createBatchIn) request() command.BatchRequest {
	batch := command.BatchRequest{Name: in.Body.Name, NetworkID: in.Body.NetworkID}
	for _, a := range in.Body.Actions {
		batch.Actions = append(batch.Actions, a.request(a.NetworkID))
	}
	return batch
}

func (c *Core) createBatch(ctx context.Context, who auth.Key, in *createBatchIn) (*api.Answer[batchRecord], error) {
	if err := who.Open(in.Body.NetworkID); err != nil {
		return nil, err
	}
	made, err := c.engine.Commands.CreateBatch(ctx, in.request())
	return api.Answered(batchOf(made), err)
}

type selectionIn struct {
	Body struct {
		ID      *command.ID      `json:"id,omitempty" minimum:"1" doc:"Command: either this or batch_id" example:"901"`
		BatchID *command.BatchID `json:"batch_id,omitempty" minimum:"1" doc:"Batch, for all its commands that it is possible for" example:"77"`
	}
}

// selectionOut is the command that was changed, or the batch with all its commands.
type selectionOut struct {
	Body api.Encoded[api.Either[commandRecord, batchRecord]]
}

func (c *Core) execute(ctx context.Context, who auth.Key, in *selectionIn) (*selectionOut, error) {
	return c.changeCommands(ctx, who, in, management.Execute)
}

func (c *Core) cancel(ctx context.Context, who auth.Key, in *selectionIn) (*selectionOut, error) {
	return c.changeCommands(ctx, who, in, management.Cancel)
}

// changeCommands changes the command, or those of the batch, that the request names.
func (c *Core) changeCommands(ctx context.Context, who auth.Key, in *selectionIn, change management.Change) (*selectionOut, error) {
	id, batchID := in.Body.ID, in.Body.BatchID
	if (id == nil) == (batchID == nil) {
		return nil, fault.At("body", nil, "must have either id or batch_id")
	}
	if id != nil {
		if err := c.opensCommand(ctx, who, *id); err != nil {
			return nil, err
		}
		changed, err := c.engine.Commands.ChangeCommand(ctx, *id, change)
		return selectionAnswer(commandOf(changed), err)
	}
	if _, err := c.opensBatch(ctx, who, *batchID); err != nil {
		return nil, err
	}
	changed, err := c.engine.Commands.ChangeBatch(ctx, *batchID, change)
	return selectionAnswer(batchOf(changed), err)
}

// selectionAnswer writes the record of what was changed.
func selectionAnswer(record any, err error) (*selectionOut, error) {
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(record)
	return &selectionOut{Body: raw}, err
}

// opensCommand returns NotFound unless there is such a command and the key opens
// its network.
func (c *Core) opensCommand(ctx context.Context, who auth.Key, id command.ID) error {
	found, err := store.Read(ctx, c.db, func(tx *store.Tx) (command.Command, error) { return tx.Command(id) })
	if err == nil && who.Open(found.NetworkID) != nil {
		err = fault.New(fault.NotFound, "command %d: not found", id)
	}
	return err
}

// opensBatch returns a batch, NotFound unless the key opens its network.
func (c *Core) opensBatch(ctx context.Context, who auth.Key, id command.BatchID) (command.Batch, error) {
	batch, err := store.Read(ctx, c.db, func(tx *store.Tx) (command.Batch, error) { return tx.Batch(id) })
	if err == nil && who.Open(batch.NetworkID) != nil {
		err = fault.New(fault.NotFound, "batch %d: not found", id)
	}
	return batch, err
}

type listCommandsIn struct {
	Network api.Opt[motion.NetworkID] `query:"network_id" minimum:"1" doc:"Core network id" example:"1042"`
	Node    api.Opt[motion.NodeID]    `query:"node_id" minimum:"1" doc:"Node id" example:"134"`
	Batch   api.Opt[command.BatchID]  `query:"batch_id" minimum:"1" doc:"Batch id" example:"77"`
	State   string                    `query:"state" doc:"State, three digits" example:"002"`
	Before  api.Opt[command.ID]       `query:"before" minimum:"1" doc:"Only commands with a smaller id, to page back: the id of the oldest one at hand" example:"1000000"`
	Last    int32                     `query:"last" minimum:"1" maximum:"1000" default:"100" doc:"At most so many" example:"100"`
}

func (c *Core) listCommands(ctx context.Context, who auth.Key, in *listCommandsIn) (*api.AnswerList[commandRecord], error) {
	q := store.CommandQuery{Network: in.Network.Or(who.Network), Node: in.Node.Value, Batch: in.Batch.Value, Before: in.Before.Value, Last: int(in.Last)}
	if in.State != "" {
		state, err := command.ParseState(in.State)
		if err != nil {
			return nil, fault.At("query.state", in.State, "want 000, 001, 002, 011 to 015, 100, 200 to 299 or 400 to 499")
		}
		q.State = state
	}
	if in.Network.Set {
		if err := who.Open(q.Network); err != nil {
			return nil, err
		}
		if err := c.engine.State.Known(q.Network); err != nil {
			return nil, err
		}
	}
	if in.Batch.Set {
		if _, err := c.opensBatch(ctx, who, q.Batch); err != nil {
			return nil, err
		}
	}
	q.Among = func(id motion.NetworkID) bool { return who.Open(id) == nil }
	out := &api.AnswerList[commandRecord]{Body: []commandRecord{}}
	err := c.db.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Commands(q)
		for _, one := range list {
			out.Body = append(out.Body, commandOf(one))
		}
		if err != nil || len(list) > 0 || !in.Node.Set {
			return err
		}
		return knownNode(tx, q)
	})
	return out, err
}

// knownNode returns NotFound unless the node of a query is in a network that it selects, or was there:
// the commands of a deleted node remain.
func knownNode(tx *store.Tx, q store.CommandQuery) error {
	node, err := tx.Node(q.Node)
	if err == nil && (q.Network == 0 || node.NetworkID == q.Network) && q.Among(node.NetworkID) {
		return nil
	}
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	past, err := tx.Commands(store.CommandQuery{Network: q.Network, Node: q.Node, Among: q.Among, Last: 1})
	if err == nil && len(past) == 0 {
		err = errNoNode()
	}
	return err
}

type monitorIn struct {
	Batch command.BatchID `query:"batch_id" required:"true" minimum:"1" doc:"Batch id" example:"77"`
}

func (c *Core) monitor(ctx context.Context, who auth.Key, in *monitorIn) (*live.Stream, error) {
	batch, err := c.opensBatch(ctx, who, in.Batch)
	if err != nil {
		return nil, err
	}
	snapshot, updates, err := c.engine.Commands.Monitor(ctx, in.Batch)
	if err != nil {
		return nil, err
	}
	return live.NewStream(live.NetworkKey(batch.NetworkID), updates, textFrame, snapshot), nil
}
