package box

import (
	"slices"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/notify"
	"sensegate/store"
	"sensegate/store/file"
)

func TestAttentionTellsWhatSomebodyHasToLookAt(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	since := motion.TimeOf(now.Add(-48 * time.Hour))
	fine := func() Status {
		return Status{Since: since, LastBackup: &store.Backup{At: now.Add(-10 * time.Hour)}, Database: store.Stats{Stats: file.Stats{}, Days: 2600}}
	}
	for name, c := range map[string]struct {
		change func(*Status, *Outbox)
		want   []Attention
	}{
		"all is well":          {func(*Status, *Outbox) {}, nil},
		"first night to be":    {func(s *Status, _ *Outbox) { s.LastBackup, s.Since = nil, motion.TimeOf(now.Add(-time.Hour)) }, nil},
		"no backup":            {func(s *Status, _ *Outbox) { s.LastBackup = nil }, []Attention{{Code: "no_backup"}}},
		"old backup":           {func(s *Status, _ *Outbox) { s.LastBackup.At = now.Add(-121 * time.Hour) }, []Attention{{Code: "backup_old", Figure: 5}}},
		"little room":          {func(s *Status, _ *Outbox) { s.Database.Days = 12 }, []Attention{{Code: "disk_low", Figure: 12}}},
		"read-only, told once": {func(s *Status, _ *Outbox) { s.NotReady, s.Health.ReadOnly = "no room", "no room" }, []Attention{{Code: "read_only", Text: "no room"}}},
		"the worst first": {func(s *Status, o *Outbox) {
			s.NotReady, s.ClockUnset = "the broker is full", true
			o.Mails = []MailState{{State: notify.Failed}, {State: notify.Sent}, {State: notify.Failed}}
		}, []Attention{{Code: "not_ready", Text: "the broker is full"}, {Code: "clock_unset"}, {Code: "mails_failed", Figure: 2}}},
		"old damage": {func(s *Status, _ *Outbox) {
			s.Health.Recovery = &store.Recovery{At: motion.TimeOf(now.Add(-40 * 24 * time.Hour))}
		}, nil},
		"recent damage": {func(s *Status, _ *Outbox) { s.Health.Recovery = &store.Recovery{At: since, Damage: "a page"} }, []Attention{{Code: "recovered", Figure: float64(since), Text: "a page"}}},
	} {
		s, o := fine(), Outbox{}
		c.change(&s, &o)
		if got := s.Attention(o, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
