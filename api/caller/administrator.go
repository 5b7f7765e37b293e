package caller

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/store"
)

// From where an administrator may look after the appliance.
const (
	AdminPrivate = "private" // private addresses, without a proxy
	AdminAny     = "any"     // anywhere
	AdminOff     = "off"     // nowhere: the commands on the appliance are what is left
)

// Administrator is the caller of the rows for administrators.
func (f *Finder) Administrator(scheme, note string) api.Principal {
	return api.Authorize(scheme, note, f.user, f.administrator)
}

// administrator returns a user who looks after the appliance: Forbidden, code not_administrator, when
// they do not; code admin_address, when they may not do so from where they are.
func (f *Finder) administrator(ctx context.Context, _ *api.Request, u auth.User) (auth.Administrator, error) {
	a := auth.Administrator{User: u}
	err := f.DB.View(ctx, func(tx *store.Tx) error {
		is, err := tx.IsAdministrator(u.ID)
		if err != nil || !is {
			return err
		}
		person, err := tx.User(u.ID)
		a.Actor = store.Actor{Kind: store.ByAccount, UserID: u.ID, Name: person.Email, From: u.Address}
		return err
	})
	switch {
	case err != nil:
		return a, err
	case a.Actor.UserID == 0:
		return a, &fault.Error{Kind: fault.Forbidden, Code: "not_administrator",
			Message: "administrator: is needed; sensegate user admin ADDRESS makes an account administrator"}
	case !MayAdminister(f.Admin, u):
		return a, &fault.Error{Kind: fault.Forbidden, Code: "admin_address",
			Message: "administrator: only from a private address in the house, and not through a proxy; web.admin in the configuration changes that"}
	}
	return a, nil
}

// MayAdminister reports whether a user may look after the appliance from where they are; from is such
// as AdminPrivate.
func MayAdminister(from string, u auth.User) bool {
	return from == AdminAny || from == AdminPrivate && u.Inside
}
