package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"slices"
)

// Remains reads what can be read of a damaged file, with plain reads: pages that bbolt
// would panic on are gaps. It trusts no page that could be another one than the last commit
// has written: one that two places name, or that is free. Pages that nothing names any more are
// read apart from the others (unreached.go). Whether a value is what was
// written, only its checksum tells.
type Remains struct {
	file     *os.File
	meta     meta
	owner    []uint32 // by page id: the first page of the node that it belongs to, 0 = none
	doubtful []bool   // by page id: it may be the wrong page
	free     []bool   // by page id, nil: the list of free pages is damaged
	buckets  map[string]bucketPage
}

// bucketPage is where the keys of a bucket stand.
type bucketPage struct {
	root     uint64 // 0: in inline
	inline   []byte
	sequence uint64
}

// Reading is what happens with what is read of a bucket. Keys ascend.
type Reading struct {
	Low, High []byte                                                         // keys in [low, high); nil is no bound
	Item      func(key, value []byte, isBucket bool) (known bool, err error) // false: it is not what was written. The slices are valid until it returns
	Gap       func(Gap)                                                      // something is missing there
}

// Gap is a range of keys, [low, high), of which some could not be read; nil is no bound.
type Gap struct {
	Low, High []byte
	Items     int // how many are known to be there; of an unreadable page none is
}

// ReadRemains finds the buckets in a damaged file. The error wraps ErrDamaged when there is
// nothing to be read, or nothing to be trusted.
func ReadRemains(ctx context.Context, file *os.File) (*Remains, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	m, err := newestMeta(file, info.Size())
	if err != nil {
		return nil, err
	}
	if m.highest > math.MaxUint32 {
		return nil, Damaged("it has %d pages", m.highest)
	}
	r := &Remains{
		file: file, meta: m, owner: make([]uint32, m.highest), doubtful: make([]bool, m.highest),
		buckets: map[string]bucketPage{},
	}
	gaps, err := r.claimPages(ctx)
	if err != nil {
		return nil, err
	}
	err = r.read(ctx, bucketPage{root: m.root}, Reading{
		Item: func(name, header []byte, isBucket bool) (bool, error) {
			b, ok := parseBucket(header)
			if !isBucket || !ok {
				return false, nil
			}
			r.buckets[string(name)] = b
			return true, nil
		},
		Gap: func(Gap) {},
	})
	switch {
	case err != nil:
		return nil, err
	case len(r.buckets) == 0:
		return nil, Damaged("no bucket can be read")
	case gaps == 0 && !slices.Contains(r.doubtful, true) && !r.accounted():
		return nil, Damaged("pages are missing, and nothing tells of what")
	}
	return r, nil
}

// parseBucket returns what the header of a bucket says. The rest of it is copied.
func parseBucket(header []byte) (bucketPage, bool) {
	if len(header) < bucketHeader {
		return bucketPage{}, false
	}
	b := bucketPage{root: binary.LittleEndian.Uint64(header), sequence: binary.LittleEndian.Uint64(header[8:])}
	if b.root == 0 {
		b.inline = bytes.Clone(header[bucketHeader:])
	}
	return b, b.root != 0 || len(b.inline) >= pageHeader
}

// claimPages notes which page belongs to what, and doubts those that two claim or that are
// free. It returns how many gaps it has met.
func (r *Remains) claimPages(ctx context.Context) (gaps int, err error) {
	r.free = r.freePages()
	claim := func(p page) {
		for id := p.id; id < p.id+p.span(r.meta); id++ {
			if other := r.owner[id]; other != 0 {
				r.doubtful[other], r.doubtful[p.id] = true, true
			}
			r.owner[id] = uint32(p.id)
			if r.free != nil && r.free[id] {
				r.doubtful[p.id] = true
			}
		}
	}
	var all Reading
	all.Gap = func(Gap) { gaps++ }
	all.Item = func(_, value []byte, isBucket bool) (bool, error) {
		b, ok := parseBucket(value)
		if !isBucket || !ok {
			return !isBucket, nil
		}
		return true, (&reader{Remains: r, ctx: ctx, Reading: all, claim: claim}).bucket(b)
	}
	err = (&reader{Remains: r, ctx: ctx, Reading: all, claim: claim}).bucket(bucketPage{root: r.meta.root})
	return gaps, err
}

// accounted reports whether every page is in use or free, as far as that is known. A page
// that is not was in use, and what named it names another one.
func (r *Remains) accounted() bool {
	list, ok := r.page(r.meta.freelist)
	if !ok || r.free == nil {
		return true
	}
	end := list.id + list.span(r.meta)
	for id := uint64(2); id < r.meta.highest; id++ {
		if r.owner[id] == 0 && !r.free[id] && (id < list.id || id >= end) {
			return false
		}
	}
	return true
}

// freePages returns which pages are free, by page id, nil when the list of them is damaged.
func (r *Remains) freePages() []bool {
	list, ok := r.page(r.meta.freelist)
	if !ok {
		return nil
	}
	ids, rest, err := list.freeIDs()
	if err != nil || len(bytes.TrimRight(rest, "\x00")) > 0 {
		return nil
	}
	free, last := make([]bool, r.meta.highest), uint64(1)
	for raw := range slices.Chunk(ids, 8) {
		id := binary.LittleEndian.Uint64(raw)
		if id <= last || id >= r.meta.highest {
			return nil
		}
		free[id], last = true, id
	}
	return free
}

// Close closes the damaged file.
func (r *Remains) Close() error { return r.file.Close() }

// KnowsFree reports whether the list of free pages could be read: no page of former times
// is read then.
func (r *Remains) KnowsFree() bool { return r.free != nil }

// Sequence returns the counter of a bucket, 0 of one that is not there. It has no checksum.
func (r *Remains) Sequence(bucket string) uint64 { return r.buckets[bucket].sequence }

// EachIn reads the keys of the bucket that is the value header of another one. Of one that
// cannot be read there are none.
func (r *Remains) EachIn(ctx context.Context, header []byte, what Reading) error {
	b, ok := parseBucket(header)
	if !ok {
		return nil
	}
	return r.read(ctx, b, what)
}

// page returns page id with its overflow pages, if it can be read and is not doubtful.
func (r *Remains) page(id uint64) (page, bool) {
	p, err := readPage(r.bytes, r.meta, id)
	return p, err == nil && !r.doubtful[id]
}

func (r *Remains) bytes(offset int64, size int) ([]byte, error) {
	data := make([]byte, size)
	_, err := r.file.ReadAt(data, offset)
	return data, err
}

// Each reads the keys of a bucket. One that is not there is a gap.
func (r *Remains) Each(ctx context.Context, name string, what Reading) error {
	b, ok := r.buckets[name]
	if !ok {
		what.Gap(Gap{Low: what.Low, High: what.High})
		return nil
	}
	return r.read(ctx, b, what)
}

// read reads the keys of a bucket.
func (r *Remains) read(ctx context.Context, b bucketPage, what Reading) error {
	return (&reader{Remains: r, ctx: ctx, Reading: what}).bucket(b)
}

// Has reports whether a key of a bucket has a value, and whether it is sure of that.
func (r *Remains) Has(ctx context.Context, name string, key, want []byte) (present, sure bool, err error) {
	sure = true
	err = r.Each(ctx, name, Reading{
		Low: key, High: After(key),
		Item: func(_, value []byte, isBucket bool) (bool, error) {
			present = !isBucket && bytes.Equal(value, want)
			return true, nil
		},
		Gap: func(Gap) { sure = false },
	})
	return present, sure, err
}

// After returns the key that comes next after a key.
func After(key []byte) []byte { return append(bytes.Clone(key), 0) }
