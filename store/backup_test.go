package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/store"
	"sensegate/store/storetest"
)

// snapshot returns a backup of db as bytes.
func snapshot(t testing.TB, db *store.DB) []byte {
	t.Helper()
	file, size, err := db.Snapshot(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	if int64(len(data)) != size {
		t.Fatalf("snapshot has %d bytes, said %d", len(data), size)
	}
	return data
}

// restore restores a backup to path.
func restore(path string, backup []byte) (store.Restored, error) {
	return store.Restore(context.Background(), store.Options{Path: path, LockTimeout: time.Millisecond}, bytes.NewReader(backup))
}

// names returns what lies in a directory.
func names(t testing.TB, directory string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		list = append(list, entry.Name())
	}
	return list
}

// guardians returns the guardians of the networks in the database at path.
func guardians(t testing.TB, path string) (list []string) {
	t.Helper()
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer storetest.Close(t, db)
	view(t, db, func(tx *store.Tx) error {
		networks, err := tx.Networks()
		for _, n := range networks {
			list = append(list, n.GuardianID)
		}
		return err
	})
	return list
}

func TestBackupMadeDuringWritesHoldsWhatWasWrittenBefore(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	var mu sync.Mutex
	written, stop := 0, make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			newNetwork(t, db, fmt.Sprintf("guardian-%06d", i))
			mu.Lock()
			written = i + 1
			mu.Unlock()
		}
	})
	for range 10 {
		mu.Lock()
		before := written
		mu.Unlock()
		backup := snapshot(t, db)
		path := filepath.Join(t.TempDir(), "state", "sensegate.db")
		done, err := restore(path, backup)
		if err != nil {
			t.Fatal(err)
		}
		found := guardians(t, path)
		if done.Networks != len(found) || len(found) < before {
			t.Errorf("restored %d networks, said %d, of at least %d", len(found), done.Networks, before)
		}
		for i, name := range found {
			if name != fmt.Sprintf("guardian-%06d", i) {
				t.Fatalf("network %d is %s: the backup has a hole", i, name)
			}
		}
	}
	close(stop)
	writer.Wait()
}

func TestRestoreKeepsTheFormerDatabaseAside(t *testing.T) {
	t.Parallel()
	source := storetest.Open(t)
	newNetwork(t, source, "from-the-backup")
	backup := snapshot(t, source)
	path := filepath.Join(t.TempDir(), "sensegate.db")
	former, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	newNetwork(t, former, "former")
	if _, err := restore(path, backup); !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), "stop that one first") {
		t.Errorf("restore under a running program: %v, want ErrLocked and what to do", err)
	}
	storetest.Close(t, former)
	done, err := restore(path, backup)
	if err != nil {
		t.Fatal(err)
	}
	if found := guardians(t, path); len(found) != 1 || found[0] != "from-the-backup" {
		t.Errorf("restored networks %v", found)
	}
	if found := guardians(t, done.Aside); len(found) != 1 || found[0] != "former" {
		t.Errorf("networks aside %v", found)
	}
	if list := names(t, filepath.Dir(path)); len(list) != 2 {
		t.Errorf("the directory holds %v, want the two databases only", list)
	}
}

// checkBackup checks data as a backup of the database at path.
func checkBackup(t *testing.T, path string, data []byte) error {
	t.Helper()
	err := os.MkdirAll(store.BackupDirectory(path), 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(store.BackupDirectory(path), "x.backup"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return store.CheckBackup(path, "x.backup")
}

func TestBackupIsChecked(t *testing.T) {
	t.Parallel()
	source := storetest.Open(t)
	path := filepath.Join(t.TempDir(), "sensegate.db")
	if err := store.CheckBackup(path, "x.backup"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := checkBackup(t, path, snapshot(t, source)); err != nil {
		t.Error(err)
	}
}

func TestDamagedBackupReplacesNothing(t *testing.T) {
	t.Parallel()
	source := storetest.Open(t)
	newNetwork(t, source, "from-the-backup")
	backup := snapshot(t, source)
	flipped := func(at int) []byte {
		other := bytes.Clone(backup)
		other[at] ^= 1
		return other
	}
	cases := map[string][]byte{
		"empty":                   {},
		"text":                    []byte(strings.Repeat("no backup at all\n", 100)),
		"without its last byte":   backup[:len(backup)-1],
		"cut at half":             backup[:len(backup)/2],
		"pages without the seal":  backup[:len(backup)-51],
		"one bit in the meta":     flipped(20),
		"one bit in a value":      flipped(bytes.Index(backup, []byte("from-the-backup"))),
		"one bit in the checksum": flipped(len(backup) - 1),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "sensegate.db")
			if _, err := restore(path, data); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "nothing was replaced") {
				t.Errorf("error %v, want ErrDamaged and that nothing was replaced", err)
			}
			if list := names(t, filepath.Dir(path)); len(list) != 0 {
				t.Errorf("the directory holds %v", list)
			}
			if err := checkBackup(t, path, data); !errors.Is(err, store.ErrDamaged) {
				t.Errorf("it is checked: %v", err)
			}
		})
	}
}

func TestLastSevenBackupsAreKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	db := storetest.Open(t, func(o *store.Options) { o.Now = func() time.Time { return now } })
	directory := store.BackupDirectory(db.Path())
	if err := os.MkdirAll(directory, 0o700); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(directory, "my own copy.backup")
	if err := os.WriteFile(foreign, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := db.Backup(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(24 * time.Hour)
	}
	list, err := store.Backups(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 7 || list[0].At.Day() != 10 || list[6].At.Day() != 4 {
		t.Errorf("kept %v, want those of the last 7 of 10 days, newest first", list)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file that is no backup of ours is gone: %v", err)
	}
	now = now.AddDate(-1, 0, 0)
	made, err := db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(made.Path); err != nil {
		t.Errorf("the backup made with the clock set back is not kept: %v", err)
	}
}

// TestBackupThatIsKept stays beside the last seven: the way back of an update that is not over.
func TestBackupThatIsKept(t *testing.T) {
	t.Parallel()
	path, now := filepath.Join(t.TempDir(), "sensegate.db"), time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC)
	keep := ""
	db, err := store.Open(store.Options{Path: path, Now: func() time.Time { return now }, Keep: func() string { return keep }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for day := range 20 {
		made, err := db.Backup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if day == 0 {
			keep = filepath.Base(made.Path)
		}
		now = now.Add(24 * time.Hour)
	}
	list, err := store.Backups(path)
	if err != nil || len(list) != 8 || filepath.Base(list[7].Path) != keep {
		t.Errorf("%v %v, want the last 7 and %s", list, err, keep)
	}
	keep = ""
	if _, err := db.Backup(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := store.Backups(path); err != nil || len(list) != 7 {
		t.Errorf("%v %v", list, err)
	}
}

func TestRestoreLastSkipsBackupsThatAreDamaged(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "sensegate.db")
	db, err := store.Open(store.Options{Path: path, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	var made []store.Backup
	for _, guardian := range []string{"first", "second"} {
		newNetwork(t, db, guardian)
		b, err := db.Backup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		made, now = append(made, b), now.Add(24*time.Hour)
	}
	storetest.Close(t, db)
	if err := os.Truncate(made[1].Path, made[1].Size-100); err != nil {
		t.Fatal(err)
	}
	used, err := store.RestoreLast(t.Context(), store.Options{Path: path})
	if err != nil || used.Path != made[0].Path {
		t.Fatalf("restored %v, %v; want %s", used, err, made[0].Path)
	}
	if found := guardians(t, path); len(found) != 1 || found[0] != "first" {
		t.Errorf("restored networks %v, want the first", found)
	}
}

func TestCopyIsRefusedWithoutRoom(t *testing.T) {
	t.Parallel()
	var free atomic.Int64
	free.Store(10 << 20)
	db := storetest.Open(t, func(o *store.Options) {
		store.SetMeasure(o, func(string) (int64, error) { return free.Load(), nil })
	})
	_, err := db.Backup(t.Context())
	if !errors.Is(err, store.ErrNoRoom) || !strings.Contains(err.Error(), "there are 10 MiB") {
		t.Errorf("backup: %v, want ErrNoRoom with figures", err)
	}
	if list := names(t, store.BackupDirectory(db.Path())); len(list) != 0 {
		t.Errorf("the directory of backups holds %v", list)
	}
	if _, err := db.CheckCopy(t.Context()); err != nil {
		t.Errorf("check, whose copy is small and gone at once: %v", err)
	}
	free.Store(1 << 10)
	if _, err := db.CheckCopy(t.Context()); !errors.Is(err, store.ErrNoRoom) {
		t.Errorf("check: %v, want ErrNoRoom", err)
	}
}

func TestCompactKeepsEverythingButFreePages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	kept := newNetwork(t, db, "kept")
	update(t, db, func(tx *store.Tx) error {
		for i := range 3000 {
			if _, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprintf("gone-%d", i), Meta: motion.Document{"text": strings.Repeat("x", 1000)}}); err != nil {
				return err
			}
		}
		return nil
	})
	update(t, db, func(tx *store.Tx) error {
		for i := range 3000 {
			if err := tx.DeleteNetwork(kept + motion.NetworkID(i) + 1); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := store.Compact(t.Context(), store.Options{Path: path, LockTimeout: time.Millisecond}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("compact under a running program: %v, want ErrLocked", err)
	}
	storetest.Close(t, db)
	done, err := store.Compact(t.Context(), store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if done.After*2 > done.Before {
		t.Errorf("compacted %d bytes to %d, want less than half", done.Before, done.After)
	}
	if found := guardians(t, path); len(found) != 1 || found[0] != "kept" {
		t.Errorf("networks %v, want the kept one", found)
	}
	if db, err = store.Open(store.Options{Path: path}); err != nil {
		t.Fatal(err)
	}
	if next := newNetwork(t, db, "next"); next != kept+3001 {
		t.Errorf("network %d after %d: ids are used again", next, kept+3000)
	}
	storetest.Close(t, db)
	if list := names(t, filepath.Dir(path)); len(list) != 1 {
		t.Errorf("the directory holds %v, want the database only", list)
	}
}

func TestLayoutCountsKeysAndPages(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	for _, guardian := range []string{"a", "b"} {
		newNetwork(t, db, guardian)
	}
	l, err := db.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range l.Buckets {
		if b.Name == "networks" && (b.Keys != 2 || b.Bytes == 0) {
			t.Errorf("bucket %+v, want 2 keys", b)
		}
	}
	if l.Schema == 0 || l.Size < l.Pages*int64(l.PageSize) || len(l.Buckets) < 50 {
		t.Errorf("layout %+v", l)
	}
}

// BenchmarkSnapshot prints how long a copy keeps its read transaction open.
func BenchmarkSnapshot(b *testing.B) {
	for _, mib := range []int{8, 64} {
		b.Run(fmt.Sprintf("%dMiB", mib), func(b *testing.B) {
			db := storetest.Open(b)
			for i := range mib {
				update(b, db, func(tx *store.Tx) error {
					_, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint(i), Meta: motion.Document{"text": strings.Repeat("x", 1<<20)}})
					return err
				})
			}
			var longest time.Duration
			for b.Loop() {
				open, err := store.CopyTime(db, filepath.Join(b.TempDir(), "copy"))
				if err != nil {
					b.Fatal(err)
				}
				longest = max(longest, open)
			}
			b.ReportMetric(float64(longest.Milliseconds()), "tx-ms-max")
		})
	}
}
