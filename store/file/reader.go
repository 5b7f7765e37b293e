package file

import (
	"bytes"
	"context"
	"fmt"
	"math"
)

// reader reads one bucket.
type reader struct {
	*Remains
	ctx context.Context
	Reading
	claim func(page) // nil: the pages are known
	last  []byte     // the last key that was read, nil: none
}

func (r *reader) bucket(b bucketPage) error {
	if b.root != 0 {
		return r.tree(b.root, nil, nil, true)
	}
	p := parsePage(0, b.inline)
	if p.flags != leafPage {
		r.miss(nil, nil, 0)
		return nil
	}
	return r.node(p, nil, nil, true)
}

// tree reads the page id and all below it. Its keys are in [low, high); nil is no bound.
// Where the damage makes pages name each other it comes to an end: a page that fits in two
// places is doubtful once both have claimed it, and below one that does not fit nothing is read.
func (r *reader) tree(id uint64, low, high []byte, isRoot bool) error {
	if err := r.ctx.Err(); err != nil {
		return fmt.Errorf("read what is left: %w", err)
	}
	if !r.wants(low, high) {
		return nil
	}
	p, ok := r.page(id)
	if !ok {
		r.miss(low, high, 0)
		return nil
	}
	fits := p.fits(low, high)
	if !fits && p.flags == branchPage { // it stands elsewhere too, perhaps above
		r.miss(nil, nil, 0)
		return nil
	}
	if r.claim != nil {
		if !fits {
			r.miss(low, high, 0)
			return nil
		}
		known := r.owner[id] == uint32(id)
		r.claim(p)
		if known { // and what is below it
			return nil
		}
	}
	return r.node(p, low, high, isRoot)
}

// node reads a page and all below it.
func (r *reader) node(p page, low, high []byte, isRoot bool) error {
	switch {
	case isRoot && p.emptyRoot():
	case p.flags == leafPage:
		return r.leaf(p, low, high)
	case p.flags == branchPage:
		return r.branch(p, low, high)
	default:
		r.miss(low, high, 0)
	}
	return nil
}

// wants reports whether the reading is about keys in [low, high).
func (r *reader) wants(low, high []byte) bool {
	return (r.High == nil || low == nil || bytes.Compare(low, r.High) < 0) && (r.Low == nil || high == nil || bytes.Compare(high, r.Low) > 0)
}

// contains reports whether the reading is about a key.
func (r *reader) contains(key []byte) bool {
	return bytes.Compare(key, r.Low) >= 0 && (r.High == nil || bytes.Compare(key, r.High) < 0)
}

// miss tells of a gap, as far as the reading is about it.
func (r *reader) miss(low, high []byte, items int) {
	if !r.wants(low, high) {
		return
	}
	if low == nil || bytes.Compare(low, r.Low) < 0 {
		low = r.Low
	}
	if high == nil || r.High != nil && bytes.Compare(high, r.High) > 0 {
		high = r.High
	}
	r.Gap(Gap{Low: bytes.Clone(low), High: bytes.Clone(high), Items: items})
}

// elements returns how many elements a page has. The data of the first one tell it too:
// they begin behind the last element.
func (p page) elements() (n int, sure bool) {
	room := (len(p.bytes) - pageHeader) / elementSize
	if room == 0 {
		return 0, false
	}
	start, _, _ := p.data(0)
	told := (start - pageHeader) / elementSize
	return min(max(p.count, int(min(told, math.MaxUint16))), room), p.count > 0 && told == uint64(p.count)
}

// fits reports whether the first key of the page that can be read is in [low, high).
func (p page) fits(low, high []byte) bool {
	n, _ := p.elements()
	for i := range n {
		if key, _, err := p.element(i); err == nil {
			return ascends(p.id, key, low, high, true) == nil
		}
	}
	return true
}

// branch reads the pages that a branch page names.
func (r *reader) branch(p page, low, high []byte) error {
	n, sure := p.elements()
	bounds := make([][]byte, 0, n+1)
	for i := range n {
		key, _, err := p.element(i)
		if err == nil {
			err = ascends(p.id, key, low, high, i == 0)
		}
		if err == nil && i > 0 {
			err = ascends(p.id, key, bounds[i-1], nil, false)
		}
		if err != nil {
			sure = false
			break
		}
		bounds = append(bounds, key)
	}
	if !sure { // of any key it is unknown which page has it
		r.miss(low, high, 0)
	}
	bounds = append(bounds, high)
	for i := range n {
		from, to := low, high
		if sure {
			from, to = bounds[i], bounds[i+1]
		}
		if err := r.tree(p.child(i), from, to, false); err != nil {
			return err
		}
	}
	return nil
}

// leaf reads the elements of a leaf page. What lies between two good ones is a gap where
// others are not.
func (r *reader) leaf(p page, low, high []byte) error {
	n, sure := p.elements()
	if !sure {
		r.miss(low, high, 0)
	}
	missed, from := 0, low
	for i := range n {
		key, value, err := p.element(i)
		if err != nil || !r.follows(key) {
			missed++
			continue
		}
		if ascends(p.id, key, low, high, true) != nil { // it is the wrong page, or the key in the branch is wrong
			r.miss(nil, nil, 1)
			continue
		}
		known := true
		if r.contains(key) {
			flags := p.leafFlags(i)
			if known = flags <= bucketFlag; known {
				if known, err = r.Item(key, value, flags == bucketFlag); err != nil {
					return err
				}
			}
		}
		if !known {
			missed++
			continue
		}
		if missed > 0 {
			r.miss(from, key, missed)
		}
		r.last = append(r.last[:0], key...)
		missed, from = 0, After(key)
	}
	if missed > 0 {
		r.miss(from, high, missed)
	}
	return nil
}

// follows reports whether a key comes after the last one.
func (r *reader) follows(key []byte) bool { return r.last == nil || bytes.Compare(key, r.last) > 0 }
