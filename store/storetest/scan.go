package storetest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sensegate/store"
)

// Scan returns where any of the needles stands in the live keys and values of a
// database, as "bucket: key value" with what is readable of them. Free pages, which
// DB.Wipe overwrites, are not looked at.
func Scan(t testing.TB, db *store.DB, needles ...string) (found []string) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "scan.db")
	err := db.View(t.Context(), func(*store.Tx) error { return copyFile(at, db.Path()) }) // a reader sees no half commit
	if err != nil {
		t.Fatal(err)
	}
	copied, err := bolt.Open(at, 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	err = copied.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(bucket []byte, b *bolt.Bucket) error {
			return b.ForEach(func(key, value []byte) error {
				for _, needle := range needles {
					if bytes.Contains(key, []byte(needle)) || bytes.Contains(value, []byte(needle)) {
						found = append(found, fmt.Sprintf("%s: %q %.200q", bucket, key, value))
						return nil
					}
				}
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
