package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// motionConfig is a view of the sounding settings (payloads.md 5.3).
type motionConfig struct {
	Network   home.ID      `json:"network_id" example:"17"`
	Sens      int32        `json:"sens" minimum:"1" maximum:"4" doc:"Sensitivity: 1 high, 2 medium, 3 low, 4 very low"`
	Level     string       `json:"sensitivity_level" enum:"high,medium,low,very_low" doc:"The same in words"`
	Cooldown  int32        `json:"cooldown" minimum:"0" maximum:"86400" doc:"Seconds without motion until it has stopped" example:"120"`
	PetMode   bool         `json:"pet_mode" doc:"Whether pets are not motion"`
	Paused    bool         `json:"motion_paused" doc:"Whether no motion is sensed"`
	UpdatedAt motion.Stamp `json:"updated_at" example:"2025-11-24T15:00:00.000Z"`
}

func (a *App) motionConfig(ctx context.Context, who auth.Member, _ *NetworkQuery) (*api.Answer[motionConfig], error) {
	record, err := store.Read(ctx, a.DB, func(tx *store.Tx) (motion.Network, error) { return tx.Network(who.Network) })
	if err != nil {
		return nil, err
	}
	s, err := setting.SoundingOf(record)
	return api.Answered(motionConfig{
		Network: who.Home, Sens: s.Sensitivity, Level: setting.Level(int(s.Sensitivity)), Cooldown: s.Cooldown,
		PetMode: s.PetMode == 1, Paused: s.MotionPaused == 1, UpdatedAt: record.UpdatedAt.Stamp(),
	}, err)
}

type changeMotionConfigIn struct {
	NetworkQuery
	Body struct {
		NetworkField
		Sens      *int32  `json:"sens,omitempty" minimum:"1" maximum:"4"`
		Level     *string `json:"sensitivity_level,omitempty" enum:"high,medium,low,very_low" doc:"Instead of sens, or the same"`
		Cooldown  *int32  `json:"cooldown,omitempty" minimum:"0" maximum:"86400" doc:"s"`
		PetMode   *bool   `json:"pet_mode,omitempty" doc:"true needs sensitivity high and no device with one of its own"`
		Paused    *bool   `json:"motion_paused,omitempty" doc:"While it is true nothing else can be changed"`
		UpdatedAt any     `json:"updated_at,omitempty" doc:"Not used: apps may send the whole record back"`
	}
}

func (a *App) putMotionConfig(ctx context.Context, who auth.Member, in *changeMotionConfigIn) (*api.Answer[motionConfig], error) {
	body := in.Body
	change := setting.SoundingChange{Sensitivity: body.Sens, Cooldown: body.Cooldown, PetMode: toggle(body.PetMode), MotionPaused: toggle(body.Paused)}
	if body.Level != nil {
		sens := int32(setting.Sens(*body.Level))
		if body.Sens != nil && *body.Sens != sens {
			return nil, fault.At("body.sensitivity_level", *body.Level, "is not the level of sens")
		}
		change.Sensitivity = &sens
	}
	if err := a.Engine.Inventory.EditSounding(ctx, who.Network, true, change, nil); err != nil {
		return nil, err
	}
	return a.motionConfig(ctx, who, nil)
}

// toggle returns a switch as sounding settings have them.
func toggle(on *bool) *int32 {
	if on == nil {
		return nil
	}
	value := int32(0)
	if *on {
		value = 1
	}
	return &value
}
