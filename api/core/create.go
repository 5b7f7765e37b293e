package core

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
)

type createIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Body    newEvent
}

// newEvent is an event that a caller makes up. The fields down to Tag are those of
// interfaces.md 4.1 no. 5; the others are chosen, so that every kind can say what it is
// about.
type newEvent struct {
	TS         float64          `json:"ts" minimum:"1" maximum:"281474976710" doc:"When it happened, seconds since the epoch; kept as given. At most five minutes ahead, and not older than events are kept" example:"1764000000.5"`
	NetworkID  motion.NetworkID `json:"network_id" doc:"That of the path" example:"1042"`
	Category   motion.Category  `json:"category" enum:"Link,Network,Motion,System,User,Device,Internal" doc:"User, Device and Internal become System, with detail.category. Motion goes with the kinds of motion alone, Link with those of links" example:"Motion"`
	Event      createdKind      `json:"event" doc:"Event kind" example:"MotionDetectedEvent"`
	GuardianID string           `json:"guardian_id,omitempty" maxLength:"64" doc:"That of the network, or the deviceId of its master" example:"a41f00c2d97b4e5580136c2e"`
	DeviceID   string           `json:"deviceId,omitempty" maxLength:"64" doc:"Device that it is about; a known node adds node_id and node_name" example:"csi-a-02aa00000110"`
	Tag        string           `json:"tag,omitempty" doc:"Ignored: tags are applied after creation"`

	DetectedTS float64         `json:"evt_detected_ts,omitempty" minimum:"0" maximum:"281474976710" doc:"Of a MotionStoppedEvent: ts of its MotionDetectedEvent, seconds since the epoch" example:"1764000000.5"`
	LinkID     string          `json:"link_id,omitempty" maxLength:"129" pattern:"^[^.]+[.][^.]+$" doc:"dst_name.src_name" example:"GWA1000133.02bb00000031"`
	LocName    string          `json:"loc_name,omitempty" maxLength:"256" doc:"Where it was" example:"Kitchen"`
	Detail     motion.Document `json:"detail,omitempty" doc:"Key and value pairs"`
	Data       motion.Document `json:"data,omitempty" doc:"Of member events: id, sub, first_name, last_name, user"`
}

// createdKind is the name of an event kind that events/create accepts.
type createdKind string

// Schema lists them.
func (createdKind) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, k := range motion.EventKinds() {
		if k.Callers {
			s.Enum = append(s.Enum, k.Name)
		}
	}
	s.PrecomputeMessages()
	return s
}

func (c *Core) createEvent(ctx context.Context, _ auth.Key, in *createIn) (*api.Answer[motion.Event], error) {
	if err := c.engine.State.Known(in.Network); err != nil {
		return nil, err
	}
	b := in.Body
	if b.NetworkID != in.Network {
		return nil, fault.At("body.network_id", b.NetworkID, "must be the network of the path")
	}
	return api.Answered(c.engine.Events.CreateEvent(ctx, motion.Event{
		Category: b.Category, Event: string(b.Event), NetworkID: b.NetworkID, GuardianID: b.GuardianID, TS: motion.Time(b.TS),
		DetectedTS: motion.Time(b.DetectedTS), LinkID: b.LinkID, LocName: b.LocName, Detail: b.Detail, Data: b.Data, DeviceID: b.DeviceID,
	}))
}
