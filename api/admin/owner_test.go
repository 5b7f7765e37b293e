package admin

import (
	"io"
	"os"
	"strings"
	"testing"
)

// TestRootMakesNoFilesOfOthers: what root made in the state directory of a service, that could not open.
func TestRootMakesNoFilesOfOthers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can")
	}
	dir := t.TempDir()
	if err := os.WriteFile(Database(dir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"db", "compact"}, {"restore", "file"}, {"status"}} {
		err := Run(t.Context(), dir, nil, words, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "runuser -u nobody --") {
			t.Errorf("%q: %v", words, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}
