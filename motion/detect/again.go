package detect

import (
	"math"

	"sensegate/motion"
)

// Again decides anew on the features of earlier ticks and passes the new ticks to emit: what the
// link would have emitted under config, if config changes neither the lags nor the times of ticks.
// Ticks are those of one link and format from its first frame, at time start, on.
func Again(config Config, start motion.Time, ticks []Tick, emit func(Tick)) {
	j := newJudge(config.scale(), config.Sensitivity)
	j.until = start.Add(config.Calibration)
	var weakness weakness
	for _, tick := range ticks {
		if !tick.Valid {
			j.interrupt()
			tick.Normal, tick.Strict, tick.Levels, tick.Intensity, tick.Baseline = Verdict{}, Verdict{}, Levels{}, 0, j.baseline
			emit(tick)
			continue
		}
		pace := pace{rate: tick.Quality.Rate}
		e := tick.Features.evidence(pace.coherent())
		e.chance, e.faint = 1/math.Sqrt(float64(tick.Frames)), !config.LM1 && weakness.faint(tick.Time, tick.Quality.Amplitude)
		tick.Intensity = 0
		j.weighOwn(&tick, &e)
		emit(tick)
	}
}
