package box

import (
	"context"
	"io"
	"slices"
	"strconv"
	"time"

	"sensegate/api/box/staging"
	"sensegate/motion"
	"sensegate/store"
)

// Download returns a copy of the database to be sent to an administrator, encrypted unless words is
// "". Its errors are those of staging.Backup; see Backup for a full disk. The caller closes it.
func (b *Box) Download(ctx context.Context, by store.Actor, words string) (*staging.Download, error) {
	d, err := b.Staging.Backup(ctx, words)
	if err != nil {
		return nil, err
	}
	return d, b.noteBackup(ctx, by, words != "", d)
}

// Stage receives a backup, checks all of it, and keeps it until somebody applies or drops it; see
// staging.Stage for its refusals. size is how many bytes will come, 0: not known.
func (b *Box) Stage(ctx context.Context, by store.Actor, body io.Reader, size int64, words string) (found staging.Staged, err error) {
	err = b.change(ctx, by, "backup_uploaded", "", func(_ context.Context, note *store.AuditNote) (err error) {
		found, err = b.Staging.Stage(ctx, staging.Upload{Body: body, Size: size, Passphrase: words, By: person(by)})
		note.Add("accounts", strconv.Itoa(found.Users))
		note.Add("networks", strconv.Itoa(found.Networks))
		return err
	})
	return found, err
}

// DropStaged removes the uploaded backup.
func (b *Box) DropStaged(ctx context.Context, by store.Actor) error {
	return b.change(ctx, by, "upload_dropped", "", func(context.Context, *store.AuditNote) error {
		staged, err := b.Staging.Staged()
		if err == nil && staged == nil {
			err = errNothing
		}
		if err != nil {
			return err
		}
		return b.Staging.Drop()
	})
}

// Restore has the uploaded backup take the database's place when the appliance starts itself anew,
// which it does soon. uploadedAt is when the backup was uploaded that the caller has seen. The line of
// the audit log follows at that start, in the database that is there then: see Told.
func (b *Box) Restore(by store.Actor, uploadedAt motion.Time) error {
	return b.Staging.Apply(person(by), uploadedAt)
}

// Run tells what came of a restore when that could not be told at the start, as on a full disk, and
// drops recordings that nobody may have any more, until ctx ends.
func (b *Box) Run(ctx context.Context) error {
	ticker := time.NewTicker(time.Minute)
	defer ticker.Stop()
	for told := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-b.changed:
		case <-ticker.C:
			told = told || b.Told(ctx) == nil
		}
		if err := b.DropForsaken(ctx); err != nil && ctx.Err() == nil {
			b.Log.Warn("recordings not looked at", "err", err)
		}
	}
}

// person is an actor as what is staged names them.
func person(by store.Actor) staging.Person {
	p := staging.Person{Kind: string(by.Kind), UserID: int64(by.UserID), Name: by.Name}
	if by.From.IsValid() {
		p.From = by.From.String()
	}
	return p
}

// told reports whether the newest lines tell of the restore with an id.
func told(tx *store.Tx, id string) bool {
	lines, _ := tx.AuditPage(0, 20)
	return slices.ContainsFunc(lines, func(l store.AuditLine) bool { return l.Details["order"] == id })
}

// Told writes what came of a restore into the audit log. The account that wanted it is named by its
// address alone: in the restored database its number may be another's.
func (b *Box) Told(ctx context.Context) error {
	return b.Staging.Tell(func(o staging.Outcome) error {
		line := store.AuditLine{
			Action: "restored", Who: store.Actor{Kind: store.ActorKind(o.By.Kind), Name: o.By.Name}, From: o.By.From,
			Details: map[string]string{"order": o.ID, "accounts": strconv.Itoa(o.Contents.Users), "networks": strconv.Itoa(o.Contents.Networks)},
		}
		if !o.OK {
			line.Action, line.Details = "restore_failed", map[string]string{"order": o.ID, "why": o.Text}
		}
		return b.DB.Update(ctx, func(tx *store.Tx) error {
			if told(tx, o.ID) { // before a power cut
				return nil
			}
			return tx.AddAuditLine(line)
		})
	})
}
