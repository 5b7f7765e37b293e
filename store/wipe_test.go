package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// planted stands in everything that the tests delete, and nowhere else.
var planted = []string{"planted-mail", "Planted-Name", "planted-guardian", "planted-text"}

// plant stores users and a network that fill pages, most of them more than once, among
// others that stay, and returns them.
func plant(t *testing.T, db *store.DB) (users []home.UserID, network motion.NetworkID) {
	t.Helper()
	network = newNetwork(t, db, "planted-guardian")
	stays := newNetwork(t, db, "stays")
	for i := range 300 {
		update(t, db, func(tx *store.Tx) error {
			u, err1 := tx.CreateUser(home.User{Email: fmt.Sprintf("planted-mail-%d@example.com", i), FirstName: "Planted-Name", Sub: fmt.Sprint("sub-", i)})
			users = append(users, u.ID)
			_, err2 := tx.CreateUser(home.User{Email: fmt.Sprintf("stays-%d@example.com", i), Sub: fmt.Sprint("stays-", i)})
			_, _, err3 := tx.AddEvent(motion.Event{NetworkID: network, Event: motion.MotionDetectedEvent, TS: motion.Time(i + 1), Data: motion.Document{"text": "planted-text"}}, "")
			_, _, err4 := tx.AddEvent(motion.Event{NetworkID: stays, Event: motion.MotionDetectedEvent, TS: motion.Time(i + 1)}, "")
			return errors.Join(err1, err2, err3, err4)
		})
	}
	return users, network
}

// uproot deletes what plant has stored.
func uproot(t *testing.T, db *store.DB, users []home.UserID, network motion.NetworkID) {
	t.Helper()
	update(t, db, func(tx *store.Tx) error {
		for _, id := range users {
			if err := tx.DeleteUser(id); err != nil {
				return err
			}
		}
		return tx.DeleteNetwork(network)
	})
}

// inFiles counts what was planted in the raw bytes of the files of a directory.
func inFiles(t *testing.T, directory string) (hits int) {
	t.Helper()
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, needle := range planted {
			hits += bytes.Count(raw, []byte(needle))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hits
}

func TestDeletedIsWipedFromTheRawFile(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	directory := filepath.Dir(db.Path())
	users, network := plant(t, db)
	uproot(t, db, users, network)
	if inFiles(t, directory) == 0 {
		t.Fatal("the free pages hold nothing of it: the test sees nothing")
	}
	if err := db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits := inFiles(t, directory); hits != 0 {
		t.Errorf("%d places in the file still hold what was deleted", hits)
	}
	if len(storetest.Scan(t, db, "stays-299@example.com")) == 0 {
		t.Error("what stays is gone")
	}
}

func TestWipeWritesEachFreePageOnce(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	users, network := plant(t, db)
	uproot(t, db, users, network)
	bytesOf := func() int64 {
		before, err1 := db.Stats(t.Context())
		err2 := db.Wipe(t.Context())
		after, err3 := db.Stats(t.Context())
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		return after.Bytes - before.Bytes
	}
	layout, err := db.Layout(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	most := int64(layout.FreePages+16) * int64(layout.PageSize)
	if first := bytesOf(); first == 0 || first > most {
		t.Errorf("wiping wrote %d bytes, want up to %d: those of the free pages", first, most)
	}
	if second := bytesOf(); second != 0 {
		t.Errorf("wiping again wrote %d bytes", second)
	}
}

func TestWipeStaysDueUntilItIsDone(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := filepath.Join(directory, "sensegate.db")
	db, err := store.Open(store.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	users, network := plant(t, db)
	uproot(t, db, users, network)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Wipe(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(store.Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		if err := errors.Join(db.WipeDeleted(ctx), db.Close()); err != nil {
			t.Error(err)
		}
	})
	if hits := inFiles(t, directory); hits != 0 {
		t.Errorf("%d hits two minutes after the next start", hits)
	}
}

func TestDeletionsWithinAnHourAreWipedTogether(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(store.Options{Path: filepath.Join(directory, "sensegate.db")})
		if err != nil {
			t.Fatal(err)
		}
		users, network := plant(t, db)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- db.WipeDeleted(ctx) }()
		uproot(t, db, users[:1], network)
		time.Sleep(2 * time.Minute)
		uproot(t, db, users[1:], network+1)
		time.Sleep(30 * time.Minute)
		if inFiles(t, directory) == 0 {
			t.Error("wiped twice within the hour")
		}
		time.Sleep(31 * time.Minute)
		if hits := inFiles(t, directory); hits != 0 {
			t.Errorf("%d hits after an hour", hits)
		}
		cancel()
		if err := errors.Join(<-done, db.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestBackupsOfADeletedNetworkAreReplaced(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	db := storetest.Open(t, func(o *store.Options) { o.Now = func() time.Time { return now } })
	directory := filepath.Dir(db.Path())
	backUp := func() {
		now = now.Add(24 * time.Hour)
		if _, err := db.Backup(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	users, network := plant(t, db)
	backUp()
	backUp()
	now = now.AddDate(3, 0, 0)
	backUp()
	now = now.AddDate(-3, 0, 0) // the clock was wrong
	update(t, db, func(tx *store.Tx) error {
		unused, err := tx.CreateNetwork(motion.Network{GuardianID: "unused"})
		if err != nil {
			return err
		}
		return errors.Join(tx.DeleteUser(users[0]), tx.DropNetwork(unused.ID))
	})
	if err := db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := store.Backups(db.Path()); len(list) != 3 || err != nil {
		t.Errorf("a deleted user or an unused network costs backups: %v, %v", list, err)
	}
	now = now.Add(time.Hour)
	uproot(t, db, users[1:], network)
	now = now.Add(30 * time.Second)
	made, err := db.Backup(t.Context()) // while the free pages still hold it
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(made.Path); err != nil || !bytes.Contains(raw, []byte(planted[0])) {
		t.Fatalf("the backup holds nothing that is to be wiped: %v", err)
	}
	now = now.Add(30 * time.Second)
	if err := db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := store.Backups(db.Path())
	if err != nil || len(list) != 1 || !list[0].At.Equal(now) {
		t.Errorf("backups %v, %v; want one of %v", list, err, now)
	}
	if hits := inFiles(t, directory); hits != 0 {
		t.Errorf("%d hits in the state directory", hits)
	}
	backUp()
	if err := db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if list, err := store.Backups(db.Path()); len(list) != 2 || err != nil {
		t.Errorf("later backups are touched: %v, %v", list, err)
	}
}

// TestUnfinishedBackupOfADeletedNetworkIsRemoved wipes where a crash has cut the first
// backup off.
func TestUnfinishedBackupOfADeletedNetworkIsRemoved(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	users, network := plant(t, db)
	raw, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	directory := store.BackupDirectory(db.Path())
	if err := errors.Join(os.Mkdir(directory, 0o700), os.WriteFile(filepath.Join(directory, "new"), raw, 0o600)); err != nil {
		t.Fatal(err)
	}
	uproot(t, db, users, network)
	if err := db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	if hits := inFiles(t, filepath.Dir(db.Path())); hits != 0 {
		t.Errorf("%d hits in the state directory", hits)
	}
}

func TestReadersNeverSeeAWipedPage(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	stop, done := make(chan struct{}), sync.WaitGroup{}
	for range 3 {
		done.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := db.View(context.Background(), func(tx *store.Tx) error {
					before, err1 := tx.Users()
					time.Sleep(time.Millisecond) // commits and wipes go on beside
					after, err2 := tx.Users()
					for _, u := range after {
						if !strings.Contains(u.Email, "@example.com") {
							return fmt.Errorf("read %+v", u)
						}
					}
					if len(before) != len(after) {
						return fmt.Errorf("%d users, then %d", len(before), len(after))
					}
					return errors.Join(err1, err2)
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 40 {
		var id home.UserID
		update(t, db, func(tx *store.Tx) error {
			u, err := tx.CreateUser(home.User{Email: fmt.Sprintf("%d@example.com", i), FirstName: strings.Repeat("x", 3000), Sub: fmt.Sprint(i)})
			id = u.ID
			return err
		})
		if i%2 == 0 {
			update(t, db, func(tx *store.Tx) error { return tx.DeleteUser(id) })
		}
		if err := db.Wipe(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	done.Wait()
}

func TestWipingWaitsForAnOldReader(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(store.Options{Path: filepath.Join(directory, "sensegate.db")})
		if err != nil {
			t.Fatal(err)
		}
		users, network := plant(t, db)
		read, finish, wiped := make(chan error, 1), make(chan struct{}), make(chan error, 1)
		go func() {
			read <- db.View(context.Background(), func(tx *store.Tx) error {
				<-finish
				list, err := tx.Users()
				if len(list) != 600 {
					t.Errorf("read %d users, want those of before the deletion", len(list))
				}
				return err
			})
		}()
		synctest.Wait()
		uproot(t, db, users, network)
		go func() { wiped <- db.Wipe(context.Background()) }()
		synctest.Wait()
		if inFiles(t, directory) == 0 {
			t.Error("wiped what is being read")
		}
		close(finish)
		if err := errors.Join(<-read, <-wiped, db.Close()); err != nil {
			t.Error(err)
		}
	})
	if hits := inFiles(t, directory); hits != 0 {
		t.Errorf("%d hits", hits)
	}
}
