package series_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"

	"pgregory.net/rapid"
)

// TestFormatByByte holds the documented bytes of version 2: a change here is a
// change of what stands on people's disks.
func TestFormatByByte(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.FiveSeconds, 3600)
	network, _ := b.Index(series.Network)
	location, _ := b.Index(series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31}))
	link, _ := b.Index(series.Link("A.B"))
	other, _ := b.Index(series.Link("A.C"))
	if _, ok := b.Index(series.Link("never")); !ok {
		t.Fatal("no room")
	}
	for ts, v := range map[int64]float64{3605: 0, 3610: 0.5, 3615: 0.5} {
		b.Fill(network, ts, v)
	}
	b.Fill(location, 3600, 0.25)
	b.Add(link, 3600, 0)
	b.Add(link, 3600, 0.001)
	for i, v := range []float64{0.02, 0.06, 0.204, 1} {
		b.Fill(other, 3600+5*int64(i), v)
	}
	want := strings.Join([]string{
		"02", "05", "d005", "d005", "04", // version, 5 s, first row 720, 720 rows, 4 series
		"00", "00", "0a", // the network's column has 10 bytes
		"00", "0e", "4002bb00000031", "07", // location
		"00", "06", "412e42", "0a", // A.B
		"02", "02", "43", "0d", // A.C
		"01", "00", "00", "02", "960b", // 1 absent, 1 zero, 2 active, 716 absent
		"02", "c002", "01", // level 320, which is 0.5, twice
		"81", "00", "9c0b", "00", "19", "00", // 1 active, 719 absent; 25 once
		"83", "00", "9c0b", "02", "01", "00", "00", "32", "00", // level 1 once; density 50 once
		"81", "06", "960b", // 4 active, 716 absent
		"03", "02", // Rice: first level 2; then from the lowest bit up:
		// 6: foretold 2, folded 8, k 5: 0 and 01000
		// 24 (0.204): foretold 3, folded 42, k 3: 5 ones, 0 and 010
		// 820 (1): foretold 8, folded 1624, k 4: 24 ones and 820 in 16 bits
		"d0a7ffff7f9a01",
	}, "")
	sealed := b.AppendValue(nil)
	if got := hex.EncodeToString(sealed); got[:len(got)-8] != want {
		t.Errorf("got  %s\nwant %s + CRC", got, want)
	}
	body, sum := sealed[:len(sealed)-4], sealed[len(sealed)-4:]
	if want := crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)); binary.LittleEndian.Uint32(sum) != want {
		t.Errorf("CRC32C %x, want %08x little-endian", sum, want)
	}
	info, err := series.Inspect(sealed)
	ids := []series.ID{series.Network, series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31}), "A.B", "A.C"}
	if err != nil || info.Tier != series.FiveSeconds || info.Start != 3600 || info.End != 7200 || !slices.Equal(info.Series, ids) {
		t.Errorf("Inspect = %+v, %v", info, err)
	}
}

// TestFormatOfSums holds the documented bytes of a column that is not plain.
func TestFormatOfSums(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 0)
	network, _ := b.Index(series.Network)
	location, _ := b.Index(kitchen)
	for ts, v := range []float64{0, 0, 0.5, 1, 0} {
		b.Add(network, int64(ts), v)
		b.Add(network, int64(ts+5), 0)
		b.Add(location, int64(ts), v)
	}
	b.Add(network, 10, 0)
	sums, err := series.Rollup(series.FiveSeconds, 0, [][]byte{b.AppendValue(nil)})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"02", "05", "00", "d005", "02",
		"00", "00", "15", // the network
		"00", "0e", "4002bb00000031", "0b", // the location
		"9d", "01", "03", "980b", // 1 active, 2 zero, 717 absent; values, seconds, motion and totals
		"02", "b406", "00", // greatest level 820, which is 1, once
		// Rice: 5 seconds, then 5 again (folded 0, k 5: 0 and 00000) and 1 (folded 7, k 0: seven ones and 0)
		"01", "05", "c01f",
		"00", "c801", "00", // 200: 2 of 5 seconds in motion
		"02", "dc0b", "00", // 500 + 1000
		"89", "00", "9c0b", // 1 active, 719 absent; values and motion
		"00", "64", "00", "00", "9601", "00", // greatest 100 %, of 150 in 5 s
	}, "")
	if got := hex.EncodeToString(sums[:len(sums)-4]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReplayedBlockIsTheSameBlock(t *testing.T) {
	t.Parallel()
	ids := []series.ID{series.Network, "GWA1000133.02bb00000031", "GWA1000133.EXA1000134", series.Location(motion.MAC{2, 0xbb, 0, 0, 0, 0x31})}
	rapid.Check(t, func(t *rapid.T) {
		tier := rapid.SampledFrom([]series.Tier{series.Second, series.FiveSeconds}).Draw(t, "tier")
		b := series.NewBlock(tier, rapid.Int64Range(0, 1<<33).Draw(t, "start"))
		for _, id := range rapid.Permutation(ids).Draw(t, "order") {
			i, _ := b.Index(id)
			fillBlock(t, b, i, id, map[int64]figure{})
		}
		sealed := b.AppendValue([]byte("before"))[len("before"):]
		copied := series.NewBlock(tier, b.Start())
		for range 2 {
			if err := copied.Replay(sealed); err != nil {
				t.Fatal(err)
			}
		}
		if again := copied.AppendValue(nil); !bytes.Equal(again, sealed) {
			t.Fatalf("replayed:\n%x\nwant\n%x", again, sealed)
		}
		if copied.Pending() {
			t.Fatal("replayed rows are pending")
		}
	})
}

func TestEveryDamagedByteIsNoticed(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 0)
	seriestest.New(seriestest.Noisy3, 1, 2).FillBlock(b)
	sealed := b.AppendValue(nil)
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 0x20
		want := series.ErrDamaged
		if i == 0 {
			want = series.ErrVersion
		}
		if _, err := series.Inspect(broken); !errors.Is(err, want) {
			t.Fatalf("byte %d changed: %v, want %v", i, err, want)
		}
		if _, err := series.Inspect(sealed[:i]); !errors.Is(err, series.ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v, want %v", i, err, series.ErrDamaged)
		}
	}
}

func TestWrongStructureIsDamageInSpiteOfARightChecksum(t *testing.T) {
	t.Parallel()
	// Rows 0..599 of tier 1 s at second 0, of two series: the network with
	// 600 zeros, and link A with the column under test.
	value := func(table, column string) []byte {
		body := []byte("\x01\x01\x00\xd8\x04\x02" + "\x00\x00\x03" + table + string(rune(len(column))) + "\x40\xae\x09" + column)
		return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	}
	const link, location, allActive = "\x00\x01A", "\x00\x07@123456", "\xae\x09"
	for name, c := range map[string]struct {
		table, column string
		damaged       bool
	}{
		"sound":                      {link, "\x81" + allActive + "\x00\x01\xd7\x04", false},
		"streams of a later version": {link, "\xa1" + allActive + "\x00\x01\xd7\x04more", false},
		"sound location":             {location, "\x81" + allActive + "\x00\x64\xd7\x04", false},
		"empty column":               {link, "", true},
		"kind 3":                     {link, "\xc0" + allActive, true},
		"run past the end":           {link, "\x40\xb0\x09", true},
		"runs too short":             {link, "\x40\x02", true},
		"values without active rows": {link, "\x41" + allActive + "\x00\x01\x00", true},
		"active rows without values": {link, "\x80" + allActive, true},
		"location with densities":    {location, "\x83" + allActive + "\x00\x64\xd7\x04\x00\x32\xd7\x04", true},
		"stream is missing":          {link, "\x83" + allActive + "\x00\x01\xd7\x04", true},
		"unknown coding":             {link, "\x81" + allActive + "\x04\x01\xd7\x04", true},
		"levels":                     {link, "\x81" + allActive + "\x02\xb4\x06\xd7\x04", false},
		"level above intensity 1":    {link, "\x81" + allActive + "\x02\xb5\x06\xd7\x04", true},
		"location with levels":       {location, "\x81" + allActive + "\x02\x0a\xd7\x04", true},
		"densities with levels":      {link, "\x83" + allActive + "\x00\x01\xd7\x04\x02\x32\xd7\x04", true},
		"intensity 0":                {link, "\x81" + allActive + "\x00\x00\xd7\x04", true},
		"intensity 1.001":            {link, "\x81" + allActive + "\x00\xe9\x07\xd7\x04", true},
		"density 101":                {link, "\x83" + allActive + "\x00\x01\xd7\x04\x00\x65\xd7\x04", true},
		"share 101":                  {location, "\x81" + allActive + "\x00\x65\xd7\x04", true},
		"value run past the end":     {link, "\x81" + allActive + "\x00\x01\xd8\x04", true},
		"Rice: first is 0":           {link, "\x81" + allActive + "\x01\x00", true},
		"Rice: bits run out":         {link, "\x81" + allActive + "\x01\x01\x00\x00", true},
		"Rice: below 1":              {link, "\x81" + allActive + "\x01\x01\x02" + strings.Repeat("\x00", 90), true},
		"Rice: 1000":                 {link, "\x81\x02\xaa\x09" + "\x01\x01\xff\xff\xff\xe8\x03", false},
		"Rice: above 1000":           {link, "\x81\x02\xaa\x09" + "\x01\x01\xff\xff\xff\xe9\x03", true},
		"series twice":               {"\x00\x00", "\x40" + allActive, true},
		"prefix that is not there":   {"\x01\x01A", "\x40" + allActive, true},
		"table past the end":         {"\x00\x7fA", "\x40" + allActive, true},
	} {
		b := series.NewBlock(series.Second, 0)
		if err := b.Replay(value(c.table, c.column)); errors.Is(err, series.ErrDamaged) != c.damaged || !c.damaged && err != nil {
			t.Errorf("%s: %v, damaged is %v", name, err, c.damaged)
		}
	}
}

func TestWrongHeaderIsDamage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want error
	}{
		"sound":                     {"\x01\x01\x00\xd8\x04\x00", nil},
		"unknown tier":              {"\x01\x02\x00\x01\x00", series.ErrDamaged},
		"no step":                   {"\x01\x00\x00\x01\x00", series.ErrDamaged},
		"no rows":                   {"\x01\x01\x00\x00\x00", series.ErrDamaged},
		"rows of the next block":    {"\x01\x01\x01\xd8\x04\x00", series.ErrDamaged},
		"257 series":                {"\x01\x01\x00\x01\x81\x02", series.ErrDamaged},
		"bytes after the columns":   {"\x01\x01\x00\x01\x00\x00", series.ErrDamaged},
		"start beyond reach":        {"\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01\x00", series.ErrDamaged},
		"number of eleven bytes":    {"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", series.ErrDamaged},
		"version of another format": {"\x03\x01\x00\xd8\x04\x00", series.ErrVersion},
		"name too long in digits":   {"\x02\x01\x00\x01\x01\x00\x81\x02" + strings.Repeat("\xaa", 128) + "\x00", series.ErrDamaged},
	} {
		value := binary.LittleEndian.AppendUint32([]byte(c.body), crc32.Checksum([]byte(c.body), crc32.MakeTable(crc32.Castagnoli)))
		if _, err := series.Inspect(value); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestDamagedValueSaysSoAndLeavesTheOthers(t *testing.T) {
	t.Parallel()
	good, broken := blockOf(t, series.Second, 0, 0.1), blockOf(t, series.Second, 600, 0.2)
	broken[len(broken)-5]++
	set, err := series.NewSet(broken, good)
	if !errors.Is(err, series.ErrDamaged) || !strings.Contains(err.Error(), "value 0") || !strings.Contains(err.Error(), "CRC32C") {
		t.Errorf("NewSet: %v", err)
	}
	got, _, err := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: 0, To: 1200, Bucket: 600})
	if want := `[[0.1,0],[null,600]]`; string(got) != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestReplayRefusesAnotherBlock(t *testing.T) {
	t.Parallel()
	b := series.NewBlock(series.Second, 600)
	for name, value := range map[string][]byte{
		"earlier":      blockOf(t, series.Second, 0, 0.1),
		"later":        blockOf(t, series.Second, 1200, 0.1),
		"another tier": blockOf(t, series.FiveSeconds, 0, 0.1),
	} {
		if err := b.Replay(value); err == nil || !b.Empty() {
			t.Errorf("%s: err %v, empty %v", name, err, b.Empty())
		}
	}
}

// Programs of schema 7 and before kept thousandths below 0.2 too; what is made of them keeps them.
func TestThousandthsOfFormerProgramsStay(t *testing.T) {
	t.Parallel()
	body := "\x01\x01\x00\xd8\x04\x01" + "\x00\x00\x07" + "\x81\x00\xac\x09" + "\x00\x0d\x00" // 13 once, then 599 absent
	former := binary.LittleEndian.AppendUint32([]byte(body), crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)))
	b := series.NewBlock(series.Second, 0)
	if err := b.Replay(former); err != nil {
		t.Fatal(err)
	}
	if got := b.AppendValue(nil); !bytes.Equal(got[1:len(got)-4], former[1:len(former)-4]) { // but for version and CRC
		t.Errorf("%x became %x", former, got)
	}
	sums, err := series.Rollup(series.FiveSeconds, 0, [][]byte{former})
	if err != nil {
		t.Fatal(err)
	}
	set, err := series.NewSet(sums)
	if err != nil {
		t.Fatal(err)
	}
	for measure, want := range map[series.Measure]string{series.Intensity: "[[0.013,0]]", series.Mean: "[[0.01,0]]"} {
		if got, _, err := set.AppendJSON(nil, series.Query{Measure: measure, From: 0, To: 5, Bucket: 5}); string(got) != want || err != nil {
			t.Errorf("%v: %s, %v", measure, got, err)
		}
	}
}

// TestVersion1IsRead reads the bytes of a block that programs of schema 8 and before have written, of which
// each has its name in full and its column, and checks that they answer as what is written of them now.
func TestVersion1IsRead(t *testing.T) {
	t.Parallel()
	body := "\x01\x01\x00\xd8\x04\x03" + // 1 s, row 0, 600 rows, 3 series
		"\x00\x00\x07" + "\x00\x0aA.02bb0000\x03" + "\x08\x0431fe\x03" + // the network, A.02bb0000 and A.02bb0031fe
		"\x81\x00\xac\x09" + "\x02\x05\x00" + "\x40\xae\x09" + "\x40\xae\x09" // level 5 once; all 0, twice
	former := binary.LittleEndian.AppendUint32([]byte(body), crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)))
	b := series.NewBlock(series.Second, 0)
	if err := b.Replay(former); err != nil {
		t.Fatal(err)
	}
	now := b.AppendValue(nil)
	if len(now) >= len(former) {
		t.Errorf("%d bytes became %d", len(former), len(now))
	}
	for name, value := range map[string][]byte{"former": former, "now": now} {
		set, err := series.NewSet(value)
		if err != nil {
			t.Fatal(err)
		}
		for id, want := range map[series.ID]string{series.Network: "[[0.05,0],[null,1]]", "A.02bb0000": "[[0,0],[0,1]]", "A.02bb0031fe": "[[0,0],[0,1]]"} {
			got, _, err := set.AppendJSON(nil, series.Query{Series: id, Measure: series.Intensity, From: 0, To: 2, Bucket: 1})
			if string(got) != want || err != nil {
				t.Errorf("%s, %q: %s, %v", name, id, got, err)
			}
		}
	}
}

// TestNamesAndColumnsAreKept writes and reads blocks with names of all kinds, some with equal columns, and
// some of them alone.
func TestNamesAndColumnsAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`([A-C]\.)?[0-9a-f]{0,6}([0-9a-fgA-F]{0,4}|[0-9a-f]{120})`), 1, 8, rapid.ID).Draw(t, "names")
		b := series.NewBlock(series.Second, 0)
		values := map[series.ID]string{}
		for _, name := range names {
			v := rapid.IntRange(0, 2).Draw(t, "value")
			b.AddFrame(3, []series.Value{{ID: series.ID(name), Value: float64(v) / 10}})
			values[series.ID(name)] = []string{"[[0,3]]", "[[0.1,3]]", "[[0.2,3]]"}[v]
		}
		sealed := b.AppendValue(nil)
		only, err := series.Only(sealed, series.ID(names[0]), series.ID(names[len(names)/2]), "not there")
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range [][]byte{sealed, only} {
			set, err := series.NewSet(value)
			if err != nil {
				t.Fatal(err)
			}
			ids := set.Series()
			if len(ids) != len(names) && &value[0] == &sealed[0] || !slices.Contains(ids, series.ID(names[0])) {
				t.Fatalf("%q of %q", ids, names)
			}
			for _, id := range ids {
				got, _, err := set.AppendJSON(nil, series.Query{Series: id, Measure: series.Intensity, From: 3, To: 4, Bucket: 1})
				if string(got) != values[id] || err != nil {
					t.Fatalf("%q of %q: %s, %v, want %s", id, names, got, err, values[id])
				}
			}
		}
	})
}
