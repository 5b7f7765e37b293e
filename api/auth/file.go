package auth

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// writeDurably replaces the file at path, whole or not at all, and readable by its
// owner only: what it returns nil for has survived a power cut.
func writeDurably(path string, data []byte) error {
	temporary, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = temporary.Write(data)
	if err := errors.Join(err, temporary.Chmod(0o600), temporary.Sync(), temporary.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	directory, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := errors.Join(directory.Sync(), directory.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
