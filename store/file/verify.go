package file

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
)

// pages verifies one file.
type pages struct {
	file    mapping
	meta    meta
	used    []bool // by page id: part of the tree or of the freelist page
	reading uint64 // the last page
}

// verify returns an error that wraps ErrDamaged when a page of the last
// committed state cannot be what bbolt wrote. An empty file is whole.
func verify(file *os.File) error {
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
		return Damaged("the file is cut off: %d bytes for %d pages of %d", info.Size(), meta.highest, meta.pageSize)
	}
	mapped, err := mapFile(file, int(meta.highest*meta.pageSize))
	if err != nil {
		return err
	}
	defer mapped.close()
	return verifyMapped(mapped, meta)
}

// verifyMapped verifies the pages of a file in memory. What the disk cannot read, or another process has cut off, is
// an error.
func verifyMapped(mapped mapping, meta meta) (err error) {
	p := &pages{file: mapped, meta: meta, used: make([]bool, meta.highest)}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch met := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }: // a fault
			err = fmt.Errorf("read page %d: %v", p.reading, met)
		default:
			panic(met)
		}
	}()
	p.used[0], p.used[1] = true, true
	if err := p.root(meta.root); err != nil {
		return err
	}
	if err := p.freelist(); err != nil {
		return err
	}
	if lost := slices.Index(p.used, false); lost >= 0 {
		return Damaged("page %d is neither in use nor free", lost)
	}
	return nil
}

// read returns page id with its overflow pages and marks them as used.
func (p *pages) read(id uint64) (page, error) {
	p.reading = id
	read, err := readPage(p.file.bytes, p.meta, id)
	if err != nil {
		return page{}, err
	}
	for i := id; i < id+uint64(len(read.bytes))/p.meta.pageSize; i++ {
		if p.used[i] {
			return page{}, Damaged("page %d is used twice", i)
		}
		p.used[i] = true
	}
	return read, nil
}

// root verifies the root page of a bucket and all below it. It alone may be an empty leaf.
func (p *pages) root(id uint64) error {
	read, err := p.read(id)
	if err != nil {
		return err
	}
	if read.emptyRoot() {
		return nil
	}
	return p.node(read, nil, nil)
}

// tree verifies the page id, which is no root, and all below it. Its first key is low, by
// which bbolt finds its place in the page above when it writes it anew.
func (p *pages) tree(id uint64, low, high []byte) error {
	read, err := p.read(id)
	if err != nil {
		return err
	}
	if err := p.node(read, low, high); err != nil {
		return err
	}
	if first, _, err := read.element(0); err != nil || !bytes.Equal(first, low) {
		return Damaged("page %d begins with key %x, and the page above says %x", id, first, low)
	}
	return nil
}

// node verifies a page that was read and all below it. Keys must ascend, not be below
// low and be below high; nil is no bound.
func (p *pages) node(read page, low, high []byte) error {
	if read.count == 0 {
		return Damaged("page %d is empty", read.id)
	}
	switch read.flags {
	case leafPage:
		return p.leaf(read, low, high)
	case branchPage:
		return p.branch(read, low, high)
	}
	return Damaged("page %d has flags %#x inside a tree", read.id, read.flags)
}

// branch verifies a branch page and the pages it names.
func (p *pages) branch(b page, low, high []byte) error {
	keys := make([][]byte, b.count+1)
	keys[b.count] = high
	for i := range b.count {
		key, _, err := b.element(i)
		if err == nil {
			err = b.follows(i)
		}
		if err == nil {
			err = ascends(b.id, key, low, high, i == 0)
		}
		if err != nil {
			return err
		}
		keys[i], low = key, key
	}
	for i := range b.count {
		if err := p.tree(b.child(i), keys[i], keys[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// leaf verifies a leaf page and the buckets in it.
func (p *pages) leaf(l page, low, high []byte) error {
	for i := range l.count {
		key, value, err := l.element(i)
		if err == nil {
			err = l.follows(i)
		}
		if err == nil {
			err = ascends(l.id, key, low, high, i == 0)
		}
		if err != nil {
			return err
		}
		low = key
		flags := l.leafFlags(i)
		if flags > bucketFlag {
			return Damaged("page %d: element %d has flags %#x", l.id, i, flags)
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
		return Damaged("page %d holds a bucket of %d bytes", id, len(value))
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		return p.root(root)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader {
		return Damaged("page %d holds an inline bucket of %d bytes", id, len(value))
	}
	leaf := parsePage(id, inline)
	switch {
	case leaf.flags != leafPage:
		return Damaged("page %d holds an inline bucket with flags %#x", id, leaf.flags)
	case leaf.emptyRoot():
		return nil
	}
	return p.node(leaf, nil, nil)
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
	ids, _, err := list.freeIDs()
	if err != nil {
		return err
	}
	for raw := range slices.Chunk(ids, 8) {
		id := binary.LittleEndian.Uint64(raw)
		if id < 2 || id >= p.meta.highest || p.used[id] {
			return Damaged("the freelist names page %d, which is in use or does not exist", id)
		}
		p.used[id] = true
	}
	return nil
}
