package browser_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"sensegate/api"
	"sensegate/api/apitest"
	"sensegate/store"
)

type restoring struct {
	Staged *struct {
		Networks, Users int
		Homes, Owners   []string
		By              string
		UploadedAt      float64 `json:"uploaded_at"`
	}
	Last *struct{ OK bool }
}

// upload sends a form with a backup.
func (p *tab) upload(form string) apitest.Answer {
	p.box.T.Helper()
	return adminCall{method: http.MethodPost, path: "/restore", body: form}.do(p)
}

// TestBackupGoesOutAndIsShownBeforeItIsRestored downloads an encrypted backup and uploads it again.
func TestBackupGoesOutAndIsShownBeforeItIsRestored(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const words = "six words of your own"
	b.update(func(tx *store.Tx) error { // so that the backup is longer than the body of any other operation may be
		for range 6000 {
			if err := tx.AddAuditLine(store.AuditLine{Action: "key_made", About: strings.Repeat("laptop ", 20)}); err != nil {
				return err
			}
		}
		return nil
	})
	a := b.keeper.ask(http.MethodPost, "/admin/backup", `{"passphrase":"`+words+`"}`)
	if a.Status != http.StatusOK || !strings.HasPrefix(string(a.Body), "age-encryption.org/") || !strings.Contains(a.Header.Get("Content-Disposition"), ".db.age") {
		t.Fatalf("download: %d %v %.40q", a.Status, a.Header, a.Body)
	}
	for body, says := range map[string]string{`{}`: "passphrase", `{"passphrase":"short"}`: "12 characters", `{"passphrase":"` + words + `","plain":true}`: "passphrase"} {
		apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/backup", body), http.StatusUnprocessableEntity, says)
	}
	if plain := b.keeper.ask(http.MethodPost, "/admin/backup", `{"plain":true}`); plain.Status != http.StatusOK || strings.HasPrefix(string(plain.Body), "age") {
		t.Errorf("plain: %d", plain.Status)
	}
	b.person("passer@example.net", b.home, "member") // who is not in the backup
	if len(a.Body) <= api.MaxBody {
		t.Fatalf("a backup of %d bytes shows nothing about the bound of other bodies", len(a.Body))
	}
	backup := string(a.Body)
	for name, c := range map[string]struct{ form, says string }{
		"no passphrase":    {uploaded("", backup), "passphrase"},
		"wrong passphrase": {uploaded("another one of twelve", backup), "passphrase"},
		"cut off":          {uploaded(words, backup[:len(backup)-100]), "damaged"},
		"something else":   {uploaded("", strings.Repeat("not a backup ", 1000)), "foreign"},
		"no file":          {"--" + boundary + "--\r\n", "file"},
		"no form":          {`{}`, "multipart"},
	} {
		if a := b.keeper.upload(c.form); a.Status < 400 || a.Status >= 500 || !strings.Contains(string(a.Body), c.says) {
			t.Errorf("%s: %d %s, want %q", name, a.Status, a.Body, c.says)
		}
	}
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/restore/apply", `{"uploaded_at":0}`), http.StatusConflict, "nothing_staged")
	if a := b.keeper.upload(uploaded(words, backup)); a.Status != http.StatusCreated {
		t.Fatalf("upload: %d %s", a.Status, a.Body)
	}
	got := apitest.Want[restoring](t, b.keeper.ask(http.MethodGet, "/admin/restore", ""), 200)
	if s := got.Staged; s == nil || s.Networks != 2 || s.Users != 6 || len(s.Homes) != 2 || s.Owners[0] != "jdoe@example.com" || s.By != "keeper@example.net" || got.Last != nil {
		t.Fatalf("%+v", got)
	}
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/restore/apply", `{"uploaded_at":1}`), http.StatusConflict, "another_staged")
	if n := b.restarts.Load(); n != 0 {
		t.Errorf("restarted %d times before", n)
	}
	b.keeper.done(http.MethodPost, "/admin/restore/apply", `{"uploaded_at":0}`)
	if n := b.restarts.Load(); n != 1 {
		t.Errorf("restarted %d times, want once", n)
	}
}

// TestUploadOfAnAdministratorWhoIsNoneAnyMore: their upload was under way.
func TestUploadOfAnAdministratorWhoIsNoneAnyMore(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	form := b.backupForm()
	body, send := io.Pipe()
	r := b.keeper.request(b.Client, http.MethodPost, "/admin/restore", "")
	r.Body, r.ContentLength = body, -1
	r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	go func() {
		half := len(form) / 2
		_, err := io.WriteString(send, form[:half])
		if err == nil {
			err = b.db.Update(context.Background(), func(tx *store.Tx) error {
				return errors.Join(tx.SetAdministrator(b.owner.ID, true), tx.SetAdministrator(b.keeper.ID, false))
			})
		}
		if err == nil {
			_, err = io.WriteString(send, form[half:])
		}
		_ = send.CloseWithError(err)
	}()
	apitest.WantProblem(t, b.Do(r), http.StatusForbidden, "administrator")
	if got := apitest.Want[restoring](t, b.owner.ask(http.MethodGet, "/admin/restore", ""), 200); got.Staged != nil {
		t.Errorf("%+v is staged", got.Staged)
	}
}
