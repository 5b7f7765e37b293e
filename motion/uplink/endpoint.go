package uplink

import (
	"context"

	"sensegate/motion"
	"sensegate/store"
)

// Endpoint returns the service of an uplink to http or https. Its ClientID and Status mean nothing.
func (u Uplink) Endpoint() (Target, error) { return u.target() }

// MinuteCursor is how far the history of an uplink has been sent.
type MinuteCursor struct {
	DB   *store.DB
	Name string // of the uplink
}

// Load returns the end of the last minute that was sent, at the earliest when the appliance was
// installed.
func (c MinuteCursor) Load(ctx context.Context) (at motion.Time, err error) {
	err = c.DB.View(ctx, func(tx *store.Tx) error {
		cursor, _, err := tx.UplinkCursor(c.Name)
		if err != nil {
			return err
		}
		installed, err := tx.InstalledAt() // a cursor of 1970 is from before the clock was set
		at = max(cursor.Minutes, minuteOf(installed))
		return err
	})
	return at, err
}

// Keep stores it, unless the uplink was removed meanwhile.
func (c MinuteCursor) Keep(ctx context.Context, at motion.Time) error {
	return c.DB.Update(ctx, func(tx *store.Tx) error {
		cursor, there, err := tx.UplinkCursor(c.Name)
		if err != nil || !there {
			return err
		}
		cursor.Minutes = at
		return tx.PutUplinkCursor(cursor)
	})
}
