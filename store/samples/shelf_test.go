package samples

import (
	"bytes"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/series"
)

// newTx returns a transaction of a database with the buckets of samples, which is not committed.
func newTx(t *testing.T) Tx {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "samples.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin(true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback(); db.Close() })
	for _, tier := range series.Tiers() {
		if _, err := tx.CreateBucket([]byte(Bucket(tier))); err != nil {
			t.Fatal(err)
		}
	}
	return Tx{Bolt: tx, Logger: slog.New(slog.DiscardHandler), OnCommit: func(func()) {}}
}

// place is where a block is.
type place struct {
	start   int64
	network motion.NetworkID
}

// TestShelfHoldsWhatWasPut puts, replaces and drops blocks of all sizes, some of which former programs
// had put under keys of their own, and compares with a map.
func TestShelfHoldsWhatWasPut(t *testing.T) {
	t.Parallel()
	tx := newTx(t)
	rapid.Check(t, func(t *rapid.T) {
		s := tx.shelf(series.Second)
		for key, _ := s.Cursor().First(); key != nil; key, _ = s.Cursor().First() {
			if err := s.Delete(key); err != nil {
				t.Fatal(err)
			}
		}
		want := map[place][]byte{}
		starts, networks := rapid.SampledFrom([]int64{0, 600, 1800}), rapid.Map(rapid.IntRange(1, 40), func(n int) motion.NetworkID { return motion.NetworkID(n * n) })
		value := func(p place) []byte {
			return bytes.Repeat([]byte{1, byte(p.network), byte(p.start / 600)}, rapid.SampledFrom([]int{1, 50, 700, 3000, 9000}).Draw(t, "thirds"))
		}
		for range rapid.IntRange(0, 8).Draw(t, "former blocks") {
			p := place{starts.Draw(t, "start"), networks.Draw(t, "network")}
			want[p] = value(p)
			if err := s.Put(sampleKey(p.start, p.network), want[p]); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(0, 8).Draw(t, "steps") {
			start := starts.Draw(t, "start")
			if rapid.Bool().Draw(t, "drop") {
				p := place{start, networks.Draw(t, "network")}
				delete(want, p)
				if err := s.drop(start, p.network); err != nil {
					t.Fatal(err)
				}
				continue
			}
			var blocks []block
			for _, network := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(networks, 1, 30, rapid.ID).Draw(t, "networks"))) {
				p := place{start, network}
				want[p] = value(p)
				blocks = append(blocks, block{network, want[p]})
			}
			if err := s.put(start, blocks); err != nil {
				t.Fatal(err)
			}
		}
		got := map[place][]byte{}
		for start, blocks := range s.values(0, endOfKeys) {
			for network, value := range blocks {
				got[place{start, network}] = value
			}
		}
		if !maps.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d blocks, want %d", len(got), len(want))
		}
		clear(got)
		for n := range 41 {
			network := motion.NetworkID(n * n)
			for start, value := range s.of(network, 0, endOfKeys) {
				got[place{start, network}] = value
				if !bytes.Equal(s.get(start, network), value) {
					t.Fatalf("network %d at %d has another block", network, start)
				}
			}
		}
		if !maps.EqualFunc(got, want, bytes.Equal) {
			t.Fatalf("%d blocks of networks, want %d", len(got), len(want))
		}
	})
}

// count returns the number of stored values.
func count(s shelf) (n int) {
	for range s.values(0, endOfKeys) {
		n++
	}
	return n
}

// TestBlocksShareValues checks that blocks of a start lie together, and that a large one does not.
func TestBlocksShareValues(t *testing.T) {
	t.Parallel()
	s := newTx(t).shelf(series.Second)
	var blocks []block
	for network := range motion.NetworkID(50) {
		blocks = append(blocks, block{network + 1, bytes.Repeat([]byte{1}, 1700)})
	}
	blocks[20].value = bytes.Repeat([]byte{1}, 2*packBytes)
	if err := s.put(600, blocks); err != nil {
		t.Fatal(err)
	}
	if n := count(s); n != 6 { // 12 go into a pack: 20 into two, one is alone, 29 into three
		t.Errorf("%d values, want 6", n)
	}
	for _, b := range blocks {
		if err := s.drop(600, b.network); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(s); n != 0 {
		t.Errorf("%d values are left", n)
	}
}

// TestSamplesAreDeletedInSteps deletes the blocks of a network that shares values with another, so many in a
// step that its transaction stays small.
func TestSamplesAreDeletedInSteps(t *testing.T) {
	t.Parallel()
	tx := newTx(t)
	s := tx.shelf(series.Second)
	const starts = 2*deleteStep + 10
	for i := range int64(starts) {
		if err := s.put(600*i, []block{{1, whole(1)}, {2, whole(2)}}); err != nil {
			t.Fatal(err)
		}
	}
	left := func(network motion.NetworkID) (n int) {
		for range s.of(network, 0, endOfKeys) {
			n++
		}
		return n
	}
	for step, want := range []int{starts - deleteStep, starts - 2*deleteStep, 0} {
		done, err := tx.Delete(2)
		if n := left(2); err != nil || n != want || done != (want == 0) {
			t.Errorf("step %d: %d are left, done %v, %v, want %d", step, n, done, err, want)
		}
	}
	if n := left(1); n != starts {
		t.Errorf("%d of the other are left, want %d", n, starts)
	}
}

// whole returns a block that begins at second 600.
func whole(tenths int) []byte {
	b := series.NewBlock(series.Second, 600)
	b.AddFrame(600, []series.Value{{ID: series.Network, Value: float64(tenths) / 10}})
	return b.AppendValue(nil)
}

// TestDamagedPackIsDamage changes each byte of a pack before its first block, cuts it, and reads what
// no program has written: what is read is a block that is whole, or damage.
func TestDamagedPackIsDamage(t *testing.T) {
	t.Parallel()
	pack := packOf([]block{{1, whole(1)}, {2, whole(2)}, {300, whole(3)}})
	key := sampleKey(600, 300)
	if len(whole(1)) != 0x15 {
		t.Fatalf("a block has %d bytes", len(whole(1)))
	}
	if !Whole(series.Second, key, pack) || Whole(series.Second, sampleKey(0, 300), pack) || Whole(series.FiveSeconds, key, pack) {
		t.Error("the pack is not whole, or is one of another place")
	}
	damaged := [][]byte{{packMark}, {packMark, 0}, {packMark, 0xff, 0xff, 0xff, 0xff, 0x0f}, pack[:len(pack)-1]}
	for i := range len(pack) - 3*len(whole(1)) {
		changed := bytes.Clone(pack)
		changed[i] ^= 0x10
		damaged = append(damaged, changed, pack[:i])
	}
	for _, table := range []string{"\x01", "\x01\xff\xff\x03", "\x01\xff", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01", "\x00\x15", "\x01\x15"} { // with a checksum that is right
		forged := append([]byte{packMark, byte(len(table))}, table...)
		damaged = append(damaged, append(checksummed(forged), whole(1)...))
	}
	for _, value := range damaged {
		if Whole(series.Second, key, value) {
			t.Errorf("%x is taken for whole", value)
		}
		for network, value := range unpack(key, value) {
			if isBlock(series.Second, 600, value) && !bytes.Equal(value, whole(1)) && !bytes.Equal(value, whole(2)) {
				t.Errorf("network %d has %x", network, value)
			}
		}
	}
}

// TestDamagedTableIsMetByAll damages the table of a pack: whoever may be in it is told, what is put
// lies beside it or takes its place, and it goes with a network that may be in it.
func TestDamagedTableIsMetByAll(t *testing.T) {
	t.Parallel()
	s := newTx(t).shelf(series.Second)
	damaged := packOf([]block{{1, whole(1)}, {4, whole(2)}, {9, whole(3)}})
	damaged[2] ^= 1
	if err := s.Put(sampleKey(600, 9), damaged); err != nil {
		t.Fatal(err)
	}
	isMet := func(want ...motion.NetworkID) {
		t.Helper()
		var met []motion.NetworkID
		for network := range motion.NetworkID(12) {
			for start, value := range s.of(network+1, 0, endOfKeys) {
				if !isBlock(series.Second, start, value) {
					met = append(met, network+1)
				}
			}
		}
		if !slices.Equal(met, want) {
			t.Errorf("%v meet damage, want %v", met, want)
		}
	}
	isMet(1, 2, 3, 4, 5, 6, 7, 8, 9)
	if err := s.put(600, []block{{2, whole(4)}, {4, whole(5)}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.get(600, 2), whole(4)) || !bytes.Equal(s.get(600, 4), whole(5)) {
		t.Error("what was put is not there")
	}
	isMet(5, 6, 7, 8, 9)
	if err := s.drop(600, 7); err != nil {
		t.Fatal(err)
	}
	isMet()
	if err := s.Put(sampleKey(1200, 9), damaged); err != nil {
		t.Fatal(err)
	}
	if err := s.put(1200, []block{{9, whole(6)}}); err != nil || count(s) != 2 {
		t.Errorf("%d values, %v", count(s), err)
	}
}

// TestSalvageTakesWhatIsWhole takes the blocks of a pack in which one is damaged.
func TestSalvageTakesWhatIsWhole(t *testing.T) {
	t.Parallel()
	tx := newTx(t)
	broken := whole(2)
	broken[len(broken)-1] ^= 1
	pack := packOf([]block{{1, whole(1)}, {2, broken}, {3, whole(3)}, {4, whole(4)}})
	s := tx.shelf(series.Second)
	if err := s.put(600, []block{{3, whole(9)}}); err != nil {
		t.Fatal(err)
	}
	exists := func(network motion.NetworkID) bool { return network != 4 }
	stored, missing, err := tx.Salvage(series.Second, sampleKey(600, 4), pack, exists)
	if stored != 1 || missing != 2 || err != nil {
		t.Errorf("%d stored, %d missing, %v, want 1 and 2", stored, missing, err)
	}
	for network, want := range map[motion.NetworkID][]byte{1: whole(1), 2: nil, 3: whole(9), 4: nil} {
		if got := s.get(600, network); !bytes.Equal(got, want) {
			t.Errorf("network %d has %x, want %x", network, got, want)
		}
	}
}
