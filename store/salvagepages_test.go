package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store/file"
	"sensegate/store/samples"
)

// branchesOf returns the branch pages of a bucket.
func branchesOf(t *testing.T, data []byte, bucket string) (ids []uint64) {
	t.Helper()
	var walk func(id uint64)
	walk = func(id uint64) {
		if flagsOf(data, id) != branchPage {
			return
		}
		ids = append(ids, id)
		for i := range countOf(data, id) {
			walk(childOf(data, id, i))
		}
	}
	if walk(rootOf(t, data, bucket)); len(ids) == 0 {
		t.Fatalf("%s has no branch page", bucket)
	}
	return ids
}

// freelistOf returns the page with the list of free pages, which are few enough for one.
func freelistOf(t *testing.T, data []byte) uint64 {
	t.Helper()
	for id := uint64(2); id < uint64(len(data)/4096); id++ {
		if kindOf(t, data, id) == "freelist" {
			return id
		}
	}
	t.Fatal("there is no list of free pages")
	return 0
}

// recordsOf returns the records of a database file that is whole.
func recordsOf(t *testing.T, data []byte) map[string]string {
	t.Helper()
	db, err := Open(testOptions(at(t, data, nil)))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return records(t, db)
}

// within returns the records of a bucket.
func within(all map[string]string, bucket string) map[string]string {
	some := maps.Clone(all)
	maps.DeleteFunc(some, func(key, _ string) bool { return !strings.HasPrefix(key, bucket+"/") })
	return some
}

// TestPagesBelowADestroyedBranchAreTakenBack zeros the branch pages of tables, one or several
// of them, without a backup. Nothing is lost, and nobody who was removed is back.
func TestPagesBelowADestroyedBranchAreTakenBack(t *testing.T) {
	t.Parallel()
	data, _ := tenanted(t)
	want := recordsOf(t, data)
	for name, buckets := range map[string][]string{
		"members": {memberships.name}, "people": {users.name}, "keys": {apiKeys.name}, "sessions": {sessions.name}, "history": {events.name},
		"everything": {memberships.name, users.name, apiKeys.name, sessions.name, events.name, leafs.name},
		"an index":   {"events_by_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := data
			for _, bucket := range buckets {
				broken = withoutPages(broken, branchesOf(t, data, bucket)...)
			}
			db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, broken, nil)))
			if err != nil {
				t.Fatal(err)
			}
			if recovery == nil || recovery.Aside == "" || recovery.Lost != "" {
				t.Errorf("recovered %+v, want that nothing is lost", recovery)
			}
			if got := records(t, db); !maps.Equal(got, want) {
				t.Errorf("%d records, want the %d that were there", len(got), len(want))
			}
			if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// packed returns a backup with blocks of ten networks, of which several share a value, and the database
// after late ones have come, so that packs were cut anew.
func packed(t *testing.T) (backup, data []byte) {
	t.Helper()
	path := at(t, nil, nil)
	random := rand.New(rand.NewPCG(5, 6))
	put := func(tx *Tx, network motion.NetworkID, i int, id series.ID) error {
		block := series.NewBlock(series.Tiers()[0], int64(1763990400+600*i))
		for second := range int64(600) {
			block.AddFrame(block.Start()+second, []Value{{ID: id, Value: random.Float64()}, {ID: id + "2", Value: random.Float64()}})
		}
		return tx.samples().Import(network, samples.Block{Tier: block.Tier(), Start: block.Start(), Value: block.AppendValue(nil)})
	}
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) (err error) {
		for guardian := range 10 {
			_, made := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint("g", guardian)})
			err = errors.Join(err, made)
		}
		for network := motion.NetworkID(10); network > 0; network-- { // so that a block joins those of greater networks
			for i := range 60 {
				err = errors.Join(err, put(tx, network, i, series.Network))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) (err error) {
		for i := range 59 { // but for the first, so that the last pack of a start is in a page with the first of the next
			for network := motion.NetworkID(1); network <= 10; network++ {
				err = errors.Join(err, put(tx, network, i+1, "late"))
			}
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if backup, err = os.ReadFile(made.Path); err != nil {
		t.Fatal(err)
	}
	return backup, usedPages(t, path)
}

// TestLostPacksAreTakenFromTheBackupOrTold zeros pages with blocks of several networks. Nothing of what the
// backup has is missing, although packs were cut anew since, and without a backup the loss is told.
func TestLostPacksAreTakenFromTheBackupOrTold(t *testing.T) {
	t.Parallel()
	backup, data := packed(t)
	bucket := samples.Bucket(series.Tiers()[0])
	blocksIn := func(db *DB) (blocks map[[2]int64][]byte) {
		t.Helper()
		blocks = map[[2]int64][]byte{}
		err := db.View(t.Context(), func(tx *Tx) error {
			for network := motion.NetworkID(1); network <= 10; network++ {
				list, next, damaged := tx.samples().Blocks(network, series.Tiers()[0], 0, 1<<30)
				if next >= 0 || damaged > 0 {
					t.Errorf("network %d: %d damaged", network, damaged)
				}
				for _, b := range list {
					blocks[[2]int64{b.Start, int64(network)}] = b.Value
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return blocks
	}
	open := func(damaged, backup []byte) (map[[2]int64][]byte, *Recovery) {
		t.Helper()
		db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, damaged, backup)))
		if err != nil || recovery == nil {
			t.Fatal(err, recovery)
		}
		defer db.Close()
		return blocksIn(db), recovery
	}
	db, err := Open(testOptions(at(t, backup, nil)))
	if err != nil {
		t.Fatal(err)
	}
	held := blocksIn(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	leafs := 0
	for _, branch := range branchesOf(t, data, bucket) {
		for i := range countOf(data, branch) {
			leaf := childOf(data, branch, i)
			if flagsOf(data, leaf) == branchPage || i%5 > 0 {
				continue
			}
			leafs++
			damaged := withoutPages(data, leaf)
			got, _ := open(damaged, backup)
			for at := range held {
				if got[at] == nil {
					t.Errorf("leaf %d: the block of network %d at %d is missing, and the backup has it", leaf, at[1], at[0])
				}
			}
			if got, recovery := open(damaged, nil); len(got) < len(held) && !strings.Contains(recovery.Lost, bucket) {
				t.Errorf("leaf %d: %d of %d blocks are left, and it is told %q", leaf, len(got), len(held), recovery.Lost)
			}
		}
	}
	if leafs < 3 {
		t.Errorf("%d leafs", leafs)
	}
}

// TestBlocksBelowADestroyedBranchAreTakenBack zeros the branch page of the samples.
func TestBlocksBelowADestroyedBranchAreTakenBack(t *testing.T) {
	t.Parallel()
	_, data := packed(t)
	bucket := samples.Bucket(series.Tiers()[0])
	want := recordsOf(t, data)
	db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, withoutPages(data, branchesOf(t, data, bucket)...), nil)))
	if err != nil {
		t.Fatal(err)
	}
	if got := records(t, db); recovery == nil || !maps.Equal(within(got, bucket), within(want, bucket)) {
		t.Errorf("%d blocks, want %d: %+v", len(within(got, bucket)), len(within(want, bucket)), recovery)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestPageOfFormerTimesIsNotTakenBack destroys the branch page of the members and makes a page
// of former times, on which one stands who was removed, seem to be in use: the list of free
// pages is lost, names it no more, or names pages that are in use instead. Nobody who was
// removed is back, and where members are lost it is told.
func TestPageOfFormerTimesIsNotTakenBack(t *testing.T) {
	t.Parallel()
	data, _ := tenanted(t)
	want := within(recordsOf(t, data), memberships.name)
	list := freelistOf(t, data)
	removed := append(key32[uint32](21), []byte(`{"id":21,`)...)
	var former uint64 // a free page with the removed member
	ids := data[list*4096+16:][:8*countOf(data, list)]
	for raw := range slices.Chunk(ids, 8) {
		if id := binary.LittleEndian.Uint64(raw); flagsOf(data, id) == leafPage && bytes.Contains(data[id*4096:][:4096], removed) {
			former = id
		}
	}
	if former == 0 {
		t.Fatal("no page of former times has the removed member")
	}
	freelist := func(change func(list []uint64) []uint64) []byte {
		broken := bytes.Clone(data)
		var named []uint64
		for raw := range slices.Chunk(ids, 8) {
			named = append(named, binary.LittleEndian.Uint64(raw))
		}
		named = change(named)
		slices.Sort(named)
		page := broken[list*4096:][:4096]
		clear(page[16:])
		binary.LittleEndian.PutUint16(page[10:], uint16(len(named)))
		for i, id := range named {
			binary.LittleEndian.PutUint64(page[16+8*i:], id)
		}
		return broken
	}
	without := func(list []uint64) []uint64 {
		return slices.DeleteFunc(list, func(id uint64) bool { return id == former })
	}
	leaves := pagesOf(t, data, memberships.name)
	for name, c := range map[string]struct {
		data []byte
		lost []uint64 // leaf pages that are destroyed too
	}{
		"the list is as it was":                          {data: data},
		"the list is lost":                               {data: withoutPages(data, list)},
		"the list does not name the page":                {data: freelist(without)},
		"the list names a page in use instead":           {data: freelist(func(l []uint64) []uint64 { return append(without(l), pagesOf(t, data, events.name)[1]) })},
		"the page that came after it is destroyed too":   {data: freelist(without), lost: leaves},
		"the list is as it was, and a leaf is destroyed": {data: data, lost: leaves[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := withoutPages(c.data, append(branchesOf(t, data, memberships.name), c.lost...)...)
			db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, broken, nil)))
			if err != nil {
				if name == "the list is as it was" || !strings.Contains(err.Error(), "to begin anew on purpose") {
					t.Error(err)
				}
				return
			}
			got := within(records(t, db), memberships.name)
			for key, value := range got {
				if want[key] != value {
					t.Errorf("%s is %q, want %q", key, value, want[key])
				}
			}
			if len(got) < len(want) && recovery.Lost == "" {
				t.Errorf("%d of %d members, and nobody is told", len(got), len(want))
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTablesWithoutAnIndexAreNotTakenBack zeros the branch page of the links: nothing tells for
// certain to which bucket the pages below belong. It is told.
func TestTablesWithoutAnIndexAreNotTakenBack(t *testing.T) {
	t.Parallel()
	path := at(t, nil, nil)
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		if err != nil {
			return err
		}
		for i := range 200 {
			link := motion.Link{NetworkID: n.ID, Name: strings.Repeat("l", 60) + string(rune('a'+i/26)) + string(rune('a'+i%26))}
			if err := tx.PutLink(link); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	data := usedPages(t, path)
	db, recovery, err := OpenOrRecover(t.Context(), testOptions(at(t, withoutPages(data, branchesOf(t, data, links.name)...), nil)))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(within(records(t, db), links.name)); n != 0 || !strings.Contains(recovery.Lost, "perhaps some of links") {
		t.Errorf("%d links: %+v", n, recovery)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestOverlappingPagesAreBothLeftOut(t *testing.T) {
	t.Parallel()
	page := func(id uint64, first, last string) lostPage { return lostPage{id, []byte(first), []byte(last)} }
	got := withoutOverlaps([]lostPage{page(1, "a", "b"), page(2, "c", "k"), page(3, "d", "e"), page(4, "f", "g"), page(5, "l", "m"), page(6, "m", "n"), page(7, "o", "o")})
	var ids []uint64
	for _, p := range got {
		ids = append(ids, p.id)
	}
	if !slices.Equal(ids, []uint64{1, 7}) {
		t.Errorf("pages %v are left, want 1 and 7", ids)
	}
}

func TestCutGaps(t *testing.T) {
	t.Parallel()
	gap := func(low, high []byte) file.Gap { return file.Gap{Low: low, High: high} }
	b := func(text string) []byte { return []byte(text) }
	for name, c := range map[string]struct{ gaps, want []file.Gap }{
		"of everything": {[]file.Gap{gap(nil, nil)}, []file.Gap{gap(nil, b("d")), gap(b("f\x00"), nil)}},
		"around":        {[]file.Gap{gap(b("a"), b("z"))}, []file.Gap{gap(b("a"), b("d")), gap(b("f\x00"), b("z"))}},
		"the same":      {[]file.Gap{gap(b("d"), b("f\x00"))}, nil},
		"apart":         {[]file.Gap{gap(b("a"), b("d")), gap(b("g"), b("h"))}, []file.Gap{gap(b("a"), b("d")), gap(b("g"), b("h"))}},
	} {
		got := cut(c.gaps, b("d"), b("f"))
		equal := slices.EqualFunc(got, c.want, func(x, y file.Gap) bool { return bytes.Equal(x.Low, y.Low) && bytes.Equal(x.High, y.High) })
		if !equal {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
