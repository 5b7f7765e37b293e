package browser_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"sensegate/api/apitest"
	boxes "sensegate/api/box"
)

// configured is the configuration of the tests.
func configured() boxes.Settings {
	port, line, variable := ":80", 12, "SENSEGATE_MAIL_SMTP_PASSWORD_FILE"
	return boxes.Settings{File: "/etc/sensegate/config.yaml", List: []boxes.Setting{
		{Key: "http.listen", Value: &port, Set: true, Origin: boxes.OfFile, Line: &line, Standard: ":8080"},
		{Key: "mail.smtp.password", Set: true, Secret: true, Origin: boxes.OfEnvironment, Variable: &variable},
	}}
}

func TestSettingsOfTheAppliance(t *testing.T) {
	t.Parallel()
	a := newBox(t).keeper.ask(http.MethodGet, "/admin/settings", "")
	want := `{"file":"/etc/sensegate/config.yaml","settings":[` +
		`{"key":"http.listen","value":":80","set":true,"secret":false,"origin":"file","line":12,"variable":null,"standard":":8080"},` +
		`{"key":"mail.smtp.password","value":null,"set":true,"secret":true,"origin":"environment","line":null,"variable":"SENSEGATE_MAIL_SMTP_PASSWORD_FILE","standard":""}]}`
	if got := string(a.Body); a.Status != http.StatusOK || got != want && got != want+"\n" {
		t.Errorf("%d\n%s\nwant\n%s", a.Status, got, want)
	}
}

func TestBackupsOfTheAppliance(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	type backups struct {
		Backups []struct {
			At   float64
			Size int64
		}
		Directory string
	}
	get := func() backups {
		return apitest.Want[backups](t, b.keeper.ask(http.MethodGet, "/admin/backups", ""), 200)
	}
	none := get()
	if none.Backups == nil || len(none.Backups) > 0 || none.Directory != filepath.Join(filepath.Dir(b.db.Path()), "backups") {
		t.Errorf("without backups: %+v", none)
	}
	made, err := b.db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(made.Path)
	if err != nil {
		t.Fatal(err)
	}
	if one := get(); len(one.Backups) != 1 || one.Backups[0].Size != info.Size() || one.Backups[0].At != float64(made.At.UnixMilli())/1000 {
		t.Errorf("with one of %v: %+v", made.At, one)
	}
}
