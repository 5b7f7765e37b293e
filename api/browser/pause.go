package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/home"
)

// HomeField names the home of a request in its body.
type HomeField struct {
	Network home.ID `json:"network_id,omitempty" minimum:"1" doc:"App Cloud network id; without it the first of the caller's is meant" example:"17"`
}

type pauseIn struct {
	Body struct {
		HomeField
		Paused  bool  `json:"paused" doc:"false ends the pause"`
		Minutes int32 `json:"minutes,omitempty" minimum:"15" maximum:"720" doc:"After so many the pause ends by itself; without them it lasts until somebody ends it" example:"60"`
	}
}

func (b *Browser) pause(ctx context.Context, who auth.Member, in *pauseIn) (*struct{}, error) {
	if !in.Body.Paused {
		return nil, b.Engine.Inventory.Resume(ctx, who.Network)
	}
	return nil, b.Engine.Inventory.Pause(ctx, who.Network, motion.Seconds(in.Body.Minutes*minute))
}

type awayIn struct {
	Body struct{ HomeField }
}

type awayOut struct {
	Body struct {
		At motion.Time `json:"at" doc:"When the home changes to away" example:"1764000030"`
	}
}

func (b *Browser) leave(ctx context.Context, who auth.Member, _ *awayIn) (*awayOut, error) {
	out := &awayOut{}
	var err error
	out.Body.At, err = b.Household.LeaveSoon(ctx, who.Home, who.ID)
	return out, err
}

func (b *Browser) stay(ctx context.Context, who auth.Member, _ *HomeQuery) (*struct{}, error) {
	return nil, b.Household.Stay(ctx, who.Home)
}

type renameRoomIn struct {
	Room string `path:"name" maxLength:"256" doc:"Location of its devices" example:"Kitchen"`
	Body struct {
		HomeField
		Name string `json:"name" minLength:"1" maxLength:"256" doc:"New; letters of any script, digits, spaces and = + - _ @ !" example:"Dining kitchen"`
	}
}

func (b *Browser) renameRoom(ctx context.Context, who auth.Member, in *renameRoomIn) (*struct{}, error) {
	return nil, b.Household.RenameRoom(ctx, who.Home, in.Room, in.Body.Name)
}

type orderRoomsIn struct {
	Body struct {
		HomeField
		Rooms []string `json:"rooms" nullable:"false" maxItems:"256" doc:"Names, each once, in the order in which they are shown; others follow by name" example:"[\"Kitchen\",\"Hallway\"]"`
	}
}

func (b *Browser) orderRooms(ctx context.Context, who auth.Owner, in *orderRoomsIn) (*struct{}, error) {
	return nil, b.Household.OrderRooms(ctx, who.Home, in.Body.Rooms)
}
