package browser

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/sensing"
)

type whatIfIn struct {
	HomeQuery
	Sens             api.Opt[int32]   `query:"sensitivity" minimum:"1" maximum:"4" doc:"1 High, 2 Medium, 3 Low, 4 Very Low" example:"2"`
	Cooldown         api.Opt[int32]   `query:"cooldown" minimum:"0" maximum:"86400" doc:"Seconds without motion until it has stopped" example:"60"`
	DensityWindow    api.Opt[int32]   `query:"density_window" minimum:"2" maximum:"600" doc:"Samples of 500 ms that a detection looks at" example:"10"`
	DensityThreshold api.Opt[float64] `query:"density_threshold" minimum:"0.01" maximum:"1" doc:"Share of the window that has to be in motion" example:"0.4"`
}

type whatIfOut struct {
	Body struct {
		From motion.Time `json:"from" doc:"24 hours ago, or when the home was claimed; with another sensitivity when the box has started, if that is later" example:"1763913600"`
		To   motion.Time `json:"to" example:"1764000000"`
		Now  *int        `json:"now" nullable:"true" doc:"Moments with the settings in force; null: not known" example:"9"`
		Then *int        `json:"then" nullable:"true" doc:"Moments with those of the query; null: not known" example:"14"`
		Why  string      `json:"why" enum:"no_data,guardian_decides,sensitivity,restarted," doc:"Why one is not known. no_data: nothing was sensed; guardian_decides: a guardian raises the events; sensitivity: another one cannot be tried, for a device cuts off weak motion by a threshold of its own; restarted: another one cannot be tried, for nothing was sensed since the box has started"`
	}
}

func (b *Browser) whatIf(ctx context.Context, who auth.Owner, in *whatIfIn) (*whatIfOut, error) {
	other := sensing.Settings{Sens: whole32(in.Sens), Cooldown: whole32(in.Cooldown), DensityWindow: whole32(in.DensityWindow)}
	if in.DensityThreshold.Set {
		other.DensityThreshold = &in.DensityThreshold.Value
	}
	r, err := b.Engine.Sensing.WhatIf(ctx, who.Network, who.Since, other)
	out := &whatIfOut{}
	out.Body.From, out.Body.To, out.Body.Now, out.Body.Then, out.Body.Why = r.From, r.To, r.Now, r.Then, r.Why
	return out, err
}

// whole32 returns a number of the query, nil when it is absent.
func whole32(v api.Opt[int32]) *int {
	if !v.Set {
		return nil
	}
	n := int(v.Value)
	return &n
}
