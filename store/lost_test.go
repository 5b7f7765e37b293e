package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/store"
)

// TestLostDatabaseIsNeverMadeAnew takes the database away in several ways. Where a backup
// is whole it is restored; otherwise, where anything shows that there was a database,
// nothing is made and the error says how to begin anew.
func TestLostDatabaseIsNeverMadeAnew(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		missing, backup, spoilt, keys bool
		restored, refused             bool
	}{
		"empty, with a backup":                 {backup: true, restored: true},
		"missing, with a backup":               {missing: true, backup: true, restored: true},
		"empty, with a damaged backup":         {backup: true, spoilt: true, refused: true},
		"missing, with a damaged backup":       {missing: true, backup: true, spoilt: true, refused: true},
		"empty, with the keys of tokens":       {keys: true, refused: true},
		"missing, with the keys of tokens":     {missing: true, keys: true, refused: true},
		"missing, with nothing beside":         {missing: true},
		"empty, with nothing else of a former": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			keys := filepath.Join(directory, "signing.json")
			o := store.Options{Path: filepath.Join(directory, "sensegate.db"), Beside: []string{keys}}
			liveOnce(t, o, c.backup)
			if c.keys {
				write(t, keys, "{}")
			}
			if c.spoilt {
				spoilBackups(t, o.Path)
			}
			write(t, o.Path, "")
			if c.missing {
				if err := os.Remove(o.Path); err != nil {
					t.Fatal(err)
				}
			}
			if c.restored || c.refused {
				if _, err := store.Open(o); !errors.Is(err, store.ErrLost) {
					t.Fatalf("opened by a command: %v, want ErrLost", err)
				}
			}
			db, recovery, err := store.OpenOrRecover(t.Context(), o)
			if c.refused {
				if !errors.Is(err, store.ErrLost) || !strings.Contains(err.Error(), "to begin anew on purpose") {
					t.Fatalf("error %v, want one that says how to begin anew", err)
				}
				if info, err := os.Stat(o.Path); err == nil && info.Size() > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("something was made at %s: %v, %v", o.Path, info, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (recovery != nil) != c.restored {
				t.Errorf("recovered %+v, want it %v", recovery, c.restored)
			}
			view(t, db, func(tx *store.Tx) error {
				networks, err := tx.Networks()
				if (len(networks) == 1) != c.restored {
					t.Errorf("networks %v, want the restored one: %v", networks, c.restored)
				}
				return err
			})
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// liveOnce makes a database with a network and, if asked for, a backup of it.
func liveOnce(t *testing.T, o store.Options, backup bool) {
	t.Helper()
	db, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	newNetwork(t, db, "g")
	if backup {
		_, err = db.Backup(t.Context())
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// spoilBackups cuts every backup of a database in half.
func spoilBackups(t *testing.T, path string) {
	t.Helper()
	backups, err := store.Backups(path)
	if err != nil || len(backups) == 0 {
		t.Fatalf("backups %v, %v", backups, err)
	}
	for _, backup := range backups {
		if err := os.Truncate(backup.Path, backup.Size/2); err != nil {
			t.Fatal(err)
		}
	}
}

// write writes a file that only its owner reads.
func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
