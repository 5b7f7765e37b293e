package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store/file"
)

// errNotSalvaged says that too little of a damaged file can be read.
var errNotSalvaged = errors.New("nothing is salvaged")

// mostSequence bounds what the counter of a bucket is believed: it has no checksum.
const mostSequence = 1 << 31

// salvage copies what can be read of a damaged database into a new file.
type salvage struct {
	ctx        context.Context
	o          Options
	recovery   *Recovery // to be completed
	damaged    *file.Remains
	backup     *file.Remains // nil: not needed yet, or there is none
	backupInfo Backup
	looked     bool     // for a backup
	newFile    *bolt.DB // nil: it is closed
	newDB      *DB      // the records of newFile
	btx        *bolt.Tx
	bytes      int      // of the transaction
	unreached  []uint64 // leaf pages of the damaged file that nothing names any more
	scanned    bool     // for those

	lost     []string        // such as "2 of leafs"
	lostFrom map[string]bool // by bucket: records of it are lost, or may be
	restored []string        // from the backup
	kept     int             // records of the damaged file
	people   bool            // accounts, homes or memberships were damaged
}

// salvageDamaged copies what can be read of the damaged database at o.Path, bucket by
// bucket, into a new file, which takes its place; the damaged one is kept as aside. A record
// is copied when its checksum is right, and indexes are made anew. What cannot be read is
// taken from the newest backup that is whole, unless the rest of the file shows that it was
// removed since. The error wraps errNotSalvaged when that leaves out who owns what and who
// may enter. A power cut leaves the damaged file in its place, or the new one, which tells
// of the recovery.
func salvageDamaged(ctx context.Context, o Options, recovery *Recovery) (err error) {
	handle, err := os.OpenFile(o.Path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer handle.Close() // and with it the lock
	if err := file.Lock(handle, o.LockTimeout); err != nil {
		return err
	}
	s := &salvage{ctx: ctx, o: o, recovery: recovery, lostFrom: map[string]bool{}}
	defer func() {
		if met := recover(); met != nil {
			err = fmt.Errorf("%w: %v", errNotSalvaged, met)
		}
		err = errors.Join(err, s.cleanUp())
	}()
	if s.damaged, err = file.ReadRemains(ctx, handle); err == nil {
		err = s.requireSchema()
	}
	if errors.Is(err, ErrDamaged) {
		err = fmt.Errorf("%w: %w", errNotSalvaged, err)
	}
	if err != nil {
		return err
	}
	o.Logger.Warn("the database is damaged: what can be read is copied into a new file, which may take minutes", "path", o.Path)
	if err := s.copy(); err != nil {
		return err
	}
	if _, err := examine(ctx, o, file.SalvagePath(o.Path)); err != nil {
		if isDamage(err) {
			err = fmt.Errorf("%w: %w", errNotSalvaged, err)
		}
		return err
	}
	return file.Replace(o.Path, file.SalvagePath(o.Path), recovery.Aside)
}

// requireSchema returns errNotSalvaged unless the records are those of this program. Those
// of an earlier one are brought up to date with a backup only.
func (s *salvage) requireSchema() error {
	steps, schema := migrations(), 0
	err := s.damaged.Each(s.ctx, metaBucket, file.Reading{
		Low: []byte(schemaKey), High: file.After([]byte(schemaKey)),
		Item: func(_, value []byte, _ bool) (bool, error) { return json.Unmarshal(value, &schema) == nil, nil },
		Gap:  func(file.Gap) {},
	})
	if err == nil && schema != 0 && schema != steps[len(steps)-1].version {
		err = fmt.Errorf("%w: it has schema %d", errNotSalvaged, schema)
	}
	return err
}

// cleanUp ends what is open and removes what is of no more use.
func (s *salvage) cleanUp() error {
	var err error
	if s.btx != nil {
		err = s.btx.Rollback()
	}
	if s.newFile != nil {
		err = errors.Join(err, s.newFile.Close())
	}
	if s.backup != nil {
		err = errors.Join(err, s.backup.Close())
	}
	return errors.Join(err, file.Remove(file.SalvagePath(s.o.Path)), file.Remove(file.NewPath(s.o.Path)))
}

// copy writes the new file and syncs it.
func (s *salvage) copy() error {
	if err := s.create(); err != nil {
		return err
	}
	steps := []func() error{s.copyMeta}
	for _, r := range salvageRules() {
		steps = append(steps, func() error { return r.salvage(s) })
	}
	for _, step := range append(steps, s.copySamples, s.copyJournal, s.settle, s.copySequences, s.note, s.commit) {
		if err := step(); err != nil {
			return fmt.Errorf("copy what can be read: %w", err)
		}
	}
	err := errors.Join(s.newFile.Sync(), s.newFile.Close())
	s.newFile = nil
	return err
}

// create makes the new file with its empty buckets. It is synced when it is complete.
func (s *salvage) create() error {
	path := file.SalvagePath(s.o.Path)
	if err := file.Remove(path); err != nil {
		return err
	}
	newFile, err := bolt.Open(path, 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType, NoSync: true, NoGrowSync: true, MaxSize: s.o.MaxSize})
	if err != nil {
		return err
	}
	newFile.AllocSize = file.GrowStep
	s.newFile, s.newDB = newFile, &DB{now: s.o.Now, logger: s.o.Logger, retention: s.o.Retention}
	tx, err := s.tx()
	if err != nil {
		return err
	}
	steps := migrations()
	for _, step := range steps {
		for _, name := range step.buckets {
			if _, err := tx.bolt.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
	}
	return tx.putMeta(schemaKey, steps[len(steps)-1].version)
}

// tx returns the transaction that writes the new file.
func (s *salvage) tx() (*Tx, error) {
	if s.btx == nil {
		btx, err := s.newFile.Begin(true)
		if err != nil {
			return nil, err
		}
		s.btx = btx
	}
	return s.newDB.tx(s.btx), nil
}

// commit ends the transaction.
func (s *salvage) commit() error {
	if s.btx == nil {
		return nil
	}
	btx := s.btx
	s.btx, s.bytes = nil, 0
	return btx.Commit()
}

// wrote counts what is written, so that a transaction takes a bounded amount of memory.
func (s *salvage) wrote(n int) error {
	if s.bytes += n; s.bytes < compactStep {
		return nil
	}
	return s.commit()
}

// openBackup returns the newest backup that is whole, in the form of this program, nil when
// there is none.
func (s *salvage) openBackup() (*file.Remains, error) {
	if s.looked {
		return s.backup, nil
	}
	s.looked = true
	list, err := Backups(s.o.Path)
	if err != nil {
		return nil, err
	}
	for _, b := range list {
		handle, err := s.receive(b.Path)
		if err == nil {
			if s.backup, err = file.ReadRemains(s.ctx, handle); err == nil {
				s.backupInfo = b
				return s.backup, nil
			}
			err = errors.Join(err, handle.Close())
		}
		if !isDamage(err) && !errors.Is(err, ErrNewer) {
			return nil, err
		}
		s.o.Logger.Warn("backup cannot be used", "path", b.Path, "err", err)
	}
	return nil, nil
}

// receive copies a backup beside the database, brings it to the schema of this program,
// checks all of it and opens it.
func (s *salvage) receive(path string) (*os.File, error) {
	from, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	candidate := file.NewPath(s.o.Path)
	if err := file.Receive(s.ctx, s.o.file(), candidate, from); err != nil {
		return nil, err
	}
	if _, err := examine(s.ctx, s.o, candidate); err != nil {
		return nil, err
	}
	return os.Open(candidate)
}

// tell notes what became of the records of a bucket: how many are lost, at least, and how
// many the backup had.
func (s *salvage) tell(bucket string, lost int, exact bool, restored int) {
	if restored > 0 {
		s.restored = append(s.restored, fmt.Sprintf("%d of %s", restored, bucket))
	}
	s.lostFrom[bucket] = s.lostFrom[bucket] || lost > 0 || !exact
	switch {
	case lost > 0:
		s.lost = append(s.lost, fmt.Sprintf("%d of %s", lost, bucket))
	case !exact:
		s.lost = append(s.lost, "perhaps some of "+bucket)
	}
}

// copyMeta copies the facts about the file. What is lost of them closes windows and voids
// codes; only when the installation was made, its id, and which networks were owned before they were
// deleted, are taken from the backup.
func (s *salvage) copyMeta() error {
	missing := false
	put := func(key, value []byte, isBucket bool) (bool, error) {
		if string(key) == schemaKey {
			return true, nil
		}
		if _, err := verified(key, value); err != nil || isBucket {
			return false, nil
		}
		tx, err := s.tx()
		if err == nil {
			err = tx.bucket(metaBucket).Put(key, bytes.Clone(value))
		}
		return true, err
	}
	gone := func(file.Gap) { missing = true }
	if err := s.damaged.Each(s.ctx, metaBucket, file.Reading{Item: put, Gap: gone}); err != nil || !missing {
		return err
	}
	s.tell(metaBucket, 0, false, 0)
	b, err := s.openBackup()
	if err != nil {
		return err
	}
	for _, key := range [][]byte{[]byte(installedAtKey), []byte(ownedKey), []byte(instanceKey)} {
		tx, err := s.tx()
		if err == nil && b != nil && tx.bucket(metaBucket).Get(key) == nil {
			err = b.Each(s.ctx, metaBucket, file.Reading{Low: key, High: file.After(key), Item: put, Gap: gone})
		}
		if err != nil {
			return err
		}
	}
	tx, err := s.tx()
	if err == nil && tx.bucket(metaBucket).Get([]byte(installedAtKey)) == nil {
		err = tx.putMeta(installedAtKey, motion.Time(1)) // so long ago that no first window is open
	}
	if err == nil && tx.bucket(metaBucket).Get([]byte(instanceKey)) == nil {
		err = tx.makeInstance()
	}
	return err
}

// settle brings into order what a mix of two times may have left: windows that may have
// been closed are, every home has an owner or nobody, and no installers, who may have been
// removed since the backup.
func (s *salvage) settle() error {
	tx, err := s.tx()
	if err != nil {
		return err
	}
	if s.lostFrom[windows.name] {
		if err := tx.closeUnknownWindows(); err != nil {
			return err
		}
	}
	if !s.people {
		return nil
	}
	all, err := tx.Homes()
	return each(all, err, func(h home.Home) error {
		if len(h.Installers) > 0 {
			h.Installers = nil
			if err := tx.PutHome(h); err != nil {
				return err
			}
		}
		members, err := tx.MembershipsOfHome(h.ID)
		if err != nil || slices.ContainsFunc(members, owns) {
			return err
		}
		return tx.settleOwner(h)
	})
}

// note completes what is known of the recovery and puts it into the new file. It is an error
// when nothing was copied.
func (s *salvage) note() error {
	if s.kept == 0 {
		return fmt.Errorf("%w: no record can be read", errNotSalvaged)
	}
	s.recovery.Lost, s.recovery.Restored = strings.Join(s.lost, ", "), strings.Join(s.restored, ", ")
	if len(s.restored) > 0 {
		s.recovery.Backup, s.recovery.BackupAt = s.backupInfo.Path, motion.TimeOf(s.backupInfo.At)
	}
	tx, err := s.tx()
	if err != nil {
		return err
	}
	var known Health
	if err := tx.getMeta(healthKey, &known); err != nil {
		return err
	}
	known.Recovery = s.recovery
	return tx.putMeta(healthKey, known)
}

// copySequences sets the counters that ids are taken from past every id.
func (s *salvage) copySequences() error {
	tx, err := s.tx()
	if err != nil {
		return err
	}
	return tx.bolt.ForEach(func(name []byte, to *bolt.Bucket) error {
		next := max(to.Sequence(), lastNumber(to))
		if string(name) == nodes.name {
			next = max(next, lastNumber(tx.bucket(leafs.name)))
		}
		for _, from := range []*file.Remains{s.damaged, s.backup} {
			if from == nil {
				continue
			}
			if told := from.Sequence(string(name)); told < mostSequence {
				next = max(next, told)
			}
		}
		return to.SetSequence(next)
	})
}

// lastNumber returns the number in the last key of a bucket whose keys are numbers; 0
// of others.
func lastNumber(b *bolt.Bucket) uint64 {
	key, _ := b.Cursor().Last()
	switch len(key) {
	case 4:
		return uint64(binary.BigEndian.Uint32(key))
	case 8:
		return binary.BigEndian.Uint64(key)
	}
	return 0
}
