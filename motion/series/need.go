package series

// Need returns the stretches of [from, to) in which rows of a tier take part in an answer
// in buckets of some seconds, when each tier holds sums of all before second summed (see
// Set.Bound): all of it of the coarsest tier that fits and of those above, of a finer one
// the ends, which may cut its rows, and what is not in sums yet. An answer does not need
// the rest of a finer tier; where [from, to) does not begin with a row of the tier that
// serves, and nothing is held at its ends, an answer without it may have a point more that
// is null.
func Need(tier Tier, from, to, bucket, summed int64) [][2]int64 {
	serves := Second
	for coarser, ok := serves.Coarser(); ok && bucket >= 1 && bucket%coarser.Step() == 0; coarser, ok = coarser.Coarser() {
		serves = coarser
	}
	if tier >= serves || from >= to {
		return [][2]int64{{from, to}}
	}
	next, _ := tier.Coarser()
	head := ceilTo(from, serves.Step())
	tail := min(floorTo(to, serves.Step()), floorTo(summed, next.Span()))
	if head >= tail {
		return [][2]int64{{from, to}}
	}
	return [][2]int64{{from, head}, {tail, to}}
}
