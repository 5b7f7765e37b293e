package store

import (
	"bytes"
	"slices"
	"sort"

	bolt "go.etcd.io/bbolt"

	"sensegate/store/file"
)

// This file takes back what stands in leaf pages that nothing names any more, because the
// branch pages above them are destroyed. Such a page does not say to which bucket it belongs.
// An index of the table does, for it names the keys of its records; what no index names stays
// lost. Of two pages that hold the same part of a table one is of former times: neither counts.

// lostPage is a leaf page that nothing names any more.
type lostPage struct {
	id          uint64
	first, last []byte // keys
}

// lostPages returns the pages that nothing names any more and that belong to a bucket, in the
// order of their keys.
func (s *salvage) lostPages(belongs func([]file.Item) (bool, error)) (pages []lostPage, err error) {
	if !s.scanned {
		if s.unreached, err = s.damaged.Unreached(s.ctx); err != nil {
			return nil, err
		}
		s.scanned = true
	}
	for _, id := range s.unreached {
		items := s.damaged.Leaf(id)
		if len(items) == 0 {
			continue
		}
		ok, err := belongs(items)
		if err != nil {
			return nil, err
		}
		if ok {
			pages = append(pages, lostPage{id: id, first: bytes.Clone(items[0].Key), last: bytes.Clone(items[len(items)-1].Key)})
		}
	}
	sort.Slice(pages, func(i, j int) bool { return bytes.Compare(pages[i].first, pages[j].first) < 0 })
	return withoutOverlaps(pages), nil
}

// withoutOverlaps returns the pages, in the order of their first keys, whose keys no other
// one's lie among.
func withoutOverlaps(pages []lostPage) (apart []lostPage) {
	overlaps := make([]bool, len(pages))
	furthest := 0 // of the pages so far, the one whose last key is the highest
	for i, p := range pages {
		if i > 0 && bytes.Compare(p.first, pages[furthest].last) <= 0 {
			overlaps[i], overlaps[furthest] = true, true
		}
		if bytes.Compare(p.last, pages[furthest].last) > 0 {
			furthest = i
		}
	}
	for i, p := range pages {
		if !overlaps[i] {
			apart = append(apart, p)
		}
	}
	return apart
}

// isApart reports whether a bucket holds nothing among the keys of a page but what that holds
// too.
func isApart(bucket *bolt.Bucket, items []file.Item) bool {
	cursor, i := bucket.Cursor(), 0
	for key, value := cursor.Seek(items[0].Key); key != nil; key, value = cursor.Next() {
		for i < len(items) && bytes.Compare(items[i].Key, key) < 0 {
			i++
		}
		if i == len(items) {
			return true
		}
		if !bytes.Equal(items[i].Key, key) || !bytes.Equal(items[i].Value, value) {
			return false
		}
	}
	return true
}

// isTorn reports whether pages are missing in gaps, and not only elements of pages.
func isTorn(gaps []file.Gap) bool {
	return slices.ContainsFunc(gaps, func(g file.Gap) bool { return g.Items == 0 })
}

// cut returns the gaps without the keys from first to last.
func cut(gaps []file.Gap, first, last []byte) (left []file.Gap) {
	after := file.After(last)
	for _, g := range gaps {
		if g.High != nil && bytes.Compare(g.High, first) <= 0 || g.Low != nil && bytes.Compare(g.Low, after) >= 0 {
			left = append(left, g)
			continue
		}
		if bytes.Compare(g.Low, first) < 0 {
			left = append(left, file.Gap{Low: g.Low, High: first, Items: g.Items})
		}
		if g.High == nil || bytes.Compare(after, g.High) < 0 {
			left = append(left, file.Gap{Low: after, High: g.High, Items: g.Items})
		}
	}
	return left
}

// holds reports whether a page that nothing names is one of the table: every record whose
// checksum is right is named by an index, and none is missing in one.
func (r rule) holds(s *salvage, items []file.Item) (bool, error) {
	named := false
	for _, item := range items {
		if item.IsBucket {
			return false, nil
		}
		if _, err := r.decode(item.Key, item.Value); err != nil {
			continue
		}
		seen, gone, err := r.countEntries(s, item.Key, item.Value)
		if err != nil || seen == 0 || gone > 0 {
			return false, err
		}
		named = true
	}
	return named, nil
}

// takeLost keeps the records of the pages of a table that nothing names any more. It returns
// what of the gaps is left.
func (r rule) takeLost(s *salvage, got *copied) error {
	if len(r.indexes()) == 0 || !isTorn(got.gaps) {
		return nil
	}
	pages, err := s.lostPages(func(items []file.Item) (bool, error) { return r.holds(s, items) })
	if err != nil {
		return err
	}
	for _, p := range pages {
		tx, err := s.tx()
		if err != nil {
			return err
		}
		items := s.damaged.Leaf(p.id)
		if len(items) == 0 || !isApart(tx.bucket(r.name), items) {
			continue
		}
		if err := r.takePage(s, p, items, got); err != nil {
			return err
		}
	}
	return nil
}

// takePage keeps the records of one page.
func (r rule) takePage(s *salvage, p lostPage, items []file.Item, got *copied) error {
	whole := true
	for _, item := range items {
		tx, err := s.tx()
		if err != nil {
			return err
		}
		v, err := r.decode(item.Key, item.Value)
		if err != nil {
			whole = false
			continue
		}
		if tx.bucket(r.name).Get(item.Key) != nil {
			continue
		}
		if err := r.take(s, item.Key, item.Value, v, got); err != nil {
			return err
		}
	}
	if whole {
		got.gaps = cut(got.gaps, p.first, p.last)
	}
	return nil
}
