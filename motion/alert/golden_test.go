package alert_test

import (
	"bufio"
	"encoding/binary"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the vectors need the same zones everywhere

	"sensegate/motion/alert"
)

// vector is one line of testdata/occurrences.tsv.
type vector struct {
	text         string
	after, limit int64
	count        int
	sum          uint32
}

func TestOccurrencesAreThoseOfDateutil(t *testing.T) {
	t.Parallel()
	name := "testdata/occurrences.tsv"
	if more := os.Getenv("SENSEGATE_RRULE_VECTORS"); more != "" {
		name = more
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	vectors, occurrences := 0, 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		v := parseVector(t, lines.Text())
		recurrence, err := alert.Parse(v.text)
		if err != nil {
			t.Errorf("%q: %v %+v", v.text, err, err)
			continue
		}
		count, sum := digest(recurrence, v)
		if count != v.count || sum != v.sum {
			next, _ := recurrence.Next(time.Unix(v.after, 0))
			t.Errorf("%q after %d: %d occurrences with digest %08x, want %d with %08x; the first is %v",
				v.text, v.after, count, sum, v.count, v.sum, next)
		}
		vectors++
		occurrences += count
	}
	if vectors < 1000 {
		t.Errorf("only %d vectors", vectors)
	}
	t.Logf("%d rules, %d occurrences", vectors, occurrences)
}

func parseVector(t *testing.T, line string) vector {
	t.Helper()
	f := strings.Split(line, "\t")
	if len(f) != 6 {
		t.Fatalf("line %q has %d columns", line, len(f))
	}
	v := vector{text: "DTSTART" + f[0]}
	if f[1] != "-" {
		v.text += "\nRRULE:" + f[1]
	}
	var sum uint64
	for i, err := range []error{
		scan(&v.after, f[2]), scan(&v.limit, f[3]),
		func() (err error) { v.count, err = strconv.Atoi(f[4]); return }(),
		func() (err error) { sum, err = strconv.ParseUint(f[5], 16, 32); return }(),
	} {
		if err != nil {
			t.Fatalf("line %q, column %d: %v", line, i+3, err)
		}
	}
	v.sum = uint32(sum)
	return v
}

func scan(n *int64, text string) (err error) {
	*n, err = strconv.ParseInt(text, 10, 64)
	return err
}

func digest(r alert.Recurrence, v vector) (count int, sum uint32) {
	h := fnv.New32a()
	for t := range r.After(time.Unix(v.after, 0)) {
		if v.limit != 0 && t.Unix() > v.limit || count == 40 {
			break
		}
		_ = binary.Write(h, binary.BigEndian, t.Unix())
		count++
	}
	return count, h.Sum32()
}
