package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// bbolt trusts its pages: damage makes it panic, read outside its mapping
// (which ends the process) or loop. So every page that the database uses is
// verified here first, with plain reads. The format is that of bbolt file
// version 2, little-endian:
//
//	page     id u64, flags u16, count u16, overflow u32, then by flags:
//	meta     magic u32, version u32, page size u32, flags u32, root page u64, root sequence u64,
//	         freelist page u64 (all ones: none), high-water mark u64, transaction u64, FNV-1a of the above u64
//	branch   count × (pos u32, key size u32, page u64); pos from the start of the element
//	leaf     count × (flags u32, pos u32, key size u32, value size u32); flag 1: the value is a bucket
//	bucket   root page u64, sequence u64; root page 0: a leaf page follows in the value
//	freelist count × page u64; count 0xffff: the first element is the count
const (
	pageHeader   = 16
	elementSize  = 16
	bucketHeader = 16
	metaSize     = 64
	metaMagic    = 0xED0CDAED
	metaVersion  = 2
	noFreelist   = ^uint64(0)

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketFlag   = 0x01

	minPageSize = 1 << 10
	maxPageSize = 1 << 24

	mostOverflow = 16 << 20 // bytes: no value of this program is as long
)

// meta is what a valid meta page says.
type meta struct {
	pageSize uint64
	root     uint64
	freelist uint64
	highest  uint64 // high-water mark: the first page that was never used
	txid     uint64
}

// pages verifies one file.
type pages struct {
	file io.ReaderAt
	meta meta
	used []bool   // by page id: part of the tree or of the freelist page
	free [][]byte // buffers of one page for the next reads
}

// verifyPages returns an error that wraps ErrDamaged when a page of the last
// committed state cannot be what bbolt wrote. An empty file is whole.
func verifyPages(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is not a regular file")
	}
	if info.Size() == 0 {
		return nil
	}
	meta, err := newestMeta(file, info.Size())
	if err != nil {
		return err
	}
	if meta.highest > uint64(info.Size())/meta.pageSize {
		return damaged("the file is cut off: %d bytes for %d pages of %d", info.Size(), meta.highest, meta.pageSize)
	}
	p := &pages{file: file, meta: meta, used: make([]bool, meta.highest)}
	p.used[0], p.used[1] = true, true
	if err := p.root(meta.root); err != nil {
		return err
	}
	if err := p.freelist(); err != nil {
		return err
	}
	if lost := slices.Index(p.used, false); lost >= 0 {
		return damaged("page %d is neither in use nor free", lost)
	}
	return nil
}

// damaged returns an error that wraps ErrDamaged.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// newestMeta returns the valid meta page of the later transaction. The second
// one lies at a page size that only a meta page tells, so all are tried.
func newestMeta(file io.ReaderAt, size int64) (meta, error) {
	first, haveFirst := readMeta(file, 0)
	if haveFirst {
		second, haveSecond := readMeta(file, int64(first.pageSize))
		if haveSecond && second.txid > first.txid {
			return second, nil
		}
		return first, nil
	}
	for at := int64(minPageSize); at <= maxPageSize && at < size; at *= 2 {
		if second, ok := readMeta(file, at); ok && second.pageSize == uint64(at) {
			return second, nil
		}
	}
	return meta{}, damaged("neither meta page is valid, or this is no bbolt file")
}

// readMeta returns the meta page at an offset when it is valid.
func readMeta(file io.ReaderAt, offset int64) (meta, bool) {
	buffer := make([]byte, pageHeader+metaSize)
	if _, err := file.ReadAt(buffer, offset); err != nil {
		return meta{}, false
	}
	body := buffer[pageHeader:]
	sum := fnv.New64a()
	sum.Write(body[:metaSize-8])
	m := meta{
		pageSize: uint64(binary.LittleEndian.Uint32(body[8:])),
		root:     binary.LittleEndian.Uint64(body[16:]),
		freelist: binary.LittleEndian.Uint64(body[32:]),
		highest:  binary.LittleEndian.Uint64(body[40:]),
		txid:     binary.LittleEndian.Uint64(body[48:]),
	}
	valid := binary.LittleEndian.Uint32(body) == metaMagic &&
		binary.LittleEndian.Uint32(body[4:]) == metaVersion &&
		binary.LittleEndian.Uint64(body[56:]) == sum.Sum64() &&
		m.pageSize >= minPageSize && m.pageSize <= maxPageSize && m.pageSize&(m.pageSize-1) == 0 &&
		m.highest > 2 && m.root > 1
	return m, valid
}

// page is a page that was read: its header and its bytes, header included.
type page struct {
	id    uint64
	flags uint16
	count int
	bytes []byte
}

// parsePage reads the header of a page.
func parsePage(id uint64, data []byte) page {
	return page{
		id:    id,
		flags: binary.LittleEndian.Uint16(data[8:]),
		count: int(binary.LittleEndian.Uint16(data[10:])),
		bytes: data,
	}
}

// read returns page id with its overflow pages and marks them as used.
func (p *pages) read(id uint64) (page, error) {
	if id < 2 || id >= p.meta.highest {
		return page{}, damaged("page %d does not exist", id)
	}
	header := p.buffer()
	if _, err := p.file.ReadAt(header, int64(id*p.meta.pageSize)); err != nil {
		return page{}, fmt.Errorf("read page %d: %w", id, err)
	}
	if says := binary.LittleEndian.Uint64(header); says != id {
		return page{}, damaged("page %d calls itself %d", id, says)
	}
	more := uint64(binary.LittleEndian.Uint32(header[12:]))
	if more >= p.meta.highest-id || more*p.meta.pageSize > mostOverflow {
		return page{}, damaged("page %d reaches too far", id)
	}
	for i := id; i <= id+more; i++ {
		if p.used[i] {
			return page{}, damaged("page %d is used twice", i)
		}
		p.used[i] = true
	}
	data := header
	if more > 0 {
		data = make([]byte, (more+1)*p.meta.pageSize)
		if _, err := p.file.ReadAt(data, int64(id*p.meta.pageSize)); err != nil {
			return page{}, fmt.Errorf("read page %d: %w", id, err)
		}
	}
	return parsePage(id, data), nil
}

// buffer returns a buffer of one page.
func (p *pages) buffer() []byte {
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return make([]byte, p.meta.pageSize)
}

// release gives the buffer of a page back that nothing refers to any more.
func (p *pages) release(done page) {
	if len(done.bytes) == int(p.meta.pageSize) {
		p.free = append(p.free, done.bytes)
	}
}

// root verifies the root page of a bucket and all below it. It alone may be an empty leaf.
func (p *pages) root(id uint64) error {
	read, err := p.read(id)
	if err != nil {
		return err
	}
	defer p.release(read)
	if read.emptyRoot() {
		return nil
	}
	return p.node(read, nil, nil)
}

// tree verifies the page id, which is no root, and all below it.
func (p *pages) tree(id uint64, low, high []byte) error {
	read, err := p.read(id)
	if err != nil {
		return err
	}
	defer p.release(read)
	return p.node(read, low, high)
}

// node verifies a page that was read and all below it. Keys must ascend, not be below
// low and be below high; nil is no bound.
func (p *pages) node(read page, low, high []byte) error {
	if read.count == 0 {
		return damaged("page %d is empty", read.id)
	}
	switch read.flags {
	case leafPage:
		return p.leaf(read, low, high)
	case branchPage:
		return p.branch(read, low, high)
	}
	return damaged("page %d has flags %#x inside a tree", read.id, read.flags)
}

// branch verifies a branch page and the pages it names.
func (p *pages) branch(b page, low, high []byte) error {
	keys := make([][]byte, b.count+1)
	keys[b.count] = high
	for i := range b.count {
		key, _, err := b.element(i, 0, 4)
		if err == nil {
			err = b.follows(i, 0, 4)
		}
		if err != nil {
			return err
		}
		if err := ascends(b.id, key, low, high, i == 0); err != nil {
			return err
		}
		keys[i], low = key, key
	}
	for i := range b.count {
		child := binary.LittleEndian.Uint64(b.bytes[pageHeader+i*elementSize+8:])
		if err := p.tree(child, keys[i], keys[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// leaf verifies a leaf page and the buckets in it.
func (p *pages) leaf(l page, low, high []byte) error {
	for i := range l.count {
		key, value, err := l.element(i, 4, 8)
		if err == nil {
			err = l.follows(i, 4, 8)
		}
		if err != nil {
			return err
		}
		if err := ascends(l.id, key, low, high, i == 0); err != nil {
			return err
		}
		low = key
		flags := binary.LittleEndian.Uint32(l.bytes[pageHeader+i*elementSize:])
		if flags > bucketFlag {
			return damaged("page %d: element %d has flags %#x", l.id, i, flags)
		}
		if flags == bucketFlag {
			if err := p.bucket(l.id, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// bucket verifies the bucket whose header is value, on page id.
func (p *pages) bucket(id uint64, value []byte) error {
	if len(value) < bucketHeader {
		return damaged("page %d holds a bucket of %d bytes", id, len(value))
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return p.root(root)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader {
		return damaged("page %d holds an inline bucket of %d bytes", id, len(value))
	}
	leaf := parsePage(id, inline)
	switch {
	case leaf.flags != leafPage:
		return damaged("page %d holds an inline bucket with flags %#x", id, leaf.flags)
	case leaf.emptyRoot():
		return nil
	}
	return p.node(leaf, nil, nil)
}

// element returns the key of element i, whose position field lies at posAt and
// whose key size field at posAt+4, and of a leaf (posAt 4) also its value.
func (p page) element(i, posAt, valueAt int) (key, value []byte, err error) {
	start := pageHeader + i*elementSize
	if start+elementSize > len(p.bytes) {
		return nil, nil, damaged("page %d: element %d lies outside", p.id, i)
	}
	field := func(at int) uint64 { return uint64(binary.LittleEndian.Uint32(p.bytes[start+at:])) }
	keyStart := uint64(start) + field(posAt)
	keyEnd := keyStart + field(posAt+4)
	valueEnd := keyEnd
	if posAt == 4 {
		valueEnd += field(valueAt + 4)
	}
	if keyStart < uint64(start+elementSize) || keyEnd == keyStart || valueEnd > uint64(len(p.bytes)) {
		return nil, nil, damaged("page %d: the data of element %d lie outside", p.id, i)
	}
	return p.bytes[keyStart:keyEnd], p.bytes[keyEnd:valueEnd], nil
}

// follows verifies that the data of element i begin where those of the one before it end,
// and those of the first one behind the last element: bbolt leaves no room between them. It
// is what tells a wrong count.
func (p page) follows(i, posAt, valueAt int) error {
	begin := pageHeader + p.count*elementSize
	if i > 0 {
		_, begin = p.data(i-1, posAt, valueAt)
	}
	if start, _ := p.data(i, posAt, valueAt); start != begin {
		return damaged("page %d: the data of element %d begin at %d, want %d", p.id, i, start, begin)
	}
	return nil
}

// data returns where the key of an element that lies inside begins, and where its value ends.
func (p page) data(i, posAt, valueAt int) (start, end int) {
	at := pageHeader + i*elementSize
	field := func(by int) int { return int(binary.LittleEndian.Uint32(p.bytes[at+by:])) }
	start = at + field(posAt)
	end = start + field(posAt+4)
	if posAt == 4 {
		end += field(valueAt + 4)
	}
	return start, end
}

// emptyRoot reports whether the page is the leaf of a bucket without keys. bbolt fills
// what it does not use of a page with zeros.
func (p page) emptyRoot() bool {
	return p.flags == leafPage && p.count == 0 && len(bytes.TrimRight(p.bytes[pageHeader:], "\x00")) == 0
}

// ascends verifies that key follows low, or is not below it when it is the
// first of its page, and is below high.
func ascends(id uint64, key, low, high []byte, first bool) error {
	order := bytes.Compare(key, low)
	if low != nil && (order < 0 || order == 0 && !first) || high != nil && bytes.Compare(key, high) >= 0 {
		return damaged("page %d: key %x is out of order", id, key)
	}
	return nil
}

// freelist verifies the list of free pages: each exists, none is in use or
// named twice.
func (p *pages) freelist() error {
	if p.meta.freelist == noFreelist {
		return nil
	}
	list, err := p.read(p.meta.freelist)
	if err != nil {
		return err
	}
	if list.flags != freelistPage {
		return damaged("page %d is not the freelist", list.id)
	}
	ids := list.bytes[pageHeader:]
	count := uint64(list.count)
	if count == 0xffff {
		count, ids = binary.LittleEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return damaged("the freelist names %d pages and has room for %d", count, len(ids)/8)
	}
	for i := range count {
		id := binary.LittleEndian.Uint64(ids[i*8:])
		if id < 2 || id >= p.meta.highest || p.used[id] {
			return damaged("the freelist names page %d, which is in use or does not exist", id)
		}
		p.used[id] = true
	}
	return nil
}
