package box

import (
	"math"
	"time"

	"sensegate/motion/notify"
	"sensegate/store"
)

// Attention is something about the appliance that somebody has to look at.
type Attention struct {
	Code   string  // such as read_only
	Figure float64 // as the code says, 0: it has none
	Text   string  // in the words of the program; "": it has none
}

// What makes a backup old: one is made each night.
const backupLate = 3 * 24 * time.Hour

// certificateLate is what is left of a supplied certificate when somebody has to renew it.
const certificateLate = 14 * 24 * time.Hour

// daysLow is how many days of history have to fit at least.
const daysLow = 30

// Attention returns what has to be looked at, the worst first. Codes and figures: not_ready;
// read_only; recovered (when, seconds); clock_unset; disk_low (days that fit); unreadable (records);
// samples_lost (seconds of networks); certificate_ends (days that are left of one that the owner
// supplied, 0: none); backup_old (days), no_backup; mails_failed (mails).
func (s Status) Attention(outbox Outbox, now time.Time) (list []Attention) {
	note := func(is bool, code string, figure float64, text string) {
		if is {
			list = append(list, Attention{code, figure, text})
		}
	}
	note(s.NotReady != "" && s.Health.ReadOnly == "", "not_ready", 0, s.NotReady)
	note(s.Health.ReadOnly != "", "read_only", 0, s.Health.ReadOnly)
	if r := s.Health.Recovery; r != nil {
		note(now.Sub(r.At.Std()) < 30*24*time.Hour, "recovered", float64(r.At), r.Damage)
	}
	note(s.ClockUnset, "clock_unset", 0, "")
	note(s.Database.Days > 0 && s.Database.Days < daysLow, "disk_low", float64(s.Database.Days), "")
	note(s.Health.Unreadable > 0, "unreadable", float64(s.Health.Unreadable), "")
	note(s.Health.SamplesLost > 0, "samples_lost", float64(s.Health.SamplesLost), "")
	if ends := s.SuppliedEnds; ends != 0 {
		left := ends.Std().Sub(now)
		note(left < certificateLate, "certificate_ends", max(0, math.Floor(left.Hours()/24)), "the certificate of tls.certificate: valid until "+ends.Std().UTC().Format(time.DateTime)+" UTC")
	}
	up := now.Sub(s.Since.Std())
	switch {
	case s.LastBackup == nil:
		note(up > 36*time.Hour, "no_backup", 0, "")
	default:
		age := now.Sub(s.LastBackup.At)
		note(age > backupLate, "backup_old", float64(int(age.Hours()/24)), "")
	}
	failed := 0
	for _, m := range outbox.Mails {
		if m.State == notify.Failed {
			failed++
		}
	}
	note(failed > 0, "mails_failed", float64(failed), "")
	return list
}

// Backups returns the backups that the appliance has made by itself, the newest first, and where they
// lie.
func (b *Box) Backups() (list []store.Backup, directory string, err error) {
	list, err = store.Backups(b.DB.Path())
	return list, store.BackupDirectory(b.DB.Path()), err
}
