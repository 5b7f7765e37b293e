package store

import (
	"bytes"
	"slices"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/store/file"
	"sensegate/store/samples"
)

// copySamples copies the sealed blocks of networks whose checksums and places are right, and
// takes those that cannot be read from the backup.
func (s *salvage) copySamples() error {
	for _, tier := range series.Tiers() {
		name, lost, counted := samples.Bucket(tier), 0, 0
		var gaps []file.Gap
		err := s.damaged.Each(s.ctx, name, file.Reading{
			Item: func(key, value []byte, _ bool) (bool, error) {
				_, missing, err := s.takeBlocks(tier, key, value)
				if missing > 0 {
					lost, counted = lost+missing, counted+1
				}
				return missing == 0, err
			},
			Gap: func(g file.Gap) { gaps = append(gaps, g) },
		})
		if err != nil {
			return err
		}
		if len(gaps) == 0 {
			continue
		}
		values, exact := 0, true // of a page that cannot be read nobody knows what it held
		for _, g := range gaps {
			values, exact = values+g.Items, exact && g.Items > 0
		}
		exact = exact && values == counted
		if gaps, err = s.takeLostBlocks(tier, gaps); err != nil {
			return err
		}
		restored, err := s.takeBlocksOfBackup(tier, gaps)
		if err != nil {
			return err
		}
		if !exact && len(gaps) > 0 {
			lost = 0
		}
		s.tell(name, max(lost-restored, 0), exact || len(gaps) == 0, restored)
	}
	return nil
}

// takeBlocksOfBackup takes the blocks of a tier that are not there from the backup: all that begin
// where there are gaps, as a block may lie there under the key of another network.
func (s *salvage) takeBlocksOfBackup(tier series.Tier, gaps []file.Gap) (restored int, err error) {
	backup, err := s.openBackup()
	if err != nil || backup == nil {
		return 0, err
	}
	for _, g := range gaps {
		from, before := samples.Starts(g.Low, g.High)
		err := backup.Each(s.ctx, samples.Bucket(tier), file.Reading{Low: from, High: before, Gap: func(file.Gap) {}, Item: func(key, value []byte, _ bool) (bool, error) {
			taken, _, err := s.takeBlocks(tier, key, value)
			restored += taken
			return true, err
		}})
		if err != nil {
			return restored, err
		}
	}
	return restored, nil
}

// takeBlocks copies the blocks in a value that are not there yet, of networks that are stored, if
// their checksums and their places are right, and counts those of which they are not (samples.Tx.Salvage).
func (s *salvage) takeBlocks(tier series.Tier, key, value []byte) (taken, missing int, err error) {
	tx, err := s.tx()
	if err != nil {
		return 0, 0, err
	}
	stored := func(network motion.NetworkID) bool { return tx.requireStored(network) == nil }
	taken, missing, err = tx.samples().Salvage(tier, key, value, stored)
	if err == nil && taken > 0 {
		err = s.wrote(len(key) + len(value))
	}
	return taken, missing, err
}

// takeLostBlocks takes the blocks of a tier from pages that nothing names any more: a block
// says of which tier it is. It returns what is left of the gaps.
func (s *salvage) takeLostBlocks(tier series.Tier, gaps []file.Gap) ([]file.Gap, error) {
	if !isTorn(gaps) {
		return gaps, nil
	}
	pages, err := s.lostPages(func(items []file.Item) (bool, error) {
		return !slices.ContainsFunc(items, func(item file.Item) bool {
			return item.IsBucket || !samples.Whole(tier, item.Key, item.Value)
		}), nil
	})
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		tx, err := s.tx()
		if err != nil {
			return nil, err
		}
		items := s.damaged.Leaf(p.id)
		if len(items) == 0 || !isApart(tx.bucket(samples.Bucket(tier)), items) {
			continue
		}
		for _, item := range items {
			if _, _, err := s.takeBlocks(tier, item.Key, item.Value); err != nil {
				return nil, err
			}
		}
		gaps = cut(gaps, p.first, p.last)
	}
	return gaps, nil
}

// copyJournal copies the rows of the open blocks whose checksums are right.
func (s *salvage) copyJournal() error {
	lost, exact, last := 0, true, uint64(0)
	err := s.damaged.Each(s.ctx, samples.Journal, file.Reading{
		Gap: func(g file.Gap) { lost, exact = lost+g.Items, exact && g.Items > 0 },
		Item: func(key, value []byte, isBucket bool) (bool, error) {
			if !isBucket {
				return false, nil
			}
			rows, err := s.journalEntry(value)
			flush, ok := samples.ParseEntry(key, rows)
			if err != nil || !ok {
				return false, err
			}
			tx, err := s.tx()
			if err == nil {
				err = samples.PutEntry(tx.bucket(samples.Journal), bytes.Clone(key), rows)
			}
			if err != nil {
				return false, err
			}
			last = max(last, flush)
			return true, s.wrote(len(key) + len(rows))
		},
	})
	if err != nil {
		return err
	}
	s.tell(samples.Journal, lost, exact, 0)
	tx, err := s.tx()
	if err != nil {
		return err
	}
	return tx.bucket(samples.Journal).SetSequence(last)
}

// journalEntry returns the value in an entry of the journal, which is a bucket; nil when it
// cannot be read.
func (s *salvage) journalEntry(header []byte) (rows []byte, err error) {
	err = s.damaged.EachIn(s.ctx, header, file.Reading{
		Gap: func(file.Gap) {},
		Item: func(key, value []byte, isBucket bool) (bool, error) {
			if len(key) == 1 && key[0] == 0 && !isBucket {
				rows = bytes.Clone(value)
			}
			return true, nil
		},
	})
	return rows, err
}
