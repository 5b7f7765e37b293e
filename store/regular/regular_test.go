package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	err = errors.Join(os.WriteFile(at("file"), []byte("word\n"), 0o600), os.Symlink("file", at("link")), os.WriteFile(at("full"), make([]byte, most), 0o600),
		syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("pipe", at("link to pipe")), os.WriteFile(at("huge"), nil, 0o600), os.Truncate(at("huge"), 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"file": 5, "link": 5, "full": most} {
		if raw, err := Read(at(name)); err != nil || len(raw) != want {
			t.Errorf("%s: %d bytes, %v", name, len(raw), err)
		}
	}
	for path, word := range map[string]string{
		at("pipe"): " is a pipe and no regular file: name one that is", at("link to pipe"): " is a pipe and ", at("socket"): " is a socket and ",
		dir: " is a directory and ", "/dev/zero": " is a device and ", at("huge"): " is larger than 1 MiB",
	} {
		if _, err := Read(path); err == nil || !strings.HasPrefix(err.Error(), path+word) {
			t.Errorf("%s: %v", path, err)
		}
		if err := Mistake(path); path != at("huge") && err == nil {
			t.Errorf("%s is none", path)
		}
	}
	if _, err := Read(at("none")); !errors.Is(err, fs.ErrNotExist) || Mistake(at("none")) != nil {
		t.Errorf("of nothing: %v", err)
	}
}
