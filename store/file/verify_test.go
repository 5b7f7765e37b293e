package file

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestWhatBboltWritesIsWhole puts and deletes keys at random, in two buckets and one inside, so
// that pages are split, merged and emptied. After every commit the file is whole.
func TestWhatBboltWritesIsWhole(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12))
	path := filepath.Join(t.TempDir(), "some.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	change := func(b *bolt.Bucket, deletes int) error {
		for range 1 + random.IntN(60) {
			key := binary.BigEndian.AppendUint32(nil, uint32(random.IntN(3000)))
			var err error
			if random.IntN(10) < deletes {
				err = b.Delete(key)
			} else {
				err = b.Put(key, make([]byte, random.IntN(400)*(1+9*random.IntN(20)/19)))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	for round := range 600 {
		deletes := []int{2, 5, 9}[round/40%3] // it grows, stays and shrinks in turn
		err := db.Update(func(tx *bolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte{byte('a' + random.IntN(2))})
			if err != nil {
				return err
			}
			if err := change(b, deletes); err != nil || random.IntN(3) > 0 {
				return err
			}
			if b, err = b.CreateBucketIfNotExists([]byte("inside")); err != nil {
				return err
			}
			return change(b, deletes)
		})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := verify(file); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadingWhatWasCutOffIsAnError: a page that is gone from a file in use must not end the process.
func TestReadingWhatWasCutOffIsAnError(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "some.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	size := 4 * os.Getpagesize()
	if err := file.Truncate(int64(size)); err != nil {
		t.Fatal(err)
	}
	m, err := mapFile(file, size)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if err := file.Truncate(int64(size / 2)); err != nil {
		t.Fatal(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	buffer := make([]byte, 16)
	if _, err := m.ReadAt(buffer, 16); err != nil {
		t.Errorf("of what is there: %v", err)
	}
	if n, err := m.ReadAt(buffer, int64(size-16)); err == nil || n != 0 {
		t.Errorf("of what was cut off: %d bytes, %v", n, err)
	}
	if _, err := m.ReadAt(buffer, int64(size)); err != io.EOF {
		t.Errorf("behind the end: %v", err)
	}
}
