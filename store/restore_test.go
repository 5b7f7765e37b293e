package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sealed returns the database file at path as a backup.
func sealed(t *testing.T, path string) *bytes.Reader {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return bytes.NewReader(append(append(data, "sensegate backup 1\n"...), sum[:]...))
}

func TestBackupOfANewerSchemaReplacesNothing(t *testing.T) {
	t.Parallel()
	options := testOptions(filepath.Join(t.TempDir(), "newer.db"))
	openAndClose(t, options, withStep(nil))
	backup := sealed(t, options.Path)
	options = testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	openAndClose(t, options, migrations())
	former, err := os.ReadFile(options.Path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), options, backup); !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "nothing was replaced") {
		t.Errorf("error %v, want ErrNewer and that nothing was replaced", err)
	}
	if now, err := os.ReadFile(options.Path); err != nil || !bytes.Equal(now, former) {
		t.Errorf("the database changed (%v)", err)
	}
}

func TestBackupOfSchema1IsMigratedWhenRestored(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "old.db")
	if err := os.WriteFile(old, data, 0o600); err != nil {
		t.Fatal(err)
	}
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	done, err := Restore(t.Context(), options, sealed(t, old))
	if err != nil || done.Networks != 1 || done.Aside != "" {
		t.Fatalf("restored %+v, %v; want one network and nothing aside", done, err)
	}
	db, err := open(options, migrations())
	if err != nil {
		t.Fatal(err)
	}
	steps := migrations()
	if version, err := db.schema(); err != nil || version != steps[len(steps)-1].version {
		t.Errorf("schema %d, %v; want the present one", version, err)
	}
	if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}

// withWrongIndex returns a database with an index entry that leads nowhere.
func withWrongIndex(t *testing.T) *DB {
	t.Helper()
	db, err := open(testOptions(filepath.Join(t.TempDir(), "wrong.db")), migrations())
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		return tx.bucket("networks_by_guardian").Put([]byte("nobody"), key32(uint32(7)))
	})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestBackupWithAWrongIndexReplacesNothing(t *testing.T) {
	t.Parallel()
	db := withWrongIndex(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	if _, err := Restore(t.Context(), options, sealed(t, db.Path())); !errors.Is(err, ErrDamaged) {
		t.Errorf("error %v, want ErrDamaged", err)
	}
	if _, err := os.Stat(options.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a database was put there: %v", err)
	}
}

func TestDatabaseWithAWrongIndexIsNotBackedUp(t *testing.T) {
	t.Parallel()
	db := withWrongIndex(t)
	if _, err := db.CheckCopy(t.Context()); err == nil {
		t.Error("the check finds nothing")
	}
	if made, err := db.Backup(t.Context()); err == nil {
		t.Errorf("backed up as %v", made)
	}
	entries, err := os.ReadDir(BackupDirectory(db.Path()))
	if err := errors.Join(err, db.Close()); err != nil || len(entries) != 0 {
		t.Errorf("among the backups lie %v (%v)", entries, err)
	}
}
