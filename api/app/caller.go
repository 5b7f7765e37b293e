package app

import (
	"sensegate/api/caller"
	"sensegate/motion/home"
	"sensegate/store"
)

// callers tells who calls.
func (a *App) callers() *caller.Finder {
	return &caller.Finder{
		DB: a.DB, Sessions: a.Sessions, Household: a.Household,
		ByPath: byPath, Memberships: membershipsRoute, Motion: []string{"/api/v1/motions"},
	}
}

// membershipsRoute begins the routes about memberships.
const membershipsRoute = "/api/v1/network_memberships"

// byPath finds the home of a record that a path names by its id.
var byPath = map[string]func(*store.Tx, uint32) (home.ID, error){
	"/api/v1/networks/{id}": func(_ *store.Tx, id uint32) (home.ID, error) { return home.ID(id), nil },
	membershipsRoute + "/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		m, err := tx.Membership(home.MembershipID(id))
		return m.Home, err
	},
	"/api/v1/invitations/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		i, err := tx.Invitation(home.InvitationID(id))
		return i.Home, err
	},
	"/api/v1/default_locations/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		l, err := tx.Location(home.LocationID(id))
		if err != nil {
			return 0, err
		}
		return *l.Home, nil
	},
	"/api/v1/network_scene_configs/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		c, err := tx.SceneConfig(home.SceneConfigID(id))
		return c.HomeID, err
	},
}
