package series

// record is one finished row: the sums over the time that it covers. A record without seconds is
// absent. Records of finer rows add up to the record of a coarser one without loss.
type record struct {
	seconds uint16 // that hold data, 0..step
	peak    uint16 // greatest intensity or share × 1000
	motion  uint32 // Σ seconds × density (of a location: share), percent
	total   uint32 // Σ seconds × intensity (of a location: share) × 1000
}

// plainRecord returns the record of a row of step equal seconds.
func plainRecord(step int64, milli, percent uint16) record {
	return record{
		seconds: uint16(step), peak: milli,
		motion: uint32(step) * uint32(percent), total: uint32(step) * uint32(milli),
	}
}

func (r record) kind() kind {
	switch {
	case r.seconds == 0:
		return absent
	case r.peak == 0:
		return zero
	}
	return active
}

// add adds a row that covers another part of the same time.
func (r *record) add(o record) {
	r.seconds += o.seconds
	r.motion += o.motion
	r.total += o.total
	r.peak = max(r.peak, o.peak)
}

// addPlain adds rows of step equal seconds.
func (r *record) addPlain(step int64, milli, percent []uint16) {
	var motion, total uint32
	for i, v := range milli {
		motion, total, r.peak = motion+uint32(percent[i]), total+uint32(v), max(r.peak, v)
	}
	r.seconds += uint16(step) * uint16(len(milli))
	r.motion += uint32(step) * motion
	r.total += uint32(step) * total
}

// part returns the given number of seconds of a row whose seconds are all equal.
func (r record) part(seconds uint16) record {
	of, n := uint32(r.seconds), uint32(seconds)
	return record{seconds: seconds, peak: r.peak, motion: (r.motion*n + of/2) / of, total: (r.total*n + of/2) / of}
}

// plain returns the density, in percent, of a row of step equal seconds; ok is false for any
// other row.
func (r record) plain(step int64) (density uint16, ok bool) {
	switch {
	case int64(r.seconds) != step:
		return 0, false
	case r.peak == 0:
		return 0, true
	}
	density = uint16(r.motion / uint32(step))
	return density, r == plainRecord(step, r.peak, density)
}
