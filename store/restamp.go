package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/home"
)

// unsetKey is the key in the meta bucket of UnsetRun.
const unsetKey = "clock_unset"

// UnsetRun is the time, on a clock that was not set, in which the appliance worked by
// it; zero: what is stored was stamped by a clock that was right.
type UnsetRun struct {
	From motion.Time `json:"from"`
	To   motion.Time `json:"to"`
}

// UnsetRun returns what was stored by PutUnsetRun.
func (tx *Tx) UnsetRun() (run UnsetRun, err error) {
	err = tx.getMeta(unsetKey, &run)
	return run, err
}

// PutUnsetRun stores when the appliance worked by a clock that was not set.
func (tx *Tx) PutUnsetRun(run UnsetRun) error {
	before, err := tx.UnsetRun()
	if err != nil || before == run {
		return err
	}
	return tx.putMeta(unsetKey, run)
}

// Restamp moves what is stamped in [From, To) by so many seconds: the clock that said so
// was wrong by that.
type Restamp struct {
	From, To motion.Time
	By       motion.Seconds
}

// Time returns t as it is stamped anew.
func (r Restamp) Time(t motion.Time) motion.Time {
	if t < r.From || t >= r.To || t.IsZero() {
		return t
	}
	return t.Add(r.By)
}

// Restamp stamps anew, in the transaction, the events, detections of sensors, samples and
// status reports that r is about, lines of the audit log, when the installation was made and adopts devices, and how
// long installers may look after homes.
// Events keep their ids: a tag and a live reader know them.
func (s *Samples) Restamp(tx *Tx, r Restamp) error {
	for _, step := range []func(Restamp) error{tx.restampInstallation, tx.restampInstallers, tx.restampEvents, tx.restampDetections, tx.restampStatus, tx.restampAudit} {
		if err := step(r); err != nil {
			return err
		}
	}
	return s.heads.Move(tx.samples(), r.From.Second(), r.To.Second(), int64(r.By))
}

// restampAudit stamps lines of the audit log.
func (tx *Tx) restampAudit(r Restamp) error {
	lines, err := audit.all(tx, nil)
	return each(lines, err, func(l AuditLine) error {
		at := r.Time(l.At)
		if at == l.At {
			return nil
		}
		l.At = at
		return audit.put(tx, l.ID, l)
	})
}

// restampInstallation keeps the windows in which devices are adopted as long as they were.
func (tx *Tx) restampInstallation(r Restamp) error {
	installed, err := tx.InstalledAt()
	if err != nil {
		return err
	}
	if moved := r.Time(installed); moved != installed {
		if err := tx.putMeta(installedAtKey, moved); err != nil {
			return err
		}
	}
	networks := []motion.NetworkID{0} // those without an owner
	for _, key := range windows.keys(tx, nil) {
		if len(key) != 4 {
			continue // damaged
		}
		networks = append(networks, motion.NetworkID(binary.BigEndian.Uint32(key)))
	}
	for _, network := range networks {
		until, _, err := tx.AdoptionUntil(network)
		if err != nil {
			return err
		}
		if until <= r.From || until >= r.To.Add(LongestWindow) {
			continue
		}
		by, err := tx.AdoptionBy(network)
		if err != nil {
			return err
		}
		if err := tx.SetAdoptionUntil(network, until.Add(r.By)); err != nil {
			return err
		}
		if by == 0 {
			continue
		}
		if err := tx.SetAdoptionBy(network, by); err != nil {
			return err
		}
	}
	return nil
}

// restampInstallers keeps the time of installers as long as it was.
func (tx *Tx) restampInstallers(r Restamp) error {
	all, err := tx.Homes()
	return each(all, err, func(h home.Home) error {
		changed := false
		for i, installer := range h.Installers {
			if since := r.Time(installer.Since); since != installer.Since {
				h.Installers[i].Since, h.Installers[i].Until, changed = since, installer.Until.Add(r.By), true
			}
		}
		if !changed {
			return nil
		}
		return homes.put(tx, h.ID, h)
	})
}

// LongestWindow is the longest time for which an adoption window is opened.
const LongestWindow motion.Seconds = 24 * 3600

func (tx *Tx) restampEvents(r Restamp) error {
	return restampRecords(tx, &events, networks.keys(tx, nil), r, func(record *eventRecord) (eventKey, error) {
		record.TS, record.DetectedTS = r.Time(record.TS), r.Time(record.DetectedTS)
		return record.complete(tx)
	})
}

func (tx *Tx) restampDetections(r Restamp) error {
	return restampRecords(tx, &detections, homes.keys(tx, nil), r, func(record *detectionRecord) (detectionKey, error) {
		record.TS = motion.FromMicros(r.Time(record.TS).Micros())
		id, err := uuid.Parse(record.ID)
		return detectionKey{record.Home, keyMicros(record.TS), id}, err
	})
}

// restampRecords moves those of the owners' records of a table, whose keys are owner, µs
// u64, id, that r is about: change stamps one anew and returns its new key.
func restampRecords[K, V any](tx *Tx, t *table[K, V], owners [][]byte, r Restamp, change func(*V) (K, error)) error {
	for _, owner := range owners {
		if err := moveRecords(tx, t, tx.stamped(t.name, owner, r), change); err != nil {
			return err
		}
	}
	return nil
}

// moveRecords removes the records at the encoded keys, one after the other, and stores each
// again as change leaves it, at the key that change returns. One that cannot be read stays
// where it is.
func moveRecords[K, V any](tx *Tx, t *table[K, V], keys [][]byte, change func(*V) (K, error)) error {
	for _, key := range keys {
		record, ok := t.readable(tx, key, tx.bucket(t.name).Get(key))
		if !ok {
			continue
		}
		if _, err := t.untyped().remove(tx, key); err != nil {
			return err
		}
		moved, err := change(&record)
		if err != nil {
			return fmt.Errorf("move %s %x: %w", t.noun, key, err)
		}
		if err := t.put(tx, moved, record); err != nil {
			return err
		}
	}
	return nil
}

// stamped returns the keys of an owner's records of a table, whose keys are owner, µs u64,
// id, that r is about.
func (tx *Tx) stamped(table string, owner []byte, r Restamp) (keys [][]byte) {
	end := join(owner, key64(keyMicros(r.To)))
	cursor := tx.bucket(table).Cursor()
	for key, _ := cursor.Seek(join(owner, key64(keyMicros(r.From)))); key != nil && bytes.Compare(key, end) < 0; key, _ = cursor.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}

func (tx *Tx) restampStatus(r Restamp) error {
	for _, key := range networks.keys(tx, nil) {
		network := motion.NetworkID(binary.BigEndian.Uint32(key))
		report, found, err := status.get(tx, network)
		if err != nil {
			return err
		}
		if found {
			report.TS, report.LastMotion = r.Time(report.TS), r.Time(report.LastMotion)
			if err := status.put(tx, network, report); err != nil {
				return err
			}
		}
		heard, found, err := statusHeard.get(tx, network)
		if err != nil {
			return err
		}
		if found {
			heard.TS, heard.LastMotion = r.Time(heard.TS), r.Time(heard.LastMotion)
			if err := statusHeard.put(tx, network, heard); err != nil {
				return err
			}
		}
	}
	return nil
}
