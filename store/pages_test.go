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
	m, err := newestMeta(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return data[:m.highest*m.pageSize]
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
	m, err := newestMeta(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	spoilt := 0
	for id := uint64(2); id < m.highest; id++ {
		p := parsePage(id, data[id*m.pageSize:(id+1)*m.pageSize])
		if p.count < 2 || binary.LittleEndian.Uint64(p.bytes) != id || !inUse(t, data, id) {
			continue
		}
		for count := range 2 {
			broken := bytes.Clone(data)
			binary.LittleEndian.PutUint16(broken[id*m.pageSize+10:], uint16(count*p.count/2))
			path := filepath.Join(t.TempDir(), "sensegate.db")
			if err := os.WriteFile(path, broken, 0o600); err != nil {
				t.Fatal(err)
			}
			if db, err := Open(testOptions(path)); !errors.Is(err, ErrDamaged) {
				t.Errorf("page %d with flags %#x has %d elements of %d: %v", id, p.flags, count*p.count/2, p.count, errors.Join(err, db.Close()))
			}
			spoilt++
		}
	}
	if spoilt < 10 {
		t.Errorf("only %d pages were spoilt", spoilt)
	}
}

// inUse reports whether a page is part of the last commit of a database.
func inUse(t *testing.T, data []byte, id uint64) bool {
	t.Helper()
	return !remainsOf(t, data).free[id]
}

// remainsOf returns what can be read of a database, until the test ends.
func remainsOf(t *testing.T, data []byte) *remains {
	t.Helper()
	file, err := os.Open(at(t, data, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	r, err := readRemains(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
