package insight

import "math"

// Score is what a scoring makes of a minute.
type Score uint8

// The scores.
const (
	Unscored Score = iota // not known
	Asleep
	Awake
)

// Form is one of the forms of the Cole–Kripke scoring (Cole, Kripke, Gruen,
// Mullaney and Gillin, Sleep 15(5), 1992): which counts it takes per minute.
type Form uint8

// The forms.
const (
	OneMinute Form = iota // the minute's count, in units of 100 and at most 300 of them (ActiLife 6)
	ThirtyS               // the greater of the minute's two 30 s counts, as it is
	TenS                  // the greatest of the minute's six 10 s counts, as it is
)

// coleKripkeBefore is the number of minutes before the scored one that weigh in.
const coleKripkeBefore = 4

// weights returns the weights of the minutes from four before to two after.
func (f Form) weights() (w [7]float64, scale float64) {
	switch f {
	case ThirtyS:
		return [7]float64{50, 30, 14, 28, 121, 8, 50}, 0.0001
	case TenS:
		return [7]float64{550, 378, 413, 699, 1736, 287, 309}, 0.00001
	}
	return [7]float64{106, 54, 58, 76, 230, 74, 67}, 0.001
}

// epochs returns how many counts make a minute.
func (f Form) epochs() int { return [...]int{OneMinute: 1, ThirtyS: 2, TenS: 6}[f] }

// count returns what of a minute's counts is weighed; ok is false when one of
// them is not known.
func (f Form) count(minute Counts) (c float64, ok bool) {
	for _, n := range minute {
		if n == NoCount {
			return 0, false
		}
		c = max(c, float64(n))
	}
	if f == OneMinute {
		c = min(c/100, 300)
	}
	return c, true
}

// ColeKripke scores each whole minute of counts, which are per epoch of form f.
// Before the first and after the last minute counts are 0, as in ActiLife; a
// minute is Unscored when one that it rests on is not known.
func ColeKripke(counts Counts, f Form) []Score {
	w, scale := f.weights()
	n := f.epochs()
	scores := make([]Score, len(counts)/n)
	for i := range scores {
		index, ok := 0.0, true
		for k, weight := range w {
			j := i + k - coleKripkeBefore
			if j < 0 || j >= len(scores) {
				continue
			}
			c, known := f.count(counts[j*n : (j+1)*n])
			index += weight * c
			ok = ok && known
		}
		scores[i] = score(ok, scale*index < 1)
	}
	return scores
}

func score(known, asleep bool) Score {
	switch {
	case !known:
		return Unscored
	case asleep:
		return Asleep
	}
	return Awake
}

// Reach of the Sadeh scoring in minutes: to either side, and back for the
// standard deviation.
const (
	sadehSide   = 5
	sadehWindow = 2*sadehSide + 1
	sadehLast   = 6
	sadehCap    = 300
)

// Sadeh scores each minute of counts (Sadeh, Sharkey and Carskadon, Sleep 17(3),
// 1994, in the form of ActiLife 6). Before the first and after the last minute
// counts are 0; a minute is Unscored when one that it rests on is not known.
func Sadeh(counts Counts) []Score {
	scores := make([]Score, len(counts))
	for i := range counts {
		var window [sadehWindow]float64
		ok := true
		for k := range window {
			if j := i + k - sadehSide; j >= 0 && j < len(counts) {
				window[k] = float64(min(counts[j], sadehCap))
				ok = ok && counts[j] != NoCount
			}
		}
		scores[i] = score(ok, sadehIndex(window) > -4)
	}
	return scores
}

// sadehIndex returns the sleep index of the minute in the middle of window.
func sadehIndex(window [sadehWindow]float64) float64 {
	total, nats := 0.0, 0.0
	for _, c := range window {
		total += c
		if c >= 50 && c < 100 {
			nats++
		}
	}
	own := window[sadehSide]
	return 7.601 - 0.065*total/sadehWindow - 1.08*nats -
		0.056*deviation(window[:sadehLast]) - 0.703*math.Log(own+1)
}

// deviation returns the sample standard deviation.
func deviation(values []float64) float64 {
	total, squares := 0.0, 0.0
	for _, v := range values {
		total += v
	}
	mean := total / float64(len(values))
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}
