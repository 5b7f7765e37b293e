package crashtest

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/api/appliance/box"
	"sensegate/store"
)

// TestDamagedDatabaseIsRestoredAndNeverBegunAnew damages the database while the product
// runs and takes it away while it does not. Each time the next start has the key of the
// backup; without a backup it refuses and says how to begin anew.
func TestDamagedDatabaseIsRestoredAndNeverBegunAnew(t *testing.T) {
	t.Parallel()
	product, dir := box.Build(t), t.TempDir()
	path := filepath.Join(dir, box.Database)
	p := start(t, dir, product)
	key := strings.TrimSpace(box.Administer(t, product, dir, "apikey", "create", "before"))
	p.Stop()
	err := inspect(t.Context(), path, func(db *store.DB) error {
		_, err := db.Backup(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	hasKey := func(p *box.Process) {
		t.Helper()
		if list := box.Administer(t, product, dir, "apikey", "list"); !strings.Contains(list, "before") {
			t.Errorf("the key is gone: %s\n%s", list, p.Log())
		}
	}

	p = start(t, dir, product)
	hasKey(p)
	overwritePages(t, path)
	meet(t, p, key)
	var exit *exec.ExitError
	if err := p.Ended(); !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Contains(p.Log(), "goroutine ") {
		t.Fatalf("with damage it ended with %v:\n%s", err, p.Log())
	}
	p = start(t, dir, product)
	hasKey(p)
	p.Stop()

	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	p = start(t, dir, product)
	hasKey(p)
	p.Stop()

	if err := errors.Join(os.Remove(path), os.RemoveAll(store.BackupDirectory(path))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), product)
	cmd.Env = box.Environment(dir)
	out, err := cmd.CombinedOutput()
	if !errors.As(err, &exit) || !bytes.Contains(out, []byte("to begin anew on purpose")) {
		t.Errorf("without a backup: %v\n%s", err, out)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a database was made")
	}
}

// pageSize is that of the database's pages, and pageFlags where in a page its kind stands.
const pageSize, pageFlags = 4096, 8

// overwritePages spoils the kind and the count of every page but the first two.
func overwritePages(t *testing.T, path string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for at := int64(2 * pageSize); at < info.Size(); at += pageSize {
		if _, err := file.WriteAt([]byte{0xff, 0xff, 0xff, 0xff}, at+pageFlags); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// meet makes a request that reads the database. The product may end before it answers.
func meet(t *testing.T, p *box.Process, key string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.HTTP+"/core/network/find/id/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	if response.StatusCode < http.StatusInternalServerError {
		t.Errorf("a damaged database answers %s", response.Status)
	}
}
