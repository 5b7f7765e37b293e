package appliance

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/api/admin"
)

// Commands without a running appliance open its database themselves.
func TestOfflineCommandSaysWhatItDoesToTheDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, err := os.ReadFile("../../store/testdata/v2.db")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sensegate.db"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, told := range []bool{true, false} {
		var out, said bytes.Buffer
		if err := admin.Run(t.Context(), dir, []string{"user", "list"}, &out, &said); err != nil || !strings.Contains(out.String(), "owner@example.com") {
			t.Fatalf("%v: %s", err, out.String())
		}
		if strings.Contains(said.String(), "database migrated") != told || !told && said.Len() > 0 {
			t.Errorf("it says %q, want something of a migration: %t", said.String(), told)
		}
	}
}

func TestBackupReplacesNoFile(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	path := filepath.Join(t.TempDir(), "home.backup")
	r.command("backup", "-o", path)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	err = admin.Run(t.Context(), r.config.StateDir, []string{"backup", "-o", path}, &bytes.Buffer{}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("over a file that is there: %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, first) {
		t.Errorf("the file has changed: %v", err)
	}
}
