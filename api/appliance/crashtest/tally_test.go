package crashtest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

// tally counts crashes and what came of them, by kind. Its methods may be called
// concurrently.
type tally struct {
	mu   sync.Mutex
	rows []row
}

// row is what came of the crashes of one kind.
type row struct {
	kind                                string
	crashes, lost, doubled, refused, no int // no: anything else that is wrong
}

// add counts a crash; err is what is wrong after it, nil if nothing is.
func (t *tally) add(kind string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.rows, func(r row) bool { return r.kind == kind })
	if at < 0 {
		at = len(t.rows)
		t.rows = append(t.rows, row{kind: kind})
	}
	r := &t.rows[at]
	r.crashes++
	switch {
	case err == nil:
	case errors.Is(err, errRefusedStart):
		r.refused++
	case errors.Is(err, errDoubled):
		r.doubled++
	case errors.Is(err, errLost):
		r.lost++
	default:
		r.no++
	}
}

// crashed counts a crash and fails the test with what is wrong after it.
func (t *tally) crashed(test *testing.T, kind string, err error) {
	test.Helper()
	t.add(kind, err)
	if err != nil {
		test.Errorf("%s: %v", kind, err)
	}
}

// String returns a table with sums.
func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var table bytes.Buffer
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(columns, "crashes\tlost\tdoubled\trefused to start\totherwise wrong\t  kind")
	sums := map[string]*row{"kill": {kind: "kills"}, "power cut": {kind: "power cuts"}}
	print := func(r row) {
		fmt.Fprintf(columns, "%d\t%d\t%d\t%d\t%d\t  %s\n", r.crashes, r.lost, r.doubled, r.refused, r.no, r.kind)
	}
	for _, r := range t.rows {
		print(r)
		for begin, sum := range sums {
			if strings.HasPrefix(r.kind, begin) {
				sum.crashes, sum.lost, sum.doubled = sum.crashes+r.crashes, sum.lost+r.lost, sum.doubled+r.doubled
				sum.refused, sum.no = sum.refused+r.refused, sum.no+r.no
			}
		}
	}
	print(*sums["kill"])
	print(*sums["power cut"])
	columns.Flush()
	return table.String()
}

func TestTallyCountsEachCrashOnce(t *testing.T) {
	t.Parallel()
	var counts tally
	for _, err := range []error{nil, errLost, errDoubled, fmt.Errorf("%w: log", errRefusedStart), errors.New("other")} {
		counts.add("kill at work", err)
	}
	counts.add("power cut at work", fmt.Errorf("step 1: %w", errLost))
	want := []row{{"kill at work", 5, 1, 1, 1, 1}, {"power cut at work", 1, 1, 0, 0, 0}}
	if !slices.Equal(counts.rows, want) {
		t.Errorf("rows %v, want %v", counts.rows, want)
	}
	table := strings.Split(strings.TrimSpace(counts.String()), "\n")
	if sum := strings.Join(strings.Fields(table[3]), " "); sum != "5 1 1 1 1 kills" {
		t.Errorf("sum %q of\n%v", sum, &counts)
	}
}
