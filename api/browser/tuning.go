package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/household"
	"sensegate/motion/setting"
	"sensegate/store"
)

// tuningOut is what an installer may tune, as App Cloud shows it to members.
type tuningOut struct {
	Body struct {
		Level    string `json:"sensitivity_level" enum:"high,medium,low,very_low"`
		Cooldown int32  `json:"cooldown" doc:"Seconds without motion until it has stopped" example:"120"`
		PetMode  bool   `json:"pet_mode" doc:"Whether pets are not motion"`
		Paused   bool   `json:"motion_paused" doc:"Whether no motion is sensed: nothing can be changed then"`
	}
}

func (b *Browser) tuning(ctx context.Context, who auth.Installer, _ *SetupQuery) (*tuningOut, error) {
	record, err := store.Read(ctx, b.DB, func(tx *store.Tx) (motion.Network, error) { return tx.Network(who.Network) })
	if err != nil {
		return nil, err
	}
	s, err := setting.SoundingOf(record)
	out := &tuningOut{}
	out.Body.Level, out.Body.Cooldown = setting.Level(int(s.Sensitivity)), s.Cooldown
	out.Body.PetMode, out.Body.Paused = s.PetMode == 1, s.MotionPaused == 1
	return out, err
}

type tuneIn struct {
	Body struct {
		SetupField
		Level    *string `json:"sensitivity_level,omitempty" enum:"high,medium,low,very_low" doc:"Left out: as it is"`
		Cooldown *int32  `json:"cooldown,omitempty" minimum:"0" maximum:"86400" doc:"s; left out: as it is" example:"120"`
		PetMode  *bool   `json:"pet_mode,omitempty" doc:"true needs sensitivity high and no device with one of its own; left out: as it is"`
	}
}

func (b *Browser) tune(ctx context.Context, who auth.Installer, in *tuneIn) (*tuningOut, error) {
	change := setting.SoundingChange{Cooldown: in.Body.Cooldown}
	if in.Body.Level != nil {
		sens := int32(setting.Sens(*in.Body.Level))
		change.Sensitivity = &sens
	}
	if in.Body.PetMode != nil {
		pets := int32(0)
		if *in.Body.PetMode {
			pets = 1
		}
		change.PetMode = &pets
	}
	before, err := b.tuning(ctx, who, nil)
	if err != nil {
		return nil, err
	}
	if err := b.Engine.Inventory.EditSounding(ctx, who.Network, true, change, nil); err != nil {
		return nil, err
	}
	after, err := b.tuning(ctx, who, nil)
	if err != nil || after.Body == before.Body {
		return after, err
	}
	// It is changed: that the caller hangs up does not keep it from the household.
	tuned := household.Tuned{Level: after.Body.Level, Cooldown: after.Body.Cooldown, PetMode: after.Body.PetMode}
	return after, b.Household.TellTuned(context.WithoutCancel(ctx), who.Home, viewer(who), tuned)
}
