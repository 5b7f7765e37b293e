package household

import (
	"context"

	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Strangers names the users of an alert's actions who do not belong to a home.
func (h *Household) Strangers(ctx context.Context, id home.ID, edit alert.Edit) (mistakes fault.Details, err error) {
	memberships, err := store.Read(ctx, h.db, func(tx *store.Tx) ([]home.Membership, error) { return tx.MembershipsOfHome(id) })
	members := map[int64]bool{}
	for _, m := range memberships {
		members[int64(m.User)] = true
	}
	for place, user := range edit.Users() {
		if user >= 1 && !members[user] {
			mistakes.Add(place, user, "is no member of the network: name members, or leave user_ids out to push to all of them")
		}
	}
	return mistakes, err
}
