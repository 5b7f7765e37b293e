package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// metaAreas are the two areas of meta storage (interfaces.md 4.2 no. 9).
type metaAreas struct {
	Network motion.Document `json:"network" nullable:"false" doc:"Shared: read by members, written by the owner"`
	User    motion.Document `json:"user" nullable:"false" doc:"The caller's own: that of /user/meta"`
}

func (a *App) meta(ctx context.Context, m auth.Member, _ *NetworkQuery) (*api.Answer[metaAreas], error) {
	return api.Answered(store.Read(ctx, a.DB, func(tx *store.Tx) (metaAreas, error) { return readAreas(tx, m) }))
}

func readAreas(tx *store.Tx, m auth.Member) (areas metaAreas, err error) {
	if areas.Network, err = tx.HomeMeta(m.Home); err != nil {
		return areas, err
	}
	areas.User, err = tx.UserMeta(m.ID)
	return areas, err
}

type patchMetaIn struct {
	NetworkQuery
	Body struct {
		BodyNetwork
		Network motion.Document `json:"network,omitempty" doc:"Merged into the area key by key; null deletes a key. Owner only"`
		User    motion.Document `json:"user,omitempty" doc:"Merged into the caller's own area likewise"`
	}
}

func (a *App) patchMeta(ctx context.Context, m auth.Member, in *patchMetaIn) (*api.Answer[metaAreas], error) {
	if in.Body.Network != nil && m.Role != home.OwnerRole {
		return nil, fault.New(fault.Forbidden, "network: only the owner of the network writes this area")
	}
	var out api.Answer[metaAreas]
	err := a.DB.Update(ctx, func(tx *store.Tx) error {
		areas, err := readAreas(tx, m)
		if err != nil {
			return err
		}
		if areas.Network, err = home.MergeMeta("network", areas.Network, in.Body.Network); err != nil {
			return err
		}
		if areas.User, err = home.MergeMeta("user", areas.User, in.Body.User); err != nil {
			return err
		}
		if err := tx.PutHomeMeta(m.Home, areas.Network); err != nil {
			return err
		}
		out.Body = areas
		return tx.PutUserMeta(m.ID, areas.User)
	})
	return &out, err
}

func (a *App) deleteMeta(ctx context.Context, o auth.Owner, _ *NetworkQuery) (*struct{}, error) {
	return nil, a.DB.Update(ctx, func(tx *store.Tx) error { return tx.PutHomeMeta(o.Home, nil) })
}

func (a *App) userMeta(ctx context.Context, u auth.User, _ *struct{}) (*api.Answer[motion.Document], error) {
	return api.Answered(store.Read(ctx, a.DB, func(tx *store.Tx) (motion.Document, error) { return tx.UserMeta(u.ID) }))
}

type patchUserMetaIn struct {
	Overwrite api.Opt[bool] `query:"overwrite" doc:"true: the body replaces what is kept; default: it is merged into it"`
	Body      motion.Document
}

func (a *App) patchUserMeta(ctx context.Context, u auth.User, in *patchUserMetaIn) (*api.Answer[motion.Document], error) {
	var out api.Answer[motion.Document]
	err := a.DB.Update(ctx, func(tx *store.Tx) error {
		before := motion.Document{}
		var err error
		if !in.Overwrite.Value {
			if before, err = tx.UserMeta(u.ID); err != nil {
				return err
			}
		}
		if out.Body, err = home.MergeMeta("body", before, in.Body); err != nil {
			return err
		}
		return tx.PutUserMeta(u.ID, out.Body)
	})
	return &out, err
}

func (a *App) deleteUserMeta(ctx context.Context, u auth.User, _ *struct{}) (*struct{}, error) {
	return nil, a.DB.Update(ctx, func(tx *store.Tx) error { return tx.PutUserMeta(u.ID, nil) })
}
