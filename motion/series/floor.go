package series

import "fmt"

// The floor is what a device reports while nobody moves: noise. Devices give intensities with two decimals, so
// below floorEdge they are kept in steps of floorStep, and so are means of it: what is finer would be most of the
// bytes of a file. Both are thousandths.
const (
	floorEdge = 200
	floorStep = 10
	floorEnd  = floorEdge / floorStep // the level of floorEdge
)

// intensity returns value × 1000, clipped to 0..1000 and rounded, below floorEdge to a multiple of floorStep;
// it is 0 only if value is not above 0.
func intensity(value float64) uint16 {
	switch milli := value*1000 + 0.5; {
	case value <= 0:
		return 0
	case value >= 1:
		return 1000
	case milli >= floorEdge:
		return uint16(milli)
	}
	return floorStep * quantise(value, 1000/floorStep)
}

// levels appends the levels of intensities: below floorEdge their steps, from there on thousandths, without a
// gap. ok is false when one is not in steps, as former programs kept them.
func levels(dst, intensities []uint16) (_ []uint16, ok bool) {
	for _, milli := range intensities {
		switch {
		case milli >= floorEdge:
			milli -= floorEdge - floorEnd
		case milli%floorStep != 0:
			return dst, false
		default:
			milli /= floorStep
		}
		dst = append(dst, milli)
	}
	return dst, true
}

// fromLevels turns levels, of at most 1000, into intensities. The error is ErrDamaged.
func fromLevels(levels []uint16) error {
	most := uint16(0)
	for i, level := range levels {
		milli := level + floorEdge - floorEnd
		if level < floorEnd {
			milli = level * floorStep
		}
		levels[i], most = milli, max(most, milli)
	}
	if most > 1000 {
		return fmt.Errorf("%w: intensity %d", ErrDamaged, most)
	}
	return nil
}

// levelOfTotal returns the level of a row's total: of noise, which is above 0 all the time, with a mean below
// floorEdge, that of the mean, rounded, and of a greater mean what the total is above floorEdge. Where some of
// the time was still the total stays as it is: the mean may be small, and short motion in it counts.
func levelOfTotal(total, motion uint32, seconds uint16) uint32 {
	n := uint32(seconds)
	switch {
	case motion != full*n:
		return total
	case total >= floorEdge*n:
		return total - floorEdge*n + floorEnd
	}
	return min(max((total+n*floorStep/2)/(n*floorStep), 1), floorEnd-1)
}

// totalOfLevel is the inverse of levelOfTotal, but for the rounding.
func totalOfLevel(level, motion uint32, seconds uint16) uint32 {
	n := uint32(seconds)
	switch {
	case motion != full*n:
		return level
	case level >= floorEnd:
		return level - floorEnd + floorEdge*n
	}
	return level * floorStep * n
}
