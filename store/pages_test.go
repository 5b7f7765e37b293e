package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"sensegate/motion"
)

// filled returns the used pages of a database with branch pages, inline buckets
// and overflow pages.
func filled(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	db, err := Open(testOptions(path))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		err := db.Update(t.Context(), func(tx *Tx) error {
			n, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint(i)})
			for j := range 10 {
				_, _, addErr := tx.AddEvent(motion.Event{NetworkID: n.ID, TS: motion.Time(1 + j)}, fmt.Sprint(j))
				err = errors.Join(err, addErr)
			}
			return errors.Join(err, tx.PutDetectorState(n.ID, bytes.Repeat([]byte("7"), 200*i+1)))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return usedPages(t, path)
}

// usedPages returns a database without the pages at its end that were never
// used.
func usedPages(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	inBolt(t, data, func(tx *bolt.Tx) { data = data[:tx.Size()] })
	return data
}

// inBolt opens a copy of a database, whose pages have 4 KiB, with bbolt alone.
func inBolt(t testing.TB, data []byte, look func(*bolt.Tx)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true, PreLoadFreelist: true})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *bolt.Tx) error {
		look(tx)
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// kindOf returns what a page of a database is, such as "leaf" or "free".
func kindOf(t testing.TB, data []byte, id uint64) (kind string) {
	t.Helper()
	inBolt(t, data, func(tx *bolt.Tx) {
		info, err := tx.Page(int(id))
		if err != nil {
			t.Fatal(err)
		}
		kind = info.Type
	})
	return kind
}

// rootOf returns the root page of a bucket, 0 when it stands in the list of buckets itself.
func rootOf(t testing.TB, data []byte, bucket string) (root uint64) {
	t.Helper()
	inBolt(t, data, func(tx *bolt.Tx) { root = uint64(tx.Bucket([]byte(bucket)).Root()) })
	return root
}

// Fields of a page, and of an element of a branch page.
func flagsOf(data []byte, id uint64) uint16 { return binary.LittleEndian.Uint16(data[id*4096+8:]) }
func countOf(data []byte, id uint64) int    { return int(binary.LittleEndian.Uint16(data[id*4096+10:])) }
func childOf(data []byte, id uint64, element int) uint64 {
	return binary.LittleEndian.Uint64(data[id*4096+16+16*uint64(element)+8:])
}

func TestCutOffFileIsDamaged(t *testing.T) {
	t.Parallel()
	data := filled(t)
	path := filepath.Join(t.TempDir(), "sensegate.db")
	for size := 1; size < len(data); size += len(data)/50 + 1 {
		if err := os.WriteFile(path, data[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(testOptions(path))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "backup") {
			t.Fatalf("size %d: error %v, want one of damage that names the file and the way out", size, err)
		}
	}
}

// TestDamageNeverPanics flips bytes all over a database. Each time it is either
// reported as damaged, or opens and can be read to the end without a panic.
func TestDamageNeverPanics(t *testing.T) {
	t.Parallel()
	data := filled(t)
	path := filepath.Join(t.TempDir(), "sensegate.db")
	random := rand.New(rand.NewPCG(1, 2))
	const rounds = 150
	reported := 0
	for range rounds {
		if err := os.WriteFile(path, flipped(data, random), 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(testOptions(path))
		if err != nil {
			reported++
			if !strings.Contains(err.Error(), path) {
				t.Errorf("message %q does not name the file", err)
			}
			continue
		}
		_ = db.Check(t.Context()) // may well find undecodable records
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if reported < rounds/4 {
		t.Errorf("only %d of %d damaged files were reported", reported, rounds)
	}
}

// flipped returns data with some bytes changed, half of them among the headers
// and elements of pages.
func flipped(data []byte, random *rand.Rand) []byte {
	broken := bytes.Clone(data)
	for range 1 + random.IntN(6) {
		at := random.IntN(len(broken))
		if random.IntN(2) == 0 {
			at = at&^4095 + random.IntN(64)
		}
		broken[at] ^= byte(1 + random.IntN(255))
	}
	return broken
}

// FuzzVerifyPages looks for a file that verification accepts and bbolt chokes
// on, and for a panic of verification itself.
func FuzzVerifyPages(f *testing.F) {
	data := filled(f)
	f.Add(100, byte(1), 8, byte(2))
	f.Add(4096*3+8, byte(0xff), 4096*3+10, byte(1))
	f.Fuzz(func(t *testing.T, at1 int, flip1 byte, at2 int, flip2 byte) {
		broken := bytes.Clone(data)
		broken[uint(at1)%uint(len(broken))] ^= flip1
		broken[uint(at2)%uint(len(broken))] ^= flip2
		path := filepath.Join(t.TempDir(), "sensegate.db")
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(testOptions(path))
		if err != nil {
			return
		}
		_ = db.Check(t.Context())
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestLostElementsAreDamage takes what bbolt would not miss: elements off the end of leaf
// pages, and pages off the list of free ones.
func TestLostElementsAreDamage(t *testing.T) {
	t.Parallel()
	data := filled(t)
	spoilt := 0
	for id := uint64(2); id < uint64(len(data)/4096); id++ {
		had := countOf(data, id)
		if had < 2 || binary.LittleEndian.Uint64(data[id*4096:]) != id || !inUse(t, data, id) {
			continue
		}
		for count := range 2 {
			broken := bytes.Clone(data)
			binary.LittleEndian.PutUint16(broken[id*4096+10:], uint16(count*had/2))
			path := filepath.Join(t.TempDir(), "sensegate.db")
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			if db, err := Open(testOptions(path)); !errors.Is(err, ErrDamaged) {
				t.Errorf("page %d with flags %#x has %d elements of %d: %v", id, flagsOf(data, id), count*had/2, had, errors.Join(err, db.Close()))
			}
			spoilt++
		}
	}
	if spoilt < 10 {
		t.Errorf("only %d pages were spoilt", spoilt)
	}
}

// TestBranchKeyThatIsNotTheFirstOfItsPageIsDamage lowers keys in branch pages by one bit, in
// their order still. bbolt finds the place of a page in the one above by its first key, so that
// the next write would leave two places. Salvaging loses nothing.
func TestBranchKeyThatIsNotTheFirstOfItsPageIsDamage(t *testing.T) {
	t.Parallel()
	data := filled(t)
	spoilt := 0
	for id := uint64(2); id < uint64(len(data)/4096); id++ {
		if flagsOf(data, id) != branchPage || !inUse(t, data, id) {
			continue
		}
		for i := range countOf(data, id) {
			element := id*4096 + 16 + 16*uint64(i)
			position, size := binary.LittleEndian.Uint32(data[element:]), binary.LittleEndian.Uint32(data[element+4:])
			last := element + uint64(position+size) - 1
			if data[last]&1 == 0 {
				continue
			}
			broken := bytes.Clone(data)
			broken[last] &^= 1
			path := at(t, broken, nil)
			db, err := Open(testOptions(path))
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("page %d, element %d: %v, want ErrDamaged", id, i, errors.Join(err, db.Close()))
				continue
			}
			if !strings.Contains(err.Error(), "begins with key") {
				continue // the key below it has that place
			}
			spoilt++
			db, recovery, err := OpenOrRecover(t.Context(), testOptions(path))
			if err != nil || recovery == nil || recovery.Lost != "" {
				t.Errorf("page %d, element %d: salvaged %+v, %v; want that nothing is lost", id, i, recovery, err)
				continue
			}
			if err := errors.Join(db.Check(t.Context()), db.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if spoilt < 5 {
		t.Errorf("only %d keys were spoilt", spoilt)
	}
}

// inUse reports whether a page is part of the last commit of a database.
func inUse(t *testing.T, data []byte, id uint64) bool {
	t.Helper()
	return kindOf(t, data, id) != "free"
}
