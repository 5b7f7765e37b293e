package appliance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"sensegate/api/admin"
	"sensegate/api/box/staging"
	"sensegate/api/update"
	"sensegate/motion/fault"
	"sensegate/store"
)

// storeOptions says where the database is and how it is opened.
func (c *Config) storeOptions(log *slog.Logger) store.Options {
	options := store.Options{
		Path: admin.Database(c.StateDir), Beside: admin.Beside(c.StateDir), Logger: log, MinFree: int64(c.Store.MinFree), Retention: c.Store.Retention,
		EventShare: int64(c.Store.EventsOfNetwork),
	}
	if c.Trial.OnTrial() {
		options.Migrating = c.Trial.Migrating
	}
	return options
}

// openDatabase opens the database, once what is to take its place has done so: that of before an update
// that failed, and an uploaded backup.
func (c *Config) openDatabase(ctx context.Context, log *slog.Logger) (*store.DB, error) {
	options := c.storeOptions(log)
	if c.Trial.WentBack() && c.Trial.Backup != "" {
		if err := restoreFormer(ctx, options, c.Trial); err != nil {
			return nil, fmt.Errorf("restore the database from before the update: %w", err)
		}
	}
	if err := staging.Place(ctx, staging.Directory(c.StateDir), options); err != nil {
		return nil, err
	}
	db, _, err := store.OpenOrRecover(ctx, options)
	return db, err
}

// restoreFormer gives the former program the database that the new one has begun to migrate.
func restoreFormer(ctx context.Context, options store.Options, trial *update.Trial) error {
	path := filepath.Join(store.BackupDirectory(options.Path), filepath.Base(trial.Backup))
	backup, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		options.Logger.Error("backup cannot be used", "path", path, "err", err) // the database may not be migrated yet
		return nil
	}
	if err != nil {
		return err
	}
	defer backup.Close()
	restored, err := store.Restore(ctx, options, backup)
	if err != nil {
		return err
	}
	options.Logger.Warn("the program went back after an update, and its database with it", "backup", path, "aside", restored.Aside)
	return trial.Restored()
}

// tryProgram returns why the program at a path cannot take the place of the one that runs: there is no
// room for the backup that it makes before it migrates the database, or it refuses the configuration.
func (c *Config) tryProgram(path string) error {
	if err := store.RoomForBackup(c.storeOptions(nil)); err != nil {
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
