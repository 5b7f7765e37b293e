package core

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api"
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine/management"
)

// commandRecord is a management command (payloads.md 4.13).
type commandRecord struct {
	ID         command.ID                  `json:"id" doc:"Command id" example:"901"`
	BatchID    *command.BatchID            `json:"batch_id" doc:"null: in no batch" example:"77"`
	NetworkID  motion.NetworkID            `json:"network_id" doc:"Core network id" example:"1042"`
	NodeID     motion.NodeID               `json:"node_id" doc:"Node that is to do it" example:"134"`
	TriggerID  *command.ID                 `json:"trigger_id" doc:"Command that it waits for, or waited for; null: none"`
	ExecuteNow bool                        `json:"executeNow" example:"true"`
	Payload    payload                     `json:"payload"`
	State      command.State               `json:"state" pattern:"^([24][0-9][0-9]|00[012]|01[1-5]|100)$" doc:"000 pending, 001 waiting for its trigger, 002 waiting for the node to be online, 011 to 015 sent so many times, 100 accepted and running, 2xx done, 4xx failed: 400 on the device, 404 unknown there, 408 no answer, 409 cancelled. 2xx and 4xx never change" example:"011"`
	StateText  string                      `json:"state_text" doc:"The state in words" example:"sent 1 time"`
	Attempts   int32                       `json:"attempts" minimum:"0" maximum:"5" doc:"How often it was sent" example:"1"`
	Result     api.OrNull[motion.Document] `json:"result" doc:"What the device answered, at most 16 KiB; null: nothing yet"`
	CreatedAt  motion.Time                 `json:"created_at" doc:"Seconds since the epoch" example:"1764000000.0"`
	UpdatedAt  motion.Time                 `json:"updated_at" doc:"When the state last changed, seconds since the epoch" example:"1764000001.0"`
}

// commandOf returns the record of a command.
func commandOf(c command.Command) commandRecord {
	r := commandRecord{
		ID: c.ID, BatchID: c.BatchID, NetworkID: c.NetworkID, NodeID: c.NodeID, TriggerID: c.TriggerID, ExecuteNow: c.ExecuteNow,
		Payload: c.Payload, State: c.State, StateText: c.StateText, Attempts: int32(c.Attempts), CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
	if c.Result != nil {
		r.Result = api.OrNull[motion.Document]{Value: &c.Result}
	}
	return r
}

// batchRecord is a batch with its commands.
type batchRecord struct {
	BatchID command.BatchID `json:"batch_id" doc:"Batch id" example:"77"`
	Actions []commandRecord `json:"actions" nullable:"false" doc:"Its commands, in the order of its actions"`
}

// batchOf returns the record of a batch.
func batchOf(b management.BatchActions) batchRecord {
	r := batchRecord{BatchID: b.BatchID, Actions: []commandRecord{}}
	for _, c := range b.Actions {
		r.Actions = append(r.Actions, commandOf(c))
	}
	return r
}

// trigger is the trigger_id of a request.
type trigger struct{ command.Trigger }

// Schema describes its forms.
func (trigger) Schema(huma.Registry) *huma.Schema {
	least := 1.0
	return &huma.Schema{
		AnyOf: []*huma.Schema{
			{Type: huma.TypeInteger, Minimum: &least, Description: "Id of a command"},
			{Type: huma.TypeString, Pattern: "^#?[0-9]*$", Nullable: true, Description: `Id of a command, or "#" and a position; null or "": none`},
		},
		Examples: []any{"#0"},
	}
}

// UnmarshalJSON takes in null, a number or a text. What else it may be is kept
// for the check to refuse, so that it stands beside the other mistakes.
func (t *trigger) UnmarshalJSON(data []byte) error {
	var text *string // nil: null
	if json.Unmarshal(data, &text) != nil {
		t.Trigger = command.Trigger(data)
		return nil
	}
	t.Trigger = ""
	if text != nil {
		t.Trigger = command.Trigger(*text)
	}
	return nil
}

// payload is what to do, with its arguments.
type payload map[string]string

// Schema describes the payload.
func (payload) Schema(huma.Registry) *huma.Schema {
	least, name, value, entries := 1, command.MaxKey, command.MaxValue, command.MaxEntries
	return &huma.Schema{
		Type: huma.TypeObject, Description: "The name of a command (every agent knows reboot, status, config, log and ping), and its arguments: texts",
		Properties: map[string]*huma.Schema{
			"command": {Type: huma.TypeString, MinLength: &least, MaxLength: &name, Description: "What to do"},
		},
		Required: []string{"command"}, MaxProperties: &entries,
		AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &value},
		Examples:             []any{map[string]any{"command": "reboot"}},
	}
}
