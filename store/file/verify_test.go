package file

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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
	path := filepath.Join(t.TempDir(), "some.db")
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("some"))
		for i := 0; err == nil && i < 200; i++ {
			err = b.Put([]byte{byte(i)}, make([]byte, i*100))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	meta, err := newestMeta(file, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mapFile(file, int(meta.highest*meta.pageSize))
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if err := verifyMapped(m, meta); err != nil {
		t.Fatal(err)
	}
	for cut := int64(meta.highest) - 1; cut > 2; cut -= 7 {
		if err := file.Truncate(cut * int64(meta.pageSize)); err != nil {
			t.Fatal(err)
		}
		if err := verifyMapped(m, meta); err == nil {
			t.Fatalf("%d of %d pages are whole", cut, meta.highest)
		}
	}
	if err := verifyMapped(m[:len(m)-1], meta); err == nil {
		t.Error("what lies behind the end is whole")
	}
}

// A mistake of the program is not told as one of the disk.
func TestAMistakeWhileVerifyingStaysAPanic(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_ = verifyMapped(mapping{}, meta{root: 2, highest: 3}) // pages of no bytes
}
