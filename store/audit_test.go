package store

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// openAt opens a database on a clock that a test sets.
func openAt(t *testing.T, now *time.Time) *DB {
	t.Helper()
	o := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	o.Retention = DefaultRetention()
	o.Now = func() time.Time { return *now }
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Check(context.Background()), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db
}

func (db *DB) mustUpdate(t *testing.T, ctx context.Context, fn func(*Tx) error) {
	t.Helper()
	if err := db.Update(ctx, fn); err != nil {
		t.Fatal(err)
	}
}

// lines returns the ids of a page of the audit log.
func (db *DB) lines(t *testing.T, before uint64, last int) (ids []uint64, more bool) {
	t.Helper()
	err := db.View(t.Context(), func(tx *Tx) error {
		list, older := tx.AuditPage(before, last)
		for _, l := range list {
			ids = append(ids, l.ID)
		}
		more = older
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids, more
}

// TestAuditLineComesWithItsChange: in its transaction, once, and not without it.
func TestAuditLineComesWithItsChange(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := openAt(t, &now)
	who := Actor{Kind: ByAccount, UserID: 7, Name: "jdoe@example.com", From: netip.MustParseAddr("192.168.1.31")}
	note := NewAuditNote(who, "key_made", "ha")
	ctx := Audited(t.Context(), note)
	refused := errors.New("refused")
	if err := db.Update(ctx, func(*Tx) error { return refused }); !errors.Is(err, refused) || note.Written() {
		t.Errorf("%v, written: %t", err, note.Written())
	}
	if ids, _ := db.lines(t, 0, 10); len(ids) > 0 {
		t.Errorf("a refused change left %v", ids)
	}
	for range 2 {
		db.mustUpdate(t, ctx, func(tx *Tx) error {
			note.Add("network", "17")
			_, err := tx.CreateUser(home.User{Email: fmt.Sprint(tx.now, "@example.com"), Sub: fmt.Sprint(tx.now)})
			return err
		})
		now = now.Add(time.Second)
	}
	if ids, more := db.lines(t, 0, 10); !slices.Equal(ids, []uint64{1}) || more || !note.Written() {
		t.Errorf("two changes of one note: %v", ids)
	}
	err := db.View(t.Context(), func(tx *Tx) error {
		list, _ := tx.AuditPage(0, 1)
		if l := list[0]; l.At != 1764000000 || l.From != "192.168.1.31" || l.Who.UserID != 7 || l.Details["network"] != "17" || l.Action != "key_made" || l.About != "ha" {
			t.Errorf("%+v", l)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAuditLogIsReadInPagesAndBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := openAt(t, &now)
	db.mustUpdate(t, t.Context(), func(tx *Tx) error {
		for range auditLimit + 5 {
			if err := tx.AddAuditLine(AuditLine{Action: "key_made"}); err != nil {
				return err
			}
		}
		return nil
	})
	if ids, more := db.lines(t, 0, 2); !slices.Equal(ids, []uint64{auditLimit + 5, auditLimit + 4}) || !more {
		t.Errorf("the newest: %v %t", ids, more)
	}
	if ids, more := db.lines(t, auditLimit+4, 1); !slices.Equal(ids, []uint64{auditLimit + 3}) || !more {
		t.Errorf("before a line: %v %t", ids, more)
	}
	if ids, more := db.lines(t, 8, 10); !slices.Equal(ids, []uint64{7, 6}) || more {
		t.Errorf("the oldest, of which five have gone: %v %t", ids, more)
	}
	if ids, _ := db.lines(t, 1<<40, 1); !slices.Equal(ids, []uint64{auditLimit + 5}) {
		t.Errorf("before a line that is not there yet: %v", ids)
	}
	if ids, _ := db.lines(t, 1, 10); len(ids) > 0 {
		t.Errorf("before the first: %v", ids)
	}
}

func TestAuditLinesGoWithTheEventsOfTheirTime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := openAt(t, &now)
	for range 2 {
		db.mustUpdate(t, t.Context(), func(tx *Tx) error { return tx.AddAuditLine(AuditLine{Action: "key_made"}) })
		now = now.Add(60 * 24 * time.Hour)
	}
	db.mustUpdate(t, t.Context(), func(tx *Tx) error {
		tx.expireRecords(now.Unix())
		return nil
	})
	if ids, _ := db.lines(t, 0, 10); !slices.Equal(ids, []uint64{2}) {
		t.Errorf("after 120 and 60 of 90 days: %v", ids)
	}
}

// TestAuditLogForgetsADeletedAccount in all three places where a line can name it.
func TestAuditLogForgetsADeletedAccount(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := openAt(t, &now)
	db.mustUpdate(t, t.Context(), func(tx *Tx) error {
		u, err := tx.CreateUser(home.User{Email: "Mum@example.com", Sub: "1"})
		return errors.Join(err,
			tx.AddAuditLine(AuditLine{Action: "key_made", About: "ha", Who: Actor{Kind: ByAccount, UserID: u.ID, Name: u.Email}, From: "192.168.1.31"}),
			tx.AddAuditLine(AuditLine{Action: "password_set", About: "mum@example.com"}),
			tx.AddAuditLine(AuditLine{Action: "mail_read", About: "mail 1", Details: map[string]string{"to": "mum@example.com", "kind": "reset"}}),
			tx.AddAuditLine(AuditLine{Action: "key_made", About: "other"}),
			tx.DeleteUser(u.ID))
	})
	err := db.View(t.Context(), func(tx *Tx) error {
		list, _ := tx.AuditPage(0, 10)
		text := fmt.Sprintf("%+v", list)
		if len(list) != 4 || list[2].About != "account 1" || list[1].Details["kind"] != "reset" || list[0].About != "other" {
			t.Error(text)
		}
		for _, l := range list {
			if home.EmailKey(l.About) == "mum@example.com" || l.Who.Name != "" || l.From != "" || l.Details["to"] != "" {
				t.Errorf("%+v", l)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAuditLinesFollowAClockThatIsSet(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	db := openAt(t, &now)
	db.mustUpdate(t, t.Context(), func(tx *Tx) error {
		return errors.Join(tx.AddAuditLine(AuditLine{Action: "key_made"}), tx.restampAudit(Restamp{From: 900, To: 1100, By: 1764000000}))
	})
	err := db.View(t.Context(), func(tx *Tx) error {
		if list, _ := tx.AuditPage(0, 1); list[0].At != 1764001000 {
			t.Errorf("%+v", list[0])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNameIsNoLineOfTheAuditLog(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := openAt(t, &now)
	db.mustUpdate(t, t.Context(), func(tx *Tx) error {
		return tx.AddAuditLine(AuditLine{Action: "key_revoked", About: "a\n9  root", Who: Actor{Name: "\x1b[2J"}, Details: map[string]string{"why": "\u202ex"}})
	})
	err := db.View(t.Context(), func(tx *Tx) error {
		list, _ := tx.AuditPage(0, 1)
		if l := list[0]; l.About != "a?9  root" || l.Who.Name != "?[2J" || l.Details["why"] != "?x" {
			t.Errorf("%+v", l)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFirstSetupCodeMakesTheAdministrator, and no later one does.
func TestFirstSetupCodeMakesTheAdministrator(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := openAt(t, &now)
	want := func(what string, ids ...home.UserID) {
		t.Helper()
		if got, err := Read(t.Context(), db, (*Tx).Administrators); err != nil || !slices.Equal(got, ids) {
			t.Errorf("%s: %v %v, want %v", what, got, err, ids)
		}
	}
	db.mustUpdate(t, t.Context(), func(tx *Tx) error {
		passed, err := tx.PassAdministration(1, 2, map[string]string{})
		if passed || err != nil {
			t.Errorf("passed on where nobody looks after the appliance: %v", err)
		}
		return nil
	})
	for i, address := range []string{"installer@example.com", "next@example.com"} {
		db.mustUpdate(t, t.Context(), func(tx *Tx) error {
			u, err := tx.CreateUser(home.User{Email: address, Sub: address})
			return errors.Join(err, tx.PutSetupCode("7K2M-Q9XA-04TZ"), tx.RedeemSetupCode("7K2M-Q9XA-04TZ", u.ID))
		})
		want(fmt.Sprint("after code ", i), 1)
	}
	db.mustUpdate(t, t.Context(), func(tx *Tx) error {
		if err := tx.SetAdministrator(1, false); fault.KindOf(err) != fault.Conflict {
			t.Errorf("the last one goes: %v", err)
		}
		_, err := tx.PassAdministration(1, 2, map[string]string{})
		return err
	})
	want("passed on", 2)
	if ids, _ := db.lines(t, 0, 10); len(ids) != 2 {
		t.Errorf("%d lines, want one for each change", len(ids))
	}
}

// TestSchema5GetsAnAuditLog opens a file of the schema that landed before.
func TestSchema5GetsAnAuditLog(t *testing.T) {
	t.Parallel()
	o := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
	steps := migrations()
	old, err := open(o, steps[:slices.IndexFunc(steps, func(m migration) bool { return m.version == 6 })])
	if err != nil {
		t.Fatal(err)
	}
	err = old.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.CreateUser(home.User{Email: "jdoe@example.com", Sub: "1"})
		return err
	})
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
	db, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(Audited(t.Context(), NewAuditNote(Actor{Kind: ByTerminal}, "administrator_made", "jdoe@example.com")), func(tx *Tx) error {
		return tx.SetAdministrator(1, true)
	})
	if err := errors.Join(err, db.Check(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
}
