package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/motion/series/seriestest"
	"sensegate/store"
)

// What happens on each day of a past.
const (
	pastStep   = 5  // s of a sample
	pastMoving = 25 // motions, each with an event for its begin and its end
)

// The account of the owner of a network.
const (
	ownersMail     = "owner@example.com"
	ownersPassword = "correct horse battery"
)

// pastRole writes what a stopped appliance does not have yet, with a clock of its own: the
// past of a network, or an owner.
type pastRole struct {
	db  *store.DB
	now time.Time
}

// newPastRole opens the database of a state directory.
func newPastRole(args []string) (role, error) {
	r := &pastRole{now: time.Now()}
	var err error
	r.db, err = store.Open(store.Options{
		Path: filepath.Join(args[0], "sensegate.db"), Now: func() time.Time { return r.now }, Retention: store.DefaultRetention(),
	})
	return r, err
}

func (r *pastRole) do(what string, n int) (map[string]float64, error) {
	ctx := context.Background()
	switch what {
	case "live": // days of one network that end now
		r.now = r.now.AddDate(0, 0, -n)
		return nil, r.live(ctx, n)
	case "own": // gives network 1 an owner, and all networks what find/meta looks for
		return nil, r.own(ctx, 1, r.now)
	case "size":
		info, err := os.Stat(r.db.Path())
		if err != nil {
			return nil, err
		}
		return map[string]float64{"bytes": float64(info.Size())}, nil
	}
	return nil, fmt.Errorf("no such question: %s", what)
}

// live makes a network with an owner and a room for each of its links, and stores its days
// as the history that a device reports.
func (r *pastRole) live(ctx context.Context, days int) error {
	e, err := engine.New(ctx, r.db, engine.Options{Now: func() time.Time { return r.now }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	var id motion.NetworkID
	err = r.db.Update(ctx, func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "guardian"})
		id = n.ID
		return err
	})
	if err == nil {
		err = errors.Join(e.State.Reload(ctx, id), r.own(ctx, id, r.now))
	}
	var macs []motion.MAC
	for i := range links {
		macs = append(macs, motion.MAC{2, 0xbb, 0, 0, 0, byte(i)})
		err = errors.Join(err, e.Inventory.PlaceLeaf(ctx, id, macs[i], "Room "+strconv.Itoa(i), ""))
	}
	house := seriestest.New(seriestest.Sparse, 1, links)
	for day := range days {
		if err != nil {
			return err
		}
		r.now = r.now.AddDate(0, 0, 1)
		err = errors.Join(e.Sensing.Import(ctx, id, pastDay(house, macs, r.now), nil), r.db.Update(ctx, func(tx *store.Tx) error {
			return errors.Join(pastEvents(tx, id, day, r.now), e.State.Series.Flush(tx))
		}))
	}
	return err
}

// pastDay returns the history of the day before a time, an hour each.
func pastDay(house *seriestest.Home, macs []motion.MAC, end time.Time) []motion.History {
	var day []motion.History
	frame := make([]float64, columnsOfHome)
	for hour := 24; hour > 0; hour-- {
		h := motion.History{TS: motion.TimeOf(end).Add(-float64(hour) * 3600), Interval: pastStep * 1000, Count: 3600 / pastStep, MACs: macs}
		for range h.Count {
			house.Next(frame)
			shares, strongest := make([]float64, links), 0
			for l, v := range frame[1:] {
				if v > frame[1+strongest] {
					strongest = l
				}
			}
			if frame[0] > 0 {
				shares[strongest] = 1
			}
			h.MKAI, h.Density = append(h.MKAI, frame[0]), append(h.Density, shares)
		}
		day = append(day, h)
	}
	return day
}

// pastEvents adds the events of the day before a time.
func pastEvents(tx *store.Tx, id motion.NetworkID, day int, end time.Time) error {
	armed := 1
	for i := range pastMoving {
		begun := motion.TimeOf(end).Add(-float64(pastMoving-i) * daySeconds / (pastMoving + 1))
		e := motion.Event{Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, NetworkID: id, GuardianID: "guardian", TS: begun, Armed: &armed}
		if _, _, err := tx.AddEvent(e, fmt.Sprint(day, i)); err != nil {
			return err
		}
		e.Event, e.TS, e.DetectedTS = motion.MotionStoppedEvent, begun.Add(60), begun
		if _, _, err := tx.AddEvent(e, fmt.Sprint(day, i, " stopped")); err != nil {
			return err
		}
	}
	return nil
}

// own makes an account that owns a network since a time, and gives every network a name
// in its meta.
func (r *pastRole) own(ctx context.Context, id motion.NetworkID, since time.Time) error {
	hash, err := auth.NewPasswords(auth.DefaultArgon()).Hash(ctx, ownersPassword)
	if err != nil {
		return err
	}
	at := motion.TimeOf(since)
	stamp := at.Stamp()
	return r.db.Update(ctx, func(tx *store.Tx) error {
		user, err := tx.CreateUser(home.User{
			Username: "owner", Email: ownersMail, Sub: "00000000-0000-4000-8000-000000000001", CreatedAt: stamp, ConfirmedAt: &stamp, ValidFrom: at.Second(),
		})
		if err != nil {
			return err
		}
		house, found, err := tx.HomeOfNetwork(id)
		if err == nil && !found {
			house, err = tx.CreateHome(home.Home{ExternalID: id, Name: "Home", CreatedAt: stamp})
		}
		if err != nil {
			return err
		}
		house.ClaimedAt, house.OwnedBefore = at, true
		_, err = tx.CreateMembership(home.Membership{Role: home.OwnerRole, User: user.ID, Home: house.ID, CreatedAt: stamp})
		err = errors.Join(err, tx.SetPassword(user.ID, hash), tx.PutHome(house))
		networks, unreadable := tx.Networks()
		for _, n := range networks {
			n.Meta = motion.Document{"name": "bench"}
			err = errors.Join(err, tx.PutNetwork(n))
		}
		return errors.Join(err, unreadable)
	})
}

func (r *pastRole) close() error { return r.db.Close() }
