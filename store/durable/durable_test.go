package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestCreatedFileTakesThePlaceOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, temporary := filepath.Join(dir, "file"), filepath.Join(dir, "temporary")
	if err := CreateFile(path, temporary, []byte("first")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := CreateFile(path, temporary, []byte("second")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("where it is: %v", err)
		}
	}
	if err := os.WriteFile(temporary, []byte("of somebody else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CreateFile(filepath.Join(dir, "other"), temporary, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("by way of a file that is there: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for at, want := range map[string]string{path: "first", temporary: "of somebody else"} {
		if raw, err := os.ReadFile(at); err != nil || string(raw) != want {
			t.Errorf("%s holds %s, %v", at, raw, err)
		}
	}
}

func TestPipeIsNoFileToWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := syscall.Mkfifo(path+".new", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("x")); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("%v", err)
	}
}
