package store

import (
	"context"
	"fmt"
	"time"

	"sensegate/motion"
)

// When what was deleted is wiped.
const (
	wipeDelay    = time.Minute // after a deletion, so that several cost one round
	wipeInterval = time.Hour   // between two rounds: what deletions may cost the flash
)

// wipeKey is where the meta bucket keeps what is to be wiped.
const wipeKey = "wipe"

// unwiped is what was deleted and may still be read in the raw file.
type unwiped struct {
	Deletions int64       `json:"deletions"`         // of users and networks, since the last round; 0: none
	Network   motion.Time `json:"network,omitempty"` // when the last network was deleted; 0: none was
	// Samples are the networks that were deleted and of which there may still be sealed samples.
	Samples []motion.NetworkID `json:"samples,omitempty"`
}

// dueToWipe notes, in the transaction that deletes a user or a network, that their bytes
// are to be wiped from the file, and of which networks the sealed samples are to be deleted.
func (tx *Tx) dueToWipe(network bool, samplesOf ...motion.NetworkID) error {
	var due unwiped
	if err := tx.getMeta(wipeKey, &due); err != nil {
		return err
	}
	due.Deletions++
	due.Samples = append(due.Samples, samplesOf...)
	if network {
		due.Network = tx.now
	}
	tx.OnCommit(func() {
		select {
		case tx.db.deleted <- struct{}{}:
		default: // it is known
		}
	})
	return tx.putMeta(wipeKey, due)
}

// WipeDeleted calls Wipe a minute after users or networks were deleted, and after the
// start when it is due from before, at most once an hour, until ctx ends. What cannot be
// wiped is logged and tried again an hour later.
func (db *DB) WipeDeleted(ctx context.Context) error {
	timer, waiting := time.NewTimer(wipeDelay), true
	defer timer.Stop()
	last := time.Now().Add(-wipeInterval)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-db.deleted:
			if !waiting {
				timer.Reset(max(wipeDelay, wipeInterval-time.Since(last)))
				waiting = true
			}
			continue
		case <-timer.C:
		}
		waiting, last = false, time.Now()
		if err := db.Wipe(ctx); err != nil && ctx.Err() == nil {
			db.logger.Warn("what was deleted is not wiped yet", "err", err)
			timer.Reset(wipeInterval)
			waiting = true
		}
	}
}

// deleteSamples deletes the sealed samples of a network that is no more, some at a time.
func (db *DB) deleteSamples(ctx context.Context, network motion.NetworkID) error {
	for done := false; !done; {
		err := db.Update(ctx, func(tx *Tx) (err error) {
			done, err = tx.samples().Delete(network)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Wipe deletes the samples of networks that were deleted, and overwrites what the file still holds of them and of
// users that were deleted: all free pages become zeros, each at most once. When a network was deleted, backups from
// before that are replaced by a new one. Without a deletion since the last Wipe it does nothing.
// A power cut leaves it due. The disk may keep what it has moved by itself: flash does.
//
// Two Wipes must not run at once.
func (db *DB) Wipe(ctx context.Context) error {
	var due unwiped
	if err := db.View(ctx, func(tx *Tx) error { return tx.getMeta(wipeKey, &due) }); err != nil {
		return err
	}
	if due.Deletions == 0 {
		return nil
	}
	for _, network := range due.Samples {
		if err := db.deleteSamples(ctx, network); err != nil {
			return fmt.Errorf("delete the samples of network %d: %w", network, err)
		}
	}
	wiped, ended, err := db.file.Wipe(ctx)
	if err != nil {
		return fmt.Errorf("wipe free pages: %w", err)
	}
	removed := 0
	if due.Network > 0 {
		if removed, err = db.file.ReplaceBackups(ctx, ended, wholeCopy(ctx)); err != nil {
			return fmt.Errorf("replace the backups that hold a deleted network: %w", err)
		}
	}
	db.logger.Info("deleted data wiped", "bytes", wiped, "backups", removed)
	return db.Update(ctx, func(tx *Tx) error {
		var now unwiped
		if err := tx.getMeta(wipeKey, &now); err != nil || now.Deletions != due.Deletions {
			return err // more was deleted meanwhile
		}
		return tx.bucket(metaBucket).Delete([]byte(wipeKey))
	})
}
