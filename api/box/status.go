package box

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"sensegate/api/box/staging"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// Status is how the appliance is.
type Status struct {
	Running       bool           `json:"running"`
	Version       string         `json:"version"`
	Since         motion.Time    `json:"since"`                 // when it was started
	NotReady      string         `json:"not_ready,omitempty"`   // why it cannot work; empty: it can
	ClockUnset    bool           `json:"clock_unset,omitempty"` // its clock is before the build date
	Networks      int            `json:"networks"`
	Away          []Network      `json:"away,omitempty"` // of them, those that go or have gone to another box
	Devices       int            `json:"devices"`        // adopted ones
	DevicesOnline int            `json:"devices_online"`
	Database      store.Stats    `json:"database"`
	Health        store.Health   `json:"health"`
	LastBackup    *store.Backup  `json:"last_backup"`         // of those in the state directory; null: none
	Reach         *Reach         `json:"reach,omitempty"`     // how the household reaches it; null: it does not run
	Authority     string         `json:"ca_sha256,omitempty"` // fingerprint of the authority that clients are to trust
	Uplinks       []uplink.State `json:"uplinks,omitempty"`
	SuppliedEnds  motion.Time    `json:"certificate_ends,omitzero"` // when the certificate ends that the owner supplied; 0: the appliance makes its own
}

// Status returns how the appliance is.
func (b *Box) Status(ctx context.Context) (now Status, err error) {
	now = Status{Running: b.Ready != nil, Version: Version(), Health: b.DB.Health()}
	now.ClockUnset = b.Engine.State.OwnClock.Unset.Load()
	if b.Authority != nil {
		now.Authority = b.Authority()
	}
	if s := b.Secure(); !s.Own {
		now.SuppliedEnds = s.Ends
	}
	if b.Reach != nil {
		reach := b.Reach()
		now.Reach = &reach
	}
	if b.Uplinks != nil {
		now.Uplinks = b.Uplinks.List()
	}
	if b.Ready != nil {
		if err := b.Ready(); err != nil {
			now.NotReady = err.Error()
		}
	}
	if now.Devices, now.DevicesOnline, err = b.CountDevices(ctx, nil); err != nil {
		return now, err
	}
	networks, err := b.Networks(ctx)
	if err != nil {
		return now, err
	}
	for _, n := range networks {
		if n.State != NetworkGone {
			now.Networks++
		}
	}
	now.Away = slices.DeleteFunc(networks, func(n Network) bool { return n.State == NetworkHere })
	if now.Database, err = b.DB.Stats(ctx); err != nil {
		return now, err
	}
	now.Since = now.Database.Since
	backups, err := store.Backups(b.DB.Path())
	if len(backups) > 0 {
		now.LastBackup = &backups[0]
	}
	return now, err
}

// CountDevices returns how many devices some networks have adopted, and how many of them are online;
// none: all networks.
func (b *Box) CountDevices(ctx context.Context, of []motion.NetworkID) (adopted, online int, err error) {
	devices, _, err := b.Engine.Devices.DeviceList(ctx)
	for _, d := range devices {
		if len(of) > 0 && !slices.Contains(of, d.NetworkID) {
			continue
		}
		switch d.State {
		case "online":
			adopted++
			online++
		case "offline":
			adopted++
		}
	}
	return adopted, online, err
}

// Layout returns what the database file holds, by bucket.
func (b *Box) Layout(ctx context.Context) (store.Layout, error) { return b.DB.Layout(ctx) }

// Check verifies every page and every index of a copy of the database, and returns what cannot be
// read.
//
// Conflict, code no_room: the disk has too little room for the copy.
func (b *Box) Check(ctx context.Context) (store.LeftOut, error) {
	left, err := b.DB.CheckCopy(ctx)
	if errors.Is(err, store.ErrNoRoom) {
		err = &fault.Error{Kind: fault.Conflict, Code: staging.NoRoom, Message: "the disk has too little room for the copy that is checked: make room first"}
	}
	return left, err
}

// Backup returns a copy of the database as it is now, without a name on the disk, and its size; the
// caller closes it. encrypted notes whether what is handed out is. On a disk without room for the
// line in the audit log, a backup is handed out all the same: it is what helps then. Without room
// for the copy, the error wraps store.ErrNoRoom.
func (b *Box) Backup(ctx context.Context, by store.Actor, encrypted bool) (file *os.File, size int64, err error) {
	if err := b.Engine.Flush(ctx); err != nil { // what is held in memory goes along, where there is room
		b.Log.Warn("a backup lacks what is held in memory", "err", err)
	}
	if file, size, err = b.DB.Snapshot(ctx); err != nil {
		return nil, 0, err
	}
	return file, size, b.noteBackup(ctx, by, encrypted, file)
}

// noteBackup notes that a copy is handed out, and closes it when that cannot be.
func (b *Box) noteBackup(ctx context.Context, by store.Actor, encrypted bool, copied io.Closer) error {
	err := b.change(ctx, by, "backup_made", "", func(_ context.Context, note *store.AuditNote) error {
		note.Add("encrypted", strconv.FormatBool(encrypted))
		return nil
	})
	if fault.KindOf(err) == fault.Unavailable {
		b.Log.Warn("backup handed out without a line in the audit log", "err", err)
		return nil
	}
	if err != nil {
		return errors.Join(err, copied.Close())
	}
	return nil
}
