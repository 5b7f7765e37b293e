package crashtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// sector is what a disk writes whole, bytes.
const sector = 512

// shape says what a power cut left of the writes that were not synced.
type shape int

const (
	none shape = iota
	all
	some
	torn // some, and one of them in part
	last
	shapes
)

func (s shape) String() string {
	return [...]string{"none", "all", "some", "some, one torn,", "only the last"}[s]
}

// image is what is on the disk after a power cut.
type image struct {
	at    int // the steps before it were done
	shape shape
	disk  []byte
	done  []int // of each writer: how many operations were acknowledged
}

// String names the image in a failure.
func (i image) String() string {
	return fmt.Sprintf("power cut at step %d, %v of the unsynced writes, acknowledged %v", i.at, i.shape, i.done)
}

// eachImage cuts the power at n random moments of a trace that began with a synced
// disk, in their order.
func eachImage(steps []step, disk []byte, writers []*writer, n int, chance *rand.Rand, use func(image)) {
	cuts := make([]int, n)
	for i := range cuts {
		cuts[i] = chance.IntN(len(steps) + 1)
	}
	slices.Sort(cuts)
	owners := map[receipt]int{}
	for i, w := range writers {
		for _, r := range w.acked {
			owners[r] = i
		}
	}
	disk, done, pending := bytes.Clone(disk), make([]int, len(writers)), []int(nil)
	for at := 0; at <= len(steps); at++ {
		for ; len(cuts) > 0 && cuts[0] == at; cuts = cuts[1:] {
			s := shape(chance.IntN(int(shapes)))
			use(image{at, s, s.apply(disk, steps, pending, chance), slices.Clone(done)})
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
			for len(pending) > 0 && pending[0] < s.synced {
				disk = steps[pending[0]].apply(disk)
				pending = pending[1:]
			}
		default:
			pending = append(pending, at)
		}
	}
}

// apply does a write to a disk.
func (s step) apply(disk []byte) []byte {
	end := s.offset + int64(len(s.data))
	if s.kind == resizes && int64(len(disk)) > end {
		return disk[:end]
	}
	if missing := end - int64(len(disk)); missing > 0 {
		disk = append(disk, make([]byte, missing)...)
	}
	copy(disk[s.offset:], s.data)
	return disk
}

// apply returns the disk with what was left of the pending writes.
func (s shape) apply(disk []byte, steps []step, pending []int, chance *rand.Rand) []byte {
	disk = bytes.Clone(disk)
	tear := -1
	if s == torn && len(pending) > 0 {
		tear = pending[chance.IntN(len(pending))]
	}
	for _, i := range pending {
		switch {
		case i == tear:
			disk = steps[i].tear(disk, chance)
		case s == all, s == last && i == pending[len(pending)-1], (s == some || s == torn) && chance.IntN(2) == 0:
			disk = steps[i].apply(disk)
		}
	}
	return disk
}

// tear does a part of a write: any of its sectors.
func (s step) tear(disk []byte, chance *rand.Rand) []byte {
	for i, part := range slices.Collect(slices.Chunk(s.data, sector)) {
		if chance.IntN(2) == 0 {
			disk = step{kind: writes, offset: s.offset + int64(i*sector), data: part}.apply(disk)
		}
	}
	return disk
}

func TestPowerCutKeepsWhatWasSyncedAndAnyPartOfTheRest(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte{3}, 2*sector)
	steps := []step{
		{kind: writes, offset: 0, data: []byte{1}},
		{kind: syncs, synced: 1},
		{kind: acks, ack: "one"},
		{kind: acks, ack: "one"}, // interrupted, and written again
		{kind: resizes, offset: 3 * sector},
		{kind: writes, offset: sector, data: long},
		{kind: syncs, synced: 5}, // begun before the write
	}
	seen := map[shape]bool{}
	inPart := false
	eachImage(steps, []byte{0}, []*writer{{acked: []receipt{"one"}}}, 1000, rand.New(rand.NewPCG(1, 1)), func(i image) {
		seen[i.shape] = true
		if done := i.done[0] == 1; done != (i.at > 2) {
			t.Fatalf("%v: acknowledged before or after its time", i)
		}
		if i.at >= 2 && i.disk[0] != 1 || i.at == 0 && i.disk[0] != 0 {
			t.Fatalf("%v: the first byte is %d", i, i.disk[0])
		}
		if i.at == 7 && len(i.disk) != 3*sector {
			t.Fatalf("%v: %d bytes, the size was synced", i, len(i.disk))
		}
		written := bytes.Count(i.disk, []byte{3})
		inPart = inPart || written == sector
		if i.at >= 6 && (i.shape == none && written > 0 || i.shape == all && written < 2*sector) || written%sector > 0 {
			t.Fatalf("%v: %d bytes of the last write", i, written)
		}
	})
	if len(seen) != int(shapes) || !inPart {
		t.Errorf("shapes %v, a write in part: %v", seen, inPart)
	}
}
