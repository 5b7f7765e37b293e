package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"sensegate/store/durable"
)

// PutBack gives the backup the name o.Path, by renaming it, so that no room is needed, and cuts its seal off
// there. The former file is kept as aside. When the backup is gone, a power cut may have come after it was
// renamed: then its seal is cut off, otherwise the error wraps fs.ErrNotExist. What else is refused, without
// any change, wraps ErrDamaged, for a backup that is not whole, or ErrLocked.
func PutBack(o Options, backup string) (aside string, err error) {
	former, err := lockPresent(o)
	if err != nil {
		return "", err
	}
	defer former.Close() // of nil it fails, and does nothing
	file, err := os.OpenFile(backup, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) && former != nil {
		if _, sum, unread := sealOf(former); unread == nil && sum != nil {
			return "", cutSeal(former)
		}
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	if _, err := verifySeal(file); err != nil {
		return "", err
	}
	if former != nil {
		if aside, err = linkOrNew(o); err != nil {
			return "", err
		}
	}
	if err := Replace(o.Path, backup, aside); err != nil {
		return "", err
	}
	return aside, errors.Join(durable.SyncDirectory(filepath.Dir(backup)), cutSeal(file))
}

// linkOrNew returns a name aside for the file at o.Path: the one that it has already since a power cut, or a
// new one.
func linkOrNew(o Options) (string, error) {
	list, err := Asides(o.Path, "replaced")
	for _, aside := range list {
		if sameFile(o.Path, aside) {
			return aside, nil
		}
	}
	return AsidePath(o.Path, "replaced", o.Now()), err
}

// cutSeal cuts the seal off.
func cutSeal(file *os.File) error {
	size, _, err := sealOf(file)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(size), file.Sync())
}
