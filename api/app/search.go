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

type searchIn struct {
	Body struct {
		BSSID string `json:"bssid" minLength:"11" maxLength:"17" doc:"2.4 GHz or 5 GHz access point, mesh or p2p BSSID of one of its nodes" example:"02:aa:00:00:01:13"`
	}
}

type findIn struct {
	Body struct {
		GuardianID string `json:"guardian_id" minLength:"1" maxLength:"64" doc:"Of its guardian, or the deviceId of the node that the guardian runs on" example:"a41f00c2d97b4e5580136c2e"`
	}
}

// foundNetwork is what anyone with an account may know of a network whose identifier
// they know (payloads.md 5.2).
type foundNetwork struct {
	ID         home.ID          `json:"id" doc:"App Cloud network id" example:"17"`
	ExternalID motion.NetworkID `json:"external_id" doc:"Core network id" example:"1042"`
	Name       *string          `json:"name" nullable:"true" doc:"null: it has none, or the caller is no member"`
	Claimed    bool             `json:"claimed" doc:"Whether it has an owner"`
	UserCount  int              `json:"user_count" minimum:"0" doc:"Members; 0 for a caller who is none"`
	Created    bool             `json:"created" doc:"Whether this call has made the record of a network that Core knew already"`
}

func (a *App) searchNetwork(ctx context.Context, u auth.User, in *searchIn) (*api.Answer[foundNetwork], error) {
	mac, err := motion.ParseMAC(in.Body.BSSID)
	if err != nil {
		return nil, fault.At("body.bssid", in.Body.BSSID, "want an address such as 02:aa:00:00:01:13")
	}
	one, created, err := a.Household.ByBSSID(ctx, mac)
	if err != nil {
		return nil, err
	}
	return a.found(ctx, u, one, created)
}

func (a *App) findNetwork(ctx context.Context, u auth.User, in *findIn) (*api.Answer[foundNetwork], error) {
	one, created, err := a.Household.ByGuardian(ctx, in.Body.GuardianID)
	if err != nil {
		return nil, err
	}
	return a.found(ctx, u, one, created)
}

// found shows a home to a user: the household's own figures to its members only.
func (a *App) found(ctx context.Context, u auth.User, one home.Home, created bool) (*api.Answer[foundNetwork], error) {
	out := &api.Answer[foundNetwork]{Body: foundNetwork{ID: one.ID, ExternalID: one.ExternalID, Claimed: one.Claimed(), Created: created}}
	err := a.DB.View(ctx, func(tx *store.Tx) error {
		_, belongs, err := tx.MembershipOf(one.ID, u.ID)
		if err != nil || !belongs {
			return err
		}
		members, err := tx.MembershipsOfHome(one.ID)
		out.Body.Name, out.Body.UserCount = orNull(one.Name), len(members)
		return err
	})
	return out, err
}
