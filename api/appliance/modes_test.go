package appliance

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestStateDirectoryIsItsOwnersAlone: whoever else has an account on the machine reads nothing of a household.
func TestStateDirectoryIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	r := serve(t, func(c *Config) { c.StateDir = dir })
	r.command("backup", "-o", filepath.Join(dir, "home.backup"))
	count := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v", path, info.Mode())
		}
		count++
		return err
	})
	if err != nil || count < 5 {
		t.Errorf("%d files, %v", count, err)
	}
}
