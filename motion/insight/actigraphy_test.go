package insight_test

import (
	"encoding/csv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"sensegate/motion/insight"
)

// table reads a file of the actigraphy data (README.md there).
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "actigraphy", name))
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("actigraphy data is missing: %v", err)
		}
		t.Skipf("actigraphy data is missing (set SENSEGATE_DATA): %v", err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]map[string]string, len(lines)-1)
	for i, line := range lines[1:] {
		rows[i] = map[string]string{}
		for k, column := range lines[0] {
			rows[i][column] = line[k]
		}
	}
	return rows
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// axis1 returns the counts of the first axis.
func axis1(t *testing.T, rows []map[string]string, column string) insight.Counts {
	t.Helper()
	counts := make(insight.Counts, len(rows))
	for i, row := range rows {
		counts[i] = int32(number(t, row[column]))
	}
	return counts
}

func TestScoringsAgreeWithActiLife(t *testing.T) {
	t.Parallel()
	coleKripke := func(c insight.Counts) []insight.Score { return insight.ColeKripke(c, insight.OneMinute) }
	cases := []struct {
		name, file, counts, column string
		scoring                    func(insight.Counts) []insight.Score
	}{
		{"Cole-Kripke", "GT3XPlus-RawData-Day01-ColeKripke.csv", "Axis1", "Sleep or Awake?", coleKripke},
		{"Sadeh", "GT3XPlus-RawData-Day01-Sadeh.csv", "Axis1", "Sleep or Awake?", insight.Sadeh},
		{"Cole-Kripke of the joint file", "GT3XPlus-RawData-Day01-sleep-awake.csv", "axis1", "cole-kripke", coleKripke},
		{"Sadeh of the joint file", "GT3XPlus-RawData-Day01-sleep-awake.csv", "axis1", "sadeh", insight.Sadeh},
	}
	letters := map[insight.Score]string{insight.Asleep: "S", insight.Awake: "W"}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rows := table(t, c.file)
			if len(rows) != 1500 {
				t.Fatalf("%d minutes, want 1500", len(rows))
			}
			agree := 0
			for i, got := range c.scoring(axis1(t, rows, c.counts)) {
				if letters[got] == rows[i][c.column] {
					agree++
					continue
				}
				t.Errorf("minute %d is %q, want %q", i, letters[got], rows[i][c.column])
			}
			t.Logf("%d of %d minutes agree", agree, len(rows))
		})
	}
}

func TestPeriodsAgreeWithActiLife(t *testing.T) {
	t.Parallel()
	minutes := table(t, "GT3XPlus-RawData-Day01-10sec60sec.csv")
	counts := axis1(t, minutes, "axis1")
	rows := table(t, "GT3XPlus-RawData-Day01-sleep-periods.csv")
	found := map[string]int{}
	for _, row := range rows {
		whole := func(column string) int { return int(number(t, row[column])) }
		rule := insight.PeriodRule{
			BedTime: whole("n_bedtime_start"), WakeTime: whole("n_wake_time_end"),
			Shortest: whole("min_sleep_period"), Longest: whole("max_sleep_period"), MinMoving: whole("min_nonzero_epochs"),
		}
		periods := insight.Periods(counts, insight.Sadeh(counts), rule)
		found[row["period_algorithm"]] = len(periods)
		in := minuteOf(t, minutes, row["in_bed_time"])
		for _, p := range periods {
			if p.From == in {
				comparePeriod(t, p, row, minuteOf(t, minutes, row["out_bed_time"]))
				in = -1
			}
		}
		if in >= 0 {
			t.Errorf("%s: no period from %s", row["period_algorithm"], row["in_bed_time"])
		}
	}
	// One more than the reference: ActiLife drops a period that ends with the record.
	want := map[string]int{"Tudor-Locke Default": 1, "Tudor-Locke Custom1": 7, "Tudor-Locke Custom2": 3}
	if !maps.Equal(found, want) {
		t.Errorf("periods found per rule = %v, want %v", found, want)
	}
}

func minuteOf(t *testing.T, minutes []map[string]string, text string) int {
	t.Helper()
	parse := func(text string) time.Time {
		ts, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return ts
	}
	return int(parse(text).Sub(parse(minutes[0]["timestamp"])).Minutes())
}

func comparePeriod(t *testing.T, p insight.Period, row map[string]string, out int) {
	t.Helper()
	average := 0.0
	if p.Awakenings > 0 {
		average = float64(p.Awake) / float64(p.Awakenings)
	}
	for column, got := range map[string]float64{
		"duration": float64(p.Len()), "total_sleep_time": float64(p.Asleep), "wake_after_onset": float64(p.Awake),
		"nb_awakenings": float64(p.Awakenings), "ave_awakening": average, "total_counts": float64(p.Counts),
		"efficiency": p.Efficiency, "movement_index": p.Movement, "fragmentation_index": p.Fragmentation,
		"sleep_fragmentation_index": p.Movement + p.Fragmentation,
	} {
		if want := number(t, row[column]); math.Abs(got-want) > 0.006 {
			t.Errorf("%s from %s: %s is %v, want %v", row["period_algorithm"], row["in_bed_time"], column, got, want)
		}
	}
	if p.To != out {
		t.Errorf("%s from %s: ends at minute %d, want %d", row["period_algorithm"], row["in_bed_time"], p.To, out)
	}
}
