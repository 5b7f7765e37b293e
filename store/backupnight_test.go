package store

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackupIsDueAtNightAndWhenNightsWereMissed(t *testing.T) {
	t.Parallel()
	night := time.Date(2026, 3, 8, 3, 20, 0, 0, time.UTC)
	cases := map[string]struct {
		now, last time.Time
		want      bool
	}{
		"the next night":             {night, night.AddDate(0, 0, -1), true},
		"the same night":             {night.Add(20 * time.Minute), night, false},
		"the day after":              {night.Add(9 * time.Hour), night, false},
		"a night was missed":         {night.Add(37 * time.Hour), night, true},
		"the clock is back by years": {night.AddDate(-3, 0, 0), night, false},
	}
	for name, c := range cases {
		if got := backupDue(c.now, c.last); got != c.want {
			t.Errorf("%s: due %t, want %t", name, got, c.want)
		}
	}
}

func TestOneBackupIsMadeEachNight(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	synctest.Test(t, func(t *testing.T) {
		now := time.Now() // midnight of UTC, whatever it is here
		time.Sleep(time.Until(time.Date(now.Year(), now.Month(), now.Day()+1, 12, 0, 0, 0, time.Local)))
		db, err := Open(Options{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*24*time.Hour)
		defer cancel()
		if err := db.BackUpNightly(ctx); err != nil {
			t.Error(err)
		}
		list, err := Backups(path)
		if err != nil || len(list) != 3 {
			t.Errorf("after three days there are %v, %v", list, err)
		}
		for _, b := range list {
			if b.At.Local().Hour() != backupHour {
				t.Errorf("backup at %v, want %d o'clock", b.At.Local(), backupHour)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
