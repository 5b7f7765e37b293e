package browser_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
)

// chore is what an administrator does on a day of the month.
type chore struct {
	day    int
	call   adminCall
	action string
}

// TestMonthWithoutATerminal keeps a box for a month by its rows alone: a look each day, now and then a
// chore, a backup each night. The session goes on, each chore wants the password again, and the audit log
// says at the end what was done on which day, and nothing else.
func TestMonthWithoutATerminal(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // days
	started := time.Now()
	begun := started.UTC().Truncate(24*time.Hour).AddDate(0, 0, -31).Add(12 * time.Hour) // noon: no test lasts until midnight
	b := newBoxAt(t, func() time.Time { return begun.AddDate(0, 0, int(ahead.Load())).Add(time.Since(started)) })
	chores := []chore{
		{2, adminCall{"POST", "/accounts", `{"email":"aunt@example.com"}`, "", true}, "account_made aunt@example.com"},
		{5, adminCall{"POST", "/keys", `{"name":"grafana","all_networks":true,"days":20}`, "", true}, "key_made grafana"},
		{6, adminCall{"POST", "/mqtt-users", `{"name":"ha"}`, "", true}, "mqtt_user_made ha"},
		{9, adminCall{"POST", fmt.Sprintf("/accounts/%d/password", b.member.ID), "", "", true}, "password_set mum@example.com"},
		{13, adminCall{"POST", "/backup", `{"passphrase":"six words of your own"}`, "", true}, "backup_made "},
		{16, adminCall{"POST", "/restore", b.backupForm(), "", true}, "backup_uploaded "},
		{16, adminCall{"DELETE", "/restore", "", "", false}, "upload_dropped "},
		{20, adminCall{"DELETE", "/mqtt-users/ha", "", "", true}, "mqtt_user_removed ha"},
		{27, adminCall{"POST", "/setup-code", "", "", true}, "setup_code_made "},
		{29, adminCall{"PUT", fmt.Sprintf("/accounts/%d/administrator", b.owner.ID), `{"administrator":true}`, "", true}, "administrator_made jdoe@example.com"},
	}
	var want []string
	for day := 1; day <= 31; day++ {
		ahead.Store(int64(day))
		if _, err := b.db.Backup(t.Context()); err != nil { // as each night
			t.Fatal(err)
		}
		status := apitest.Want[struct {
			Ready     bool
			Attention []struct{ Code string }
		}](t, b.keeper.ask(http.MethodGet, "/admin/status", ""), 200)
		if !status.Ready || day == 31 && len(status.Attention) > 0 {
			t.Errorf("day %d: %+v", day, status)
		}
		for _, c := range chores {
			if c.day != day {
				continue
			}
			if c.call.proven {
				apitest.WantProblem(t, c.call.do(b.keeper), http.StatusForbidden, "step_up")
				b.keeper.done(http.MethodPost, "/step-up", `{"password":"`+password+`"}`)
			}
			if a := c.call.do(b.keeper); a.Status >= 300 {
				t.Fatalf("day %d, %s %s: %d %s", day, c.call.method, c.call.path, a.Status, a.Body)
			}
			want = append(want, fmt.Sprintf("%s %s", begun.AddDate(0, 0, day).Format(time.DateOnly), c.action))
		}
	}
	lines := apitest.Want[struct {
		Lines []struct {
			At            float64
			Action, About string
		}
	}](t, b.keeper.ask(http.MethodGet, "/admin/audit?limit=200", ""), 200).Lines
	var got []string
	for _, l := range slices.Backward(lines) {
		got = append(got, fmt.Sprintf("%s %s %s", time.Unix(int64(l.At), 0).UTC().Format(time.DateOnly), l.Action, l.About))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the audit log says\n%s\nwhat was done\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
