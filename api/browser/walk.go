package browser

import (
	"context"
	"slices"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/motion/walk"
)

// WalkTest is a walk test.
type WalkTest struct {
	ID      string       `json:"id" doc:"Empty: there was none since the appliance started" example:"hyxh0q9a1s"`
	Running bool         `json:"running"`
	Started *motion.Time `json:"started_at" nullable:"true" example:"1764000000.5"`
	Ends    *motion.Time `json:"ends_at" nullable:"true" doc:"When it ends by itself, or has ended" example:"1764000600.5"`
	Room    string       `json:"room" doc:"The one that is walked, or that waits for it. Empty: none" example:"Kitchen"`
	Moving  []string     `json:"moving" nullable:"false" doc:"Rooms that have to become still before the walk begins: everybody waits" example:"[\"Hallway\"]"`
	Rooms   []WalkRoom   `json:"rooms" nullable:"false" doc:"Those that were walked, then the others of the home, waiting"`
}

// WalkRoom is what a walk test has found of a room.
type WalkRoom struct {
	Room      string          `json:"room" example:"Kitchen"`
	State     string          `json:"state" enum:"waiting,walking,seen,unseen" doc:"waiting: not walked yet, or until the home is still"`
	After     *motion.Seconds `json:"after" nullable:"true" doc:"Of one that is seen: seconds since the walk began" example:"1.25"`
	Why       string          `json:"why" enum:"no_links,blind,elsewhere,below," doc:"Of one that is unseen. no_links: no device of the room is heard; blind: none of its links senses; elsewhere: another room has moved instead; below: nothing has moved enough"`
	Elsewhere string          `json:"elsewhere" doc:"Of one that is unseen: the room that moved most. Empty: none" example:""`
	Links     []WalkLink      `json:"links" nullable:"false" doc:"Those that serve the room"`
}

// WalkLink is what a link has measured of a walk.
type WalkLink struct {
	ID        string    `json:"id" doc:"dst_name.src_name" example:"GWA1000133.02bb00000031"`
	From      DeviceRef `json:"from"`
	To        DeviceRef `json:"to"`
	Peak      float64   `json:"peak" doc:"The most since the walk began, in the scale below" example:"64.5"`
	Threshold float64   `json:"threshold" doc:"From where on it starts motion; it does so below too when coherence and power rise together" example:"30"`
	Scale     string    `json:"scale" enum:"coherence,power" doc:"coherence: percent; power: e-folds above the quiet"`
	Crossed   bool      `json:"crossed" doc:"It has started motion during the walk"`
}

type walkOut struct{ Body WalkTest }

func (b *Browser) walkTest(ctx context.Context, who auth.Installer, _ *SetupQuery) (*walkOut, error) {
	state, err := b.Household.Walk(ctx, who.Network, viewer(who))
	if fault.KindOf(err) == fault.NotFound {
		state, err = sensing.WalkState{}, nil
	}
	return b.walked(who, state, err)
}

// walked answers with a walk test.
func (b *Browser) walked(who auth.Installer, s sensing.WalkState, err error) (*walkOut, error) {
	if err != nil {
		return nil, err
	}
	known, err := b.devices(who.Network)
	if err != nil {
		return nil, err
	}
	test := walkView(s)
	for _, room := range known.rooms() {
		if !slices.ContainsFunc(test.Rooms, func(r WalkRoom) bool { return r.Room == room }) {
			test.Rooms = append(test.Rooms, WalkRoom{Room: room, State: walk.Waiting, Links: []WalkLink{}})
		}
	}
	return &walkOut{test}, nil
}

func walkView(s sensing.WalkState) WalkTest {
	test := WalkTest{
		ID: s.ID, Running: s.Running, Started: knownTime(s.Started), Ends: knownTime(s.Ends), Room: s.Room,
		Moving: append([]string{}, s.Moving...), Rooms: []WalkRoom{},
	}
	for _, r := range s.Rooms {
		room := WalkRoom{Room: r.Name, State: r.State, After: r.After, Why: r.Why, Elsewhere: r.Elsewhere, Links: []WalkLink{}}
		for _, l := range r.Links {
			ends := s.Links[l.Link]
			room.Links = append(room.Links, WalkLink{
				ID: ends.Name, From: deviceRef(ends.From), To: deviceRef(ends.To), Peak: motion.Round(l.Peak, 2), Threshold: motion.Round(l.Threshold, 2),
				Scale: sensing.Level{ByPower: l.ByPower}.Scale(), Crossed: l.Crossed,
			})
		}
		test.Rooms = append(test.Rooms, room)
	}
	return test
}

type walkIn struct {
	Body struct {
		SetupField
		Room string `json:"room" minLength:"1" maxLength:"256" doc:"In which somebody walks" example:"Kitchen"`
	}
}

func (b *Browser) startWalk(ctx context.Context, who auth.Installer, in *walkIn) (*walkOut, error) {
	state, err := b.Household.StartWalk(ctx, who.Home, who.Network, viewer(who), in.Body.Room)
	return b.walked(who, state, err)
}

func (b *Browser) nextWalk(ctx context.Context, who auth.Installer, in *walkIn) (*walkOut, error) {
	state, err := b.Household.NextWalk(ctx, who.Network, viewer(who), in.Body.Room)
	return b.walked(who, state, err)
}

func (b *Browser) endWalk(ctx context.Context, who auth.Installer, _ *SetupQuery) (*walkOut, error) {
	state, err := b.Household.EndWalk(ctx, who.Network, viewer(who))
	return b.walked(who, state, err)
}
