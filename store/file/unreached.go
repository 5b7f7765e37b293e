package file

import (
	"context"
	"fmt"
)

// Item is a key of a leaf page and its value.
type Item struct {
	Key, Value []byte
	IsBucket   bool
}

// Unreached returns the leaf pages of the last commit that no page names any more, because the
// branch pages above them are destroyed. It looks at every page of the file once, so that pages
// which name each other mean nothing to it. A page counts when it is whole and neither free nor
// part of what can be reached: every page of the last commit is one of the three. Without the
// list of free pages, or when that names a page which is in use, pages of former times cannot be
// told from these, and there are none.
func (r *Remains) Unreached(ctx context.Context) (ids []uint64, err error) {
	list, ok := r.page(r.meta.freelist)
	if !ok || r.free == nil {
		return nil, nil
	}
	for id, owner := range r.owner {
		if owner != 0 && r.free[id] {
			return nil, nil
		}
	}
	spare := func(first, pages uint64) bool { // none of them belongs to anything else
		for id := first; id < first+pages; id++ {
			if r.owner[id] != 0 || r.free[id] || id >= list.id && id < list.id+list.span(r.meta) {
				return false
			}
		}
		return true
	}
	for id := uint64(2); id < r.meta.highest; {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("look for pages that nothing names: %w", err)
		}
		pages := uint64(1)
		if spare(id, 1) {
			if read, ok := r.page(id); ok && spare(id, read.span(r.meta)) && read.wholeLeaf() {
				ids, pages = append(ids, id), read.span(r.meta)
			}
		}
		id += pages
	}
	return ids, nil
}

// span returns how many pages a page and its overflow pages are.
func (p page) span(m meta) uint64 { return uint64(len(p.bytes)) / m.pageSize }

// wholeLeaf reports whether the page is a leaf whose elements are as bbolt writes them.
func (p page) wholeLeaf() bool {
	if p.flags != leafPage || p.count == 0 {
		return false
	}
	var last []byte
	for i := range p.count {
		key, _, err := p.element(i)
		if err != nil || p.follows(i) != nil || p.leafFlags(i) > bucketFlag || ascends(p.id, key, last, nil, i == 0) != nil {
			return false
		}
		last = key
	}
	return true
}

// Leaf returns the items of a page that Unreached has found.
func (r *Remains) Leaf(id uint64) []Item {
	p, ok := r.page(id)
	if !ok || !p.wholeLeaf() {
		return nil
	}
	items := make([]Item, p.count)
	for i := range items {
		key, value, err := p.element(i)
		if err != nil {
			return nil
		}
		items[i] = Item{Key: key, Value: value, IsBucket: p.leafFlags(i) == bucketFlag}
	}
	return items
}
