package store

import (
	"bytes"
	"encoding/binary"

	"sensegate/motion/series"
)

// copySamples copies the sealed blocks of networks whose checksums and places are right, and
// takes those that cannot be read from the backup.
func (s *salvage) copySamples() error {
	for _, tier := range series.Tiers() {
		name, lost, exact, restored := bucketOf(tier), 0, true, 0
		var gaps []gap
		take := func(key, value []byte) (bool, error) {
			if len(key) != 8 {
				return false, nil
			}
			start, network := parseSampleKey(key)
			info, err := series.Inspect(value)
			if err != nil || info.Tier != tier || tier.BlockStart(info.Start) != start {
				return false, nil
			}
			tx, err := s.tx()
			if err != nil || tx.requireNetwork(network) != nil || tx.bucket(name).Get(key) != nil {
				return false, err
			}
			if err := putBlock(tx.bucket(name), bytes.Clone(key), bytes.Clone(value)); err != nil {
				return false, err
			}
			return true, s.wrote(len(key) + len(value))
		}
		err := s.damaged.each(s.ctx, name, reading{
			item: func(key, value []byte, _ bool) (bool, error) { return take(key, value) },
			gap:  func(g gap) { gaps = append(gaps, g) },
		})
		if err != nil {
			return err
		}
		if len(gaps) == 0 {
			continue
		}
		backup, err := s.openBackup()
		if err != nil {
			return err
		}
		for _, g := range gaps {
			lost, exact = lost+g.items, exact && g.items > 0
			if backup == nil {
				continue
			}
			err := backup.each(s.ctx, name, reading{low: g.low, high: g.high, gap: func(gap) {}, item: func(key, value []byte, _ bool) (bool, error) {
				ok, err := take(key, value)
				if ok {
					restored++
				}
				return true, err
			}})
			if err != nil {
				return err
			}
		}
		s.tell(name, max(lost-restored, 0), exact, restored)
	}
	return nil
}

// copyJournal copies the rows of the open blocks whose checksums are right.
func (s *salvage) copyJournal() error {
	lost, exact, last := 0, true, uint64(0)
	err := s.damaged.each(s.ctx, journalBucket, reading{
		gap: func(g gap) { lost, exact = lost+g.items, exact && g.items > 0 },
		item: func(key, value []byte, isBucket bool) (bool, error) {
			at, network, ok := parseJournalKey(key, nil)
			if !ok || network != 0 || !isBucket {
				return false, nil
			}
			rows, err := s.journalEntry(value)
			if err != nil {
				return false, err
			}
			if _, err := parseJournal(at, rows); err != nil {
				return false, nil
			}
			tx, err := s.tx()
			if err != nil {
				return false, err
			}
			entry, err := tx.bucket(journalBucket).CreateBucket(bytes.Clone(key))
			if err == nil {
				err = entry.Put([]byte{0}, rows)
			}
			if err != nil {
				return false, err
			}
			last = max(last, uint64(binary.BigEndian.Uint32(key[4:]))) // the number of the flush
			return true, s.wrote(len(key) + len(rows))
		},
	})
	if err != nil {
		return err
	}
	s.tell(journalBucket, lost, exact, 0)
	tx, err := s.tx()
	if err != nil {
		return err
	}
	return tx.bucket(journalBucket).SetSequence(last)
}

// journalEntry returns the value in an entry of the journal, which is a bucket; nil when it
// cannot be read.
func (s *salvage) journalEntry(header []byte) (rows []byte, err error) {
	b, ok := parseBucket(header)
	if !ok {
		return nil, nil
	}
	err = s.damaged.read(s.ctx, b, reading{
		gap: func(gap) {},
		item: func(key, value []byte, isBucket bool) (bool, error) {
			if len(key) == 1 && key[0] == 0 && !isBucket {
				rows = bytes.Clone(value)
			}
			return true, nil
		},
	})
	return rows, err
}
