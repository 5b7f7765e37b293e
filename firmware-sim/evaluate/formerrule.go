package evaluate

import (
	"sensegate/motion/insight"
	"sensegate/motion/series"
)

// formerRule returns the night that the rule of before would tell, as the reference
// that the present one is held against: from the start of the first quiet span of 30
// minutes to the end of the last that has motion before and after it in the window; what
// moves for 2 minutes in between is an interruption.
func formerRule(s *series.Set, h insight.Schedule, date insight.Date) (rest, bool) {
	from, to := h.Window(date)
	points, err := s.Points(series.Query{Series: series.Network, Measure: series.Density, From: from, To: to, Bucket: 60})
	if err != nil {
		return rest{}, false
	}
	moves := make([]bool, points.Len())
	firstMotion, lastMotion := len(moves), 0
	for i := range moves {
		density, _, _ := points.At(i)
		if moves[i] = density > 10; moves[i] {
			firstMotion, lastMotion = min(firstMotion, i), i
		}
	}
	sleep, wake := -1, -1
	for i := firstMotion; i < lastMotion; {
		end := endOf(moves, i)
		if !moves[i] && end-i >= 30 {
			if sleep < 0 {
				sleep = i
			}
			wake = end
		}
		i = end
	}
	if sleep < 0 {
		return rest{}, false
	}
	interruptions := 0
	for i := sleep; i < wake; {
		end := endOf(moves, i)
		if moves[i] && end-i >= 2 {
			interruptions++
		}
		i = end
	}
	return rest{from + int64(sleep)*60, from + int64(wake)*60, interruptions}, true
}

// endOf returns the end of the stretch of equal minutes that begins at i.
func endOf(minutes []bool, i int) int {
	end := i
	for end < len(minutes) && minutes[end] == minutes[i] {
		end++
	}
	return end
}
