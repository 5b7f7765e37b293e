package samples

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/series"
)

// Journal is the bucket of the rows that are not sealed yet. What a flush adds to
// the blocks of one time and tier is one value: CRC32C u32, little-endian, of all that
// follows, then of each network
//
//	uvarint  network
//	uvarint  length of the increment
//	         the increment (series.Block.AppendIncrement)
//
// It lies in a bucket of its own, under the key 0. bbolt rewrites up to four values with
// the one that it puts beside them; so only their names are rewritten.
const Journal = "samples_journal"

// journalKey is be32(block start) ‖ be32(number of the flush) ‖ be32(tier).
func journalKey(at blockKey, flush uint64) []byte {
	return keyOf(uint32(at.start), uint32(flush), uint32(at.tier))
}

// parseJournalKey is the inverse of journalKey, whose value is nil because it is that of
// a bucket. It also reads the keys of the rows of one network: of schema 1
//
//	be32(block start) ‖ be32(tier) ‖ be32(network) ‖ be64(number)
//
// and of schema 2 in its beginnings
//
//	be32(block start) ‖ be32(number of the flush) ‖ be32(tier) ‖ be32(network)
//
// The network is 0 otherwise.
func parseJournalKey(key, value []byte) (at blockKey, network motion.NetworkID, ok bool) {
	word := func(i int) uint32 { return binary.BigEndian.Uint32(key[4*i:]) }
	switch len(key) {
	case 12:
		at = blockKey{int64(word(0)), series.Tier(word(2))}
	case 16:
		at, network = blockKey{int64(word(0)), series.Tier(word(2))}, motion.NetworkID(word(3))
	case 20:
		at, network = blockKey{int64(word(0)), series.Tier(word(1))}, motion.NetworkID(word(2))
	}
	return at, network, (network != 0) == (value != nil) && (at.tier == series.Second || at.tier == series.FiveSeconds)
}

// checksum returns the CRC32C of a value.
func checksum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// journalValue makes the value of some increments.
func journalValue(parts []part) []byte {
	size := 4
	for _, p := range parts {
		size += 2*binary.MaxVarintLen32 + len(p.value)
	}
	value := make([]byte, 4, size)
	for _, p := range parts {
		value = binary.AppendUvarint(value, uint64(p.network))
		value = binary.AppendUvarint(value, uint64(len(p.value)))
		value = append(value, p.value...)
	}
	binary.LittleEndian.PutUint32(value, checksum(value[4:]))
	return value
}

// parseJournal is the inverse of journalValue for the blocks at some place. The error
// is series.ErrDamaged.
func parseJournal(at blockKey, value []byte) (parts []part, err error) {
	if len(value) < 4 || checksum(value[4:]) != binary.LittleEndian.Uint32(value) {
		return nil, fmt.Errorf("journal of second %d: %w", at.start, series.ErrDamaged)
	}
	for rest := value[4:]; len(rest) > 0; {
		network, n := binary.Uvarint(rest)
		length, m := binary.Uvarint(rest[max(n, 0):])
		if n <= 0 || m <= 0 || length > uint64(len(rest)-n-m) {
			return nil, fmt.Errorf("journal of second %d: %w", at.start, series.ErrDamaged)
		}
		rest = rest[n+m:]
		parts = append(parts, part{network: motion.NetworkID(network), at: at, value: rest[:length]})
		rest = rest[length:]
	}
	return parts, nil
}

// appendJournal stores parts that are not sealed, in the order of their blocks.
func (tx Tx) appendJournal(parts []part) error {
	if len(parts) == 0 {
		return nil
	}
	journal := tx.bucket(Journal)
	flush, err := journal.NextSequence()
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	for at, parts := range byPlace(parts) {
		if err := PutEntry(journal, journalKey(at, flush), journalValue(parts)); err != nil {
			return err
		}
	}
	return nil
}

// PutEntry stores the value of a new entry of the journal.
func PutEntry(journal *bolt.Bucket, key, value []byte) error {
	entry, err := journal.CreateBucket(key)
	if err == nil {
		err = entry.Put([]byte{0}, value)
	}
	if err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	return nil
}

// ParseEntry returns the number of the flush that wrote an entry of the journal. ok is
// false unless its key and the checksum of its value are right.
func ParseEntry(key, value []byte) (flush uint64, ok bool) {
	at, _, ok := parseJournalKey(key, nil)
	if !ok {
		return 0, false
	}
	_, err := parseJournal(at, value)
	return uint64(binary.BigEndian.Uint32(key[4:])), err == nil
}

// Replay refills the open blocks in the order of writing. Damaged entries are
// left out and named by damaged; the next flush deletes those that are not understood.
func (s *Heads) Replay(tx Tx) (damaged, err error) {
	journal := tx.bucket(Journal)
	err = journal.ForEach(func(key, value []byte) error {
		at, network, ok := parseJournalKey(key, value)
		switch {
		case !ok:
			s.unknown.Store(true)
			damaged = errors.Join(damaged, fmt.Errorf("journal key %x: %w", key, series.ErrDamaged))
			return nil
		case value != nil:
			damaged = errors.Join(damaged, s.head(network).block(at).Replay(value))
			return nil
		}
		parts, err := parseJournal(at, journal.Bucket(key).Get([]byte{0}))
		damaged = errors.Join(damaged, err)
		for _, p := range parts {
			if err := s.head(p.network).block(at).ReplayIncrement(p.value); err != nil {
				damaged = errors.Join(damaged, fmt.Errorf("journal of network %d: %w", p.network, err))
			}
		}
		return nil
	})
	return damaged, err
}

// deleteJournal deletes the journal of blocks that have been sealed. All networks' blocks
// of one place are sealed at once.
func (tx Tx) deleteJournal(sealed blocks) error {
	for at := range sealed {
		keys := journalKeys(tx.bucket(Journal), keyOf(uint32(at.start)), func(of blockKey, _ motion.NetworkID) bool { return of == at })
		for _, key := range keys {
			if err := tx.deleteEntry(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// journalKeys returns the keys of entries that begin with prefix and are selected; the
// network is 0 but for the rows of one.
func journalKeys(journal *bolt.Bucket, prefix []byte, selects func(blockKey, motion.NetworkID) bool) (keys [][]byte) {
	cursor := journal.Cursor()
	for key, value := cursor.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		if at, network, ok := parseJournalKey(key, value); ok && selects(at, network) {
			keys = append(keys, bytes.Clone(key))
		}
	}
	return keys
}

// deleteUnknown deletes the entries that are not understood: no block takes them along
// when it is sealed, and no network when it is deleted.
func (s *Heads) deleteUnknown(tx Tx) error {
	if !s.unknown.Load() {
		return nil
	}
	var keys [][]byte
	cursor := tx.bucket(Journal).Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if _, _, ok := parseJournalKey(key, value); !ok {
			keys = append(keys, bytes.Clone(key))
		}
	}
	for _, key := range keys {
		if err := tx.deleteEntry(key); err != nil {
			return err
		}
	}
	tx.OnCommit(func() {
		s.unknown.Store(false)
		tx.Logger.Warn("entries of the journal that are not understood were deleted", "entries", len(keys))
	})
	return nil
}

// deleteEntry deletes an entry of the journal.
func (tx Tx) deleteEntry(key []byte) error {
	journal, remove := tx.bucket(Journal), (*bolt.Bucket).DeleteBucket
	if journal.Get(key) != nil {
		remove = (*bolt.Bucket).Delete
	}
	if err := remove(journal, key); err != nil {
		return fmt.Errorf("delete journal: %w", err)
	}
	return nil
}

// DeleteJournal removes a network from the journal.
func (tx Tx) DeleteJournal(network motion.NetworkID) error {
	all := func(_ blockKey, of motion.NetworkID) bool { return of == 0 || of == network }
	for _, key := range journalKeys(tx.bucket(Journal), nil, all) {
		if err := tx.deleteFromEntry(key, network); err != nil {
			return err
		}
	}
	return nil
}

// deleteFromEntry removes a network from an entry. One that is damaged, or holds nobody
// else, or is the rows of one network, goes as a whole.
func (tx Tx) deleteFromEntry(key []byte, network motion.NetworkID) error {
	at, of, _ := parseJournalKey(key, tx.bucket(Journal).Get(key))
	if of != 0 {
		return tx.deleteEntry(key)
	}
	entry := tx.bucket(Journal).Bucket(key)
	parts, _ := parseJournal(at, entry.Get([]byte{0}))
	left := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.network == network })
	switch {
	case len(left) == 0:
		return tx.deleteEntry(key)
	case len(left) == len(parts):
		return nil
	}
	if err := entry.Put([]byte{0}, journalValue(left)); err != nil {
		return fmt.Errorf("delete from journal: %w", err)
	}
	return nil
}
