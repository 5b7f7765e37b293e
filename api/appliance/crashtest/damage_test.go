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

// TestAlteredKeyMetWhileRunningIsMended changes a byte in the record of an API key while the
// product runs. The first request with that key makes it not ready and ends it, and the next
// start has the key from the backup, or without one refuses.
func TestAlteredKeyMetWhileRunningIsMended(t *testing.T) {
	t.Parallel()
	product, dir := box.Build(t), t.TempDir()
	path := filepath.Join(dir, box.Database)
	p := start(t, dir, product)
	key, _, _ := strings.Cut(box.Administer(t, product, dir, "apikey", "create", "an-altered-key", "-all-networks"), "\n")
	p.Stop()
	err := inspect(t.Context(), path, func(db *store.DB) error {
		_, err := db.Backup(t.Context())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	endsOnAlteredKey(t, dir, product, key)
	p = start(t, dir, product)
	if status, raw, err := get(t, p, key, "/core/networks"); err != nil || status != http.StatusOK {
		t.Errorf("after the start: %d %s %v\n%s", status, raw, err, p.Log())
	}
	p.Stop()

	if err := os.RemoveAll(store.BackupDirectory(path)); err != nil {
		t.Fatal(err)
	}
	endsOnAlteredKey(t, dir, product, key)
	p, ready := box.Try(t, box.Setup{Dir: dir, Line: []string{product}})
	if ready || !strings.Contains(p.Log(), "to begin anew on purpose") {
		t.Errorf("without a backup: ready %v\n%s", ready, p.Log())
	}
}

// endsOnAlteredKey runs the product, alters the record of the key, asks for something with it
// and wants the product to end.
func endsOnAlteredKey(t *testing.T, dir, product, key string) {
	t.Helper()
	p := start(t, dir, product)
	if status, _, err := get(t, p, key, "/core/networks"); err != nil || status != http.StatusOK {
		t.Fatalf("before the damage: %d %v", status, err)
	}
	path := filepath.Join(dir, box.Database)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	name := []byte(`"an-altered-key"`)
	for at, altered := 0, 0; ; at += len(name) {
		next := bytes.Index(raw[at:], name)
		if next < 0 {
			if altered == 0 {
				t.Fatal("the record is not found")
			}
			break
		}
		at += next
		if _, err := file.WriteAt([]byte("A"), int64(at)+1); err != nil {
			t.Fatal(err)
		}
		altered++
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if status, raw, err := get(t, p, key, "/core/networks"); err == nil && status < http.StatusInternalServerError {
		t.Errorf("with an altered key: %d %s", status, raw)
	}
	if status, raw, err := get(t, p, "", "/readyz"); err == nil && status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d %s", status, raw)
	}
	var exit *exec.ExitError
	if err := p.Ended(); !errors.As(err, &exit) || exit.ExitCode() != 1 || strings.Contains(p.Log(), "goroutine ") {
		t.Fatalf("with damage it ended with %v:\n%s", err, p.Log())
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
