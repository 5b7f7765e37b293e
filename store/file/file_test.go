package file

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion/fault"
)

// testOptions returns those of a new file.
func testOptions(t *testing.T) Options {
	t.Helper()
	return Options{
		Path: filepath.Join(t.TempDir(), "test.db"), Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		LockTimeout: 100 * time.Millisecond, MmapSize: 1 << 20,
	}
}

// openTest opens a file that holds a bucket.
func openTest(t *testing.T, o Options) *File {
	t.Helper()
	f, err := Open(o, func(f *File) error {
		return f.Update(context.Background(), func(tx *bolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists([]byte("bucket"))
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFailedCommitStopsFurtherOnes(t *testing.T) {
	t.Parallel()
	f := openTest(t, testOptions(t))
	broken, err := os.Open(os.DevNull) // cannot be written to
	if err != nil {
		t.Fatal(err)
	}
	defer broken.Close()
	whole := *f.handle
	*f.handle = *broken
	put := func(tx *bolt.Tx) error { return tx.Bucket([]byte("bucket")).Put([]byte("key"), []byte("value")) }
	first := f.Update(t.Context(), put)
	*f.handle = whole
	second := f.Update(t.Context(), put)
	if first == nil || fault.KindOf(first) != 0 || !errors.Is(second, first) {
		t.Errorf("errors %v and %v, want the same trouble twice", first, second)
	}
	select {
	case <-f.Failed():
	default:
		t.Error("Failed is not closed")
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestFileThatIsNotPreparedGetsNoName(t *testing.T) {
	t.Parallel()
	options, reason := testOptions(t), errors.New("reason")
	if _, err := Open(options, func(*File) error { return reason }); !errors.Is(err, reason) {
		t.Errorf("error %v, want %v", err, reason)
	}
	if _, err := os.Stat(options.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	if err := openTest(t, options).Close(); err != nil {
		t.Error(err)
	}
}

func TestOpeningWaitsForNoFileThatWasReplaced(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	if err := openTest(t, options).Close(); err != nil {
		t.Fatal(err)
	}
	opened, err := os.OpenFile(options.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(options.Path, options.Path+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := openTest(t, options).Close(); err != nil {
		t.Fatal(err)
	}
	if file, _, err := lockedAt(options.Path, opened, options.LockTimeout); !errors.Is(err, ErrLocked) {
		t.Errorf("the file aside was taken for the database: %v, %v", file, err)
	}
}

// TestDamagedCountIsNotBelieved looks at a page whose header says that it has 65,535
// elements. It has room for 255, and no more are looked at: each costs an error, which is
// what is counted here, and a damaged database may have many such pages.
func TestDamagedCountIsNotBelieved(t *testing.T) {
	data := make([]byte, 4096)
	binary.LittleEndian.PutUint32(data[8:], 0xffffffff)
	p := parsePage(7, data)
	made := testing.AllocsPerRun(3, func() {
		if !p.fits([]byte("a"), []byte("b")) {
			t.Error("a page without a key that can be read does not fit")
		}
	})
	if made > 255*20 {
		t.Errorf("%v allocations, want those of 255 elements", made)
	}
}
