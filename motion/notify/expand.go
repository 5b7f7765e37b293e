package notify

import (
	"context"
	"fmt"

	"sensegate/motion/home"
	"sensegate/store"
)

// expand turns queued pushes into deliveries.
func (p *Pusher) expand(ctx context.Context) error {
	waits := false
	err := p.db.View(ctx, func(tx *store.Tx) (err error) {
		_, waits, err = tx.OldestPush()
		p.queued.Store(int64(tx.DeliveryCount()))
		return err
	})
	if err != nil || !waits {
		return err
	}
	return p.db.Update(ctx, func(tx *store.Tx) error {
		for count := tx.DeliveryCount(); count < mostWaiting; {
			push, ok, err := tx.OldestPush()
			if err != nil || !ok {
				return err
			}
			if err := tx.DeletePush(push); err != nil {
				return err
			}
			added, err := p.expandOne(tx, push)
			if err != nil {
				return err
			}
			count += added
		}
		return nil
	})
}

// expandOne creates the deliveries of a push: to each mobile device of its receivers, and to the
// webhook.
func (p *Pusher) expandOne(tx *store.Tx, push store.Push) (added int, err error) {
	if tx.Now().Since(push.CreatedAt) > pushKept.Seconds() {
		tx.OnCommit(func() { p.counts.expired.Add(1) })
		return 0, nil
	}
	members, err := receivers(tx, push)
	if err != nil || len(members) == 0 {
		return 0, err
	}
	deliveries, err := p.toMobiles(tx, members)
	if err != nil {
		return 0, err
	}
	if p.hook != nil && !p.gone.Load() {
		deliveries = append(deliveries, store.Delivery{UserIDs: members})
	}
	for i, d := range deliveries {
		d.NetworkID, d.Payload = push.NetworkID, push.Payload
		d.Message = fmt.Sprintf("push_%d_%d_%d", tx.Now().Second(), push.ID, i)
		d.CreatedAt, d.DueAt = push.CreatedAt.Stamp(), tx.Now().Stamp()
		if err := tx.AddDelivery(d); err != nil {
			return 0, err
		}
	}
	return len(deliveries), nil
}

// receivers returns the members of the push's home whom it is for and may reach.
func receivers(tx *store.Tx, push store.Push) (members []home.UserID, err error) {
	h, ok, err := tx.HomeOfNetwork(push.NetworkID)
	if err != nil || !ok {
		return nil, err
	}
	memberships, err := tx.MembershipsOfHome(h.ID)
	for _, m := range memberships {
		if !m.Muted && isFor(push, m.User) {
			members = append(members, m.User)
		}
	}
	return members, err
}

// isFor reports whether a push is for a user; a push without users is for all.
func isFor(push store.Push, user home.UserID) bool {
	for _, id := range push.UserIDs {
		if home.UserID(id) == user {
			return true
		}
	}
	return len(push.UserIDs) == 0
}

// toMobiles returns a delivery for each mobile device of the users that can receive pushes.
func (p *Pusher) toMobiles(tx *store.Tx, users []home.UserID) (deliveries []store.Delivery, err error) {
	for _, user := range users {
		mobiles, err := tx.MobilesOfUser(user)
		if err != nil {
			return nil, err
		}
		for _, d := range mobiles {
			if p.fcm != nil || p.isLoadTest(d.Token) {
				deliveries = append(deliveries, store.Delivery{Mobile: d.ID, UserID: user})
			}
		}
	}
	return deliveries, nil
}

func (p *Pusher) isLoadTest(token string) bool {
	return p.config.LoadTestToken != "" && token == p.config.LoadTestToken
}
