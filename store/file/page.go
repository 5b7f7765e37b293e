package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// This file reads single pages of a database by itself, as bbolt trusts what it
// reads: damage makes it panic, read outside its mapping (which ends the process) or loop.
// The format is that of bbolt file version 2, little-endian:
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
	return meta{}, Damaged("neither meta page is valid, or this is no bbolt file")
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

// readPage returns page id with its overflow pages, of which read returns size bytes from offset.
// The error wraps ErrDamaged when what is there cannot be that page.
func readPage(read func(offset int64, size int) ([]byte, error), m meta, id uint64) (page, error) {
	if id < 2 || id >= m.highest {
		return page{}, Damaged("page %d does not exist", id)
	}
	offset := int64(id * m.pageSize)
	data, err := read(offset, int(m.pageSize))
	if err != nil {
		return page{}, fmt.Errorf("read page %d: %w", id, err)
	}
	if says := binary.LittleEndian.Uint64(data); says != id {
		return page{}, Damaged("page %d calls itself %d", id, says)
	}
	more := uint64(binary.LittleEndian.Uint32(data[12:]))
	if more >= m.highest-id || more*m.pageSize > mostOverflow {
		return page{}, Damaged("page %d reaches too far", id)
	}
	if more > 0 {
		if data, err = read(offset, int((more+1)*m.pageSize)); err != nil {
			return page{}, fmt.Errorf("read page %d: %w", id, err)
		}
	}
	return parsePage(id, data), nil
}

// freeIDs returns the list of free pages that the page holds, 8 bytes each, and the bytes
// behind it.
func (p page) freeIDs() (ids, rest []byte, err error) {
	if p.flags != freelistPage {
		return nil, nil, Damaged("page %d is not the freelist", p.id)
	}
	ids, count := p.bytes[pageHeader:], uint64(p.count)
	if count == 0xffff {
		count, ids = binary.LittleEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids))/8 {
		return nil, nil, Damaged("the freelist names %d pages and has room for %d", count, len(ids)/8)
	}
	return ids[:8*count], ids[8*count:], nil
}

// element returns the key of element i of a branch or leaf page, and of a leaf page also
// its value.
func (p page) element(i int) (key, value []byte, err error) {
	behind := pageHeader + (i+1)*elementSize
	if behind > len(p.bytes) {
		return nil, nil, Damaged("page %d: element %d lies outside", p.id, i)
	}
	start, keyEnd, end := p.data(i)
	if start < uint64(behind) || keyEnd == start || end > uint64(len(p.bytes)) {
		return nil, nil, Damaged("page %d: the data of element %d lie outside", p.id, i)
	}
	return p.bytes[start:keyEnd], p.bytes[keyEnd:end], nil
}

// data returns where in the page the key of element i begins, where it ends, and where the
// value behind it ends. The element lies inside the page; what it says may not.
func (p page) data(i int) (start, keyEnd, end uint64) {
	at := pageHeader + i*elementSize
	field := func(by int) uint64 { return uint64(binary.LittleEndian.Uint32(p.bytes[at+by:])) }
	if p.flags == leafPage {
		start = uint64(at) + field(4)
		keyEnd = start + field(8)
		return start, keyEnd, keyEnd + field(12)
	}
	start = uint64(at) + field(0)
	keyEnd = start + field(4)
	return start, keyEnd, keyEnd
}

// child returns the page that element i of a branch page names.
func (p page) child(i int) uint64 {
	return binary.LittleEndian.Uint64(p.bytes[pageHeader+i*elementSize+8:])
}

// leafFlags returns the flags of element i of a leaf page.
func (p page) leafFlags(i int) uint32 {
	return binary.LittleEndian.Uint32(p.bytes[pageHeader+i*elementSize:])
}

// follows verifies that the data of element i begin where those of the one before it end,
// and those of the first one behind the last element: bbolt leaves no room between them. It
// is what tells a wrong count.
func (p page) follows(i int) error {
	begin := uint64(pageHeader + p.count*elementSize)
	if i > 0 {
		_, _, begin = p.data(i - 1)
	}
	if start, _, _ := p.data(i); start != begin {
		return Damaged("page %d: the data of element %d begin at %d, want %d", p.id, i, start, begin)
	}
	return nil
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
		return Damaged("page %d: key %x is out of order", id, key)
	}
	return nil
}
