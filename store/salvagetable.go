package store

import (
	"bytes"
	"fmt"
	"slices"

	"sensegate/store/file"
)

// copied is what was copied of a table.
type copied struct {
	kept    int        // records
	orphans int        // records that were left out, as what they belong to is not there
	gaps    []file.Gap // of what could not be read
}

// copy copies the records of a table that can be read.
func (r rule) copy(s *salvage) (got copied, err error) {
	err = s.damaged.Each(s.ctx, r.name, file.Reading{
		Item: func(key, value []byte, isBucket bool) (bool, error) {
			v, err := r.decode(key, value)
			if isBucket || err != nil {
				return false, nil
			}
			if wrong, err := r.misplaced(s, key, value); wrong || err != nil {
				return false, err
			}
			return true, r.take(s, key, value, v, &got)
		},
		Gap: func(g file.Gap) { got.gaps = append(got.gaps, g) },
	})
	if err == nil {
		err = r.takeLost(s, &got)
	}
	return got, err
}

// take keeps a record when what it belongs to is there.
func (r rule) take(s *salvage, key, value []byte, v any, got *copied) error {
	belongs, err := r.belongs(s, key, v)
	if err != nil || !belongs {
		got.orphans++
		return err
	}
	got.kept++
	return r.keep(s, key, value)
}

// salvage copies the records of a table, and takes those that cannot be read from the
// backup as the rule says.
func (r rule) salvage(s *salvage) error {
	got, err := r.copy(s)
	if err != nil {
		return err
	}
	refused, err := r.index(s)
	if err != nil {
		return err
	}
	gaps, kept, orphans := append(got.gaps, refused...), got.kept-len(refused), got.orphans
	s.kept += kept
	named, exact, err := r.named(s)
	if err != nil || len(gaps) == 0 || exact && named <= kept+orphans {
		s.tell(r.name, orphans, true, 0)
		return err
	}
	restored, err := r.refillFrom(s, gaps)
	if err != nil {
		return err
	}
	if r.vital && s.backup == nil {
		return fmt.Errorf("%w: %s cannot be read", errNotSalvaged, r.name)
	}
	lost := named - kept - restored
	if !exact {
		lost, exact = orphans-restored, true
		for _, g := range gaps {
			lost += g.Items
			exact = exact && g.Items > 0
		}
	}
	s.tell(r.name, max(lost, 0), exact, restored)
	switch r.name {
	case users.name, homes.name, memberships.name:
		s.people = true
	}
	return nil
}

// misplaced reports whether a record, whose checksum is right, is one of another table or
// of former times: a damaged page may name another than it did. A record of another table
// has fields that this one does not know, and no index names it. Former ones stand in free
// pages, which are not read unless the list of them is damaged too.
func (r rule) misplaced(s *salvage, key, value []byte) (bool, error) {
	isKnown := r.knows(value[:len(value)-checksumSize])
	if isKnown && s.damaged.KnowsFree() {
		return false, nil
	}
	seen, gone, err := r.countEntries(s, key, value)
	if err != nil || seen > 0 {
		return false, err
	}
	return !isKnown || gone > 0, nil
}

// countEntries returns how many indexes of the damaged file name a record, and how many are sure
// not to.
func (r rule) countEntries(s *salvage, key, value []byte) (seen, gone int, err error) {
	entries, err := r.stored(key, value)
	for _, e := range entries {
		present, sure, err := s.damaged.Has(s.ctx, e.index, e.key, key)
		switch {
		case err != nil:
			return 0, 0, err
		case present:
			seen++
		case sure:
			gone++
		}
	}
	return seen, gone, err
}

// belongs reports whether what a record belongs to is there.
func (r rule) belongs(s *salvage, key []byte, v any) (bool, error) {
	tx, err := s.tx()
	if err != nil || r.under == nil {
		return err == nil, err
	}
	for _, p := range r.under(key, v) {
		if tx.bucket(p.bucket).Get(p.key) == nil {
			return false, nil
		}
	}
	return true, nil
}

// keep stores a record without its index entries.
func (r rule) keep(s *salvage, key, value []byte) error {
	tx, err := s.tx()
	if err != nil {
		return err
	}
	bucket := tx.bucket(r.name)
	bucket.FillPercent = growingFill // keys ascend
	if err := bucket.Put(bytes.Clone(key), bytes.Clone(value)); err != nil {
		return err
	}
	return s.wrote(len(key) + len(value))
}

// index makes the indexes of the copied records. First it takes over the entries that can be
// read and are right, in their order: to put those of many records in the order of the
// records would rewrite every page of an index over and over. Then it adds what is missing.
// Records that claim what another one has are removed and returned as gaps.
func (r rule) index(s *salvage) (refused []file.Gap, err error) {
	for _, index := range r.indexes() {
		err := s.damaged.Each(s.ctx, index.index, file.Reading{
			Gap: func(file.Gap) {},
			Item: func(key, primary []byte, isBucket bool) (bool, error) {
				tx, err := s.tx()
				if err != nil || isBucket || len(primary) == 0 {
					return err == nil, err
				}
				data := tx.bucket(r.name).Get(primary)
				if data == nil {
					return true, nil
				}
				entries, err := r.stored(primary, data)
				if err != nil || !slices.ContainsFunc(entries, entry{index: index.index, key: key}.equal) {
					return true, err
				}
				bucket := tx.bucket(index.index)
				bucket.FillPercent = growingFill
				if err := bucket.Put(bytes.Clone(key), bytes.Clone(primary)); err != nil {
					return false, err
				}
				return true, s.wrote(len(key) + len(primary))
			},
		})
		if err != nil {
			return nil, err
		}
	}
	for next := []byte{}; next != nil && len(r.indexes()) > 0; {
		if next, err = r.indexSome(s, next, &refused); err != nil {
			return nil, err
		}
	}
	return refused, nil
}

// indexSome adds the missing index entries of up to recordsPerTx records from a key on. It
// returns where to go on; nil: it came to the end.
func (r rule) indexSome(s *salvage, from []byte, refused *[]file.Gap) (next []byte, err error) {
	tx, err := s.tx()
	if err != nil {
		return nil, err
	}
	size, looked := 0, 0
	var conflicts [][]byte
	cursor := tx.bucket(r.name).Cursor()
	for key, value := cursor.Seek(from); key != nil; key, value = cursor.Next() {
		if looked++; looked > recordsPerTx {
			next = bytes.Clone(key)
			break
		}
		entries, err := r.stored(key, value)
		if err != nil {
			return nil, err
		}
		missing, free := missingOf(tx, key, entries)
		if !free {
			conflicts = append(conflicts, bytes.Clone(key))
			continue
		}
		if err := reindex(tx, bytes.Clone(key), nil, missing); err != nil {
			return nil, err
		}
		size += len(missing) * len(key)
	}
	for _, key := range conflicts {
		if err := reindex(tx, key, entriesNaming(tx, r.indexes(), key), nil); err != nil {
			return nil, err
		}
		if err := tx.bucket(r.name).Delete(key); err != nil {
			return nil, err
		}
		*refused = append(*refused, file.Gap{Low: key, High: file.After(key), Items: 1})
	}
	return next, s.wrote(size)
}

// missingOf returns which of the index entries of a record are not there. free is false when
// another record has one of them.
func missingOf(tx *Tx, key []byte, entries []entry) (missing []entry, free bool) {
	for _, e := range entries {
		holder := tx.bucket(e.index).Get(e.key)
		if holder == nil && len(e.key) <= maxKeySize {
			missing = append(missing, e)
		} else if !bytes.Equal(holder, key) {
			return nil, false
		}
	}
	return missing, true
}

// named returns how many records the first index of the table names, which has an entry of
// each, and whether all of it can be read.
func (r rule) named(s *salvage) (n int, exact bool, err error) {
	if len(r.indexes()) == 0 {
		return 0, false, nil
	}
	exact = true
	err = s.damaged.Each(s.ctx, r.indexes()[0].index, file.Reading{
		Item: func(_, _ []byte, isBucket bool) (bool, error) {
			n++
			return !isBucket, nil
		},
		Gap: func(file.Gap) { exact = false },
	})
	return n, exact, err
}

// refillFrom copies the records of the backup whose keys lie in gaps, as the rule says. It
// returns how many.
func (r rule) refillFrom(s *salvage, gaps []file.Gap) (restored int, err error) {
	backup, err := s.openBackup()
	if err != nil || backup == nil || r.refill == never {
		return 0, err
	}
	for _, g := range gaps {
		err := backup.Each(s.ctx, r.name, file.Reading{
			Low: g.Low, High: g.High,
			Item: func(key, value []byte, _ bool) (bool, error) {
				v, err := r.decode(key, value)
				if err != nil {
					return false, nil
				}
				ok, err := r.returns(s, key, value, v)
				if ok {
					ok, err = r.belongs(s, key, v)
				}
				if !ok || err != nil {
					return true, err
				}
				tx, err := s.tx()
				if err != nil {
					return false, err
				}
				entries, err := r.stored(key, value)
				if err != nil {
					return false, err
				}
				missing, free := missingOf(tx, key, entries)
				if !free || len(missing) < len(entries) {
					return true, nil
				}
				if err := reindex(tx, bytes.Clone(key), nil, missing); err != nil {
					return false, err
				}
				restored++
				return true, r.keep(s, key, value)
			},
			Gap: func(file.Gap) {},
		})
		if err != nil {
			return restored, err
		}
	}
	return restored, nil
}

// returns reports whether a record of the backup takes the place of one that cannot be
// read. One that is there already, or that no index names any more, does not.
func (r rule) returns(s *salvage, key, value []byte, v any) (bool, error) {
	tx, err := s.tx()
	if err != nil || tx.bucket(r.name).Get(key) != nil {
		return false, err
	}
	seen, gone, err := r.countEntries(s, key, value)
	if err != nil {
		return false, err
	}
	if seen == 0 && gone > 0 || r.refill == ifSeen && (seen == 0 || gone > 0) {
		return false, nil
	}
	if r.allow == nil {
		return true, nil
	}
	return r.allow(tx, v, seen > 0 && gone == 0)
}
