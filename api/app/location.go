package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/home"
	"sensegate/store"
)

func (a *App) defaultLocations(ctx context.Context, m auth.Member, _ *NetworkQuery) (*list[home.Location], error) {
	own, err := store.Read(ctx, a.DB, func(tx *store.Tx) ([]home.Location, error) { return tx.Locations(m.Home) })
	return listed(append(home.BuiltInLocations(), own...), err)
}

type newLocationIn struct {
	NetworkQuery
	Body struct {
		BodyNetwork
		Name string `json:"name" minLength:"1" maxLength:"256" doc:"Unlike that of any other, in any case" example:"Workshop"`
	}
}

func (a *App) addDefaultLocation(ctx context.Context, m auth.Member, in *newLocationIn) (*api.Answer[home.Location], error) {
	return api.Answered(a.Household.AddLocation(ctx, m.Home, in.Body.Name))
}

// LocationPath names a location.
type LocationPath struct {
	ID home.LocationID `path:"id" doc:"Of a location that the household has added" example:"41"`
}

type renameLocationIn struct {
	LocationPath
	Body struct {
		BodyNetwork
		Name string `json:"name" minLength:"1" maxLength:"256" doc:"Unlike that of any other, in any case" example:"Workshop"`
	}
}

func (a *App) renameDefaultLocation(ctx context.Context, _ auth.Member, in *renameLocationIn) (*api.Answer[home.Location], error) {
	return api.Answered(a.Household.RenameLocation(ctx, in.ID, in.Body.Name))
}

func (a *App) removeDefaultLocation(ctx context.Context, _ auth.Member, in *LocationPath) (*struct{}, error) {
	return nil, a.Household.RemoveLocation(ctx, in.ID)
}
