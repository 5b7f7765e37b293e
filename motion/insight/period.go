package insight

import "slices"

// PeriodRule says what a period of quiet time is (Tudor-Locke, Barreira, Schuna,
// Mire and Katzmarzyk, Appl. Physiol. Nutr. Metab. 39(1), 2014). All are minutes.
type PeriodRule struct {
	BedTime   int // so many minutes asleep in a row begin a period
	WakeTime  int // so many awake in a row end it
	Shortest  int
	Longest   int
	MinMoving int // minutes with a count above 0 that a period must hold
}

// DefaultPeriods returns the rule of the paper.
func DefaultPeriods() PeriodRule {
	return PeriodRule{BedTime: 5, WakeTime: 10, Shortest: 160, Longest: 1440}
}

// Period is one stretch of quiet time. From and To are minutes, numbers of the
// counts: [From, To). Lengths are minutes.
type Period struct {
	From, To      int
	Asleep        int
	Awake         int // after the onset, which is From
	Awakenings    int
	Counts        int // sum
	Efficiency    float64
	Movement      float64 // percent of the minutes that moved
	Fragmentation float64 // percent of the stretches asleep that lasted one minute
}

// Len returns the length in minutes.
func (p Period) Len() int { return p.To - p.From }

// Periods returns the periods of the minutes that counts and scores tell of, in
// order. A period does not reach over a minute that is Unscored.
func Periods(counts Counts, scores []Score, rule PeriodRule) []Period {
	periods := []Period{}
	bouts := runs(scores)
	for i := 0; i < len(bouts); {
		end := i + 1
		if rule.begins(bouts[i]) {
			for end < len(bouts) && !rule.ends(bouts[end]) {
				end++
			}
			p := describe(counts, bouts[i:end])
			if p.Len() >= rule.Shortest && p.Len() <= rule.Longest && p.moving(counts) >= rule.MinMoving {
				periods = append(periods, p)
			}
		}
		i = end
	}
	return periods
}

func (r PeriodRule) begins(b run[Score]) bool { return b.of == Asleep && b.len() >= r.BedTime }

func (r PeriodRule) ends(b run[Score]) bool {
	return b.of == Unscored || b.of == Awake && b.len() >= r.WakeTime
}

// describe measures the period that bouts, asleep and awake in turn, make.
func describe(counts Counts, bouts []run[Score]) Period {
	p := Period{From: bouts[0].from, To: bouts[len(bouts)-1].to}
	dozes, short := 0, 0
	for _, b := range bouts {
		if b.of == Awake {
			p.Awakenings++
			p.Awake += b.len()
			continue
		}
		p.Asleep += b.len()
		dozes++
		if b.len() == 1 {
			short++
		}
	}
	for _, c := range counts[p.From:p.To] {
		p.Counts += int(max(c, 0))
	}
	p.Efficiency = float64(ratio(p.Asleep, p.Len(), 100))
	p.Movement = float64(ratio(p.moving(counts), p.Len(), 100))
	p.Fragmentation = float64(ratio(short, dozes, 100))
	return p
}

// moving returns the minutes of p with a count above 0.
func (p Period) moving(counts Counts) (n int) {
	for _, c := range counts[p.From:p.To] {
		if c > 0 {
			n++
		}
	}
	return n
}

// asleepShare returns how many of the scored minutes are asleep, 0..1.
func asleepShare(scores []Score) Value {
	asleep := 0
	scored := slices.DeleteFunc(slices.Clone(scores), func(s Score) bool { return s == Unscored })
	for _, s := range scored {
		if s == Asleep {
			asleep++
		}
	}
	return ratio(asleep, len(scored), 1)
}
