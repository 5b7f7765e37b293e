package crashtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// What a disk writes whole, bytes: either, by chance.
const (
	sector      = 512
	largeSector = 4096
)

// shape says what a power cut left of the changes that were not synced.
type shape int

const (
	none shape = iota
	all
	some
	torn // some, and one write of them in part
	last
	early // all before one of them, as a journal keeps them
	named // all but what removes names
	shapes
)

func (s shape) String() string {
	return [...]string{"none", "all", "some", "some, one torn,", "only the last", "the first", "all but removals"}[s]
}

// image is what is on the disk after a power cut.
type image struct {
	cut
	disk *disk
	done []int // of each writer: how many operations were acknowledged
}

// String names the image in a failure.
func (i image) String() string {
	return fmt.Sprintf("power cut at step %d, %v of the unsynced changes, acknowledged %v", i.at, i.shape, i.done)
}

// cut is a moment at which the power is cut: the steps before it were done.
type cut struct {
	at     int
	shape  shape
	number int // of the cut among all, from 1: it is of no meaning to the moment
}

// cutsOf returns n random cuts of a trace. Every other one follows soon after a change of
// names, of which there are few.
func cutsOf(steps []step, n int, chance *rand.Rand) []cut {
	changed := changesOfNames(steps)
	cuts := make([]cut, n)
	for i := range cuts {
		cuts[i] = cut{at: chance.IntN(len(steps) + 1), shape: shape(chance.IntN(int(shapes)))}
		if i%2 == 1 && len(changed) > 0 {
			cuts[i].at = min(len(steps), changed[chance.IntN(len(changed))]+1+chance.IntN(2))
		}
	}
	return cuts
}

// corners returns the cuts where an order that is not kept by syncs shows: after each
// change of names, which alone survives, one step after each removal, which alone does
// not, and at the end, with nothing that is unsynced.
func corners(steps []step) []cut {
	cuts := []cut{{at: len(steps), shape: none}}
	for _, i := range changesOfNames(steps) {
		cuts = append(cuts, cut{at: i + 1, shape: last})
		if steps[i].removes() && i+2 <= len(steps) {
			cuts = append(cuts, cut{at: i + 2, shape: named})
		}
	}
	return cuts
}

// changesOfNames returns where in a trace names change.
func changesOfNames(steps []step) []int {
	var at []int
	for i, s := range steps {
		if s.kind == names {
			at = append(at, i)
		}
	}
	return at
}

// eachImage makes the images of cuts of a trace that began with a synced disk, in the
// order of their moments.
func eachImage(steps []step, found *disk, writers []*writer, cuts []cut, chance *rand.Rand, use func(image)) {
	for i := range cuts {
		cuts[i].number = i + 1
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return a.at - b.at })
	owners := map[receipt]int{}
	for i, w := range writers {
		for _, r := range w.acked {
			owners[r] = i
		}
	}
	durable, done, pending := found.clone(), make([]int, len(writers)), []int(nil)
	for at := 0; at <= len(steps); at++ {
		for ; len(cuts) > 0 && cuts[0].at == at; cuts = cuts[1:] {
			use(image{cuts[0], cuts[0].shape.apply(durable, steps, pending, chance), slices.Clone(done)})
		}
		if at == len(steps) {
			return
		}
		switch s := steps[at]; s.kind {
		case acks:
			if i, ok := owners[s.ack]; ok {
				done[i]++
				delete(owners, s.ack) // a write that was interrupted stands in the trace again
			}
		case syncs:
			pending = slices.DeleteFunc(pending, func(i int) bool {
				covered := i < s.synced && steps[i].changes(s.inode)
				if covered {
					durable.apply(steps[i])
				}
				return covered
			})
		default:
			pending = append(pending, at)
		}
	}
}

// apply returns the disk with what was left of the pending changes.
func (s shape) apply(durable *disk, steps []step, pending []int, chance *rand.Rand) *disk {
	left := durable.clone()
	tear, kept := -1, len(pending)
	if s == torn && len(pending) > 0 {
		tear = pending[chance.IntN(len(pending))]
	}
	if s == early {
		kept = chance.IntN(len(pending) + 1)
	}
	for n, i := range pending {
		switch {
		case i == tear && steps[i].kind == writes:
			steps[i].tear(left, chance)
		case s == all, s == named && !steps[i].removes(), s == early && n < kept, s == last && n == len(pending)-1, (s == some || s == torn) && chance.IntN(2) == 0:
			left.apply(steps[i])
		}
	}
	return left
}

// tear does a part of a write: any of its sectors.
func (s step) tear(d *disk, chance *rand.Rand) {
	size := sector
	if chance.IntN(2) == 0 {
		size = largeSector
	}
	for i, part := range slices.Collect(slices.Chunk(s.data, size)) {
		if chance.IntN(2) == 0 {
			d.apply(step{kind: writes, inode: s.inode, offset: s.offset + int64(i*size), data: part})
		}
	}
}

func TestPowerCutKeepsWhatWasSyncedAndAnyPartOfTheRest(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte{3}, 2*largeSector)
	const file, made = 2, 3
	steps := []step{
		{kind: writes, inode: file, data: []byte{1}},
		{kind: syncs, inode: file, synced: 1},
		{kind: acks, ack: "one"},
		{kind: acks, ack: "one"}, // interrupted, and written again
		{kind: resizes, inode: file, offset: 3 * largeSector},
		{kind: writes, inode: file, offset: largeSector, data: long},
		{kind: syncs, inode: file, synced: 5}, // begun before the write
		{kind: names, entries: []entry{{directory: rootInode, name: "new", inode: made}}},
		{kind: writes, inode: made, data: []byte{4}},
		{kind: syncs, inode: made, synced: 9}, // not of its name
		{kind: names, entries: []entry{{directory: rootInode, name: "old", inode: made}, {directory: rootInode, name: "new"}}},
		{kind: syncs, inode: rootInode, synced: 11},
		{kind: names, entries: []entry{{directory: rootInode, name: "old"}}},
		{kind: writes, inode: file, data: []byte{5}},
	}
	found := emptyDisk()
	found.enter(entry{directory: rootInode, name: "db", inode: file})
	found.files[file] = []byte{0}
	seen := map[string]bool{}
	chance := rand.New(rand.NewPCG(1, 1))
	eachImage(steps, found, []*writer{{acked: []receipt{"one"}}}, cutsOf(steps, 3000, chance), chance, func(i image) {
		paths := i.disk.paths()
		db := paths["db"]
		seen[i.shape.String()] = true
		if done := i.done[0] == 1; done != (i.at > 2) {
			t.Fatalf("%v: acknowledged before or after its time", i)
		}
		if i.at >= 2 && i.at < 14 && db[0] != 1 || i.at == 0 && db[0] != 0 {
			t.Fatalf("%v: the first byte is %d", i, db[0])
		}
		if i.at >= 7 && len(db) != 3*largeSector {
			t.Fatalf("%v: %d bytes, the size was synced", i, len(db))
		}
		written := bytes.Count(db, []byte{3})
		seen["a sector"] = seen["a sector"] || written%largeSector > 0
		seen["a large sector"] = seen["a large sector"] || written == largeSector
		if i.at >= 6 && (i.shape == none && written > 0 || i.shape == all && written < len(long)) || written%sector > 0 {
			t.Fatalf("%v: %d bytes of the last write", i, written)
		}
		_, isNew := paths["new"]
		old, isOld := paths["old"]
		seen["synced without its name"] = seen["synced without its name"] || i.at >= 10 && !isNew && !isOld
		seen["named before the sync"] = seen["named before the sync"] || i.at == 11 && isOld
		seen["under both names"] = seen["under both names"] || isNew && isOld
		if (i.at == 12 || i.at > 12 && i.shape == named) && (isNew || !isOld || !bytes.Equal(old, []byte{4})) {
			t.Fatalf("%v: the renamed file is not what was synced: %v", i, old)
		}
	})
	if len(seen) != int(shapes)+5 || seen["under both names"] || !seen["a sector"] || !seen["a large sector"] || !seen["synced without its name"] || !seen["named before the sync"] {
		t.Errorf("seen %v", seen)
	}
	if want := []cut{{14, none, 0}, {8, last, 0}, {11, last, 0}, {13, last, 0}, {14, named, 0}}; !slices.Equal(corners(steps), want) {
		t.Errorf("corners %v, want %v", corners(steps), want)
	}
	if !bytes.Equal(found.files[file], []byte{0}) || len(found.paths()) != 1 {
		t.Error("images changed the disk that was found")
	}
}

func TestDiskIsWhatLiesInADirectory(t *testing.T) {
	t.Parallel()
	d := emptyDisk()
	d.enter(entry{directory: rootInode, name: "a", inode: 2, makes: true})
	d.enter(entry{directory: 2, name: "b", inode: 3})
	d.files[3] = []byte("c")
	dir := t.TempDir()
	if err := d.write(dir); err != nil {
		t.Fatal(err)
	}
	read, err := readDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(d.same(read), read.same(d)); err != nil {
		t.Error(err)
	}
	other := d.clone()
	other.apply(step{kind: writes, inode: 3, data: []byte("d")})
	more := d.clone()
	more.enter(entry{directory: rootInode, name: "e", inode: 4})
	if d.same(other) == nil || d.same(more) == nil || more.same(d) == nil {
		t.Error("different disks are taken for the same")
	}
}
