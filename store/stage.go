package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	berrors "go.etcd.io/bbolt/errors"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store/file"
)

// BeginSize is how many bytes IsBeginning has a use for.
const BeginSize = file.BeginSize

// IsBeginning reports whether a backup can begin with these bytes, up to BeginSize of them.
func IsBeginning(begin []byte) bool { return file.IsBeginning(begin) }

// FreeBytes returns the bytes of the file system of a directory that the process may use.
func FreeBytes(directory string) (int64, error) { return file.FreeBytes(directory) }

// mostNamed is how many homes and owners Contents names at most: it is read by a person.
const mostNamed = 100

// Contents says what a staged database holds, so that a person can tell whose it is and of
// when.
type Contents struct {
	InstalledAt motion.Time `json:"installed_at"`
	NewestAt    motion.Time `json:"newest_at,omitempty"` // of what is in it, not after now: the backup was made then or soon after; 0: not known
	Size        int64       `json:"size"`                // bytes
	Networks    int         `json:"networks"`
	Users       int         `json:"users"`
	Homes       []string    `json:"homes"`  // names, at most 100
	Owners      []string    `json:"owners"` // e-mail addresses, at most 100
}

// Stage makes a whole database of the backup that it reads from, at o.Path, where nothing of
// worth may be. It is brought to the schema of this program and every page, index and the
// seal are checked, as Restore does; no other database is touched. When Stage returns nil the
// file is synced, but for its name, and is to be taken over by Place; otherwise it is removed.
// The error wraps ErrDamaged, ErrForeign or ErrNewer when the backup is to blame.
func Stage(ctx context.Context, o Options, from io.Reader) (found Contents, err error) {
	o = o.withDefaults()
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Remove(o.Path))
		}
	}()
	if err := file.Receive(ctx, o.file(), o.Path, from); err != nil {
		if errors.Is(err, ErrDamaged) {
			if _, looked := contents(ctx, o); errors.Is(looked, ErrForeign) {
				err = looked // it has no seal because it never was a backup
			}
		}
		return found, fmt.Errorf("receive the backup: %w", err)
	}
	found, err = contents(ctx, o)
	switch {
	case errors.Is(err, berrors.ErrMaxSizeReached):
		return found, fmt.Errorf("%w: %w", ErrNoRoom, err)
	case err != nil && ctx.Err() == nil && isDamage(err):
		return found, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return found, err
}

// contents checks the whole file at o.Path and says what it holds.
func contents(ctx context.Context, o Options) (found Contents, err error) {
	done, err := examineAnd(ctx, o, o.Path, func(tx *Tx) error {
		return cmp.Or(tx.nameContents(&found), tx.dateContents(&found))
	})
	found.Size, found.Networks, found.Users = done.Size, done.Networks, done.Users
	return found, err
}

// nameContents names the homes and those who own them.
func (tx *Tx) nameContents(found *Contents) error {
	all, err := tx.Homes()
	if err != nil {
		return err
	}
	found.Homes, found.Owners = []string{}, []string{}
	known := map[home.UserID]bool{}
	for _, h := range all[:min(len(all), mostNamed)] {
		found.Homes = append(found.Homes, h.Name)
		members, err := tx.MembershipsOfHome(h.ID)
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.Role != home.OwnerRole || known[m.User] || len(known) == mostNamed {
				continue
			}
			owner, err := tx.User(m.User)
			if err != nil {
				return err
			}
			known[m.User] = true
			found.Owners = append(found.Owners, owner.Email)
		}
	}
	return nil
}

// dateContents notes the time of the newest record: a backup does not say when it was made.
// Times after now are those of a clock that was wrong.
func (tx *Tx) dateContents(found *Contents) error {
	note := func(at motion.Time) {
		if at <= tx.now {
			found.NewestAt = max(found.NewestAt, at)
		}
	}
	installed, err := tx.InstalledAt()
	if err != nil {
		return err
	}
	found.InstalledAt = installed
	note(installed)
	var samples age
	var known Health
	if err := cmp.Or(tx.getMeta(ageKey, &samples), tx.getMeta(healthKey, &known)); err != nil {
		return err
	}
	note(motion.Time(samples.Retention.Seen)) // the wall clock, once an hour
	note(known.LastUnclean)
	signs, err := heard.all(tx, nil)
	for _, s := range signs {
		note(s.At)
	}
	people, alsoErr := tx.Users()
	for _, u := range people {
		note(motion.TimeOf(u.UpdatedAt.Std()))
	}
	list, moreErr := networks.all(tx, nil)
	for _, n := range list {
		note(n.UpdatedAt)
		note(tx.lastEvent(n.ID))
	}
	return cmp.Or(err, alsoErr, moreErr)
}

// lastEvent returns the time of the newest event of a network, 0 without one.
func (tx *Tx) lastEvent(network motion.NetworkID) motion.Time {
	cursor := tx.bucket(events.name).Cursor()
	key, _ := cursor.Seek(key32(network + 1))
	if key == nil {
		key, _ = cursor.Last()
	} else {
		key, _ = cursor.Prev()
	}
	if len(key) < 12 || binary.BigEndian.Uint32(key) != uint32(network) {
		return 0
	}
	return motion.FromMicros(int64(binary.BigEndian.Uint64(key[4:])))
}
