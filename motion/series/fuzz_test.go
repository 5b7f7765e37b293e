package series_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
)

// FuzzValue feeds a value with a right checksum to everything that reads one:
// all of them answer alike, or all of them say that it is damaged.
func FuzzValue(f *testing.F) {
	for _, p := range profiles {
		b := series.NewBlock(series.Second, morning)
		seriestest.New(p, 3, 2).FillBlock(b)
		sealed := b.AppendValue(nil)
		f.Add(sealed[:len(sealed)-4])
	}
	sums, err := series.Rollup(series.Minute, morning, [][]byte{blockOf(f, series.Second, morning, 0.1, 0, 1), blockOf(f, series.FiveSeconds, morning+3600, 0.5)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sums[:len(sums)-4])
	small := blockOf(f, series.FiveSeconds, morning, 0.1, 0, 1)
	f.Add(small[:len(small)-4])
	f.Fuzz(func(t *testing.T, body []byte) { read(t, body) })
}

// FuzzColumn does the same with one column of 600 rows.
func FuzzColumn(f *testing.F) {
	f.Add([]byte("\x00\xae\x09"), false)
	f.Add([]byte("\x81\xae\x09\x01\x64\x90\xfd\xff\xff\xa3\x0f\x00"), true)
	f.Add([]byte("\x83\x06\xa6\x09\x01\x64\x90\xfd\xff\xff\xa3\x0f\x00\x00\x64\x01\x32\x01"), false)
	f.Add([]byte("\x81\xae\x09\x06\x04\x02\x03\x21\x33\x0a\x61\x72\xc2\x01"), false)
	f.Fuzz(func(t *testing.T, column []byte, location bool) {
		id := ""
		if location {
			id = string(series.Location(motion.MAC{}))
		}
		body := append([]byte("\x01\x01\x00\xd8\x04\x01\x00"), byte(len(id)))
		body = binary.AppendUvarint(append(body, id...), uint64(len(column)))
		read(t, append(body, column...))
	})
}

func read(t *testing.T, body []byte) {
	value := binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	info, err := series.Inspect(value)
	if err != nil {
		if !errors.Is(err, series.ErrDamaged) && !errors.Is(err, series.ErrVersion) {
			t.Fatalf("unknown error %v", err)
		}
		return
	}
	set, err := series.NewSet(value)
	if err != nil {
		t.Fatal(err)
	}
	readable := true
	for _, id := range info.Series {
		q := series.Query{Series: id, Measure: series.Mean, From: info.Start, To: info.End, Bucket: info.Tier.Step()}
		straight, _, err := set.AppendJSON(nil, q)
		points, err2 := set.Points(q)
		if (err == nil) != (err2 == nil) || err == nil && !bytes.Equal(straight, points.AppendJSON(nil)) {
			t.Fatalf("%q: %s, %v; %v, %v", id, straight, err, points, err2)
		}
		readable = readable && err == nil
	}
	if _, err := set.StateBlocks(series.StateQuery{From: info.Start, To: info.End, StateBucket: 60, DensityBucket: 60, States: 3}); err != nil && !errors.Is(err, series.ErrDamaged) {
		t.Fatal(err)
	}
	b := series.NewBlock(info.Tier, info.Start)
	if err := b.Replay(value); (err == nil) != readable {
		t.Fatalf("Replay: %v, readable %v", err, readable)
	}
	if _, err := series.Inspect(b.AppendValue(nil)); err != nil {
		t.Fatal(err)
	}
}

// FuzzIncrement replays an increment: it is damaged, or the block is sound.
func FuzzIncrement(f *testing.F) {
	for _, p := range profiles {
		b := series.NewBlock(series.Second, morning)
		seriestest.New(p, 3, 2).FillBlock(b)
		f.Add(b.AppendIncrement(nil))
	}
	f.Add([]byte("\x00\x01\x00\x01\x01\x81\x00\x00\xc8\x01\x00"))
	f.Fuzz(func(t *testing.T, increment []byte) {
		b := series.NewBlock(series.Second, morning)
		if err := b.ReplayIncrement(increment); err != nil && !errors.Is(err, series.ErrDamaged) {
			t.Fatalf("unknown error %v", err)
		}
		if _, err := series.Inspect(b.AppendValue(nil)); err != nil {
			t.Fatal(err)
		}
		if err := b.ReplayIncrement([]byte("\xff\x01\x00\x00\x01")); !errors.Is(err, series.ErrDamaged) {
			t.Fatalf("names that are missing: %v", err)
		}
	})
}
