package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store/file"
)

// pagesOf returns which pages of a database hold the leaf elements of a bucket, 0 for one
// that stands in the list of buckets itself.
func pagesOf(t *testing.T, data []byte, bucket string) (ids []uint64) {
	t.Helper()
	root := rootOf(t, data, bucket)
	if root == 0 {
		return []uint64{0}
	}
	var walk func(id uint64)
	walk = func(id uint64) {
		if flagsOf(data, id) == leafPage {
			ids = append(ids, id)
			return
		}
		for i := range countOf(data, id) {
			walk(childOf(data, id, i))
		}
	}
	walk(root)
	return ids
}

// The flags of pages.
const (
	branchPage = 1
	leafPage   = 2
)

// withoutPages returns a database whose pages are zeros.
func withoutPages(data []byte, ids ...uint64) []byte {
	broken := bytes.Clone(data)
	for _, id := range ids {
		clear(broken[id*4096:][:4096])
	}
	return broken
}

// tenanted returns a furnished database with 60 members more, a backup, and what is left when
// one of them, their session and a key were removed after that.
func tenanted(t *testing.T) (data, backup []byte) {
	t.Helper()
	first, _ := furnished(t)
	path := at(t, first, nil)
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		for i := range 60 {
			name := strings.Repeat("guest", 20) + string(rune('a'+i%26)) + string(rune('a'+i/26))
			user, err := tx.CreateUser(home.User{Email: name + "@example.com", Sub: name})
			if err != nil {
				return err
			}
			_, err = tx.CreateMembership(home.Membership{Home: 1, User: user.ID, Role: home.MemberRole})
			_, _, keyErr := tx.CreateAPIKey(APIKey{Name: name})
			_, sessionErr := tx.PutSession(Session{ID: name, User: user.ID})
			if err := errors.Join(err, keyErr, sessionErr); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.DeleteMembership(21), tx.RevokeAPIKey(1), tx.EndSession(strings.Repeat("guest", 20)+"aa"))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if backup, err = os.ReadFile(made.Path); err != nil {
		t.Fatal(err)
	}
	return usedPages(t, path), backup
}

// TestGapsAreFilledFromTheBackupButNobodyReturns zeros pages of single buckets. What was
// there comes back from the backup, as far as an index shows that it is there still.
func TestGapsAreFilledFromTheBackupButNobodyReturns(t *testing.T) {
	t.Parallel()
	data, backup := tenanted(t)
	everybody := func(tx *Tx) (int, error) { list, err := memberships.all(tx, nil); return len(list), err }
	keys := func(tx *Tx) (int, error) { list, err := tx.APIKeys(); return len(list), err }
	logins := func(tx *Tx) (int, error) { list, err := sessions.all(tx, nil); return len(list), err }
	for name, c := range map[string]struct {
		lost []string // buckets
		left map[string]func(*Tx) (int, error)
		want map[string]int
	}{
		"members, whose index is whole": {
			lost: []string{memberships.name}, left: map[string]func(*Tx) (int, error){"members": everybody, "keys": keys, "sessions": logins},
			want: map[string]int{"members": 79, "keys": 59, "sessions": 59},
		},
		"members and their indexes": {
			lost: []string{memberships.name, "memberships_by_home", "memberships_by_user"}, left: map[string]func(*Tx) (int, error){"members": everybody},
			want: map[string]int{"members": 20}, // the owners
		},
		"keys, whose index is whole": {
			lost: []string{apiKeys.name}, left: map[string]func(*Tx) (int, error){"keys": keys, "members": everybody},
			want: map[string]int{"keys": 59, "members": 79},
		},
		"keys and their indexes": {
			lost: []string{apiKeys.name, "api_keys_by_hash", "api_keys_by_name"}, left: map[string]func(*Tx) (int, error){"keys": keys},
			want: map[string]int{"keys": 0},
		},
		"sessions": {
			lost: []string{sessions.name}, left: map[string]func(*Tx) (int, error){"sessions": logins, "keys": keys},
			want: map[string]int{"sessions": 0, "keys": 59},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ids []uint64
			for _, bucket := range c.lost {
				ids = append(ids, pagesOf(t, data, bucket)...)
			}
			if slices.Contains(ids, 0) {
				t.Fatalf("a bucket of %v has no page of its own", c.lost)
			}
			db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, withoutPages(data, ids...), backup)))
			if err != nil || recovery == nil || recovery.Whole() {
				t.Fatalf("recovered %+v, %v; want it salvaged", recovery, err)
			}
			err = db.View(t.Context(), func(tx *Tx) error {
				for what, count := range c.left {
					if n, err := count(tx); n != c.want[what] || err != nil {
						t.Errorf("%d %s, %v; want %d (%+v)", n, what, err, c.want[what], recovery)
					}
				}
				return nil
			})
			if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestLostHistoryIsCountedAndTold zeros one page of events without a backup.
func TestLostHistoryIsCountedAndTold(t *testing.T) {
	t.Parallel()
	data, _ := furnished(t)
	ids := pagesOf(t, data, events.name)
	elements := int(binary.LittleEndian.Uint16(data[ids[1]*4096+10:]))
	var log bytes.Buffer
	o := testOptions(at(t, withoutPages(data, ids[1]), nil))
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	db, recovery, err := OpenOrRecover(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := tally(map[string]int{events.name: elements})
	if recovery.Lost != want || recovery.Backup != "" || recovery.Aside == "" || !recovery.Untold {
		t.Errorf("recovered %+v, want %q lost", recovery, want)
	}
	err = db.View(t.Context(), func(tx *Tx) error {
		if n := tx.bucket(events.name).Stats().KeyN; n != 600-elements {
			t.Errorf("%d events, want %d", n, 600-elements)
		}
		list, err := memberships.all(tx, nil)
		if len(list) != 20 {
			t.Errorf("%d memberships, want 20", len(list))
		}
		return err
	})
	if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
	for _, said := range []string{"may take minutes", "the rest is lost", want} {
		if !strings.Contains(log.String(), said) {
			t.Errorf("the log does not say %q:\n%s", said, log.String())
		}
	}
}

// TestWithoutAccountsAndABackupItIsRefused zeros the pages of vital records. The file stays
// as it is.
func TestWithoutAccountsAndABackupItIsRefused(t *testing.T) {
	t.Parallel()
	data, _ := furnished(t)
	broken := withoutPages(data, pagesOf(t, data, users.name)...)
	path := at(t, broken, nil)
	_, _, err := OpenOrRecover(t.Context(), testOptions(path))
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "to begin anew on purpose") {
		t.Errorf("error %v, want one that says how to begin anew", err)
	}
	if kept, err := os.ReadFile(path); err != nil || !bytes.Equal(kept, broken) {
		t.Errorf("the file was changed: %v", err)
	}
}

// TestSalvagingGoesOnAfterAKill ends salvaging at every transaction, as a kill does, and
// starts again.
func TestSalvagingGoesOnAfterAKill(t *testing.T) {
	t.Parallel()
	data, backup := furnished(t)
	path := at(t, withoutPages(data, pagesOf(t, data, events.name)[1]), backup)
	for _, left := range []string{file.SalvagePath(path), file.NewPath(path)} { // half written
		if err := os.WriteFile(left, data[:len(data)/2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for steps := 1; ; steps++ {
		ctx := &endsAfter{Context: t.Context(), left: steps}
		db, recovery, err := OpenOrRecover(ctx, testOptions(path))
		if err == nil {
			if recovery == nil { // it was ended when the new file was in its place
				recovery = db.Health().Recovery
			}
			if recovery == nil || recovery.Lost != "" || recovery.Restored == "" {
				t.Errorf("recovered %+v, want all of it restored", recovery)
			}
			t.Logf("ended %d times", steps-1)
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || steps > 100_000 {
			t.Fatalf("step %d: %v", steps, err)
		}
		if steps > 40 {
			steps += steps / 4
		}
	}
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	if known := db.Health().Recovery; known == nil || !known.Untold || known.Restored == "" {
		t.Errorf("health tells of %+v, want the recovery, untold", known)
	}
	if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
		t.Error(err)
	}
}

// endsAfter is a context that ends when it was asked so often.
type endsAfter struct {
	context.Context
	left int
}

func (e *endsAfter) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return e.Context.Err()
}

// TestEveryTableIsSalvaged wants a rule for each bucket of records, and none twice.
func TestEveryTableIsSalvaged(t *testing.T) {
	t.Parallel()
	var ruled []string
	for _, r := range salvageRules() {
		ruled = append(ruled, r.name)
	}
	slices.Sort(ruled)
	var tables []string
	db := testDB(t)
	err := db.View(t.Context(), func(tx *Tx) error {
		return tx.bolt.ForEach(func(name []byte, _ *bolt.Bucket) error {
			if b := string(name); b != metaBucket && !strings.Contains(b, "_by_") && !strings.HasPrefix(b, "samples_") {
				tables = append(tables, b)
			}
			return nil
		})
	})
	if err != nil || !slices.Equal(ruled, tables) {
		t.Errorf("rules of %v, want %v (%v)", ruled, tables, err)
	}
}

// TestPageOfFormerTimesIsNotRead makes a bucket name a page that was freed, with records that
// were removed since, while the list of free pages is lost too.
func TestPageOfFormerTimesIsNotRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	put := func(from, to int) {
		t.Helper()
		err := db.Update(t.Context(), func(tx *Tx) error {
			for i := from; i < to; i++ {
				n, err := tx.CreateNetwork(motion.Network{GuardianID: strings.Repeat("g", 100) + string(rune('a'+i))})
				if err != nil {
					return err
				}
				if _, err := tx.CreateHome(home.New(n.ID)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(0, 12)
	before := usedPages(t, path)
	stale := pagesOf(t, before, networks.name)
	err = db.Update(t.Context(), func(tx *Tx) error { return tx.DeleteNetwork(12) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	data := usedPages(t, path)
	freelist := uint64(2)
	for kindOf(t, data, freelist) != "freelist" {
		freelist++
	}
	for _, id := range stale { // put back, should they have been used again
		if !reflect.DeepEqual(data[id*4096:][:4096], before[id*4096:][:4096]) && inUse(t, data, id) {
			t.Skip("the page is in use again")
		}
		copy(data[id*4096:], before[id*4096:][:4096])
	}
	now := pagesOf(t, data, networks.name)
	if len(now) == 0 || len(stale) == 0 || now[len(now)-1] == stale[len(stale)-1] {
		t.Fatalf("pages %v were %v", now, stale)
	}
	spoil(data, now[len(now)-1], stale[len(stale)-1])
	for name, broken := range map[string][]byte{"free": data, "unknown": withoutPages(data, freelist)} {
		db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, broken, nil)))
		if err != nil {
			continue // the records cannot be read then
		}
		err = db.View(t.Context(), func(tx *Tx) error {
			if _, found, _ := networks.get(tx, 12); found {
				t.Errorf("%s: a removed network is back: %+v", name, recovery)
			}
			return nil
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	}
}

// spoil makes whatever names a page name another one.
func spoil(data []byte, from, to uint64) {
	old, other := binary.LittleEndian.AppendUint64(nil, from), binary.LittleEndian.AppendUint64(nil, to)
	for at := 2 * 4096; at+8 <= len(data); at++ {
		if bytes.Equal(data[at:at+8], old) && at%4096 != 0 {
			copy(data[at:], other)
		}
	}
}

// TestPagesThatNameEachOtherAreReadOnce puts a branch page in the place of a leaf page, which
// leads back to the page above. Its key is of another part of the bucket.
func TestPagesThatNameEachOtherAreReadOnce(t *testing.T) {
	t.Parallel()
	data, backup := furnished(t)
	const header, elementSize = 16, 16
	root := rootOf(t, data, events.name)
	above, children := data[root*4096:], countOf(data, root)
	if flagsOf(data, root) != branchPage || children < 3 {
		t.Fatalf("the root of the events has %d children", children)
	}
	key := above[header+binary.LittleEndian.Uint32(above[header:]):][:binary.LittleEndian.Uint32(above[header+4:])]
	for _, element := range []int{1, children - 1} {
		broken := bytes.Clone(data)
		spoilt := broken[childOf(data, root, element)*4096:][:4096]
		clear(spoilt[8:])
		binary.LittleEndian.PutUint16(spoilt[8:], branchPage)
		binary.LittleEndian.PutUint16(spoilt[10:], 1)
		binary.LittleEndian.PutUint32(spoilt[header:], elementSize)
		binary.LittleEndian.PutUint32(spoilt[header+4:], uint32(len(key)))
		binary.LittleEndian.PutUint64(spoilt[header+8:], root)
		copy(spoilt[header+elementSize:], key)
		db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, broken, backup)))
		if err != nil {
			t.Fatal(err)
		}
		if recovery == nil || len(records(t, db)) < 100 {
			t.Errorf("element %d: %+v", element, recovery)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNoInstallerReturnsFromTheBackup: one may have been removed since, and no index tells.
func TestNoInstallerReturnsFromTheBackup(t *testing.T) {
	t.Parallel()
	data, _ := tenanted(t)
	path := at(t, data, nil)
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	installers := func(list ...home.Installer) {
		err := db.Update(t.Context(), func(tx *Tx) error {
			h, err := tx.Home(1)
			h.Installers = list
			return errors.Join(err, tx.PutHome(h))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	installers(home.Installer{User: 30, Since: 1, Until: 9e9})
	made, err := db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	installers()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	backup, err := os.ReadFile(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	data = usedPages(t, path)
	salvaged, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, withoutPages(data, pagesOf(t, data, homes.name)...), backup)))
	if err != nil || recovery == nil || !strings.Contains(recovery.Restored, "20 of homes") {
		t.Fatalf("recovered %+v, %v; want the homes from the backup", recovery, err)
	}
	err = salvaged.View(t.Context(), func(tx *Tx) error {
		all, err := tx.Homes()
		for _, h := range all {
			if len(h.Installers) > 0 {
				t.Errorf("home %d has installers %+v", h.ID, h.Installers)
			}
		}
		return err
	})
	if err := errors.Join(err, salvaged.Check(t.Context()), salvaged.Close()); err != nil {
		t.Error(err)
	}
}
