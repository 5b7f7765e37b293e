package appliance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"sensegate/api/admin"
	"sensegate/api/box/preflight"
	"sensegate/api/box/staging"
	"sensegate/api/update"
	"sensegate/motion/fault"
	"sensegate/store"
)

// storeOptions says where the database is and how it is opened.
func (c *Config) storeOptions(log *slog.Logger) store.Options {
	options := store.Options{
		Path: admin.Database(c.StateDir), Beside: admin.Beside(c.StateDir), Logger: log, MinFree: int64(c.Store.MinFree), Retention: c.Store.Retention,
		EventShare: int64(c.Store.EventsOfNetwork), Keep: func() string { return update.KeptBackup(c.StateDir) },
	}
	if c.Trial.OnTrial() {
		options.Migrate = func(backUp func() (string, error), migrate func() error) error {
			return c.Trial.Migrate(func(backup string) error { return store.CheckBackup(options.Path, backup) }, backUp, migrate)
		}
	}
	return options
}

// openDatabase opens the database, once what is to take its place has done so: that of before an update
// that failed, and an uploaded backup. A new program on trial leaves both, and damage, to the one that is
// installed.
func (c *Config) openDatabase(ctx context.Context, log *slog.Logger) (*store.DB, error) {
	options := c.storeOptions(log)
	if c.Trial.OnTrial() {
		return store.OpenWhole(ctx, options)
	}
	if err := c.putBack(options); err != nil {
		return nil, fmt.Errorf("put the database from before the update back: %w", err)
	}
	if err := staging.Place(ctx, staging.Directory(c.StateDir), options); err != nil {
		return nil, err
	}
	db, _, err := store.OpenOrRecover(ctx, options)
	switch {
	case err == nil:
		if err := c.Trial.Opened(); err != nil {
			log.Error("the last update", "err", err) // the next start finds that it is back
		}
	case c.Trial.Backup() != "" && errors.Is(err, store.ErrNewer): // the backup was gone or damaged
		err = fmt.Errorf("%w; the former program cannot read what the new one has changed, and the backup from before the update cannot be used: to take another backup, stop the appliance, remove update.json and restore it", err)
		if kept := c.Trial.Kept(); kept != "" {
			err = fmt.Errorf("%w (copy %s to a safe place before); to go on with the new program, stop the appliance and move %s over the former one (a newer program, whose signature you have checked, does too)", err, kept, kept)
		}
	}
	return db, err
}

// putBack gives the former program the database that the new one has begun to migrate.
func (c *Config) putBack(options store.Options) error {
	backup := c.Trial.Backup()
	if backup == "" {
		return nil
	}
	if err := admin.Replaceable(c.StateDir); err != nil {
		return err
	}
	aside, err := store.PutBack(options, backup)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrDamaged):
		options.Logger.Error("the backup from before the update cannot be used", "backup", backup, "err", err) // the database may not be migrated yet
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w (%s)", err, preflight.Give(c.StateDir, store.BackupDirectory(options.Path)))
	case err != nil:
		return err
	default:
		options.Logger.Warn("the database from before the update is back", "backup", backup, "aside", aside)
	}
	return nil
}

// tryProgram returns why the program at a path cannot take the place of the one that runs: the database could not be
// put back, there is no room for the backup that it makes before it migrates that, or it refuses the configuration.
func (c *Config) tryProgram(path string) error {
	options := c.storeOptions(nil)
	if err := admin.Replaceable(c.StateDir); err != nil {
		return err
	}
	if err := store.RoomForBackup(options); err != nil {
		return fault.New(fault.Conflict, "a new program backs the database up before it changes that: %s", err)
	}
	arguments := []string{"config", "check"}
	if file := c.Sources.Path(); file != "" {
		arguments = append(arguments, "-config", file)
	}
	if _, err := update.Ask(path, arguments...); err != nil {
		return fault.New(fault.Conflict, "the new program refuses the configuration: %s", err)
	}
	return nil
}

// tryProgram is that of the configuration, for an appliance that can start the new program.
func (a *Appliance) tryProgram(path string) error {
	if err := a.startable(); err != nil {
		return err
	}
	return a.config.tryProgram(path)
}

// Examine is Preflight of the doctor command, which also looks at the files that the configuration names and at the
// last update.
func (c *Config) Examine() []preflight.Finding {
	found := append(c.Preflight(), c.lookAtFiles()...)
	n, err := update.Last(c.StateDir)
	if err != nil {
		return append(found, preflight.Finding{What: "update", Grade: preflight.Warning, Says: err.Error(), Fix: "Stop the appliance, sensegate update -cancel"})
	}
	if n == nil {
		return found
	}
	if says, fix := n.Tell(); says != "" {
		found = append(found, preflight.Finding{What: "update", Grade: preflight.Warning, Says: says, Fix: fix})
	}
	return found
}
